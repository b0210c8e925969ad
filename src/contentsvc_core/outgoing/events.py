"""The events that webhook endpoints receive, as values that do not depend on the endpoints."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import Enum
from typing import Any, Final, final

from attrs import frozen

from contentsvc_core.content.posts import Post, PostStatus, post_body
from contentsvc_core.timestamps import iso_ms

#: The type of a test message, which a user requests; no endpoint subscribes to it.
TEST_TYPE: Final = "endpoint.test"
_STARTERS: Final = {"trg_": "triggerId", "sch_": "scheduleId", "job_": "jobId"}
_PREFIX: Final = 4


class EventType(Enum):
    """Event types that a webhook endpoint can subscribe to."""

    POST_CREATED = "post.created"
    #: Readers can see a post from now on: it was created as published, or was a draft before.
    POST_PUBLISHED = "post.published"
    #: A run has written a draft: an editor has to publish it.
    DRAFT_WAITING = "draft.waiting"
    #: A run has ended without its post, after the last attempt.
    RUN_FAILED = "run.failed"
    #: Most of the newest deliveries of an integration failed; once for each failure period.
    INTEGRATION_FAILING = "integration.failing"
    INTEGRATION_RECOVERED = "integration.recovered"
    ENDPOINT_DISABLED = "endpoint.disabled"


@final
@frozen(kw_only=True)
class Occurrence:
    """An event of an organization, of which each subscribed endpoint gets a message."""

    organization_id: str
    type: EventType
    #: Identifies the event among all events of its type: two occurrences with one key are one event.
    key: str
    data: Mapping[str, Any]
    #: The time of the event. ``None``: its transaction has no clock; the time of the first lease, soon after, counts.
    at: datetime | None
    #: The earliest possible time of the event; the retention period of its messages begins here.
    since: datetime


def post_written(post: Post, *, by_editor: bool = False) -> list[Occurrence]:
    """Return the events of a post that a run or an editor has just written; drafts of editors wait for no one else."""
    events = [EventType.POST_CREATED]
    if post.status is PostStatus.PUBLISHED:
        events.append(EventType.POST_PUBLISHED)
    elif not by_editor:
        events.append(EventType.DRAFT_WAITING)
    return _of_post(post, events)


def post_published(post: Post) -> Occurrence:
    return _of_post(post, [EventType.POST_PUBLISHED])[0]


def _of_post(post: Post, kinds: Iterable[EventType]) -> list[Occurrence]:
    # A link instead of the text: titles and metadata are small, texts are not.
    data = {name: value for name, value in post_body(post).items() if name not in {"content", "markdown"}}
    data["links"] = {"self": f"/v1/posts/{post.id}"}
    version = iso_ms(post.updated_at)
    return [
        Occurrence(
            organization_id=post.organization_id,
            type=kind,
            # A post may be withdrawn and published again: each publication is an event.
            key=f"{post.id}/{version}",
            data=data,
            at=post.updated_at,
            since=post.updated_at,
        )
        for kind in kinds
    ]


def run_failed(
    *,
    organization_id: str,
    run_id: str,
    started_by: str,
    takes: int,
    reason: str | None,
    created_at: datetime,
    due_at: datetime,
) -> Occurrence:
    """Return the event of a failed run; ``takes`` distinguishes repeated failures of a restarted run.

    ``started_by`` is the id of the trigger, the schedule or the job.
    """
    starters: dict[str, str | None] = dict.fromkeys(_STARTERS.values())
    if (name := _STARTERS.get(started_by[:_PREFIX])) is not None:
        starters[name] = started_by
    return Occurrence(
        organization_id=organization_id,
        type=EventType.RUN_FAILED,
        key=f"{run_id}/{takes}",
        data={"id": run_id, **starters, "reason": reason, "createdAt": iso_ms(created_at)},
        at=None,
        since=due_at,
    )


def endpoint_disabled(
    *,
    organization_id: str,
    endpoint_id: str,
    description: str,
    target: str,
    reason: str,
    at: datetime,
) -> Occurrence:
    """Return the event of an endpoint that the service has disabled; its URL may be a secret and is left out."""
    data = {"description": description, "target": target, "reason": reason, "disabledAt": iso_ms(at)}
    return state_changed(EventType.ENDPOINT_DISABLED, organization_id, endpoint_id, data, at)


def state_changed(kind: EventType, organization_id: str, id_: str, data: Mapping[str, Any], at: datetime) -> Occurrence:
    """Return the event of an integration or an endpoint whose state has changed; ``data`` are its further fields."""
    return Occurrence(
        organization_id=organization_id,
        type=kind,
        key=f"{id_}/{iso_ms(at)}",
        data={"id": id_, **data},
        at=at,
        since=at,
    )
