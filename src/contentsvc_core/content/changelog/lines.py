"""The voice of posts, and one change as a line: an entry of a changelog, a part of a title, a sentence of a post."""

import re
from collections.abc import Iterable, Sequence
from typing import Final, final

from contentsvc_core.content.brand import BrandIdentity, ToneProfile
from contentsvc_core.content.changelog.markdown import (
    first_sentence,
    inline,
    is_bare,
    link,
    masked_line,
    safe_url,
    sentence,
    without_period,
)
from contentsvc_core.content.changelog.select import Change
from contentsvc_core.content.changelog.subjects import continued
from contentsvc_core.content.changelog.tenses import DOES
from contentsvc_core.content.changelog.words import (
    INTERNAL_VERBS,
    VERBS,
    WORDS_WITHOUT_SPACES,
    names_section_abroad,
)
from contentsvc_core.content.options import DEFAULT_OPTIONS, ChangelogOptions
from contentsvc_core.content.phrases import PHRASEBOOKS, Phrasebook, Toned, phrases_in
from contentsvc_core.content.sections import CRITICAL, Section
from contentsvc_core.events.normalized import Commit
from contentsvc_core.on_demand import late
from contentsvc_core.values import Value

#: Limits of one line or list: linked commits and numbers, breaking notes, names.
_LINKED: Final = 50
_NOTES_SHOWN: Final = 10
_NAMES_SHOWN: Final = 100
_SHORT_SHA: Final = 7
#: A change of so few words is named with its part.
_FEW_WORDS: Final = 3

#: Words that name a section: without them a line gets a label.
_SECTION_WORDS: Final = {
    Section.BREAKING: late(r"\bbreak(?:s|ing|age)?\b|in[ck]ompatib", re.IGNORECASE),
    Section.SECURITY: late(
        r"secur|segur|sicherh|sécur|vuln[eé]rab|\bcve-|\bghsa-|\bxss\b|csrf|injection", re.IGNORECASE
    ),
    Section.DEPRECATED: late(r"deprecat|obsol|veraltet", re.IGNORECASE),
    Section.REMOVED: late(r"remov|drop|delet|no longer", re.IGNORECASE),
    Section.FIXED: late(
        rf"\b(?:hot|bug)?fix(?:es|ed|ing)?\b|\bcorrect|\bresolv|\bbugs?\b|\bbehoben\b|{WORDS_WITHOUT_SPACES[Section.FIXED]}",
        re.IGNORECASE,
    ),
    Section.REVERTED: late(r"revert|restor|reinstat", re.IGNORECASE),
    Section.DOCUMENTATION: late(r"\bdoc(?:s|ument|umentation)?\b", re.IGNORECASE),
}
_SHORTER: Final = (
    (late(r"\A(?:Add(?:s|ed)?|Introduce[sd]?|Implement(?:s|ed)?) (?=(?:\w+ )?support\b)", re.IGNORECASE), ""),
    (late(r"\ASupport(?:s|ed)? (?!for )(?=\S)", re.IGNORECASE), "support for "),
)
#: A reference to an advisory, an issue or a page at the end of a change: titles have no space for it.
_REFERENCE: Final = late(r"[;,.]? [(\[]?see (?:also )?(?=[^ ]*[\d#/])[^ ]+\Z", re.IGNORECASE)
#: The author's remark about a change, behind a semicolon or a dash: titles have no space for it either.
_REMARK: Final = late(r"(?<=\w)(?:;| \u2014) (?=[a-z]).*")
#: A fault whose first word is only part of a name, or denied: "Cancel button does nothing", "Not closing in winter".
_STATES: Final = late(
    r"not |(?:[\w-]+ ){0,2}(?:button|icon)s? .*\b(?:does|is|was|were|\w+n't)\b|\w+ing .*\b(?:is|was|were|\w+n't)\b",
    re.IGNORECASE,
)
_GERMAN: Final = PHRASEBOOKS["German"]
_COMPANY_LIMIT: Final = 60
_UNTECHNICAL: Final = late(r"\b(?:non|nicht|no)[- ]?(?:technical|technisch|technique|técnic)", re.IGNORECASE)
_LAY: Final = late(
    r"\b(?:customers?|clients?|clientes?|kund|business|executives?|managers?|management|marketing|leadership|stakeholders?"
    r"|investors?|investoren|investisseurs?|inversores|anleger|shareholders?|consumers?|end[- ]users?|general public"
    r"|endnutzer|utilisateurs|usuarios)",
    re.IGNORECASE,
)
_TECHNICAL: Final = late(
    r"\b(?:developers?|engineers?|programmers?|devops|sysadmins?|administrators?|maintainers?|contributors?|architects?"
    r"|entwickler|programmierer|développeur|ingénieur|desarrollador|ingenier|programador)",
    re.IGNORECASE,
)


