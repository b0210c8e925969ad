"""Release notes of authors, read as a lead and entries."""

import re
from typing import Final, final

from attrs import field, frozen
from msgspec.structs import replace

from contentsvc_core.content.changelog.release_notes import clean
from contentsvc_core.content.changelog.report import report_of
from contentsvc_core.content.changelog.select import Change
from contentsvc_core.content.changelog.wording import masked_line, with_period
from contentsvc_core.content.sections import Section
from contentsvc_core.content.writing import Brief, Chapter
from contentsvc_core.events.normalized import Author, Commit, Push, Release

#: Limits in characters: the notes, one paragraph, one entry.
_READ: Final = 16_000
_LEAD_LIMIT: Final = 500
_ENTRY_LIMIT: Final = 400
#: More entries are not read: no post has room for them.
_ENTRIES_READ: Final = 200
#: The paragraphs above the entries that may be the lead.
_PARAGRAPHS_READ: Final = 5

#: The section of entries by their heading; the first match counts. ``None``: the entries are no changes.
_HEADINGS: Final[tuple[tuple[str, Section | None], ...]] = (
    (r"what.{0,2}s (?:changed|new)", Section.OTHER),
    (r"contributor|thank|acknowledg|sponsor|credit|\blinks?\b|install|download|checksum|assets|full changelog", None),
    (r"break|incompatib|backwards", Section.BREAKING),
    (r"secur|vulnerab|\bcve", Section.SECURITY),
    (r"perform|speed|faster", Section.PERFORMANCE),
    (r"\bdoc", Section.DOCUMENTATION),
    (r"intern|chore|maint|\bci\b|build|\btest|refactor|dependenc|housekeeping", Section.INTERNAL),
    (r"deprecat", Section.DEPRECATED),
    (r"remov|drop", Section.REMOVED),
    (r"fix|\bbug", Section.FIXED),
    (r"chang|improve", Section.CHANGED),
    (r"\badd|new\b|feature|enhanc|highlight", Section.ADDED),
)
_KINDS: Final = tuple((re.compile(pattern, re.IGNORECASE), section) for pattern, section in _HEADINGS)
_HEADING: Final = re.compile(r" {0,3}(?:#{1,6}[ \t]+(.*)|(?:\*\*|__)([^*_]{1,80}?):?(?:\*\*|__):?)")
_ITEM: Final = re.compile(r"( *)(?:[-*+\u2022]|[0-9]{1,3}[.)])[ \t]+(.*)")
_FENCE: Final = re.compile(r" {0,3}(?:```|~~~)")
#: The least indentation of an entry below another one.
_NESTED: Final = 2

_IMAGE: Final = re.compile(r"!\[[^\]\n]*\]\([^)\s]*\)")
_LINK: Final = re.compile(r"\[([^\[\]\n]{1,300})\](?:\([^()\s]*(?:\([^()\s]*\)[^()\s]*)?\)|\[[^\[\]\n]*\])")
_EMPHASIS: Final = re.compile(r"(?<![\w*_\\])(\*\*|__|\*|_)(?=\S)([^*_\n]+?)(?<=[^\s\\])\1(?![\w*_])")
_ESCAPED: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_PULL: Final = re.compile(r"https?://\S+?/(?:pull|pulls|issues|merge_requests)/([0-9]{1,10})(?![\w/])")
_BY: Final = re.compile(
    r"[ ,]*\(?\bby @[\w.-]+(?:\[bot\])?(?:(?:,| and|, and) @[\w.-]+(?:\[bot\])?)*\)?(?: in (?=\(?#))?"
)
_THANKS: Final = re.compile(r"[ ,.!]*\(?[Tt]hanks?(?: you)?,?(?: to)? @[\w-]+!?\)?")
_REFERENCE: Final = re.compile(
    r"\A(?:\(?#[0-9]+\)?|`?[0-9a-f]{7,40}`?)(?:[ ,]+(?:\(?#[0-9]+\)?|`?[0-9a-f]{7,40}`?))*:?[ -]+"
)
_TAIL: Final = re.compile(r"(?:[ ,]*\((?=[^()]*#[0-9])[#0-9, and]+\)|[ ,]+(#[0-9]+))+[.]?\Z")
_NUMBER: Final = re.compile(r"#([0-9]{1,10})")
_FIRST_CONTRIBUTION: Final = re.compile(r"made (?:their|his|her) first contribution", re.IGNORECASE)
#: No leads: addresses, tables, markup, labels with an address.
_NO_LEAD: Final = re.compile(r"https?:|www\.|\A[|<>=-]|full changelog", re.IGNORECASE)
_SENTENCE_END: Final = re.compile(r"(?<=[\w)`'\"”][.!?]) +(?=[A-Z`\"“])")
#: The least length of a first sentence, in characters.
_SHORT: Final = 12


