"""Release notes of authors: made ready to be shown as Markdown, and read as a lead and entries."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final, final

from attrs import mutable
from msgspec.structs import replace

from contentsvc_core.content.changelog.markdown import (
    first_sentence,
    mask_addresses,
    masked_line,
    sentence,
    with_period,
    without_period,
)
from contentsvc_core.content.changelog.select import Change, reported_changes
from contentsvc_core.content.changelog.subjects import continued, imperative, with_verb
from contentsvc_core.content.options import DEFAULT_OPTIONS
from contentsvc_core.content.phrases import PHRASEBOOKS
from contentsvc_core.content.sections import CRITICAL, Section
from contentsvc_core.events.normalized import Author, Commit, Push, Release
from contentsvc_core.on_demand import late
from contentsvc_core.text import storable
from contentsvc_core.values import Value

# An at sign in disguise would become one when the Markdown is rendered.
_AT_SIGN: Final = late(r"\\@|&#0{0,6}64;|&#[xX]0{0,6}40;|&commat;")
_BLANK_LINE: Final = late(r"^[ \t]+$", re.MULTILINE)
_FENCE: Final = late(r" {0,3}(`{3,}(?=[^`]*\Z)|~{3,})(.*)")
# Before Python 3.11.4, a possessive group fails if it has a look-around (CPython issue 101955).
_COMMENT: Final = "<!--[^-]*(?:-(?!->)[^-]*)*-->"
#: Code, which stays, comments, and the boxes of task lists. A comment without an end is text.
_CODE_OR_COMMENT: Final = late(
    r"^ {0,3}(?P<fence>`{3,}+(?=[^`\n]*$)|~{3,}+).*?(?:^ {0,3}(?P=fence)[`~]*[ \t]*$|\Z)|`[^`\n]*+`"
    rf"|(?P<comment>(?:^[ \t]*+{_COMMENT}[ \t]*\n|{_COMMENT}))|<!--.*"
    r"|(?P<item>^[ \t]*+(?:[-*+]|[0-9]{1,3}[.)])[ \t]++)\[(?P<done>[ xX])\](?=[ \t]+\S)",
    re.MULTILINE | re.DOTALL,
)
_OPEN, _DONE = "\u2610", "\u2611"
#: Texts of release tools for a package that only follows another one.
_FOLLOWS: Final = late(
    r"\s*(?:#{1,6}[ \t].*|[-*+][ \t]+(?:Updated? dependenc(?:y|ies)\b.*|`?@?[\w./-]+@\d[\w.+-]*`?)"
    r"|\*\*Note:\*\* Version bump only for package .*)?",
    re.IGNORECASE,
)
#: In characters: the notes of one package among several.
_PACKAGE_LIMIT: Final = 4_000
#: References in notes: `#12`, `!12`, `…/pull/12`, `…/issues/12`; and hashes of commits.
_NUMBER: Final = late(r"(?:[#!]|/(?:pull|pulls|issues|merge_requests)/)(\d{1,10})\b")
_COMMIT: Final = late(r"\b[0-9a-fA-F]{7,40}\b")
_HASH: Final = 7
_LINES_READ: Final = 200
#: Words with a meaning: short words are in every line.
_WORD: Final = late(r"[^\W_]{3,40}")
#: A line of notes is about a change if it has this share of the change's words: authors reword.
_MOST_WORDS: Final = 0.6


def clean(body: str, limit: int) -> tuple[str, bool]:
    """Return notes without comments and e-mail addresses, and whether they were cut to ``limit``.

    Line ends become line feeds, and an open code block is closed. The renderer shows raw HTML as text.
    """
    # Comments are removed: so more than the limit is read.
    text = storable(body[: 4 * limit]).replace("\r\n", "\n").replace("\r", "\n")
    text = _CODE_OR_COMMENT.sub(_shown, text)
    text = _BLANK_LINE.sub("", mask_addresses(_AT_SIGN.sub("@", text))).strip()
    cut = len(text) > limit or len(body) > 4 * limit
    if cut:
        # Cut at the end of a line: the rest of a cut line may be half a link, or half an e-mail address.
        text = text[:limit].rpartition("\n")[0] or text[:limit].rpartition(" ")[0] or text[: limit // 2]
    text = text.rstrip()
    *_, (_, _, fence) = _lines(text)
    return f"{text}\n{fence}" if fence else text, cut


def _shown(found: re.Match[str]) -> str:
    box = found["done"] and (_OPEN if found["done"] == " " else _DONE)
    return f"{found['item']}{box}" if box else "" if found["comment"] else found[0]


def package_notes(body: str | None) -> str:
    """Return the notes of one package among others; empty if it only follows other packages."""
    notes, _ = clean(body or "", _PACKAGE_LIMIT)
    return "" if all(map(_FOLLOWS.fullmatch, notes.split("\n"))) else notes


def lowered(notes: str, level: int) -> str:
    """Return notes with headings below a level; code is unchanged."""
    lines: list[str] = []
    for line, code, _ in _lines(notes):
        text = line.lstrip("#") if not code and _HEADING.fullmatch(line) else line
        marks = len(line) - len(text)
        lines.append("#" * (marks and min(max(marks, level + 1), 6)) + text)
    return "\n".join(lines)


def unmentioned(notes: str, changes: Iterable[Change]) -> list[Change]:
    """Return the changes that the notes do not name by number, hash, or most of their words."""
    numbers = set(_NUMBER.findall(notes))
    hashes = {found[:_HASH].casefold() for found in _COMMIT.findall(notes)}
    lines = [set(_WORD.findall(line.casefold())) for line in notes.split("\n")[:_LINES_READ]]

    def is_mentioned(change: Change) -> bool:
        if not numbers.isdisjoint(change.numbers):
            return True
        if any(commit.id[:_HASH].casefold() in hashes for commit in change.commits):
            return True
        words = set(_WORD.findall(change.text.casefold()))
        return any(len(words & line) >= _MOST_WORDS * len(words) for line in lines) if words else True

    return [change for change in changes if change.shown and not is_mentioned(change)]


def _lines(text: str) -> Iterator[tuple[str, bool, str]]:
    fence = ""
    for line in text.split("\n"):
        match = _FENCE.fullmatch(line)
        code = bool(fence or match)
        if match:
            closes = fence and match[1].startswith(fence) and not match[2].strip()
            fence = "" if closes else fence or match[1]
        yield line, code, fence


#: Limits in characters: the notes, one paragraph, one entry.
_READ: Final = 16_000
_LEAD_LIMIT: Final = 500
_STEPS_LIMIT: Final = 4_000
_ENTRY_LIMIT: Final = 400
#: More entries are not read: no post has space for them.
_ENTRIES_READ: Final = 200
_PARAGRAPHS_READ: Final = 5
#: The paragraphs below headings from which notes count as prose for readers.
_PARAGRAPHS_OF_PROSE: Final = 2
#: The level of a heading in bold type, below those with marks.
_LOWEST: Final = 7
#: Headings below which each lower heading with a paragraph is an entry.
_NEWS: Final = late(r"highlight|what.{0,2}s new|new features?\b|\Anew\b|\Afeatures?\b", re.IGNORECASE)

#: Headings of what readers do before they upgrade: no changes of the release.
_UPGRADE: Final = (
    r"\b(?:upgrading|migrating)\b|\b(?:upgrade|migration) (?:guide|instructions?|notes?|path|steps?)\b"
    r"|\bhow to (?:upgrade|migrate)\b|\bbefore (?:you )?(?:upgrad|updat)|\A\W*(?:upgrade|migration)\W*\Z"
)
#: The section of entries by their heading; the first match counts. ``None``: the entries are no changes.
_HEADINGS: Final[tuple[tuple[str, Section | None], ...]] = (
    (r"what.{0,2}s (?:changed|new)", Section.OTHER),
    (r"contributor|thank|acknowledg|sponsor|credit|\blinks?\b|install|download|checksum|assets|full changelog", None),
    (r"break|incompatib|backwards", Section.BREAKING),
    (r"secur|vulnerab|\bcve", Section.SECURITY),
    (r"perform|speed|faster", Section.PERFORMANCE),
    (r"\bdoc", Section.DOCUMENTATION),
    (r"intern|chore|maint|\bci\b|build|\btest|refactor|dependenc|housekeeping", Section.INTERNAL),
    (_UPGRADE, None),
    (r"deprecat", Section.DEPRECATED),
    (r"remov|drop", Section.REMOVED),
    (r"fix|\bbug", Section.FIXED),
    (r"chang|improve", Section.CHANGED),
    (r"\badd|new\b|feature|enhanc|highlight", Section.ADDED),
)
#: The headings of changelogs in each language.
_OWN_HEADINGS: Final = {
    heading.casefold(): section for book in PHRASEBOOKS.values() for section, heading in book.headings.items()
}
_HEADING: Final = late(r" {0,3}(?:#{1,6}[ \t]+(.*)|(?:\*\*|__)([^*_]{1,80}?):?(?:\*\*|__):?)")
_ITEM: Final = late(r"( *)(?:[-*+\u2022]|[0-9]{1,3}[.)])[ \t]+(?:\u2611[ \t]+)?(.*)")
#: In spaces, more than the first item of a list has, and in front of a list: code has four.
_NESTED: Final = 2
_CODE_INDENT: Final = 4

_IMAGE: Final = late(r"!\[[^\]\n]*\]\([^)\s]*\)")
_LINK: Final = late(
    r"\[([^\[\]\n]{1,300})\](?:\([^()\s]*(?:\([^()\s]*\)[^()\s]*)?\)|\[[^\[\]\n]*\])|\[(?=[#!][0-9])([^\[\]\n]{2,11})\]"
)
_EMPHASIS: Final = late(r"(?<![\w*_\\])(\*\*|__|\*|_)(?=\S)([^*_\n]+?)(?<=[^\s\\])\1(?![\w*_])")
_ESCAPED: Final = late(r"\\([!-/:-@\[-`{-~])")
_PULL: Final = late(r"https?://\S+?/(?:pull|pulls|issues|merge_requests)/([0-9]{1,10})(?![\w/])")
_BY: Final = late(r"[ ,]*\(?\bby @[\w.-]+(?:\[bot\])?(?:(?:,| and|, and) @[\w.-]+(?:\[bot\])?)*\)?(?: in (?=\(?#))?")
_THANKS: Final = late(r"[ ,.!]*\(?[Tt]hanks?(?: you)?,?(?: to)? @[\w-]+!?\)?")
_REFERENCE: Final = late(r"\A(?:\(?#[0-9]+\)?|`?[0-9a-f]{7,40}`?)(?:[ ,]+(?:\(?#[0-9]+\)?|`?[0-9a-f]{7,40}`?))*:?[ -]+")
_TAIL: Final = late(
    r"(?:(?<![ ,])[ ,]*+\((?=[^()]*(?:#[0-9]|[0-9][a-f]|[a-f][0-9]))"
    r"(?:#[0-9]++|[0-9a-f]{7,40}+(?![0-9a-f])|[, ]|and )+\)"
    r"|(?<![ ,])[ ,]++(?:(?:close|fixe|resolve|ref)s )?#[0-9]++)+[.]?\Z"
)
#: A removed thing that is only named: "Support for Python 3.8", "The old lid".
_GONE: Final = late(
    r"(?!.*\b(?:is|are|was|were|has|have|does|do|can|cannot|will|no longer|now)\b)"
    r"(?:the|an?|all|deprecated|legacy|old|support for|ability to) .*",
    re.IGNORECASE,
)
_FIRST_CONTRIBUTION: Final = late(r"made (?:their|his|her) first contribution", re.IGNORECASE)
#: No leads: addresses, tables, markup, labels with an address.
_NO_LEAD: Final = late(r"https?:|www\.|\A[|<>=-]|full changelog", re.IGNORECASE)
#: Sentences that only announce or thank: the post announces the release itself.
_NAMED: Final = (
    r"(?:[ ,]*+(?!(?:with|which|that|where|featuring|including|bringing|for|mit|avec|con)\b)[^\s,:;]++){1,10}"
)
_ANNOUNCES: Final = late(
    r"\W*(?:(?:[\w',]+ ){0,6}(?:happy|pleased|excited|proud|thrilled|delighted|glad|heureux|ravis|fiers|complace"
    r"|alegra)\b(?: \w+){0,3}? (?:d['\u2019])?(?:announc|shar|releas|present|introduc|annonc|présent|anunci)\w*"
    + _NAMED
    + r"|wir freuen uns\b" + _NAMED + r"|(?:announcing|introducing|welcome to)\b" + _NAMED
    + r"|(?=.*[0-9])" + _NAMED + r" (?:is|are)(?: \w+)? (?:here|out|available|released)(?: now| today)?"
    r"|(?:(?:many|big|huge|special) )?thank(?:s| you)\b.*)\W*",
    re.IGNORECASE,
)  # fmt: skip


@final
class Notes(Value, frozen=True, kw_only=True):
    #: The first paragraph: plain, one line; may be empty.
    lead: str
    #: In the author's order.
    changes: tuple[Change, ...]
    #: Whether the notes are prose for readers: paragraphs below headings, not lists alone.
    is_prose: bool = False


def notes_of(release: Release) -> Notes:
    """Return the lead and the changes of a release's notes. The headings decide the sections."""
    text, _ = clean(release.body or "", _READ)
    lead, groups, is_prose = _read(text)
    changes = chain.from_iterable(_changes(entries, section) for section, entries in groups)
    return Notes(lead=lead, changes=tuple(_once(changes)), is_prose=is_prose)