@final
class Voice(Value, frozen=True, kw_only=True):
    phrases: Phrasebook
    tone: ToneProfile
    #: Whether posts name parts of the code, numbers and commits.
    technical: bool
    #: Plain, one line, not escaped; may be empty.
    company: str

    def format(self, phrase: Toned | str, **values: str) -> str:
        return self.phrases.format(phrase.of(self.tone) if isinstance(phrase, Toned) else phrase, **values)

    def names_part(self, text: str) -> bool:
        """Check that a post names the part of the code with a text."""
        return self.technical or is_bare(text)

    def heading(self, section: Section) -> str:
        """Return the heading of a changelog's section: the usual word, or the heading of blog posts in the tone."""
        phrases = self.phrases
        if self.plain or section not in {Section.ADDED, Section.FIXED, *phrases.themes}:
            return phrases.headings[section]
        return self.theme(section)

    def theme(self, section: Section) -> str:
        toned = {Section.ADDED: self.phrases.new, Section.FIXED: self.phrases.fixes}.get(section)
        return self.format(toned) if toned else self.phrases.themes[section]

    @property
    def plain(self) -> bool:
        """Whether changelogs have the usual headings and no opening: in the professional tone, the default."""
        return self.tone is ToneProfile.PROFESSIONAL

    def announcement(self, names: str, *, many: bool) -> str:
        """Return the sentence that announces releases: plain."""
        phrases = self.phrases
        if self.company:
            return self.format(phrases.announced_by, company=self.company, names=names)
        return self.format(phrases.announced_many if many else phrases.announced_one, names=names)

    def news(self, subject: str) -> str:
        """Return the sentence that opens a post about changes without a release: plain."""
        if self.company and self.company.casefold() != subject.casefold():
            return self.format(self.phrases.news_by, company=self.company, subject=subject)
        return self.format(self.phrases.news, subject=subject)


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


def labelled(change: Change, text: str, phrases: Phrasebook) -> str:
    """Return a plain text of a change, with the label of its section unless its words name the section."""
    pattern = _SECTION_WORDS.get(change.section)
    first = text.partition(" ")[0].casefold()
    if pattern is None or pattern.search(text) or names_section_abroad(change.section, text):
        return text
    is_conjugated = text != plain(change.text)
    if change.section is Section.FIXED and (is_conjugated or first in DOES):
        return text
    # A conjugated text begins with its verb, which is no name.
    continuation = plain(change.continuation)
    continuation = (
        f"{text[0].lower()}{text[1:]}" if is_conjugated else continued(continuation, german=phrases is _GERMAN)
    )
    return phrases.title_leads[change.section].format(text=continuation)


def headline(change: Change, phrases: Phrasebook) -> str:
    """Return one change without a heading above: plain, with the part of the code."""
    text = plain(change.text)
    return f"{_briefly(labelled(change, text, phrases))}{_scope_suffix(change, text)}"


def _briefly(text: str) -> str:
    """Return the first sentence of a change, without the reference at its end."""
    first, rest = first_sentence(text)
    text = without_period(first) if rest else text
    return _REFERENCE.sub("", text) if "see " in text.casefold() else text


def _scope_suffix(change: Change, text: str) -> str:
    scope = plain(change.scope)
    return "" if scope.casefold() in text.casefold() else f" ({scope})"


