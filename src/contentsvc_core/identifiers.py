"""Syntax of identifiers from outside, checked before any lookup."""

import re
from itertools import filterfalse
from typing import Final

from contentsvc_core.on_demand import late

#: The largest id that both databases hold: a signed 64-bit integer.
MAX_REPOSITORY_ID: Final = 2**63 - 1

_REPOSITORY_ID: Final = late(r"[1-9][0-9]{0,18}", re.ASCII)
_DELIVERY_ID: Final = 255
_OWN_ID: Final = late(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
#: A UUIDv7 behind a prefix: its first 48 bits are milliseconds since the epoch (RFC 9562, section 5.7).
_TIMED: Final = late(r"[a-z]+_([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.ASCII)
_BEGUN: Final = late(r"(?:[a-z]+_)?([0-9a-f]{1,8})(?:-([0-9a-f]{0,4})(?:-.*)?)?", re.ASCII)
_SLUG: Final = late(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?", re.ASCII)
#: Neither part may be ``.`` or ``..``.
_FULL_NAME: Final = late(r"(?!\.\.?/)[A-Za-z0-9_.-]{1,100}/(?!\.\.?\Z)[A-Za-z0-9_.-]{1,100}", re.ASCII)
#: Levels of groups above a repository; GitLab allows 20 below a top-level one.
_MOST_GROUPS: Final = 21
_TOKEN: Final = late(r"[!-~]{1,1000}")
#: Latin letters that Unicode does not decompose, by their usual transcription.
_TRANSCRIBED: Final = str.maketrans(
    {
        "æ": "ae",
        "œ": "oe",
        "ø": "o",
        "ł": "l",
        "đ": "d",
        "ð": "d",
        "þ": "th",
        "ħ": "h",
        "ŧ": "t",
        "ŋ": "n",
        "\N{LATIN SMALL LETTER DOTLESS I}": "i",
    }
)
_NOT_SLUG: Final = late(r"[^a-z0-9]+")
#: The address of a repository, as browsers and git have it.
_ADDRESS: Final = late(r"(?:(?:https?|ssh)://[^/\s]+/|git@[^/:\s]+[:/])(\S+?)(?:\.git)?/?")


def repository_id(text: str) -> int | None:
    """Read a repository id: ASCII digits without a leading zero, at most :data:`MAX_REPOSITORY_ID`; else ``None``."""
    if _REPOSITORY_ID.fullmatch(text) is None:
        return None
    number = int(text)
    return number if number <= MAX_REPOSITORY_ID else None


def is_delivery_id(text: str) -> bool:
    """Check the form of a delivery id: 1 to 255 visible ASCII characters, in practice a UUID."""
    return 0 < len(text) <= _DELIVERY_ID and text.isascii() and text.isprintable() and " " not in text


def is_own_id(text: str) -> bool:
    return _OWN_ID.fullmatch(text) is not None


def minted_ms(text: str) -> int | None:
    """Return the time at which an id was generated, in milliseconds since the epoch; ``None``: the id has no time."""
    timed = _TIMED.fullmatch(text)
    return None if timed is None else int(timed[1] + timed[2], 16)


def minted_between(beginning: str) -> tuple[int, int] | None:
    """Return the first and the last time at which ids with this beginning are generated, in milliseconds."""
    begun = _BEGUN.fullmatch(beginning)
    if begun is None:
        return None
    digits = begun[1] + (begun[2] or "")
    return int(f"{digits:0<12}", 16), int(f"{digits:f<12}", 16)


def is_slug(text: str) -> bool:
    return _SLUG.fullmatch(text) is not None


def is_full_name(text: str, *, nested: bool = False) -> bool:
    if not nested:
        return _FULL_NAME.fullmatch(text) is not None
    *groups, name = text.split("/")
    return 0 < len(groups) <= _MOST_GROUPS and all(_FULL_NAME.fullmatch(f"{group}/{name}") for group in groups)


def full_name_in(text: str) -> str:
    """Return the full name in the address of a repository; any other text is returned unchanged."""
    address = _ADDRESS.fullmatch(text)
    return text if address is None else address[1]


def is_token(text: str) -> bool:
    """Check the form of a code host's token: visible ASCII characters, fit for a header's value."""
    return _TOKEN.fullmatch(text) is not None


def slugify(name: str) -> str:
    """Convert a name to a slug, without accents; empty: the name has no Latin letter or digit."""
    if not name.isascii():
        from unicodedata import combining, normalize  # noqa: PLC0415  # most names are ASCII

        name = "".join(filterfalse(combining, normalize("NFKD", name.casefold()))).translate(_TRANSCRIBED)
    return _NOT_SLUG.sub("-", name.lower()).strip("-")[:64].strip("-")


def is_loopback(host: str) -> bool:
    """Check whether the host of a URL is this machine."""
    from ipaddress import ip_address  # noqa: PLC0415  # most commands do not need it

    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