def _once(changes: Iterable[Change]) -> list[Change]:
    """Return the changes without repetitions: tools list a breaking feature among the features, too."""
    once: dict[tuple[str, str], Change] = {}
    for change in changes:
        key = (change.scope, change.text.casefold())
        first = once.setdefault(key, change)
        if first is not change:
            best = change if change.section in CRITICAL and first.section not in CRITICAL else first
            once[key] = replace(best, numbers=tuple(dict.fromkeys((*first.numbers, *change.numbers))))
    return [*once.values()]


def upgrade_steps(release: Release) -> str:
    """Return what a release's notes say below a heading about upgrading, without changes, as Markdown; may be empty."""
    steps: list[str] = []
    outline, is_upgrade = _Outline(), False
    for line, code, _ in _lines(clean(release.body or "", _READ)[0]):
        heading = None if code else _HEADING.fullmatch(line)
        if heading:
            words, own = heading[1] or heading[2] or "", _level(line)
            outline.section_of(words, own)
            if outline.unreported == own:
                is_upgrade = re.search(_UPGRADE, words, re.IGNORECASE) is not None
                continue
        if is_upgrade and outline.unreported and not outline.named:
            steps.append(line)
    return clean("\n".join(steps), _STEPS_LIMIT)[0]


def plain_line(markdown: str, limit: int) -> str:
    """Return one line of Markdown as plain text; code keeps its backticks."""
    text = _LINK.sub(r"\1\2", _IMAGE.sub("", markdown[: 4 * limit]))
    for _ in range(2):
        text = _EMPHASIS.sub(r"\2", text)
    return masked_line(_ESCAPED.sub(r"\1", text), limit)


