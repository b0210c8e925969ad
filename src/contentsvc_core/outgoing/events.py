"""The events that webhook endpoints receive, as values that do not depend on the endpoints."""

from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from typing import Any, Final, final

from attrs import frozen

from contentsvc_core.content.posts import Post, PostStatus, post_metadata
from contentsvc_core.timestamps import iso_ms

#: The type of a test message, which a user requests; no endpoint subscribes to it.
TEST_TYPE: Final = "endpoint.test"
#: The field for the id of a run's starter, by the prefix of the id.
_STARTERS: Final = {"trg_": "triggerId", "sch_": "scheduleId", "job_": "jobId"}
_PREFIX: Final = 4


class EventType(Enum):
    """Event types that a webhook endpoint can subscribe to."""

    #: A run has written a post.
    POST_CREATED = "post.created"
    #: Readers can see a post from now on: it was created as published, or was a draft before.
    POST_PUBLISHED = "post.published"
    #: A run has ended without its post, after the last attempt.
    RUN_FAILED = "run.failed"


@final
@frozen(kw_only=True)
class Occurrence:
    """An event of an organization, and its payload."""

    organization_id: str
    type: EventType
    #: Identifies the event among all events of its type: two occurrences with one key are one event.
    key: str
    data: Mapping[str, Any]
    #: The time of the event. ``None``: its transaction has no clock; the time of the first lease, soon after, counts.
    at: datetime | None
    #: The earliest possible time of the event; the retention period of its messages begins here.
    since: datetime


def post_written(post: Post) -> list[Occurrence]:
    """Return the events of a post that a run has just written."""
    created = _of_post(post, EventType.POST_CREATED)
    if post.status is not PostStatus.PUBLISHED:
        return [created]
    return [created, _of_post(post, EventType.POST_PUBLISHED)]


def post_published(post: Post) -> Occurrence:
    """Return the event of a post that this version has published."""
    return _of_post(post, EventType.POST_PUBLISHED)


def _of_post(post: Post, kind: EventType) -> Occurrence:
    data = {
        "id": post.id,
        "title": post.title,
        "contentType": post.content_type.value,
        "status": post.status.value,
        "sourceMetadata": post_metadata(post),
        "createdAt": iso_ms(post.created_at),
        "updatedAt": iso_ms(post.updated_at),
        # The whole post, relative to the service: titles and metadata are small, bodies are not.
        "links": {"self": f"/v1/posts/{post.id}"},
    }
    version = iso_ms(post.updated_at)
    return Occurrence(
        organization_id=post.organization_id,
        type=kind,
        # A post may be withdrawn and published again: each publication is an event.
        key=f"{post.id}/{version}",
        data=data,
        at=post.updated_at,
        since=post.updated_at,
    )


def run_failed(  # the fields of a run that a ledger knows without reading its cause
    *,
    organization_id: str,
    run_id: str,
    started_by: str,
    takes: int,
    reason: str | None,
    created_at: datetime,
    due_at: datetime,
) -> Occurrence:
    """Return the event of a failed run.

    ``started_by`` is the id of the trigger, the schedule or the job. ``takes`` distinguishes repeated failures of a
    restarted run. ``due_at`` is the time at which its last attempt was due.
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