@final
@frozen(kw_only=True)
class Notes:
    """The content of release notes."""

    #: The first paragraph: plain, one line; may be empty.
    lead: str
    #: In the author's order.
    changes: tuple[Change, ...] = field(converter=tuple)


def notes_of(release: Release, repository: str) -> Notes:
    """Return the lead and the changes of a release's notes. The headings decide the sections."""
    text, _ = clean((release.body or "")[: 4 * _READ], _READ)
    lead, groups = _read(text)
    changes = [change for section, entries in groups if entries for change in _changes(entries, section, repository)]
    return Notes(lead=lead, changes=changes)


def plain_line(markdown: str, limit: int) -> str:
    """Return one line of Markdown as plain text; code keeps its backticks."""
    text = _LINK.sub(r"\1", _IMAGE.sub("", markdown[: 4 * limit]))
    for _ in range(2):
        text = _EMPHASIS.sub(r"\2", text)
    return masked_line(_ESCAPED.sub(r"\1", text), limit)


def first_sentence(text: str) -> tuple[str, str]:
    """Return the first sentence of a line, and the rest."""
    for found in _SENTENCE_END.finditer(text):
        if found.start() >= _SHORT:
            return text[: found.start()], text[found.end() :]
    return text, ""


def _read(text: str) -> tuple[str, list[tuple[Section, list[str]]]]:
    """Return the lead and the entries below each heading, without nested entries, code and quotations."""
    paragraphs: list[str] = []
    groups: list[tuple[Section, list[str]]] = [(Section.OTHER, [])]
    told, fenced, left = True, False, _ENTRIES_READ
    # The list whose last text the next line continues.
    open_: list[str] | None = None
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced, open_ = not fenced, None
        elif fenced or not line.strip() or line.lstrip().startswith((">", "|", "<")):
            open_ = None
        elif heading := _HEADING.fullmatch(line):
            section = _section_of(heading[1] or heading[2] or "")
            told, open_ = section is not None, None
            groups.append((section or Section.OTHER, []))
        elif item := _ITEM.match(line):
            open_ = None
            if told and left and len(item[1]) < _NESTED and not _FIRST_CONTRIBUTION.search(line):
                open_ = groups[-1][1]
                open_.append(item[2])
                left -= 1
        elif open_ is not None:
            open_[-1] = f"{open_[-1]} {line.strip()}"
        elif told and left == _ENTRIES_READ and len(paragraphs) < _PARAGRAPHS_READ:
            open_ = paragraphs
            paragraphs.append(line.strip())
    return next((lead for lead in map(_lead, paragraphs) if lead), ""), groups


def _section_of(heading: str) -> Section | None:
    return next((section for pattern, section in _KINDS if pattern.search(heading)), Section.OTHER)


def _lead(paragraph: str) -> str:
    text = plain_line(paragraph, 2 * _LEAD_LIMIT)
    if _NO_LEAD.search(text) or text.endswith((":", "…")) or " " not in text or "@" in text:
        return ""
    lead = ""
    while text:
        said, text = first_sentence(text)
        if len(lead) + len(said) >= _LEAD_LIMIT or said.endswith(("...", "…")):
            break
        lead = f"{lead} {said}".strip()
    return with_period(lead) if lead else ""


def _changes(entries: list[str], section: Section, repository: str) -> list[Change]:
    """Return the entries below one heading, read like commits."""
    commits = [_commit(place, entry) for place, entry in enumerate(entries)]
    pushed = Push(ref="", branch="", commits=tuple(commits), head_commit=None)
    (part,) = report_of(Brief(chapters=[Chapter(repository=repository, events=[pushed])]))
    in_order = sorted(part.changes, key=lambda change: change.commits[0].id)
    return [_placed(change, section) for change in in_order]


def _commit(place: int, entry: str) -> Commit:
    text = _PULL.sub(r"#\1", plain_line(entry, 2 * _ENTRY_LIMIT))
    text = _REFERENCE.sub("", _THANKS.sub("", _BY.sub(" ", text)), count=1).strip()
    said, rest = first_sentence(text)
    numbers = dict.fromkeys(_NUMBER.findall(_tail(text)))
    said = f"{_TAIL.sub('', said).rstrip(' .')}{''.join(f' (#{number})' for number in numbers)}"
    message = f"{said}\n\n{_TAIL.sub('', rest)}" if rest else said
    return Commit(id=f"{place:040x}", message=message, author=Author(name="", email=""), timestamp="", url="")


def _tail(text: str) -> str:
    found = _TAIL.search(text)
    return found[0] if found else ""


def _placed(change: Change, section: Section) -> Change:
    if section in {Section.OTHER, Section.CHANGED}:
        return replace(change, section=Section.CHANGED) if change.section is Section.OTHER else change
    return change if change.section in {Section.BREAKING, Section.SECURITY} else replace(change, section=section)
