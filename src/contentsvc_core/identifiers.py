"""Identifiers from outside: which texts can be one at all, decided before anything is looked up."""

import re
from typing import Final

#: The largest id that both databases hold: a signed 64-bit integer.
MAX_REPOSITORY_ID: Final = 2**63 - 1

_REPOSITORY_ID: Final = re.compile(r"[1-9][0-9]{0,18}", re.ASCII)
_DELIVERY_ID: Final = re.compile(r"[!-~]{1,255}")
_OWN_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
#: A UUIDv7 behind a prefix: its first 48 bits are milliseconds since the epoch (RFC 9562, section 5.7).
_TIMED: Final = re.compile(r"[a-z]+_([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.ASCII)
_SLUG: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?", re.ASCII)
#: Neither part may be a step in a path.
_FULL_NAME: Final = re.compile(r"(?!\.\.?/)[A-Za-z0-9_.-]{1,100}/(?!\.\.?\Z)[A-Za-z0-9_.-]{1,100}", re.ASCII)
_TOKEN: Final = re.compile(r"[!-~]{1,1000}")
_NOT_SLUG: Final = re.compile(r"[^a-z0-9]+")


def repository_id(text: str) -> int | None:
    """Read a repository id: ASCII digits without a leading zero, at most :data:`MAX_REPOSITORY_ID`; else ``None``.

    ``int()`` alone would also take ``1_0``, ``+1``, Arabic digits, and numbers that overflow a database.
    """
    if _REPOSITORY_ID.fullmatch(text) is None:
        return None
    number = int(text)
    return number if number <= MAX_REPOSITORY_ID else None


def is_delivery_id(text: str) -> bool:
    """Tell whether ``text`` can be a delivery id: 1 to 255 visible ASCII characters, in practice a UUID."""
    return _DELIVERY_ID.fullmatch(text) is not None


def is_own_id(text: str) -> bool:
    """Tell whether ``text`` can be an id that this service minted; anything else is an unknown one."""
    return _OWN_ID.fullmatch(text) is not None


def minted_ms(text: str) -> int | None:
    """Read when an id was minted, in milliseconds since the epoch; ``None``: it does not tell."""
    timed = _TIMED.fullmatch(text)
    return None if timed is None else int(timed[1] + timed[2], 16)


def is_slug(text: str) -> bool:
    """Tell whether ``text`` is a slug: 1 to 64 of ``a-z0-9-``, no hyphen at either end."""
    return _SLUG.fullmatch(text) is not None


def is_full_name(text: str) -> bool:
    """Tell whether ``text`` is a repository's name in the form ``owner/name``."""
    return _FULL_NAME.fullmatch(text) is not None


def is_token(text: str) -> bool:
    """Tell whether ``text`` can be a code host's token: visible ASCII characters, fit for a header's value."""
    return _TOKEN.fullmatch(text) is not None


def slugify(name: str) -> str:
    """Make a slug out of a name; empty when the name holds no letter or digit of ASCII."""
    return _NOT_SLUG.sub("-", name.lower()).strip("-")[:64].strip("-")