def _read(text: str) -> tuple[str, list[tuple[Section, list[str]]], bool]:
    paragraphs: list[str] = []
    groups: list[tuple[Section, list[str]]] = [(Section.OTHER, [])]
    is_reported, remaining, margin = True, _ENTRIES_READ, 0
    open_: list[str] | None = None
    # The heading of news, its level, and a lower heading, which is an entry if a paragraph follows.
    news, level, own, below, prose_paragraphs = Section.OTHER, 0, 0, "", 0
    outline = _Outline()
    for line, code, _ in _lines(text):
        heading = None if code else _HEADING.fullmatch(line)
        item = None if heading else _ITEM.match(line)
        if code or not line.strip() or line.lstrip().startswith((">", "|", "<")) or _OPEN in line:
            open_ = None
        elif heading:
            words, own = heading[1] or heading[2] or "", _level(line)
            section = outline.section_of(words, own)
            is_reported, open_ = section is not None, None
            groups.append((section or Section.OTHER, []))
            below = words if level and own > level else ""
            if not below:
                news, level = section or Section.OTHER, own if _NEWS.search(words) and is_reported else 0
        elif item:
            open_, indented = None, len(item[1])
            margin = indented if not groups[-1][1] and indented < _CODE_INDENT else margin
            if is_reported and remaining and indented - margin < _NESTED and not _FIRST_CONTRIBUTION.search(line):
                open_ = groups[-1][1]
                open_.append(item[2])
                remaining -= 1
        elif open_ is not None:
            open_[-1] = f"{open_[-1]} {line.strip()}"
        else:
            # The first level is the title of the notes.
            prose_paragraphs += own > 1 and (is_reported or bool(below)) and _NO_LEAD.search(line) is None
            open_ = [line.strip()]
            if below and remaining:
                groups.append((news, [f"{below.rstrip(' #.!?:')}. {line.strip()}"]))
                open_, remaining = groups[-1][1], remaining - 1
            elif is_reported and remaining == _ENTRIES_READ and len(paragraphs) < _PARAGRAPHS_READ:
                open_ = paragraphs
                paragraphs.append(line.strip())
        below = below if heading or not line.strip() else ""
    lead = next((lead for lead in map(_lead, paragraphs) if lead), "")
    return lead, groups, prose_paragraphs >= _PARAGRAPHS_OF_PROSE


