"""Response bodies as the specification defines them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from contentsvc_core.content.posts import Post, post_body
from contentsvc_core.organizations import Integration, Removed, removed_body
from contentsvc_core.workflows.causes import sources_of
from contentsvc_core.workflows.jobs import Job, brand_job_body
from contentsvc_core.workflows.schedules import Schedule, schedule_body
from contentsvc_core.workflows.triggers import Trigger, trigger_body


class Answers:
    """Response bodies; :class:`~contentsvc_http.v1.hosted.HostedAnswers` overrides some of them."""

    async def prepare(self, organization_id: str) -> None:
        """Read the data that the response needs, before the operation changes anything."""

    def whole(self, organization_id: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the complete body of a successful response."""
        _ = organization_id
        return dict(body)

    def post(self, post: Post) -> dict[str, Any]:
        """Return a post."""
        return post_body(post)

    def brand_job(self, job: Job) -> dict[str, Any]:
        """Return a job that makes a brand identity."""
        return brand_job_body(job)

    def schedule(self, schedule: Schedule) -> dict[str, Any]:
        """Return a schedule."""
        return schedule_body(schedule)

    def event_trigger(self, trigger: Trigger) -> dict[str, Any]:
        """Return an event trigger."""
        return trigger_body(trigger)

    async def event_triggers(self, organization_id: str, found: Sequence[Trigger]) -> dict[str, Any]:
        """Return the list of an organization's event triggers."""
        _ = organization_id
        return {"eventTriggers": [self.event_trigger(each) for each in found]}

    def integrations(self, by_provider: Mapping[str, Any]) -> dict[str, Any]:
        """Return the list of integrations."""
        return dict(by_provider)

    def disabled(self, removed: Removed) -> dict[str, Any]:
        """Return the objects that were disabled by a deletion."""
        return removed_body(removed)


def repository_map(ids: Iterable[int], integrations: Sequence[Integration]) -> dict[str, str]:
    """Return ``owner/name`` by the id of each connected repository among ``ids``.

    The names of an id that is connected at several providers are joined by commas.
    """
    wanted = set(ids)
    names: dict[str, list[str]] = {}
    for source in sources_of(integrations):
        if source.repository_id in wanted:
            known = names.setdefault(str(source.repository_id), [])
            if source.full_name not in known:
                known.append(source.full_name)
    return {id_: ", ".join(known) for id_, known in names.items()}
