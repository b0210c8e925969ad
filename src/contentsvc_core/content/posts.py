"""Posts: generated content (specification 2.1)."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import Enum
from typing import Any, Final, Literal, Self, TypedDict, TypeVar, final

from attrs import Factory, field, frozen
from msgspec import Struct, to_builtins

from contentsvc_core.content.plain import text_of
from contentsvc_core.lists.cursors import Cursor
from contentsvc_core.schemas import body_of
from contentsvc_core.timestamps import iso_ms

#: The longest Markdown of a post, in characters: longer posts cannot be edited.
MARKDOWN_LIMIT: Final = 100_000

_Value = TypeVar("_Value")


class ContentType(Enum):
    """The content type of a post."""

    CHANGELOG = "changelog"
    BLOG_POST = "blog_post"
    LINKEDIN_POST = "linkedin_post"
    TWITTER_POST = "twitter_post"
    INVESTOR_UPDATE = "investor_update"

    @property
    def noun(self) -> str:
        """Return what people call such a post, as inside a sentence."""
        return _NOUNS[self]


def by_content_type(
    *, changelog: _Value, blog_post: _Value, linkedin_post: _Value, twitter_post: _Value, investor_update: _Value
) -> Mapping[ContentType, _Value]:
    """Return a table of values. Type checking refuses a table that lacks a content type."""
    return {
        ContentType.CHANGELOG: changelog,
        ContentType.BLOG_POST: blog_post,
        ContentType.LINKEDIN_POST: linkedin_post,
        ContentType.TWITTER_POST: twitter_post,
        ContentType.INVESTOR_UPDATE: investor_update,
    }


_NOUNS: Final = by_content_type(
    changelog="changelog",
    blog_post="blog post",
    linkedin_post="LinkedIn post",
    twitter_post="post for X",
    investor_update="investor update",
)

#: Content types for social networks that do not render Markdown.
PLAIN_TYPES: Final = frozenset({ContentType.LINKEDIN_POST, ContentType.TWITTER_POST})


class PostStatus(Enum):
    """The state of a post: a draft, or published."""

    DRAFT = "draft"
    PUBLISHED = "published"


class Label(Enum):
    """The labels by which readers filter a changelog, the most urgent first; the values are part of addresses."""

    BREAKING = "breaking"
    SECURITY = "security"
    NEW = "new"
    IMPROVED = "improved"
    FIXED = "fixed"

    @property
    def shown(self) -> str:
        return self.value.capitalize()


#: The ``writer`` in the source metadata of posts that people write.
BY_HAND: Final = "hand"


def _in_order(labels: Iterable[Label]) -> tuple[Label, ...]:
    chosen = set(labels)
    return tuple(label for label in Label if label in chosen)


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
    #: One line that feeds, link previews and lists show; ``None``: they show the beginning of the text.
    summary: str | None = None
    #: The labels that an editor has chosen; empty: the labels follow from the headings of the text.
    labels: tuple[Label, ...] = field(converter=_in_order, default=())
    #: The time at which the draft is published; ``None``: the draft is not scheduled.
    publish_at: datetime | None = None

    def __attrs_post_init__(self) -> None:
        if self.status is PostStatus.PUBLISHED and self.published_at is None:
            # Past the frozen attributes, as attrs' own constructor does it: no change can forget to say when.
            object.__setattr__(self, "published_at", self.updated_at)

    @property
    def is_by_hand(self) -> bool:
        return (self.source_metadata or {}).get("writer") == BY_HAND

    @property
    def cursor(self) -> Cursor:
        """Return the position in public lists, which are sorted by the time of a post's events."""
        return Cursor(at=self.occurred_at, id=self.id)

    @property
    def text(self) -> "PostText":
        return PostText(title=self.title, markdown=self.markdown, summary=self.summary, labels=self.labels)


#: The fields that a change of a post replaces; the stores set the others.
CHANGED_FIELDS: Final = (
    *("title", "content", "markdown", "summary", "labels"),
    *("status", "updated_at", "published_at", "occurred_at", "publish_at"),
)


@final
@frozen(kw_only=True)
class PostText:
    """The parts of a post that a version keeps."""

    title: str
    markdown: str
    summary: str | None = None
    labels: tuple[Label, ...] = field(converter=_in_order, default=())


def post_text(post: Post) -> str | None:
    """Return the plain text of a post, as last edited; ``None``: posts of its content type are Markdown."""
    return text_of(post.markdown) if post.content_type in PLAIN_TYPES else None


def post_metadata(post: Post) -> dict[str, Any] | None:
    """Return a post's ``sourceMetadata``: its source, its plain text where needed, and the fields that editors set."""
    text = None if post.source_metadata is None else post_text(post)
    more = {
        "text": text,
        "summary": post.summary,
        "labels": [label.value for label in post.labels] or None,
        "publishAt": None if post.publish_at is None else iso_ms(post.publish_at),
    }
    additions = {name: value for name, value in more.items() if value is not None}
    return None if post.source_metadata is None and not additions else {**(post.source_metadata or {}), **additions}


@final
class UsageBody(TypedDict):
    """The tokens that a language model has used for a post."""

    promptTokens: int
    completionTokens: int


@final
class PostSourceBody(TypedDict, total=False):
    """The source of a post, its plain text where a network needs it, and what editors set."""

    triggerId: str
    jobId: str
    scheduleId: str
    runId: str
    repositories: list[str]
    deliveryIds: list[str]
    eventTypes: list[Literal["push", "release"]]
    releaseTags: list[str]
    occurredAt: str
    writer: str
    usage: UsageBody
    warnings: list[str]
    brandIdentityId: str
    text: str
    summary: str
    labels: list[Label]
    publishAt: str


class PostBody(Struct, frozen=True, kw_only=True, rename="camel"):
    """A post (specification 2.1)."""

    id: str
    title: str
    content: str
    markdown: str
    content_type: ContentType
    source_metadata: PostSourceBody | None
    status: PostStatus
    created_at: str
    updated_at: str

    @classmethod
    def of(cls, post: Post) -> Self:
        return body_of(cls, post, source_metadata=post_metadata(post))


def post_body(post: Post) -> dict[str, Any]:
    """Return a post's nine fields (specification 2.1)."""
    return to_builtins(PostBody.of(post))