def lead(change: Change, phrases: Phrasebook, *, marked: bool = True) -> str:
    """Return a change as titles name it among others: plain, without the capital.

    ``marked``: with the label of a breaking or security change, and of a fault that was fixed or a thing that is gone.
    """
    small = _briefly(plain(continued(change.continuation, german=phrases is _GERMAN)))
    if ";" in small or "\u2014" in small:
        small = _REMARK.sub("", small)
    for pattern, instead in _SHORTER if change.section is Section.ADDED else ():
        small = pattern.sub(instead, small, count=1)
    if change.section in CRITICAL:
        marked = marked and not _SECTION_WORDS[change.section].match(small)
    else:
        marked = marked and _needs_mark(change.section, small)
    if len(small.split()) <= _FEW_WORDS:
        # "Add Lean" says nothing without its part: a file type.
        small += _scope_suffix(change, small)
    return phrases.title_leads[change.section].format(text=small) if marked else small


def _needs_mark(section: Section, text: str) -> bool:
    """Check that a text only names a fault, or a thing that is gone: a title would announce it."""
    first = text.partition(" ")[0].casefold()
    if section is Section.FIXED:
        does = (first in VERBS or first in INTERNAL_VERBS or first in DOES) and not _STATES.match(text)
    elif section in {Section.REMOVED, Section.DEPRECATED, Section.REVERTED}:
        does = VERBS.get(first) is section or names_section_abroad(section, text)
    else:
        return False
    return not (does or _SECTION_WORDS[section].search(text))


def plain(text: str) -> str:
    return text.replace("`", "")


def entry(change: Change, base: str | None, voice: Voice, options: ChangelogOptions = DEFAULT_OPTIONS) -> str:
    """Return the lines of one change: ``- **scope:** description ([#12](…)) ([abc1234](…))``, notes, details."""
    label = f"**{inline(change.label)}:** " if change.label and voice.names_part(change.text) else ""
    line = f"- {label}{inline(change.text)}"
    if voice.technical:
        base = base if options.links else None
        linked = references(change, base, voice.phrases, commits=options.commit_hashes, links=options.links)
        line = " ".join([line, *linked])
    if change.notes and (notes := quoted_notes(change)):
        return f"{line}{notes}"
    details = change.details if options.details and voice.technical else ""
    return f"{line}\n  {inline(details)}" if details else line


def notes_of(change: Change, first: int | None = None) -> list[str]:
    """Return the breaking footers of a change as plain sentences, without repetitions of its line."""
    line = change.text.casefold()
    return [sentence(note) for note in change.notes[:first] if note.casefold().rstrip(".") not in line]


def quoted_notes(change: Change) -> str:
    """Return the breaking footers of a change as quotations below its line; empty: none."""
    return "\n  >".join(f"\n  > {inline(note)}" for note in notes_of(change, _NOTES_SHOWN))


def references(
    change: Change, base: str | None, phrases: Phrasebook, *, commits: bool = True, links: bool = True
) -> list[str]:
    """Return the pull requests and issues of a change, and its commits; of a pull request the first one."""
    parts: list[str] = []
    if change.numbers:
        page = f"{base}/issues/" if base else None
        numbers = [link(f"#{number}", page and page + number) for number in change.numbers[:_LINKED]]
        parts.append(f"({', '.join(numbers)})")
    referenced = change.reads[:1] if change.numbers else change.reads
    shas = [_sha(read.commit, links=links) for read in referenced[:_LINKED] if read.commit.id] if commits else []
    if (hidden := len(referenced) - _LINKED) > 0 and commits:
        shas.append(phrases.more.format(n=phrases.number(hidden)))
    return [*parts, f"({', '.join(shas)})"] if shas else parts


def _sha(commit: Commit, *, links: bool) -> str:
    sha = commit.id[:_SHORT_SHA] if commit.id.isalnum() else inline(masked_line(commit.id, 64)[:_SHORT_SHA])
    return link(sha, safe_url(commit.url) if links else None)


def bounded(lines: Sequence[str], limit: int) -> list[str]:
    """Return the first lines, up to ``limit`` characters."""
    fitting: list[str] = []
    for line in lines:
        limit -= len(line) + 1
        if limit < 0:
            break
        fitting.append(line)
    return fitting


def named(names: Sequence[str], phrases: Phrasebook, most: int = _NAMES_SHOWN) -> list[str]:
    """Return the first names, and the number of others."""
    listed = list(names[:most])
    if hidden := len(names) - len(listed):
        listed.append(phrases.more.format(n=phrases.number(hidden)))
    return listed


def joined(blocks: Iterable[str]) -> str:
    """Return blocks of Markdown as a text that ends with one newline."""
    return "\n\n".join(blocks) + "\n"
