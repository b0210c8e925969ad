import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlsplit

from attrs import evolve

from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.public.changelogs import SLUG_LIMIT, HeaderLink, PublicChangelog
from contentsvc_core.content.public.colours import read_colour
from contentsvc_core.content.public.facets import folded
from contentsvc_core.identifiers import is_full_name, is_slug
from contentsvc_core.refusals import Refusal, invalid
from contentsvc_core.text import has_controls, one_line

TITLE_LIMIT: Final = 100
DESCRIPTION_LIMIT: Final = 300
URL_LIMIT: Final = 2_000
#: Repositories, and scopes and packages, of a changelog: each is part of one question to the database.
MAX_CHOSEN: Final = 20
SCOPE_LIMIT: Final = 60
#: The most links in a header: with the pages of the changelog they take one line of a laptop.
MAX_LINKS: Final = 5
LABEL_LIMIT: Final = 30
_HOST: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?", re.ASCII)
_NO_ADDRESS: Final = f"must be an http or https address of at most {URL_LIMIT:,} characters"


def changed_changelog(
    standing: PublicChangelog, given: Mapping[str, Any], *, at: datetime
) -> PublicChangelog | Refusal:
    values: dict[str, Any] = {}
    for attribute, value in given.items():
        read = _read(attribute, value)
        if isinstance(read, Refusal):
            return read
        values[attribute] = read
    # Never earlier than the previous change, even if the clock was set back: conditional requests compare this time.
    return evolve(standing, **values, updated_at=max(at, standing.updated_at))


def _read(attribute: str, value: object) -> object | Refusal:
    kind, read = _FIELDS.get(attribute, (_NoValue, None))
    if value is None and attribute in _OPTIONAL:
        value = ""
    if read is None or not isinstance(value, kind):
        return invalid(attribute, "has a value that it cannot have")
    return read(value)


class _NoValue: ...


def _slug(text: str) -> str | Refusal:
    if is_slug(text) and len(text) <= SLUG_LIMIT:
        return text
    quoted = one_line(text, SLUG_LIMIT)
    return invalid("slug", f"must be 1 to {SLUG_LIMIT} of a-z, 0-9 and inner hyphens, which '{quoted}' is not")


def _repositories(names: tuple[str, ...]) -> tuple[str, ...] | Refusal:
    unfit = next((name for name in names if not is_full_name(name)), None)
    if unfit is not None:
        return invalid("repositories", f"must be owner/name, which '{one_line(unfit, 100)}' is not")
    return _chosen("repositories", names, folded)


def _scopes(names: tuple[str, ...]) -> tuple[str, ...] | Refusal:
    unfit = next((name for name in names if not 1 <= len(folded(name)) <= SCOPE_LIMIT), None)
    if unfit is not None:
        return invalid("scopes", f"must have 1 to {SCOPE_LIMIT} characters each")
    return _chosen("scopes", tuple(map(folded, names)), folded)


def _chosen(field: str, names: tuple[str, ...], key: Callable[[str], str]) -> tuple[str, ...] | Refusal:
    chosen = {key(name): name for name in names}
    if len(chosen) > MAX_CHOSEN:
        return invalid(field, f"must be at most {MAX_CHOSEN}")
    return tuple(chosen.values())


def _accent(text: str) -> str | Refusal | None:
    if not text.strip():
        return None
    return read_colour(text) or invalid("accent", "must be a colour such as #0b6b63")


def _links(links: tuple[tuple[str, str], ...]) -> tuple[HeaderLink, ...] | Refusal:
    if len(links) > MAX_LINKS:
        return invalid("header_links", f"must be at most {MAX_LINKS}")
    read: list[HeaderLink] = []
    for label, url in links:
        line, address = _line("header_links", label, 1, LABEL_LIMIT, of="labels"), _address("header_links", url)
        if isinstance(line, Refusal):
            return line
        if isinstance(address, Refusal) or address is None:
            return invalid("header_links", f"{_NO_ADDRESS.replace('must be', 'must each have')}")
        read.append(HeaderLink(label=line, url=address))
    return tuple(read)


def _address(field: str, text: str) -> str | Refusal | None:
    address = text.strip()
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


def _switch(value: bool) -> bool:  # noqa: FBT001  # one of the readers below
    return value


_OPTIONAL: Final = frozenset({"product_url", "accent"})
_FIELDS: Final[Mapping[str, tuple[type, Callable[[Any], object]]]] = {
    "slug": (str, _slug),
    "title": (str, lambda text: _line("title", text, 1, TITLE_LIMIT)),
    "description": (str, lambda text: _line("description", text, 0, DESCRIPTION_LIMIT)),
    "product_url": (str, lambda text: _address("product_url", text)),
    "content_types": (tuple, _types),
    "repositories": (tuple, _repositories),
    "scopes": (tuple, _scopes),
    "accent": (str, _accent),
    "header_links": (tuple, _links),
    "show_details": (bool, _switch),
    "is_public": (bool, _switch),
}
