from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from contentsvc_core.content.posts import Post, PostBody
from contentsvc_core.organizations import Integration
from contentsvc_core.workflows.bodies import ScheduleBody, TriggerBody, TriggerListBody
from contentsvc_core.workflows.causes import sources_of
from contentsvc_core.workflows.jobs import BrandJobBody, Job
from contentsvc_core.workflows.removals import Removed, RemovedBody, removed_body
from contentsvc_core.workflows.schedules import Schedule
from contentsvc_core.workflows.triggers import Trigger


class Answers:
    """Response bodies; :class:`~contentsvc_http.v1.hosted.HostedAnswers` overrides some of them."""

    def post(self, post: Post) -> PostBody:
        return PostBody.of(post)

    def brand_job(self, job: Job) -> BrandJobBody:
        return BrandJobBody.of(job)

    def schedule(self, schedule: Schedule) -> ScheduleBody:
        return ScheduleBody.of(schedule)

    def event_trigger(self, trigger: Trigger) -> TriggerBody:
        return TriggerBody.of(trigger)

    def event_triggers(self, triggers: Sequence[Trigger], integrations: Sequence[Integration]) -> TriggerListBody:
        _ = integrations
        return {"eventTriggers": [self.event_trigger(trigger) for trigger in triggers]}

    def integrations(self, by_provider: Mapping[str, Any]) -> dict[str, Any]:
        return dict(by_provider)

    def disabled(self, removed: Removed) -> RemovedBody:
        return removed_body(removed)


def repository_map(ids: Iterable[int], integrations: Sequence[Integration]) -> dict[str, str]:
    """Return ``owner/name`` by the id of each connected repository; several names of an id are joined by commas."""
    chosen = set(ids)
    names: dict[str, list[str]] = {}
    for source in sources_of(integrations):
        if source.repository_id in chosen:
            full_names = names.setdefault(str(source.repository_id), [])
            if source.full_name not in full_names:
                full_names.append(source.full_name)
    return {id_: ", ".join(full_names) for id_, full_names in names.items()}
