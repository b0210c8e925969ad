"""Brand identities: the voice, audience and language of posts (decisions, ``/v1``)."""

from datetime import datetime
from enum import Enum
from typing import Any, Final, final

from attrs import frozen

from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.text import one_line
from contentsvc_core.timestamps import iso_ms

NAME_LIMIT: Final = 120
#: The texts of several sentences: companyDescription and customInstructions, in characters.
LONG_TEXT_LIMIT: Final = 4_000
#: Every other text of an identity, in characters.
TEXT_LIMIT: Final = 2_000


class ToneProfile(Enum):
    """The tone of a brand identity."""

    CONVERSATIONAL = "Conversational"
    PROFESSIONAL = "Professional"
    CASUAL = "Casual"
    FORMAL = "Formal"


@final
@frozen(kw_only=True)
class BrandIdentity:
    """A brand identity. All texts but the name come from people or websites, and are untrusted."""

    id: str
    organization_id: str
    #: Unique in the organization, compared without case; 1 to 120 characters in one line.
    name: str
    #: Used for posts that name no identity; an organization has at most one default.
    is_default: bool = False
    website_url: str
    company_name: str | None = None
    company_description: str | None = None
    tone_profile: ToneProfile = ToneProfile.PROFESSIONAL
    #: In the owner's words; overrides the profile.
    custom_tone: str | None = None
    custom_instructions: str | None = None
    #: The readers, e.g. "developers".
    audience: str | None = None
    #: The language to write in: its English name, e.g. "English" or "German".
    language: str | None = None
    created_at: datetime
    updated_at: datetime


def no_such_brand(brand_id: str) -> Refusal:
    """Return the refusal of a request that names an unknown identity, by any text."""
    fault = f"Unknown brand identity: '{one_line(brand_id, 64)}'"
    return Refusal(RefusalKind.UNSUITABLE, fault, "brand_identity_id")


def brand_body(brand: BrandIdentity) -> dict[str, Any]:
    """Return an identity's wire form."""
    return {
        "id": brand.id,
        "name": brand.name,
        "isDefault": brand.is_default,
        "websiteUrl": brand.website_url,
        "companyName": brand.company_name,
        "companyDescription": brand.company_description,
        "toneProfile": brand.tone_profile.value,
        "customTone": brand.custom_tone,
        "customInstructions": brand.custom_instructions,
        "audience": brand.audience,
        "language": brand.language,
        "createdAt": iso_ms(brand.created_at),
        "updatedAt": iso_ms(brand.updated_at),
    }


def unheard(brand: BrandIdentity | None) -> list[str]:
    """Return a sentence about settings of an identity that the rule-based writer cannot follow; empty: none."""
    if brand is None:
        return []
    wishes = {"customTone": brand.custom_tone, "customInstructions": brand.custom_instructions}
    names = [name for name, text in wishes.items() if text]
    if not names:
        return []
    were, they, need = ("were", "they", "need") if len(names) > 1 else ("was", "it", "needs")
    return [f"{' and '.join(names)} {were} not applied: {they} {need} a language model"]
