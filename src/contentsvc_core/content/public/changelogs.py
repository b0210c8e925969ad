"""The public changelogs of an organization, and which posts they show (decisions 0023 and 0050)."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Final, Protocol, Self, TypedDict, final

from attrs import Factory, field, frozen
from msgspec import Meta, Struct

from contentsvc_core.content.posts import ContentType, Post, PostStatus
from contentsvc_core.content.public.facets import facets_of, folded
from contentsvc_core.content.public.images import ImageKind, ImageMark
from contentsvc_core.refusals import FIELD, Refusal, RefusalKind, invalid
from contentsvc_core.schemas import body_of
from contentsvc_core.timestamps import iso_ms

SLUG_LIMIT: Final = 63
#: The longest web address, and the longest text of a link in the header, in characters.
URL_LIMIT: Final = 2_000
LABEL_LIMIT: Final = 30
#: The content types of a new changelog: those written for readers of the product, not for social networks.
DEFAULT_TYPES: Final = (ContentType.CHANGELOG, ContentType.BLOG_POST)
#: The most changelogs of an organization: one for each product, and each has an address of its own.
MAX_CHANGELOGS: Final = 10


def _by_name(counts: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counts.items()))


def _canonical_order(types: tuple[ContentType, ...]) -> tuple[ContentType, ...]:
    return tuple(kind for kind in ContentType if kind in types)


def _by_kind(images: Iterable[ImageMark]) -> tuple[ImageMark, ...]:
    return tuple(sorted(images, key=lambda image: image.kind.value))


class _Owner(Protocol):
    @property
    def id(self) -> str: ...

    @property
    def slug(self) -> str: ...

    @property
    def name(self) -> str: ...


class LinkBody(Struct, frozen=True, forbid_unknown_fields=True):
    """A link in the page header."""

    label: Annotated[str, Meta(min_length=1, max_length=LABEL_LIMIT)]
    url: Annotated[str, Meta(min_length=1, max_length=URL_LIMIT)]


@final
class ImagesBody(TypedDict, total=False):
    """Digests of the changelog's pictures, by kind."""

    logo: str
    icon: str
    card: str


def first_id(organization_id: str) -> str:
    return f"chl_{organization_id.removeprefix('org_')}"


@final
@frozen(kw_only=True)
class PublicChangelog:
    """A public changelog: its title, and which published posts of an organization it shows."""

    organization_id: str
    #: The id; by default that of the organization's first changelog.
    id: str = Factory(lambda self: first_id(self.organization_id), takes_self=True)
    #: In ``/changelog/{slug}``, unique over all organizations. A slug that was public stays reserved.
    slug: str
    #: One line of 1 to 100 characters.
    title: str
    #: One line of at most 300 characters; may be empty.
    description: str = ""
    #: The product's own site, ``http`` or ``https``; ``None``: no link.
    product_url: str | None = None
    #: The content types of its posts; at least one, without duplicates.
    content_types: tuple[ContentType, ...] = field(converter=_canonical_order, default=DEFAULT_TYPES)
    #: Only posts about these repositories (``owner/name``) alone are shown; empty: no restriction.
    repositories: tuple[str, ...] = ()
    #: Only posts with one of these scopes or packages, in lower case, are shown; empty: no restriction.
    scopes: tuple[str, ...] = ()
    #: ``rrggbb``; ``None``: the default colour.
    accent: str | None = None
    header_links: tuple[LinkBody, ...] = ()
    #: The digests of the pictures; the store keeps the bytes, and sets this field.
    images: tuple[ImageMark, ...] = field(converter=_by_kind, default=())
    #: Whether pages and feeds show hashes of commits, contributors and internal changes, where posts have them.
    show_details: bool = False
    #: Whether readers can see it. If not, its addresses answer like unknown ones.
    is_public: bool = False
    created_at: datetime
    #: The time of the last change of these fields, or of the last deletion of a post that may have been shown.
    updated_at: datetime
    #: The number of changes of the changelog and of its posts; the store counts, independently of the clock.
    revision: int = field(default=0, eq=False)

    @classmethod
    def first(cls, organization: _Owner, at: datetime) -> Self:
        return cls(
            organization_id=organization.id,
            slug=organization.slug[:SLUG_LIMIT].strip("-"),
            title=organization.name,
            created_at=at,
            updated_at=at,
        )

    @property
    def is_first(self) -> bool:
        return self.id == first_id(self.organization_id)

    @property
    def is_filtered(self) -> bool:
        return bool(self.repositories or self.scopes)

    def image(self, kind: ImageKind) -> ImageMark | None:
        return next((image for image in self.images if image.kind is kind), None)

    def shows(self, post: Post) -> bool:
        """Return whether readers of this changelog may see a post."""
        return (
            post.organization_id == self.organization_id
            and post.status is PostStatus.PUBLISHED
            and post.published_at is not None
            and post.content_type in self.content_types
            and (not self.is_filtered or self._chooses(post))
        )

    def _chooses(self, post: Post) -> bool:
        facets = facets_of(post)
        repository_facets = {facet for facet in facets if facet.startswith("repository:")}
        # A summary of several repositories may mention a private one.
        if self.repositories and not (
            repository_facets and repository_facets <= {f"repository:{folded(name)}" for name in self.repositories}
        ):
            return False
        return not self.scopes or any(f"scope:{folded(name)}" in facets for name in self.scopes)

    def lists(self, post: Post) -> bool:
        """Check whether lists and feeds of this changelog have a post: posts that a release contains are left out."""
        return self.shows(post) and post.contained_in is None


