"""The news of a brief, most important first: the input of all posts other than changelogs."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import cached_property
from typing import Final, final

from attrs import field, frozen
from msgspec.structs import replace

from contentsvc_core.content.changelog.markdown import safe_url
from contentsvc_core.content.changelog.people import contributors
from contentsvc_core.content.changelog.report import Part, report_of
from contentsvc_core.content.changelog.select import IMPORTANCE, Change, importance, is_minor
from contentsvc_core.content.changelog.titles import counted_releases, marked_tag, packages_named
from contentsvc_core.content.changelog.voice import Voice, voice_of
from contentsvc_core.content.forms.notes import notes_of
from contentsvc_core.content.phrases import Phrasebook
from contentsvc_core.content.sections import Section
from contentsvc_core.content.windows import LookbackWindow
from contentsvc_core.content.writing import Brief
from contentsvc_core.events.normalized import MAX_COMMITS, Release

_PROJECTS_NAMED: Final = 3
_TAGS_NAMED: Final = 2
#: In characters; a longer address leaves no room for a text.
_URL_LIMIT: Final = 1_000
#: The sections that users of the software notice. The others are counted, if at all.
_NOTICED: Final = frozenset(Section) - {
    Section.DEPENDENCIES, Section.DOCUMENTATION, Section.INTERNAL, Section.OTHER,
}  # fmt: skip
#: The sections that have a list of their own in posts, in the order of their headings.
THEMES: Final = (
    Section.SECURITY, Section.ADDED, Section.CHANGED, Section.FIXED, Section.PERFORMANCE, Section.REMOVED,
    Section.REVERTED,
)  # fmt: skip
_NEVER_INSIDE: Final = frozenset({Section.BREAKING, Section.SECURITY})
#: Tools, files and words of developers: customers do not look for such changes.
_INSIDE: Final = re.compile(
    r"\b(?:clippy|lint(?:s|ing|er)?|eslint|prettier|ruff|mypy|pyright|rustfmt|gofmt|black|flake8|isort|codespell|typos?"
    r"|lock ?files?|dependabot|renovate|refactor\w*|clean ?-?up|unit tests?|test suite|tests?|ci|github actions?"
    r"|workflows?|makefile|dockerfile|readme|changelog|docstrings?|type hints?|typing|annotations?|dead code|msrv)\b"
    r"|\b[\w-]+\.(?:lock|toml|json|ya?ml|cfg|ini|txt|md|rst)\b",
    re.IGNORECASE,
)


@final
@frozen(kw_only=True)
class Item:
    """One change that is news, and its repository."""

    change: Change
    part: Part
    #: Whether a reported release of the repository contains the change.
    released: bool
    #: Whether the change is an entry of release notes. Otherwise it comes from commits.
    noted: bool = False

    @property
    def minor(self) -> bool:
        """Whether the change is small for most readers."""
        return is_minor(self.change)


@final
@frozen(kw_only=True)
class News:
    """The content of a post."""

    voice: Voice
    window: LookbackWindow | None
    #: All repositories of the brief.
    parts: tuple[Part, ...] = field(converter=tuple)
    #: Most important first.
    items: tuple[Item, ...] = field(converter=tuple)
    #: The first paragraph of the only release's notes: plain, whole sentences; may be empty.
    lead: str
    #: The numbers of changes that are only counted.
    upkeep: Mapping[Section, int]
    #: Oldest first within a repository, with the announced release.
    releases: tuple[tuple[Part, Release], ...] = field(converter=tuple)
    #: The number of earlier events that were not read.
    left_out: int
    #: The contributors, as Markdown.
    people: tuple[str, ...] = field(converter=tuple)

    @property
    def phrases(self) -> Phrasebook:
        """The phrases of the post's language."""
        return self.voice.phrases

    @property
    def announced(self) -> tuple[Item, ...]:
        """The items of the announced releases; all items if there is no release."""
        return tuple(item for item in self.items if item.released) if self.releases else self.items

    @property
    def others(self) -> tuple[Item, ...]:
        """The items that no announced release contains; empty if there is no release."""
        return tuple(item for item in self.items if not item.released) if self.releases else ()

    def pending(self, item: Item) -> bool:
        """Return whether an item came after the last release of its repository."""
        return not item.released and id(item.part) in self._released

    @cached_property
    def _released(self) -> frozenset[int]:
        # By identity: parts are compared by all their fields. The news keep the parts, so ids stay valid.
        return frozenset(id(part) for part, _ in self.releases)

    @cached_property
    def active(self) -> tuple[Part, ...]:
        """The repositories with changes or releases."""
        released = {part.repository for part, _ in self.releases}
        return tuple(part for part in self.parts if part.changes or part.repository in released)

    def of(self, section: Section) -> tuple[Item, ...]:
        """Return the items of a section."""
        return tuple(item for item in self.items if item.change.section is section)

    @property
    def several(self) -> bool:
        """Whether the post names the repository of each item."""
        return len(self.active) > 1

    @property
    def gaps(self) -> list[str]:
        """The sentences that name the limits of the post: events that were not read, and very large pushes."""
        phrases = self.phrases
        said = [phrases.count(self.left_out, phrases.not_covered)] if self.left_out else []
        incomplete = any(part.incomplete for part in self.active)
        return [*said, *([phrases.incomplete.format(n=phrases.number(MAX_COMMITS))] if incomplete else [])]


