"""What is told to webhook endpoints, as values that are made without a look at who wants them."""

from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from typing import Any, Final, final

from attrs import frozen

from contentsvc_core.content.posts import Post, PostStatus, post_metadata
from contentsvc_core.timestamps import iso_ms

#: What a message says that somebody has asked for to try an endpoint; nobody subscribes to it.
TEST_TYPE: Final = "endpoint.test"
#: The field that each kind of id stands in, of what has started a run.
_STARTERS: Final = {"trg_": "triggerId", "sch_": "scheduleId", "job_": "jobId"}
_PREFIX: Final = 4


class EventType(Enum):
    """What an endpoint can subscribe to."""

    #: A run has written a post.
    POST_CREATED = "post.created"
    #: Readers see a post from now on: it was created so, or was a draft until then.
    POST_PUBLISHED = "post.published"
    #: A run has ended without its post, after the last attempt.
    RUN_FAILED = "run.failed"


@final
@frozen(kw_only=True)
class Occurrence:
    """Something that has happened in an organization, and what is told of it."""

    organization_id: str
    type: EventType
    #: Tells it from all others of its type: told twice, it is one.
    key: str
    data: Mapping[str, Any]
    #: ``None``: whoever tells it has no clock. Then the moment counts in which it is first taken to be sent, soon.
    at: datetime | None
    #: When it was at the earliest: what waits for long is kept from then on.
    since: datetime


def post_written(post: Post) -> list[Occurrence]:
    """Give what is told of a post that a run has just written."""
    created = _of_post(post, EventType.POST_CREATED)
    if post.status is not PostStatus.PUBLISHED:
        return [created]
    return [created, _of_post(post, EventType.POST_PUBLISHED)]


def post_published(post: Post) -> Occurrence:
    """Give what is told of a post that was a draft until this version of it."""
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
        # Where the whole of it is read, relative to the service: titles and metadata are small, bodies are not.
        "links": {"self": f"/v1/posts/{post.id}"},
    }
    version = iso_ms(post.updated_at)
    return Occurrence(
        organization_id=post.organization_id,
        type=kind,
        # A post may be withdrawn and published again: each time is told.
        key=f"{post.id}/{version}",
        data=data,
        at=post.updated_at,
        since=post.updated_at,
    )


def run_failed(  # what a ledger knows of it without reading what it was performed from
    *,
    organization_id: str,
    run_id: str,
    started_by: str,
    takes: int,
    reason: str | None,
    created_at: datetime,
    due_at: datetime,
) -> Occurrence:
    """Give what is told of a run that has failed.

    Args:
        organization_id: Whose.
        run_id: Which.
        started_by: The id of the trigger, the schedule or the job.
        takes: How often it was taken: one that was started once more may fail once more.
        reason: As the run has it.
        created_at: When the run was created.
        due_at: When its last attempt was due.
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
