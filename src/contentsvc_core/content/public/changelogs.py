"""An organization's public changelog: its values, what may be changed of it, and what it shows (decision 0023)."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Self, cast, final
from urllib.parse import urlsplit

from attrs import evolve, field, frozen

from contentsvc_core.content.posts import ContentType, Post, PostStatus
from contentsvc_core.identifiers import is_slug
from contentsvc_core.organizations import Organization
from contentsvc_core.text import has_controls, one_line

SLUG_LIMIT: Final = 63
TITLE_LIMIT: Final = 100
DESCRIPTION_LIMIT: Final = 300
URL_LIMIT: Final = 2_000
#: What is shown unless somebody chooses: what is written for readers of the product, and for nobody's timeline.
DEFAULT_TYPES: Final = (ContentType.CHANGELOG, ContentType.BLOG_POST)
_HOST: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?", re.ASCII)


def _by_name(counts: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counts.items()))


def _known_order(types: tuple[ContentType, ...]) -> tuple[ContentType, ...]:
    return tuple(kind for kind in ContentType if kind in types)


@final
@frozen(kw_only=True)
class PublicChangelog:
    """What everybody may read of an organization's published posts, under which name, and whether at all."""

    organization_id: str
    #: Names it in addresses, ``/changelog/{slug}``; unique over all organizations. Once public, it is theirs for good.
    slug: str
    #: One line of 1 to 100 characters.
    title: str
    #: One line of at most 300 characters; empty: there is none.
    description: str = ""
    #: The product's own site, ``http`` or ``https``; ``None``: nothing is linked.
    product_url: str | None = None
    #: The posts of these types are shown; one at least, each once.
    content_types: tuple[ContentType, ...] = field(converter=_known_order, default=DEFAULT_TYPES)
    #: Off: its addresses lead to the same page as unknown ones.
    is_public: bool = False
    created_at: datetime
    #: The last change of any of this, and the last deletion of a post that may have been shown.
    updated_at: datetime
    #: Counts the changes of this and of posts that are or were public, whatever the clock says; the store counts.
    revision: int = field(default=0, eq=False)

    @classmethod
    def first(cls, organization: Organization, at: datetime) -> Self:
        """Give the changelog of an organization that has set up none: named as the organization is, and off."""
        return cls(
            organization_id=organization.id,
            slug=organization.slug[:SLUG_LIMIT].strip("-"),
            title=organization.name,
            created_at=at,
            updated_at=at,
        )

    def shows(self, post: Post) -> bool:
        """Tell whether readers of this changelog may see a post."""
        return (
            post.organization_id == self.organization_id
            and post.status is PostStatus.PUBLISHED
            and post.published_at is not None
            and post.content_type in self.content_types
        )

    def lists(self, post: Post) -> bool:
        """Return whether the lists and feeds of this changelog have a post: a release stands for what it contains."""
        return self.shows(post) and post.contained_in is None


@final
@frozen(kw_only=True)
class Exposure:
    """What a changelog shows, or would show once it is switched on."""

    #: The number of posts.
    posts: int
    #: By repository, in alphabetical order: the number of these posts that name it. A post may name several, or none.
    repositories: tuple[tuple[str, int], ...] = field(converter=_by_name)


@final
@frozen(kw_only=True)
class InvalidChangelog:
    """A change that cannot be; the reason is for who has asked, and begins with the field's name on the wire."""

    reason: str


#: The most slugs of an organization that are or were public. Each is held for good: without a bound, one organization
#: could hold every name.
MAX_SLUGS: Final = 10
#: The one answer for every slug that is another organization's, so that it reveals no changelog that is off.
SLUG_TAKEN: Final = InvalidChangelog(reason="slug is not available: choose another one")


def too_many_slugs(at_most: int = MAX_SLUGS) -> InvalidChangelog:
    """Return why a changelog cannot be public under one more slug."""
    return InvalidChangelog(
        reason=f"slug must be one that was public before: an organization keeps at most {at_most} of them, for good"
    )


def public_slugs(standing: PublicChangelog | None, changed: PublicChangelog) -> set[str]:
    """Return the slugs that a change makes public, or has found public: their organization holds them from then on."""
    return {each.slug for each in (standing, changed) if each is not None and each.is_public}


def changed_changelog(
    standing: PublicChangelog, given: Mapping[str, Any], *, at: datetime
) -> PublicChangelog | InvalidChangelog:
    """Check what is to be changed, and give what a changelog becomes.

    Args:
        standing: How it stands.
        given: New values by the attributes of :class:`PublicChangelog`: texts, a tuple of types, ``is_public``.
        at: When.
    """
    values: dict[str, Any] = {}
    for attribute, value in given.items():
        read = _read(attribute, value)
        if isinstance(read, InvalidChangelog):
            return read
        values[attribute] = read
    # Later than the change before, whatever the clock says: who has the page asks whether it has changed since.
    return evolve(standing, **values, updated_at=max(at, standing.updated_at))


def _read(attribute: str, value: object) -> object | InvalidChangelog:
    match attribute, value:
        case "slug", str():
            return _slug(value)
        case "title", str():
            return _line("title", value, 1, TITLE_LIMIT)
        case "description", str():
            return _line("description", value, 0, DESCRIPTION_LIMIT)
        case "product_url", None | str():
            return _address(value or "")
        case "content_types", ():
            return InvalidChangelog(reason="contentTypes must name one type of content at least")
        case "content_types", tuple():
            return cast("tuple[ContentType, ...]", value)
        case "is_public", bool():
            return value
        case _:
            return InvalidChangelog(reason=f"{attribute} has a value that it cannot have")


def _slug(text: str) -> str | InvalidChangelog:
    if is_slug(text) and len(text) <= SLUG_LIMIT:
        return text
    shown = one_line(text, SLUG_LIMIT)
    return InvalidChangelog(
        reason=f"slug must be 1 to {SLUG_LIMIT} of a-z, 0-9 and inner hyphens, which '{shown}' is not"
    )


def _address(text: str) -> str | InvalidChangelog | None:
    address = text.strip()
    if not address:
        return None
    return address if _is_address(address) else InvalidChangelog(reason=_NO_ADDRESS)


_NO_ADDRESS: Final = f"productUrl must be an http or https address of at most {URL_LIMIT:,} characters"


def _line(name: str, text: str, least: int, limit: int) -> str | InvalidChangelog:
    line = one_line(text, 2 * max(len(text), 1))
    if not least <= len(line) <= limit:
        return InvalidChangelog(reason=f"{name} must have {f'{least} to' if least else 'at most'} {limit} characters")
    return line


def _is_address(text: str) -> bool:
    if len(text) > URL_LIMIT or has_controls(text) or " " in text or "\\" in text:
        return False
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and "@" not in parts.netloc and _HOST.fullmatch(host) is not None


def changelog_body(changelog: PublicChangelog) -> dict[str, Any]:
    """Give a changelog's fields, as programs are told them."""
    return {
        "slug": changelog.slug,
        "title": changelog.title,
        "description": changelog.description,
        "productUrl": changelog.product_url,
        "contentTypes": [kind.value for kind in changelog.content_types],
        "isPublic": changelog.is_public,
    }
