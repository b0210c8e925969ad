"""Changes of a brand identity, with the checks of each field (decisions, ``/v1`` 'Brand identities')."""

import re
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Final, final
from unicodedata import normalize

from attrs import evolve, frozen

from contentsvc_core.content.brand import LONG_TEXT_LIMIT, NAME_LIMIT, TEXT_LIMIT, BrandIdentity, ToneProfile
from contentsvc_core.content.site_addresses import SiteHost, read_site_address, with_scheme
from contentsvc_core.refusals import Refusal, RefusalKind, invalid
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


UNKNOWN_BRAND: Final = Refusal(RefusalKind.NOT_FOUND, "Brand identity not found")
BRAND_NAME_TAKEN: Final = Refusal(RefusalKind.DUPLICATE, "Brand identity name already exists", "name")
DELETES_DEFAULT_BRAND: Final = Refusal(RefusalKind.UNSUITABLE, "Cannot delete the default brand identity")
LEAVES_NO_DEFAULT_BRAND: Final = Refusal(
    RefusalKind.UNSUITABLE, "Cannot unset the default brand identity: make another one the default instead"
)


def name_key(name: str) -> str:
    """Return the form of a name that is unique in an organization: without case, and with accents normalized."""
    return normalize("NFC", normalize("NFC", name).casefold())


@final
@frozen(kw_only=True)
class BrandChange:
    """New values for some fields of an identity, all of them checked (:func:`read_brand_change`)."""

    values: Mapping[str, Any]
    at: datetime

    def of(self, standing: BrandIdentity) -> BrandIdentity | Refusal:
        """Return the changed identity. The default identity can lose that role only to another one (decisions)."""
        if standing.is_default and self.values.get("is_default") is False:
            return LEAVES_NO_DEFAULT_BRAND
        return evolve(standing, **self.values, updated_at=self.at)


def read_brand_change(
    given: Mapping[str, Any], *, at: datetime, opened: Collection[SiteHost] = ()
) -> BrandChange | Refusal:
    """Check the changes that a client requests.

    ``given`` has new values by attributes of :class:`BrandIdentity`: texts, ``None``, ``is_default`` or
    ``tone_profile``. ``opened`` are the non-public hosts that a website's address may name.
    """
    if not given:
        return Refusal(RefusalKind.INVALID, "Nothing to change: give at least one field")
    values: dict[str, Any] = {}
    for attribute, value in given.items():
        read = _read(attribute, value, opened)
        if isinstance(read, Refusal):
            return read
        values[attribute] = read
    return BrandChange(values=values, at=at)


def read_brand_name(text: str) -> str | Refusal:
    """Check a name: one line of 1 to 120 characters, after trimming."""
    return _text("name", text, NAME_LIMIT)


def _read(attribute: str, value: object, opened: Collection[SiteHost]) -> object | Refusal:
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
            return evolve(site, field=attribute) if isinstance(site, Refusal) else address
        case _, None if attribute in OPTIONAL_TEXTS:
            return None
        case _, str() if attribute in OPTIONAL_TEXTS:
            return _text(attribute, value, _LIMITS.get(attribute, TEXT_LIMIT))
        case _:
            return invalid(attribute, "has a value that it cannot have")


def _text(attribute: str, text: str, limit: int) -> str | Refusal:
    # Texts that are too long are refused, not cut.
    if attribute in _LONG:
        given = storable(_NEW_LINES.sub("\n", text)).strip()
    else:
        given = one_line(text, 2 * max(len(text), 1))
    if not 1 <= len(given) <= limit:
        return invalid(attribute, f"must be 1 to {limit} characters long")
    return given
