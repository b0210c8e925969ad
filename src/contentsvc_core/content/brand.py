"""Brand identities: the voice, audience and language of posts (decisions, ``/v1``)."""

from datetime import datetime
from enum import Enum
from typing import Final, Self, final

from attrs import frozen
from msgspec import Struct

from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.schemas import body_of
from contentsvc_core.text import one_line

#: The longest name, in characters, as in the hosted product (decision 0039).
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


def sober(tone: ToneProfile) -> ToneProfile:
    """Return the tone of an investor update: formal, or professional."""
    return tone if tone is ToneProfile.FORMAL else ToneProfile.PROFESSIONAL


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
    audience: str | None = None
    #: The language to write in: its English name, e.g. "English" or "German".
    language: str | None = None
    created_at: datetime
    updated_at: datetime


def no_such_brand(brand_id: str) -> Refusal:
    """Return the refusal of a trigger or schedule that names an identity which its organization does not have."""
    fault = f"Unknown brand identity: '{one_line(brand_id, 64)}'"
    return Refusal(RefusalKind.UNSUITABLE, fault, "brand_identity_id")


class BrandBody(Struct, frozen=True, kw_only=True, rename="camel"):
    """A brand identity."""

    id: str
    name: str
    is_default: bool
    website_url: str
    company_name: str | None
    company_description: str | None
    tone_profile: ToneProfile
    custom_tone: str | None
    custom_instructions: str | None
    audience: str | None
    language: str | None
    created_at: str
    updated_at: str

    @classmethod
    def of(cls, brand: BrandIdentity) -> Self:
        return body_of(cls, brand)


def unsupported_settings(brand: BrandIdentity | None) -> list[str]:
    """Return a sentence about settings of an identity that the rule-based writer cannot follow; empty: none."""
    if brand is None:
        return []
    wishes = {"customTone": brand.custom_tone, "customInstructions": brand.custom_instructions}
    names = [name for name, text in wishes.items() if text]
    if not names:
        return []
    were, they, need = ("were", "they", "need") if len(names) > 1 else ("was", "it", "needs")
    return [f"{' and '.join(names)} {were} not applied: {they} {need} a language model"]
