"""How content speaks: what a brand identity asks for, as far as rules can follow it."""

import re
from typing import Final, final

from attrs import frozen

from contentsvc_core.content.brand import BrandIdentity, ToneProfile
from contentsvc_core.content.changelog.wording import masked_line
from contentsvc_core.content.phrases import Phrasebook, phrases_in
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
    """Who speaks, to whom, and in which words."""

    phrases: Phrasebook
    tone: ToneProfile
    #: Whether readers want what only people who build software read: parts of the code, numbers, commits.
    technical: bool
    #: Plain, one line, not escaped; ``""``: nobody in particular.
    company: str

    def heading(self, section: Section) -> str:
        """Return the heading of a changelog's section: that of Keep a Changelog, or that of blog posts in the tone."""
        phrases = self.phrases
        if self.plain or section not in {Section.ADDED, Section.FIXED, *phrases.themes}:
            return phrases.headings[section]
        return self.theme(section)

    def theme(self, section: Section) -> str:
        """Return the heading above changes of one kind in a post that is no changelog."""
        toned = {Section.ADDED: self.phrases.new, Section.FIXED: self.phrases.fixes}.get(section)
        return toned.of(self.tone) if toned else self.phrases.themes[section]

    @property
    def plain(self) -> bool:
        """Whether changelogs have no words but those of a changelog: the professional tone, and the usual one."""
        return self.tone is ToneProfile.PROFESSIONAL

    def announcement(self, names: str, *, many: bool) -> str:
        """Return the sentence that announces releases: plain."""
        phrases = self.phrases
        if self.company:
            return phrases.say(phrases.announced_by.of(self.tone), company=self.company, names=names)
        return phrases.say((phrases.announced_many if many else phrases.announced_one).of(self.tone), names=names)

    def news(self, subject: str) -> str:
        """Return the sentence that opens a post about changes without a release: plain."""
        phrases = self.phrases
        if self.company and self.company.casefold() != subject.casefold():
            return phrases.say(phrases.news_by.of(self.tone), company=self.company, subject=subject)
        return phrases.say(phrases.news.of(self.tone), subject=subject)


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