@final
@frozen(kw_only=True)
class Exposure:
    """The posts that a changelog shows, or would show if it were public."""

    posts: int
    repositories: tuple[tuple[str, int], ...] = field(converter=_by_name)


#: The maximum number of current and earlier public slugs of an organization. Each is reserved permanently: without a
#: limit, one organization could reserve every name. Ten changelogs may each change theirs twice.
MAX_SLUGS: Final = 30
#: The message for every slug that another organization holds: it does not reveal a changelog that is not public.
SLUG_TAKEN: Final = Refusal(RefusalKind.DUPLICATE, f"{FIELD} is not available: choose another one", "slug")
#: Links to the other changelog would lead to this one.
SLUG_USED: Final = Refusal(
    RefusalKind.DUPLICATE, f"{FIELD} is or was the address of another changelog of yours: choose another one", "slug"
)
TOO_MANY_CHANGELOGS: Final = Refusal(
    RefusalKind.LIMIT, f"{FIELD} cannot be added: an organization has at most {MAX_CHANGELOGS} changelogs", "slug"
)


def too_many_slugs(at_most: int = MAX_SLUGS) -> Refusal:
    return invalid(
        "slug", f"must be one that was public before: an organization keeps at most {at_most} of them, for good"
    )


def public_slugs(current: PublicChangelog | None, changed: PublicChangelog) -> set[str]:
    """Return the slugs that a changed changelog reserves for its organization."""
    return {each.slug for each in (current, changed) if each is not None and each.is_public}


def refuse_changelog(
    current: PublicChangelog | None,
    changed: PublicChangelog,
    *,
    own: Mapping[str, str],
    holders: Mapping[str, str],
    is_anothers: bool,
    at_most: int,
) -> Refusal | None:
    """Return why a changed changelog is not stored.

    ``own`` are the slugs of the organization's changelogs, by id. ``holders`` are the ids of the changelogs that had
    its reserved slugs; some are deleted. ``is_anothers``: another organization has the new slug, or had it.
    """
    if current is None and len(own) >= MAX_CHANGELOGS:
        return TOO_MANY_CHANGELOGS
    if is_anothers:
        return SLUG_TAKEN
    used_by = {id_ for id_, slug in own.items() if slug == changed.slug}
    used_by |= {holders.get(changed.slug)} & own.keys()
    if used_by - {changed.id}:
        return SLUG_USED
    # The slugs of a deleted changelog led nowhere, and are free for the others.
    new = public_slugs(current, changed) - holders.keys()
    return too_many_slugs(at_most) if new and len(holders.keys() | new) > at_most else None


@final
class ChangelogBody(Struct, frozen=True, kw_only=True, rename="camel"):
    """A public changelog."""

    id: str
    slug: str
    title: str
    description: str
    product_url: str | None
    content_types: list[ContentType]
    repositories: list[str]
    scopes: list[str]
    accent: str | None
    header_links: list[LinkBody]
    images: ImagesBody
    show_details: bool
    is_public: bool
    url: str

    @classmethod
    def of(cls, changelog: PublicChangelog, *, url: str) -> Self:
        return body_of(
            cls,
            changelog,
            accent=None if changelog.accent is None else f"#{changelog.accent}",
            images={image.kind.value: image.digest for image in changelog.images},
            url=url,
        )


@final
class ExposedRepository(TypedDict):
    """Number of posts about a repository."""

    repository: str
    posts: int


@final
class ExposedPost(TypedDict):
    """A post that the changelog shows."""

    id: str
    title: str
    occurredAt: str


@final
class ExposureBody(TypedDict):
    """The posts that a changelog shows, or would show if it were public."""

    posts: int
    repositories: list[ExposedRepository]
    newest: list[ExposedPost]


def exposure_body(exposure: Exposure, newest: Sequence[Post]) -> ExposureBody:
    return {
        "posts": exposure.posts,
        "repositories": [{"repository": name, "posts": count} for name, count in exposure.repositories],
        "newest": [{"id": post.id, "title": post.title, "occurredAt": iso_ms(post.occurred_at)} for post in newest],
    }
