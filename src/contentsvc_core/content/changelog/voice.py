"""How content speaks: what a brand identity asks for, as far as rules can follow it."""

import re
from typing import Final, final

from attrs import frozen

from contentsvc_core.content.brand import BrandIdentity, ToneProfile
from contentsvc_core.content.changelog.wording import masked_line
from contentsvc_core.content.phrases import Phrasebook, phrases_in

_COMPANY_LIMIT: Final = 60
_UNTECHNICAL: Final = re.compile(r"\b(?:non|nicht|no)[- ]?(?:technical|technisch|technique|técnic)", re.IGNORECASE)
_LAY: Final = re.compile(
    r"\b(?:customers?|clients?|clientes?|kund|business|executives?|managers?|management|marketing|leadership|stakeholders?"
    r"|investors?|investoren|investisseurs?|inversores|anleger|shareholders?|consumers?|end[- ]users?|general public"
    r"|endnutzer|utilisateurs|usuarios)",
    re.IGNORECASE,
)
_TECHNICAL: Final = re.compile(
    r"\b(?:developers?|engineers?|programmers?|devops|sysadmins?|administrators?|maintainers?|contributors?|architects?"
    r"|entwickler|programmierer|développeur|ingénieur|desarrollador|ingenier|programador)",
    re.IGNORECASE,
)


@final
@frozen(kw_only=True)
class Voice:
    """Who speaks, to whom, and in which words."""

    phrases: Phrasebook
    tone: ToneProfile
    #: Whether readers want what only people who build software read: parts of the code, numbers, commits.
    technical: bool
    #: Plain, one line, not escaped; ``""``: nobody in particular.
    company: str


def voice_of(brand: BrandIdentity | None) -> Voice:
    """Read a brand identity: language, tone, audience and company name; without one, plain professional English."""
    if brand is None:
        return Voice(phrases=phrases_in(None), tone=ToneProfile.PROFESSIONAL, technical=True, company="")
    return Voice(
        phrases=phrases_in(brand.language),
        tone=brand.tone_profile,
        technical=_is_technical(brand.audience or ""),
        company=masked_line(brand.company_name or "", _COMPANY_LIMIT).replace("`", ""),
    )


def _is_technical(audience: str) -> bool:
    """Whether an audience is technical; one that says nothing of it is, for commits are all that there is to tell."""
    audience = audience[:500]
    if _UNTECHNICAL.search(audience):
        return False
    return _TECHNICAL.search(audience) is not None or _LAY.search(audience) is None
