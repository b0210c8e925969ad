"""Posts: generated content (specification 2.1)."""

from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from typing import Any, Final, final

from attrs import Factory, field, frozen

from contentsvc_core.content.plain import text_of
from contentsvc_core.timestamps import iso_ms


class ContentType(Enum):
    """The content type of a post."""

    CHANGELOG = "changelog"
    BLOG_POST = "blog_post"
    LINKEDIN_POST = "linkedin_post"
    TWITTER_POST = "twitter_post"
    INVESTOR_UPDATE = "investor_update"


#: Content types for social networks that do not render Markdown.
PLAIN_TYPES: Final = frozenset({ContentType.LINKEDIN_POST, ContentType.TWITTER_POST})


class PostStatus(Enum):
    """Whether a post is a draft or published."""

    DRAFT = "draft"
    PUBLISHED = "published"


@final
@frozen(kw_only=True)
class Post:
    """One piece of content."""

    id: str
    organization_id: str
    #: Plain text, 1 to 120 characters.
    title: str
    #: Rendered from ``markdown``; safe to show.
    content: str
    markdown: str
    content_type: ContentType
    #: The source of the post, in the wire's spelling; ``None``: unknown.
    source_metadata: Mapping[str, Any] | None
    status: PostStatus
    created_at: datetime
    updated_at: datetime
    #: The time of the first publication, which stays when the post becomes a draft again; ``None``: never published.
    published_at: datetime | None = None
    #: The tag of the announced release; ``None``: the post announces no release.
    release_tag: str | None = None
    #: When the events of the post happened, as the code host dates them; by default the creation of the post.
    occurred_at: datetime = Factory(lambda self: self.created_at, takes_self=True)
    #: For the post of a push: the id of the published post of the same content type whose release contains the push.
    #: The stores update it (:meth:`~contentsvc_core.ports.RunLedger.complete`).
    contained_in: str | None = None
    #: The readable part of its address (:mod:`~contentsvc_core.content.public.paths`). The stores set it when the post
    #: is published, and when its title changes; ``None``: never published.
    path: str | None = field(default=None, eq=False)

    def __attrs_post_init__(self) -> None:
        if self.status is PostStatus.PUBLISHED and self.published_at is None:
            # Past the frozen attributes, as attrs' own constructor does it: no change can forget to say when.
            object.__setattr__(self, "published_at", self.updated_at)


def post_text(post: Post) -> str | None:
    """Return a post as plain text, ``None`` where its content type is Markdown; it follows every edit."""
    return text_of(post.markdown) if post.content_type in PLAIN_TYPES else None


def post_metadata(post: Post) -> dict[str, Any] | None:
    """Return a post's ``sourceMetadata``: its source, and its plain text for content types that need it."""
    text = post_text(post)
    if post.source_metadata is None:
        return None
    return {**post.source_metadata, **({} if text is None else {"text": text})}


def post_body(post: Post) -> dict[str, Any]:
    """Return a post's nine fields (specification 2.1)."""
    return {
        "id": post.id,
        "title": post.title,
        "content": post.content,
        "markdown": post.markdown,
        "contentType": post.content_type.value,
        "sourceMetadata": post_metadata(post),
        "status": post.status.value,
        "createdAt": iso_ms(post.created_at),
        "updatedAt": iso_ms(post.updated_at),
    }
