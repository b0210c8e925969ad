import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final, final
from urllib.parse import urlsplit

from attrs import evolve
from msgspec import UNSET, Meta, Struct, UnsetType

from contentsvc_core.commands import Command, changing, values_of
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.public.changelogs import LABEL_LIMIT, SLUG_LIMIT, URL_LIMIT, LinkBody, PublicChangelog
from contentsvc_core.content.public.colours import read_colour
from contentsvc_core.content.public.facets import folded
from contentsvc_core.identifiers import is_full_name, is_slug
from contentsvc_core.refusals import Refusal, invalid
from contentsvc_core.text import has_controls, one_line

#: The longest texts of a changelog, in characters.
TITLE_LIMIT: Final = 100
DESCRIPTION_LIMIT: Final = 300
#: Repositories, and scopes and packages, of a changelog: each is part of one question to the database.
MAX_CHOSEN: Final = 20
SCOPE_LIMIT: Final = 60
#: The most links in a header: with the pages of the changelog they take one line of a laptop.
MAX_LINKS: Final = 5
_HOST: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?", re.ASCII)
_NO_ADDRESS: Final = f"must be an http or https address of at most {URL_LIMIT:,} characters"


@final
class CreateChangelog(Command, frozen=True, kw_only=True):
    """Create a public changelog."""

    slug: Annotated[
        str,
        Meta(
            description="Slug in the URL, unique over all organizations.",
            extra_json_schema={"minLength": 1, "maxLength": SLUG_LIMIT},
        ),
    ]
    title: Annotated[
        str,
        Meta(
            description=f"One line of 1 to {TITLE_LIMIT} characters.",
            extra_json_schema={"minLength": 1, "maxLength": TITLE_LIMIT},
        ),
    ]
    description: (
        Annotated[
            str,
            Meta(
                description=f"One line of at most {DESCRIPTION_LIMIT} characters; '' for none.",
                extra_json_schema={"maxLength": DESCRIPTION_LIMIT},
            ),
        ]
        | UnsetType
    ) = UNSET
    product_url: Annotated[str, Meta(description="URL of the product's website; '' for none.")] | UnsetType | None = (
        UNSET
    )
    content_types: (
        Annotated[
            tuple[ContentType, ...],
            Meta(
                description="Show only posts of these content types, one at least.",
                extra_json_schema={"minItems": 1},
            ),
        ]
        | UnsetType
    ) = UNSET
    repositories: (
        Annotated[tuple[str, ...], Meta(description="Show only posts about these repositories; empty: all.")]
        | UnsetType
    ) = UNSET
    scopes: (
        Annotated[
            tuple[str, ...], Meta(description="Show only posts with these commit scopes or packages; empty: all.")
        ]
        | UnsetType
    ) = UNSET
    accent: (
        Annotated[str, Meta(description="Colour of links, such as #0b6b63; '' for the default.")] | UnsetType | None
    ) = UNSET
    header_links: (
        Annotated[
            tuple[LinkBody, ...], Meta(description="Links in the header.", extra_json_schema={"maxItems": MAX_LINKS})
        ]
        | UnsetType
    ) = UNSET
    show_details: Annotated[bool, Meta(description="Show hashes, contributors and internal changes.")] | UnsetType = (
        UNSET
    )
    is_public: bool | UnsetType = UNSET


@final
@changing(CreateChangelog, clears=("product_url", "accent"))
class ChangeChangelog(Command, frozen=True):
    if TYPE_CHECKING:

        def __init__(self, **fields: object) -> None: ...


def changed_changelog(current: PublicChangelog, command: Struct, *, at: datetime) -> PublicChangelog | Refusal:
    if faults := faults_of(command):
        return faults[0]
    # Never earlier than the previous change, even if the clock was set back: conditional requests compare this time.
    return evolve(current, **_read(command), updated_at=max(at, current.updated_at))


def faults_of(command: Struct) -> list[Refusal]:
    """Return the refusals of all fields of a command, in their order."""
    return [value for value in _read(command).values() if isinstance(value, Refusal)]


def _read(command: Struct) -> dict[str, Any]:
    values = values_of(command)
    return {name: _READERS[name](value) if name in _READERS else value for name, value in values.items()}


def _slug(text: str) -> str | Refusal:
    if is_slug(text) and len(text) <= SLUG_LIMIT:
        return text
    quoted = one_line(text, SLUG_LIMIT)
    return invalid("slug", f"must be 1 to {SLUG_LIMIT} of a-z, 0-9 and inner hyphens, which '{quoted}' is not")


def _repositories(names: tuple[str, ...]) -> tuple[str, ...] | Refusal:
    unfit = next((name for name in names if not is_full_name(name, nested=True)), None)
    if unfit is not None:
        return invalid("repositories", f"must be owner/name, which '{one_line(unfit, 100)}' is not")
    return _chosen("repositories", names)


def _scopes(names: tuple[str, ...]) -> tuple[str, ...] | Refusal:
    unfit = next((name for name in names if not 1 <= len(folded(name)) <= SCOPE_LIMIT), None)
    if unfit is not None:
        return invalid("scopes", f"must have 1 to {SCOPE_LIMIT} characters each")
    return _chosen("scopes", tuple(map(folded, names)))


def _chosen(field: str, names: tuple[str, ...]) -> tuple[str, ...] | Refusal:
    chosen = {folded(name): name for name in names}
    if len(chosen) > MAX_CHOSEN:
        return invalid(field, f"must be at most {MAX_CHOSEN}")
    return tuple(chosen.values())


def _accent(text: str | None) -> str | Refusal | None:
    if text is None or not text.strip():
        return None
    return read_colour(text) or invalid("accent", "must be a colour such as #0b6b63")


def _links(links: tuple[LinkBody, ...]) -> tuple[LinkBody, ...] | Refusal:
    if len(links) > MAX_LINKS:
        return invalid("header_links", f"must be at most {MAX_LINKS}")
    read: list[LinkBody] = []
    for link in links:
        line = _line("header_links", link.label, 1, LABEL_LIMIT, of="labels")
        address = _address("header_links", link.url)
        if isinstance(line, Refusal):
            return line
        if isinstance(address, Refusal) or address is None:
            return invalid("header_links", f"{_NO_ADDRESS.replace('must be', 'must each have')}")
        read.append(LinkBody(label=line, url=address))
    return tuple(read)


def _address(field: str, text: str | None) -> str | Refusal | None:
    address = (text or "").strip()
    if not address:
        return None
    return address if _is_address(address) else invalid(field, _NO_ADDRESS)


def _line(name: str, text: str, least: int, limit: int, *, of: str = "") -> str | Refusal:
    line = one_line(text, 2 * max(len(text), 1))
    if not least <= len(line) <= limit:
        size = f"{least} to" if least else "at most"
        return invalid(name, f"must have {f'{of} of ' if of else ''}{size} {limit} characters")
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


def _types(types: tuple[ContentType, ...]) -> tuple[ContentType, ...] | Refusal:
    return types or invalid("content_types", "must name one type of content at least")


_READERS: Final[Mapping[str, Callable[[Any], object]]] = {
    "slug": _slug,
    "title": lambda text: _line("title", text, 1, TITLE_LIMIT),
    "description": lambda text: _line("description", text, 0, DESCRIPTION_LIMIT),
    "product_url": lambda text: _address("product_url", text),
    "content_types": _types,
    "repositories": _repositories,
    "scopes": _scopes,
    "accent": _accent,
    "header_links": _links,
}