def _level(heading: str) -> int:
    marks = len(heading.lstrip()) - len(heading.lstrip(" #"))
    return marks or _LOWEST


@final
@mutable
class _Outline:
    """The levels of a heading without changes, and of one below it that names a section; 0: none is open."""

    unreported: int = 0
    named: int = 0

    def section_of(self, words: str, level: int) -> Section | None:
        """Return the section of a heading's entries; ``None``: they are no changes."""
        section = _section_of(words)
        if not 0 < self.unreported < level:
            self.unreported, self.named = 0 if section else level, 0
        elif not 0 < self.named < level:
            section = None if section is Section.OTHER else section
            self.named = level if section else 0
        return section


def _section_of(words: str) -> Section | None:
    if own := _OWN_HEADINGS.get(words.strip(" :").casefold()):
        return own
    sections = (of for pattern, of in _HEADINGS if re.search(pattern, words, re.IGNORECASE))
    return next(sections, Section.OTHER)


def _lead(paragraph: str) -> str:
    text = plain_line(paragraph, 2 * _LEAD_LIMIT)
    if _NO_LEAD.search(text) or text.endswith((":", "…")) or " " not in text or "@" in text:
        return ""
    lead = ""
    while text:
        first, text = first_sentence(text)
        if _ANNOUNCES.fullmatch(first):
            continue
        if len(lead) + len(first) >= _LEAD_LIMIT or first.endswith("..."):
            break
        lead = f"{lead} {first}".strip()
    return with_period(lead) if lead else ""


