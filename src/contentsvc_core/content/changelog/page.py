"""The body of a changelog: sections of changes, by repository and release if there are several."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from textwrap import indent
from typing import Final

from msgspec.structs import replace

from contentsvc_core.content.changelog import titles
from contentsvc_core.content.changelog.markdown import inline, link, safe_url
from contentsvc_core.content.changelog.release_notes import clean, lowered
from contentsvc_core.content.changelog.report import Part, Stage
from contentsvc_core.content.changelog.select import Change
from contentsvc_core.content.changelog.voice import Voice
from contentsvc_core.content.changelog.wording import masked_line, sentence
from contentsvc_core.content.options import DEFAULT_OPTIONS, ChangelogOptions
from contentsvc_core.content.phrases import Phrasebook
from contentsvc_core.content.sections import Section
from contentsvc_core.content.writing import PackageRelease
from contentsvc_core.events.normalized import Commit, Release

_COMMITS_LINKED: Final = 50
_NUMBERS_LINKED: Final = 50
_NOTES_SHOWN: Final = 10
_NAMES_SHOWN: Final = 100
_SHORT_SHA: Final = 7


def entry(change: Change, base: str | None, voice: Voice, options: ChangelogOptions = DEFAULT_OPTIONS) -> str:
    """Return the lines of one change: ``- **scope:** description ([#12](…)) ([abc1234](…))``, notes, details."""
    label = f"**{inline(change.label)}:** " if change.label and voice.technical else ""
    linked = references(
        change, base if options.links else None, voice.phrases, commits=options.commit_hashes, links=options.links
    )
    line = " ".join([f"- {label}{inline(change.text)}", *(linked if voice.technical else [])])
    if change.notes and (notes := [inline(note) for note in notes_of(change, _NOTES_SHOWN)]):
        return f"{line}\n  > " + "\n  >\n  > ".join(notes)
    details = change.details if options.details and voice.technical else ""
    return f"{line}\n  {inline(details)}" if details else line


def notes_of(change: Change, first: int | None = None) -> list[str]:
    """Return the breaking footers of a change as plain sentences, without repetitions of its line."""
    return [sentence(note) for note in change.notes[:first] if note.casefold() != change.text.casefold()]


def references(
    change: Change, base: str | None, phrases: Phrasebook, *, commits: bool = True, links: bool = True
) -> list[str]:
    """Return the pull requests and issues of a change, and its commits; of a pull request the first one."""
    parts: list[str] = []
    numbers = [
        link(f"#{number}", f"{base}/issues/{number}" if base else None) for number in change.numbers[:_NUMBERS_LINKED]
    ]
    if numbers:
        parts.append(f"({', '.join(numbers)})")
    named = change.commits[:1] if change.numbers else change.commits
    shas = [shown for commit in named[:_COMMITS_LINKED] if (shown := _sha(commit, links=links))]
    if hidden := len(named) - _COMMITS_LINKED:
        shas += [phrases.more_commits.format(n=phrases.number(hidden))] if hidden > 0 else []
    if shas and commits:
        parts.append(f"({', '.join(shas)})")
    return parts


def _sha(commit: Commit, *, links: bool) -> str:
    url = safe_url(commit.url) if links else None
    sha = commit.id[:_SHORT_SHA] if commit.id.isalnum() else inline(masked_line(commit.id, 64)[:_SHORT_SHA])
    return link(sha, url) if commit.id else ""


def bounded(lines: Sequence[str], limit: int) -> list[str]:
    """Return the first lines, up to ``limit`` characters."""
    shown: list[str] = []
    for line in lines:
        limit -= len(line) + 1
        if limit < 0:
            break
        shown.append(line)
    return shown


def named(names: Sequence[str], phrases: Phrasebook) -> list[str]:
    """Return the names that fit into a post, and the number of others."""
    shown = list(names[:_NAMES_SHOWN])
    if hidden := len(names) - len(shown):
        shown.append(phrases.more_people.format(n=phrases.number(hidden)))
    return shown


def joined(blocks: Iterable[str]) -> str:
    """Return blocks of Markdown as a text that ends with one newline."""
    return "\n\n".join(blocks) + "\n"


#: In characters: the notes of one release among several.
_NOTES_LIMIT: Final = 4_000
_HEADING_LIMIT: Final = 80
#: The emoji of headings; none needs a variation selector.
_EMOJI: Final = {
    Section.BREAKING: "💥", Section.SECURITY: "🔒", Section.ADDED: "✨", Section.CHANGED: "🔄",
    Section.DEPRECATED: "⏳", Section.REMOVED: "🔥", Section.FIXED: "🐛", Section.PERFORMANCE: "⚡",
    Section.REVERTED: "⏪",
    Section.DOCUMENTATION: "📝", Section.OTHER: "🔹", Section.DEPENDENCIES: "📦", Section.INTERNAL: "🔨",
}  # fmt: skip
_GRAVE: Final = frozenset({Section.BREAKING, Section.SECURITY})
#: From so many entries of one section and scope on, the scope is a line above them.
_OF_ONE_SCOPE: Final = 5


class Page:
    """A changelog that grows part by part, up to the length limit of posts."""

    def __init__(self, voice: Voice, options: ChangelogOptions, start: list[str], ending: list[str]) -> None:
        """Create a page of at most ``options.longest`` characters, with its start and end."""
        self._voice = voice
        self._options = options
        self._ending = ending
        self._blocks = list(start)
        self._room = options.longest - sum(len(block) + 2 for block in (*start, *ending)) - 100
        self._left_out = 0

    def write(self, part: Part, *, several: bool) -> None:
        """Add one repository, with a heading if there are several."""
        phrases = self._voice.phrases
        mark = "###" if several else "##"
        if part.packages:
            self._packages(part, mark)
            self._add(titles.folded(part.changes, part.commits_page, self._voice))
            return
        start = [f"## {inline(part.name)}"] if several else []
        grouped = _is_grouped(part)
        if part.releases and not grouped:
            start += [f"{mark} {phrases.releases}", "\n".join(titles.release_lines(part.releases, phrases))]
        if not self._add(start):
            self._left_out += _shown(part.changes)
        elif grouped:
            self._stages(part, mark)
        else:
            self._sections(part.changes, part.base, mark)
        self._add(titles.folded(part.changes, part.commits_page, self._voice))

    def add(self, heading: str, changes: Sequence[Change], base: str | None) -> None:
        """Add changes by section, below a heading of their own."""
        if self._add([f"## {heading}"]):
            self._sections(changes, base, "###")
        else:
            self._left_out += _shown(changes)

    def markdown(self) -> str:
        """Return the whole text."""
        phrases = self._voice.phrases
        left_out = [phrases.count(self._left_out, phrases.not_shown)] if self._left_out else []
        return joined([*self._blocks, *left_out, *self._ending])

    def _stages(self, part: Part, mark: str) -> None:
        """Add the changes by release, newest first, after the changes without a release."""
        phrases = self._voice.phrases
        unlisted: list[Release] = []
        listed = 0
        for stage in reversed(part.stages):
            if stage.release is None:
                start = [f"{mark} {phrases.unreleased}"] if _shown(stage.changes) else []
            elif not _shown(stage.changes) and listed >= titles.RELEASES_LISTED:
                unlisted.insert(0, stage.release)
                continue
            else:
                listed += 1
                heading = f"{mark} {titles.release_line(stage.release, phrases)}"
                start = [heading, *([] if _shown(stage.changes) else self._told(stage.release, stage))]
            if self._add(start):
                self._sections(stage.changes, part.base, f"{mark}#")
            else:
                self._left_out += _shown(stage.changes)
                unlisted = [stage.release, *unlisted] if stage.release and not _shown(stage.changes) else unlisted
        if unlisted:
            # This line is part of the 100 characters that a page keeps free.
            self._blocks.append(titles.earlier_releases(unlisted, phrases))

    def _packages(self, part: Part, mark: str) -> None:
        """Add the changes of each package, the common ones, and the packages without changes."""
        phrases = self._voice.phrases
        telling = [stage for stage in part.stages if stage.package and stage.tells]
        common = [stage for stage in part.stages if stage.common and stage.tells]
        # Common changes that break come first.
        grave = any(change.section in _GRAVE for stage in common for change in stage.changes)
        for stage in [*common, *telling] if grave else [*telling, *common]:
            name = phrases.across_packages if stage.package is None else titles.package_line(stage.package, phrases)
            if not self._add([f"{mark} {name}"] if telling else []):
                self._left_out += _shown(stage.changes)
                continue
            if stage.notes:
                self._add([lowered(stage.notes, len(mark))])
            else:
                self._sections(stage.changes, part.base, f"{mark}#" if telling else mark)
            if stage.package is not None:
                self._add([f"**{phrases.full_changelog}** {each}" for each in _compared(stage.package, part.base)])
        silent = [stage.package for stage in part.stages if stage.package and not stage.tells]
        if telling and silent:
            named = phrases.enumerated([titles.package_line(package, phrases) for package in silent])
            self._add([phrases.also_released.format(packages=named)])
        elif silent:
            lines = [
                f"- {' · '.join((titles.package_line(each, phrases), *_compared(each, part.base)))}" for each in silent
            ]
            self._add([f"{mark} {phrases.releases}", "\n".join(bounded(lines, self._room - 100))])

    def _told(self, release: Release, stage: Stage) -> list[str]:
        notes, cut = clean(release.body or "", _NOTES_LIMIT)
        if not notes:
            return [titles.without_notes(release, self._voice.phrases, busy=stage.busy)]
        # A quotation sets the headings of the notes apart.
        quoted = "\n".join(f"> {line}".rstrip() for line in notes.splitlines())
        return [quoted, *([titles.cut_notes(release, self._voice.phrases)] if cut else [])]

    def _sections(self, changes: Sequence[Change], base: str | None, mark: str) -> None:
        shown = [change for change in changes if change.shown]
        for section, of_section in groupby(shown, key=lambda change: change.section):
            heading = f"{mark} {self._heading(section)}"
            lines: list[str] = []
            self._room -= len(heading) + 5
            for scope, of_scope in self._by_scope(of_section):
                start = [f"- **{inline(scope)}**"] if scope else []
                self._room -= sum(len(line) + 1 for line in start)
                if self._room < 0:
                    # A full page stays full: further changes are counted.
                    self._left_out += len(of_scope)
                    continue
                fitting: list[str] = []
                for change in of_scope:
                    line = self._line(change, base, nested=bool(scope))
                    self._room -= len(line) + 1
                    if self._room < 0:
                        break
                    fitting.append(line)
                self._left_out += len(of_scope) - len(fitting)
                lines += [*start, *fitting] if fitting else []
            if lines:
                self._blocks += [heading, "\n".join(lines)]

    def _heading(self, section: Section) -> str:
        if named := self._options.headings.get(section):
            return inline(masked_line(named, _HEADING_LIMIT))
        words = self._voice.heading(section)
        return f"{_EMOJI[section]} {words}" if self._options.emoji else words

    def _by_scope(self, changes: Iterable[Change]) -> list[tuple[str, list[Change]]]:
        """Return the changes of a section by scope where many share one; the others are alone, with ``""``."""
        listed = list(changes)
        by_scope: dict[str, list[Change]] = {}
        for change in listed if self._voice.technical else ():
            by_scope.setdefault(change.label.casefold(), []).append(change)
        groups: list[tuple[str, list[Change]]] = []
        for change in listed:
            same = by_scope.get(change.label.casefold(), [])
            if not change.label or len(same) < _OF_ONE_SCOPE:
                groups.append(("", [change]))
            elif change is same[0]:
                groups.append((change.label, same))
        return groups

    def _line(self, change: Change, base: str | None, *, nested: bool) -> str:
        line = entry(replace(change, label="") if nested else change, base, self._voice, self._options)
        return indent(line, "  ") if nested else line

    def _add(self, blocks: list[str]) -> bool:
        size = sum(len(block) + 2 for block in blocks)
        if self._room < size:
            return False
        self._room -= size
        self._blocks += blocks
        return True


def _compared(package: PackageRelease, base: str | None) -> list[str]:
    return titles.compare_links(package.previous_tag, package.release.tag_name, base)


def _shown(changes: Sequence[Change]) -> int:
    return sum(change.shown for change in changes)


def _is_grouped(part: Part) -> bool:
    return bool(part.releases and _shown(part.changes)) and (
        len(part.releases) > 1 or bool(_shown(part.stages[-1].changes))
    )
