"""Changes of a post, and entity tags of its versions (decisions, ``/v1``)."""

from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Final, final

import msgspec
from attrs import evolve, frozen

from contentsvc_core.content.posts import Post, PostStatus, post_body
from contentsvc_core.refusals import Refusal, RefusalKind, invalid
from contentsvc_core.text import has_controls

TITLE_LIMIT: Final = 120
MARKDOWN_LIMIT: Final = 100_000
#: The maximum length of a post's HTML, in characters: 20 for each character of the longest Markdown. Common texts need
#: 2.
CONTENT_LIMIT: Final = 2 * 1024 * 1024
_TICK: Final = timedelta(milliseconds=1)


@final
@frozen(kw_only=True)
class PostChange:
    """New values for some fields of a post, all of them checked (:func:`read_post_change`)."""

    title: str | None = None
    markdown: str | None = None
    status: PostStatus | None = None

    def of(self, post: Post, *, content: str, at: datetime) -> Post:
        """Return the changed post.

        ``content`` is rendered from its Markdown. The time of the change is later than that of the previous change,
        even if the clock was set back: no two versions of a post are equal.
        """
        return evolve(
            post,
            title=post.title if self.title is None else self.title,
            markdown=post.markdown if self.markdown is None else self.markdown,
            content=content,
            status=post.status if self.status is None else self.status,
            updated_at=max(at, post.updated_at + _TICK),
        )


UNKNOWN_POST: Final = Refusal(RefusalKind.NOT_FOUND, "Post not found")
#: The current version is not the one that the client has seen.
POST_CHANGED: Final = Refusal(RefusalKind.STALE, "The post has changed since the version in If-Match: read it again")
#: The refusal of Markdown that exceeds :data:`CONTENT_LIMIT`.
CONTENT_TOO_LONG: Final = invalid(
    "markdown", f"becomes more than {CONTENT_LIMIT:,} characters of HTML: use fewer links, quotations and lists"
)


def read_post_change(
    *, title: str | None = None, markdown: str | None = None, status: PostStatus | None = None
) -> PostChange | Refusal:
    """Check the changes that a client requests; ``None``: no change of this field.

    Nothing is corrected for the client.
    """
    if title is None and markdown is None and status is None:
        return Refusal(RefusalKind.INVALID, "Nothing to change: give title, markdown or status")
    if title is not None:
        if not 1 <= len(title) <= TITLE_LIMIT:
            return invalid("title", f"must have 1 to {TITLE_LIMIT} characters")
        if has_controls(title):
            return invalid("title", "must be one line without control characters")
        if not title.strip():
            return invalid("title", "must not be blank")
    if markdown is not None and not 1 <= len(markdown) <= MARKDOWN_LIMIT:
        return invalid("markdown", f"must have 1 to {MARKDOWN_LIMIT:,} characters")
    return PostChange(title=title, markdown=markdown, status=status)


def halved(markdown: str) -> str:
    """Return the first half of a text, up to the end of a line, with ``…`` in place of the rest."""
    half = markdown[: len(markdown) // 2]
    return f"{half.rpartition(chr(10))[0] or half}\n\n…\n"


def entity_tag(post: Post) -> str:
    """Return the strong entity tag of a post's current version, with quotes (RFC 9110, section 8.8.3).

    It covers every field, including the time of the last change: no two versions of a post share a tag.
    """
    return f'"{blake2b(msgspec.json.encode(post_body(post)), digest_size=16).hexdigest()}"'