def news_of(brief: Brief) -> News:
    """Return the news of a brief, most important first; release notes come before commits."""
    voice = voice_of(brief.brand)
    parts = report_of(brief, brief.options, voice.phrases)
    items: list[Item] = []
    upkeep: Counter[Section] = Counter()
    leads: list[str] = []
    for part in parts:
        for stage in part.stages:
            notes = notes_of(stage.release, part.repository) if stage.release else None
            leads += [notes.lead] if notes else []
            noted = notes is not None and bool(notes.changes)
            upkeep.update(change.section for change in stage.changes if not _is_news(change, voice))
            items += [
                Item(change=_whole(change), part=part, released=stage.is_released, noted=noted)
                for change in (notes.changes if notes and noted else stage.changes)
                if _is_news(change, voice)
            ]
    releases = [(part, release) for part in parts for release in part.releases]
    if brief.release is not None:
        releases.append((parts[0], brief.release))
    authors = (author for part in parts for change in part.changes for author in change.authors)
    return News(
        voice=voice,
        window=brief.window,
        parts=parts,
        items=sorted(items, key=_weight),
        lead=leads[0] if len(leads) == 1 else "",
        upkeep=upkeep,
        releases=releases,
        left_out=brief.left_out,
        people=contributors(authors),
    )


def _is_news(change: Change, voice: Voice) -> bool:
    if not change.shown or change.section not in _NOTICED:
        return False
    return voice.technical or change.section in _NEVER_INSIDE or _INSIDE.search(change.text) is None


def _weight(item: Item) -> tuple[int, ...]:
    # Entries of notes are sorted by section only: the author has sorted them.
    whole = importance(item.change)
    return whole[:1] if item.noted else whole


def _whole(change: Change) -> Change:
    return replace(change, text=_whole_words(change.text), continuation=_whole_words(change.continuation))


def _whole_words(text: str) -> str:
    """Remove the rest of a word where a code host has cut a subject."""
    head, space, last = text.rpartition(" ")
    return f"{head}…" if space and last.endswith("…") and len(last) > 1 else text.rstrip(";, ")


def subject(parts: Sequence[Part], phrases: Phrasebook) -> str:
    """Return the names of the projects, or the number of repositories: plain."""
    names = list(dict.fromkeys(part.project for part in parts if part.project))
    if not names or len(names) > _PROJECTS_NAMED:
        return phrases.count(len(parts), phrases.repository_count)
    return phrases.enumerated(names)


def release_day(release: Release) -> date | None:
    """Return the day of publication, as the code host sends it."""
    try:
        return date.fromisoformat((release.published_at or "")[:10])
    except ValueError:
        return None


def release_names(news: News) -> str:
    """Return the names of the releases, plain: ``kettle v1.2.0``, ``kettle v1.0 to v1.4``; may be empty."""
    phrases = news.phrases
    named: list[str] = []
    for part in news.active:
        tags = [tag for of, release in news.releases if of is part and (tag := marked_tag(release, phrases))]
        if part.packages:
            tags = [packages_named(part.packages, phrases)]
        elif len(tags) > _TAGS_NAMED:
            tags = [phrases.say(phrases.release_range, first=tags[0], last=tags[-1])]
        if tags:
            shown = phrases.enumerated(tags)
            # Some tags name their project: `kettle-v1.2.0`.
            named.append(shown if part.project.casefold() in shown.casefold() else f"{part.project} {shown}")
    if len(named) > _PROJECTS_NAMED or (news.releases and not named):
        released = phrases.enumerated(counted_releases((release for _, release in news.releases), phrases))
        releasing = [part for part in news.active if any(of is part for of, _ in news.releases)]
        return f"{released} ({subject(releasing, phrases)})"
    return phrases.enumerated(named)


def counted_kinds(items: Iterable[Item], phrases: Phrasebook) -> str:
    """Return the number of changes of each section with its noun, in the order of importance."""
    return counted(Counter(item.change.section for item in items), phrases)


def counted(kinds: Mapping[Section, int], phrases: Phrasebook) -> str:
    """Return each number with its noun, in the order of importance."""
    sections = (section for section in IMPORTANCE if kinds.get(section))
    return phrases.enumerated([phrases.count(kinds[section], phrases.kinds[section]) for section in sections])


def besides(news: News) -> list[str]:
    """Return sentences with the numbers of changes outside the releases: since them, and in other repositories."""
    phrases = news.phrases
    since = [item for item in news.others if news.pending(item)]
    elsewhere = [item for item in news.others if not news.pending(item)]
    said = [phrases.say(phrases.not_released_counts, counts=counted_kinds(since, phrases))] if since else []
    if elsewhere:
        of = subject(parts_of(elsewhere), phrases)
        said.append(phrases.say(phrases.elsewhere, subject=of, counts=counted_kinds(elsewhere, phrases)))
    return said


def parts_of(items: Iterable[Item]) -> list[Part]:
    """Return the repositories of some items, each once."""
    return list({item.part.repository: item.part for item in items}.values())


def page(news: News) -> tuple[bool, str] | None:
    """Return the best address for readers, and whether it is a release's page; ``None`` if no address is known."""
    lead = news.announced[0].part if news.announced else None
    near = [release for part, release in news.releases if part is lead] or [release for _, release in news.releases]
    # The newest release; of packages that are announced together, the leading one.
    for release in near if any(part.packages for part in news.active) else reversed(near):
        url = safe_url(release.url)
        if url and len(url) <= _URL_LIMIT:
            return True, url
    bases = [part.base for part in ((lead,) if lead else news.active) if part.base and len(part.base) <= _URL_LIMIT]
    return (False, bases[0]) if bases else None
