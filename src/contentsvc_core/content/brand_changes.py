"""Commands for brand identities, with the checks of each field (decisions, ``/v1`` 'Brand identities').

The transitions at the end hold for the identities of one organization. A store applies them under a lock.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, final
from unicodedata import normalize

from attrs import evolve, frozen
from msgspec import Meta

from contentsvc_core.commands import Command, changing
from contentsvc_core.content.brand import LONG_TEXT_LIMIT, NAME_LIMIT, TEXT_LIMIT, BrandIdentity, ToneProfile
from contentsvc_core.content.site_addresses import SiteHost, read_site_address, with_scheme
from contentsvc_core.refusals import NOTHING_TO_CHANGE, Refusal, RefusalKind, invalid
from contentsvc_core.text import one_line, storable

Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=NAME_LIMIT)]
Text: TypeAlias = Annotated[str, Meta(min_length=1, max_length=TEXT_LIMIT)]
LongText: TypeAlias = Annotated[str, Meta(min_length=1, max_length=LONG_TEXT_LIMIT)]


@final
class CreateBrand(Command, frozen=True, kw_only=True):
    """Create a brand identity."""

    name: Annotated[Name, Meta(description="Name, unique in the organization.")]
    is_default: Annotated[bool, Meta(description="Make it the organization's default.")] = False
    website_url: Annotated[Text, Meta(description="The company's website.")]
    company_name: Annotated[Text, Meta(description="Name of the company.")] | None = None
    company_description: Annotated[LongText, Meta(description="Description of the company.")] | None = None
    tone_profile: Annotated[ToneProfile, Meta(description="Tone of posts.")] = ToneProfile.PROFESSIONAL
    custom_tone: Annotated[Text, Meta(description="Tone in your own words; overrides the profile.")] | None = None
    custom_instructions: Annotated[LongText, Meta(description="Instructions for writers.")] | None = None
    audience: Annotated[Text, Meta(description="Audience of posts, e.g. 'developers'.")] | None = None
    language: Annotated[Text, Meta(description="Language of posts, by its English name.")] | None = None


OPTIONAL_TEXTS: Final = (
    "company_name", "company_description", "custom_tone", "custom_instructions", "audience", "language"
)  # fmt: skip


@final
@changing(CreateBrand, clears=OPTIONAL_TEXTS)
class ChangeBrand(Command, frozen=True):
    if TYPE_CHECKING:

        def __init__(self, **fields: object) -> None: ...


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
    return normalize("NFC", normalize("NFC", name).casefold())


@final
@frozen(kw_only=True)
class BrandChange:
    values: Mapping[str, Any]
    at: datetime

    def of(self, current: BrandIdentity) -> BrandIdentity | Refusal:
        """Return the changed identity. The default identity can lose that role only to another one (decisions)."""
        if current.is_default and self.values.get("is_default") is False:
            return LEAVES_NO_DEFAULT_BRAND
        return evolve(current, **self.values, updated_at=self.at)


def read_brand_change(
    changes: Mapping[str, Any], *, at: datetime, opened: Collection[SiteHost] = ()
) -> BrandChange | Refusal:
    """Check the changes that a client requests, by attributes; a website may be at a non-public host in ``opened``."""
    if not changes:
        return NOTHING_TO_CHANGE
    values: dict[str, Any] = {}
    for attribute, value in changes.items():
        read = _read(attribute, value, opened)
        if isinstance(read, Refusal):
            return read
        values[attribute] = read
    return BrandChange(values=values, at=at)


def read_brand_name(text: str) -> str | Refusal:
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
    if attribute in _LONG:
        cleaned = storable(_NEW_LINES.sub("\n", text)).strip()
    else:
        cleaned = one_line(text, 2 * max(len(text), 1))
    if not 1 <= len(cleaned) <= limit:
        return invalid(attribute, f"must be 1 to {limit} characters long")
    return cleaned


def add_brand(brands: Collection[BrandIdentity], brand: BrandIdentity) -> BrandIdentity | Refusal:
    """Return the identity to store: the first one is the default. An identity of the same id is returned unchanged."""
    same = _with_id(brands, brand.id)
    if same is not None:
        return same
    if is_taken(brands, brand.name):
        return BRAND_NAME_TAKEN
    return evolve(brand, is_default=not any(each.is_default for each in brands))


def change_brand(
    brands: Collection[BrandIdentity], brand_id: str, change: BrandChange
) -> Sequence[BrandIdentity] | Refusal:
    """Return the identities to store: a former default that loses the role, and last the changed identity."""
    brand = _with_id(brands, brand_id)
    if brand is None:
        return UNKNOWN_BRAND
    changed = change.of(brand)
    if isinstance(changed, Refusal):
        return changed
    if is_taken(brands, changed.name, by_another_than=brand_id):
        return BRAND_NAME_TAKEN
    former = [each for each in brands if each.is_default and changed.is_default and each.id != brand_id]
    return [*(evolve(each, is_default=False) for each in former), changed]


def remove_brand(brands: Iterable[BrandIdentity], brand_id: str) -> Refusal | None:
    """Return the refusal of a deletion: an unknown identity, or the default one; ``None``: it may be deleted."""
    brand = _with_id(brands, brand_id)
    if brand is None:
        return UNKNOWN_BRAND
    return DELETES_DEFAULT_BRAND if brand.is_default else None


def _with_id(brands: Iterable[BrandIdentity], brand_id: str) -> BrandIdentity | None:
    return next((each for each in brands if each.id == brand_id), None)


def is_taken(brands: Iterable[BrandIdentity], name: str, *, by_another_than: str | None = None) -> bool:
    return any(each.id != by_another_than and name_key(each.name) == name_key(name) for each in brands)
