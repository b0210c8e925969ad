"""The voice of posts: language, tone and audience of a brand identity, as far as rules can follow it."""

import re
from typing import Final, final

from attrs import frozen

from contentsvc_core.content.brand import BrandIdentity, ToneProfile
from contentsvc_core.content.changelog.wording import masked_line
from contentsvc_core.content.phrases import Phrasebook, Toned, phrases_in
from contentsvc_core.content.sections import Section

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
    """The language, tone, audience and company of a post."""

    phrases: Phrasebook
    tone: ToneProfile
    #: Whether posts name parts of the code, numbers and commits.
    technical: bool
    #: Plain, one line, not escaped; may be empty.
    company: str

    def say(self, phrase: Toned | str, **values: str) -> str:
        """Return a phrase in the tone, with its places filled."""
        return self.phrases.say(phrase.of(self.tone) if isinstance(phrase, Toned) else phrase, **values)

    def heading(self, section: Section) -> str:
        """Return the heading of a changelog's section: the usual word, or the heading of blog posts in the tone."""
        phrases = self.phrases
        if self.plain or section not in {Section.ADDED, Section.FIXED, *phrases.themes}:
            return phrases.headings[section]
        return self.theme(section)

    def theme(self, section: Section) -> str:
        """Return the heading of a section in blog posts and investor updates."""
        toned = {Section.ADDED: self.phrases.new, Section.FIXED: self.phrases.fixes}.get(section)
        return self.say(toned) if toned else self.phrases.themes[section]

    @property
    def plain(self) -> bool:
        """Whether changelogs have the usual headings and no opening: in the professional tone, the default."""
        return self.tone is ToneProfile.PROFESSIONAL

    def announcement(self, names: str, *, many: bool) -> str:
        """Return the sentence that announces releases: plain."""
        phrases = self.phrases
        if self.company:
            return self.say(phrases.announced_by, company=self.company, names=names)
        return self.say(phrases.announced_many if many else phrases.announced_one, names=names)

    def news(self, subject: str) -> str:
        """Return the sentence that opens a post about changes without a release: plain."""
        if self.company and self.company.casefold() != subject.casefold():
            return self.say(self.phrases.news_by, company=self.company, subject=subject)
        return self.say(self.phrases.news, subject=subject)


def voice_of(brand: BrandIdentity | None) -> Voice:
    """Return the voice of a brand identity; without one, plain professional English."""
    if brand is None:
        return Voice(phrases=phrases_in(None), tone=ToneProfile.PROFESSIONAL, technical=True, company="")
    return Voice(
        phrases=phrases_in(brand.language),
        tone=brand.tone_profile,
        technical=_is_technical(brand.audience or ""),
        company=masked_line(brand.company_name or "", _COMPANY_LIMIT).replace("`", ""),
    )


def _is_technical(audience: str) -> bool:
    audience = audience[:500]
    if _UNTECHNICAL.search(audience):
        return False
    return _TECHNICAL.search(audience) is not None or _LAY.search(audience) is None
