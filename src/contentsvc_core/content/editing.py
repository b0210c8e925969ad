"""Changes of a post, and entity tags of its versions (decisions, ``/v1``)."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Final, final

import msgspec
from attrs import evolve
from msgspec import Meta

from contentsvc_core.commands import Command, changing
from contentsvc_core.content.posts import BY_HAND, MARKDOWN_LIMIT, ContentType, Label, Post, PostBody, PostStatus
from contentsvc_core.identifiers import is_full_name
from contentsvc_core.refusals import NOTHING_TO_CHANGE, Refusal, RefusalKind, invalid
from contentsvc_core.text import has_controls, one_line
from contentsvc_core.timestamps import read_iso

#: The longest title of a post, in characters.
TITLE_LIMIT: Final = 120
#: The maximum length of a summary, in characters: the length of the excerpt that a summary replaces.
SUMMARY_LIMIT: Final = 200
#: The maximum length of a post's HTML, in characters: 20 for each of the longest Markdown. Common texts need 2.
CONTENT_LIMIT: Final = 2 * 1024 * 1024
_TICK: Final = timedelta(milliseconds=1)


class PostSettings(Command, frozen=True, kw_only=True):
    """The fields of a post that editors change."""

    title: Annotated[str, Meta(min_length=1, max_length=TITLE_LIMIT, description="Title: plain text, one line.")]
    markdown: Annotated[str, Meta(min_length=1, max_length=MARKDOWN_LIMIT, description="Text, as Markdown.")]
    status: Annotated[PostStatus, Meta(description="State: `draft` or `published`.")] = PostStatus.DRAFT
    summary: Annotated[
        Annotated[str, Meta(min_length=1, max_length=SUMMARY_LIMIT)] | None,
        Meta(description="One line for feeds, link previews and lists. Without one, they show the beginning."),
    ] = None
    labels: Annotated[
        Sequence[Label], Meta(description="Labels for readers. Without any, they follow from the headings.")
    ] = ()
    publish_at: Annotated[
        str | None, Meta(description="Time to publish the draft, such as `2026-11-22T08:30:00Z`.")
    ] = None


@final
class CreatePost(PostSettings, frozen=True, kw_only=True):
    """Create a post by hand."""

    content_type: Annotated[ContentType, Meta(description="Content type.")] = ContentType.CHANGELOG
    repository: Annotated[
        str | None,
        Meta(description="Repository (`owner/name`) that the post is about, for changelogs of repositories."),
    ] = None


POST_CLEARS: Final = ("summary", "publish_at")


@final
@changing(PostSettings, clears=POST_CLEARS)
class ChangePost(Command, frozen=True):
    if TYPE_CHECKING:

        def __init__(self, **fields: object) -> None: ...


UNKNOWN_POST: Final = Refusal(RefusalKind.NOT_FOUND, "Post not found")
UNKNOWN_VERSION: Final = Refusal(RefusalKind.NOT_FOUND, "Version not found")
#: The current version is not the one that the client has seen.
POST_CHANGED: Final = Refusal(RefusalKind.STALE, "The post has changed since the version in If-Match: read it again")
CONTENT_TOO_LONG: Final = invalid(
    "markdown", f"becomes more than {CONTENT_LIMIT:,} characters of HTML: use fewer links, quotations and lists"
)
_PUBLISHED: Final = invalid("publish_at", "must be absent: the post is published")


def post_fault(values: Mapping[str, Any]) -> Refusal | None:
    """Return the fault in new values of a post's fields, by attribute; ``None``: they are valid."""
    if not values:
        return NOTHING_TO_CHANGE
    fault = _line_fault("title", values.get("title"), TITLE_LIMIT)
    if fault is None and (markdown := values.get("markdown")) is not None and not 1 <= len(markdown) <= MARKDOWN_LIMIT:
        fault = invalid("markdown", f"must have 1 to {MARKDOWN_LIMIT:,} characters")
    repository = values.get("repository")
    if fault is None and repository is not None and not is_full_name(repository, nested=True):
        fault = invalid("repository", f"must be owner/name, which '{one_line(repository, 100)}' is not")
    fault = fault or _line_fault("summary", values.get("summary"), SUMMARY_LIMIT)
    if fault is None and (at := values.get("publish_at")) is not None and read_iso(at) is None:
        fault = invalid("publish_at", f"'{one_line(at, 64)}' is no time, such as 2026-11-22T08:30:00Z")
    return fault


def changed_post(post: Post, values: Mapping[str, Any], *, content: str, at: datetime) -> Post | Refusal:
    """Return the changed post. ``values`` are valid, and ``content`` is rendered from the new Markdown.

    The time of the change is later than that of the previous change, even if the clock was set back. A publication and
    a withdrawal end the schedule of a draft.
    """
    fields = dict(values)
    written = fields.pop("publish_at", None)
    publish_at = None if written is None else read_iso(written)
    changed = evolve(post, content=content, updated_at=max(at, post.updated_at + _TICK), **fields)
    if "publish_at" not in values and "status" not in values:
        return changed
    return _unscheduled(changed.status, publish_at, at) or _dated(evolve(changed, publish_at=publish_at), post)


def new_post(command: CreatePost, *, post_id: str, organization_id: str, content: str, at: datetime) -> Post | Refusal:
    repositories = {} if command.repository is None else {"repositories": [command.repository]}
    publish_at = None if command.publish_at is None else read_iso(command.publish_at)
    return _unscheduled(command.status, publish_at, at) or Post(
        id=post_id,
        organization_id=organization_id,
        title=command.title,
        content=content,
        markdown=command.markdown,
        content_type=command.content_type,
        source_metadata={"writer": BY_HAND, **repositories},
        status=command.status,
        created_at=at,
        updated_at=at,
        summary=command.summary,
        labels=command.labels,
        publish_at=publish_at,
    )


def due_post(post: Post, at: datetime) -> Post | None:
    if post.status is not PostStatus.DRAFT or post.publish_at is None or post.publish_at > at:
        return None
    published = evolve(post, status=PostStatus.PUBLISHED, publish_at=None, updated_at=max(at, post.updated_at + _TICK))
    return _dated(published, post)


def _unscheduled(status: PostStatus, publish_at: datetime | None, now: datetime) -> Refusal | None:
    if publish_at is None:
        return None
    if status is PostStatus.PUBLISHED:
        return _PUBLISHED
    if publish_at <= now:
        return invalid("publish_at", "must be in the future: publish the post now, or choose a later time")
    return None


def _dated(changed: Post, before: Post) -> Post:
    # A post without events happens when it is first published.
    is_first = before.published_at is None and changed.published_at is not None
    if is_first and changed.is_by_hand:
        return evolve(changed, occurred_at=changed.published_at)
    return changed


def _line_fault(attribute: str, text: str | None, limit: int) -> Refusal | None:
    if text is None:
        return None
    if not 1 <= len(text) <= limit:
        return invalid(attribute, f"must have 1 to {limit} characters")
    if has_controls(text):
        return invalid(attribute, "must be one line without control characters")
    return None if text.strip() else invalid(attribute, "must not be blank")


def halved(markdown: str) -> str:
    """Return the first half of a text, up to the end of a line, with ``…`` in place of the rest."""
    half = markdown[: len(markdown) // 2]
    return f"{half.rpartition(chr(10))[0] or half}\n\n…\n"


def entity_tag(post: Post) -> str:
    """Return the strong entity tag of a post's current version, with quotes (RFC 9110, 8.8.3), of all fields."""
    return f'"{hashlib.blake2b(msgspec.json.encode(PostBody.of(post)), digest_size=16).hexdigest()}"'
