"""Changes of a brand identity, with the checks of each field (decisions, ``/v1`` 'Brand identities')."""

import re
from collections.abc import Collection, Mapping
from datetime import datetime
from enum import Enum
from typing import Any, Final, final
from unicodedata import normalize

from attrs import evolve, frozen

from contentsvc_core.content.brand import LONG_TEXT_LIMIT, NAME_LIMIT, TEXT_LIMIT, BrandIdentity, ToneProfile
from contentsvc_core.content.site_addresses import BadAddress, SiteHost, read_site_address, with_scheme
from contentsvc_core.text import one_line, storable

#: Texts that a client may delete with ``null``.
OPTIONAL_TEXTS: Final = frozenset(
    {"company_name", "company_description", "custom_tone", "custom_instructions", "audience", "language"}
)
#: Texts of several lines; all others have one line.
_LONG: Final = frozenset({"company_description", "custom_tone", "custom_instructions"})
#: The most characters of a text; :data:`TEXT_LIMIT` for the others.
_LIMITS: Final = {"company_description": LONG_TEXT_LIMIT, "custom_instructions": LONG_TEXT_LIMIT}
_NEW_LINES: Final = re.compile(r"\r\n?")


class BrandFault(Enum):
    """Why an identity is not added, changed or removed; the value is the message for clients."""

    UNKNOWN = "Brand identity not found"
    NAME_TAKEN = "Brand identity name already exists"
    DELETES_DEFAULT = "Cannot delete the default brand identity"
    LEAVES_NO_DEFAULT = "Cannot unset the default brand identity: make another one the default instead"


def name_key(name: str) -> str:
    """Return the form of a name that is unique in an organization: without case, and with accents normalized."""
    return normalize("NFC", normalize("NFC", name).casefold())


@final
@frozen(kw_only=True)
class BadChange:
    """An invalid change; the reason is for the client."""

    reason: str


@final
@frozen(kw_only=True)
class BrandChange:
    """New values for some fields of an identity, all of them checked (:func:`read_brand_change`)."""

    values: Mapping[str, Any]
    at: datetime

    def of(self, standing: BrandIdentity) -> BrandIdentity | BrandFault:
        """Return the changed identity. The default identity can lose that role only to another one (decisions)."""
        if standing.is_default and self.values.get("is_default") is False:
            return BrandFault.LEAVES_NO_DEFAULT
        return evolve(standing, **self.values, updated_at=self.at)


def read_brand_change(
    given: Mapping[str, Any], *, at: datetime, opened: Collection[SiteHost] = ()
) -> BrandChange | BadChange:
    """Check the changes that a client requests.

    ``given`` has new values by attributes of :class:`BrandIdentity`: texts, ``None``, ``is_default`` or
    ``tone_profile``. ``opened`` are the non-public hosts that a website's address may name.
    """
    if not given:
        return BadChange(reason="Nothing to change: give at least one field")
    values: dict[str, Any] = {}
    for attribute, value in given.items():
        read = _read(attribute, value, opened)
        if isinstance(read, BadChange):
            return read
        values[attribute] = read
    return BrandChange(values=values, at=at)


def read_brand_name(text: str) -> str | BadChange:
    """Check a name: one line of 1 to 120 characters, after trimming."""
    return _text("name", text, NAME_LIMIT)


def _read(attribute: str, value: object, opened: Collection[SiteHost]) -> object | BadChange:
    match attribute, value:
        case "is_default", bool():
            return value
        case "tone_profile", ToneProfile():
            return value
        case "name", str():
            return read_brand_name(value)
        case "website_url", str():
            address = with_scheme(value)
            site = read_site_address(address, opened)
            return BadChange(reason=f"websiteUrl {site.reason}") if isinstance(site, BadAddress) else address
        case _, None if attribute in OPTIONAL_TEXTS:
            return None
        case _, str() if attribute in OPTIONAL_TEXTS:
            return _text(attribute, value, _LIMITS.get(attribute, TEXT_LIMIT))
        case _:
            return BadChange(reason=f"{_wire(attribute)} has a value that it cannot have")


def _text(attribute: str, text: str, limit: int) -> str | BadChange:
    # Texts that are too long are refused, not cut.
    if attribute in _LONG:
        given = storable(_NEW_LINES.sub("\n", text)).strip()
    else:
        given = one_line(text, 2 * max(len(text), 1))
    if not 1 <= len(given) <= limit:
        return BadChange(reason=f"{_wire(attribute)} must be 1 to {limit} characters long")
    return given


def _wire(attribute: str) -> str:
    head, *rest = attribute.split("_")
    return head + "".join(part.capitalize() for part in rest)