def _changes(entries: list[str], section: Section) -> list[Change]:
    commits = [_commit(index, entry) for index, entry in enumerate(entries)]
    pushed = Push(ref="", branch="", commits=tuple(commits), head_commit=None)
    return [_with_section(change, section) for change in reported_changes([pushed], DEFAULT_OPTIONS)]


def _commit(index: int, entry: str) -> Commit:
    text = _PULL.sub(r"#\1", plain_line(entry, 2 * _ENTRY_LIMIT))
    text = _REFERENCE.sub("", _THANKS.sub("", _BY.sub(" ", text)), count=1).strip()
    subject, rest = first_sentence(text)
    tail = _TAIL.search(text)
    numbers = dict.fromkeys(_NUMBER.findall(tail[0])) if tail else ()
    subject = f"{_TAIL.sub('', subject).rstrip(' .')}{''.join(f' (#{number})' for number in numbers)}"
    message = f"{subject}\n\n{_TAIL.sub('', rest)}" if rest else subject
    return Commit(id=f"{index:040x}", message=message, author=Author(name="", email=""), timestamp="", url="")


def _with_section(change: Change, section: Section) -> Change:
    if section in {Section.OTHER, Section.CHANGED}:
        section = Section.CHANGED if change.section is Section.OTHER else change.section
    elif change.section in CRITICAL:
        section = change.section
    if section is not change.section:
        # The heading decides the verb: a removed thing was not added.
        text = with_verb(imperative(without_period(change.messages[0].description)), section)
        if section is Section.REMOVED and _GONE.fullmatch(text):
            text = f"Remove {continued(text)}"
        change = replace(change, text=sentence(text), continuation=text)
    return replace(change, section=section, noted=True)
