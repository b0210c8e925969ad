"""What of everything that happened is news, most important first: what posts other than changelogs are made from."""

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
from contentsvc_core.events.normalized import Release

_PROJECTS_NAMED: Final = 3
_TAGS_NAMED: Final = 2
#: A longer address, in characters, would leave no room for a text.
_URL_LIMIT: Final = 1_000


#: What users of the software notice. Everything else is counted, if at all.
_NOTICED: Final = frozenset(Section) - {
    Section.DEPENDENCIES, Section.DOCUMENTATION, Section.INTERNAL, Section.OTHER,
}  # fmt: skip
#: The kinds that have a list of their own in posts, in the order of their headings.
THEMES: Final = (
    Section.SECURITY, Section.ADDED, Section.CHANGED, Section.FIXED, Section.PERFORMANCE, Section.REMOVED,
    Section.DEPRECATED, Section.REVERTED,
)  # fmt: skip
_NEVER_INSIDE: Final = frozenset({Section.BREAKING, Section.SECURITY})
#: What customers do not look for, whatever its kind: tools, files and words of those who build the software.
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
    """One change that is news, and where."""

    change: Change
    part: Part
    #: Whether it came before a release of its repository that is told of, or is what the announced one contains.
    released: bool
    #: Whether it is an entry of a release's notes; else it is made of commits.
    noted: bool = False

    @property
    def deprecates(self) -> bool:
        """Whether it announces that something will go."""
        return self.change.section is Section.DEPRECATED

    @property
    def minor(self) -> bool:
        """Whether it is small for most readers, or says too little to be told among the first."""
        return is_minor(self.change)


@final
@frozen(kw_only=True)
class News:
    """What there is to tell."""

    voice: Voice
    window: LookbackWindow | None
    #: Every repository that was asked for.
    parts: tuple[Part, ...] = field(converter=tuple)
    #: Most important first.
    items: tuple[Item, ...] = field(converter=tuple)
    #: What the author of the only release says first of it: plain, whole sentences; ``""`` for nothing.
    lead: str
    #: How many changes of each kind are counted and not told.
    upkeep: Mapping[Section, int]
    #: Oldest first within a repository; the announced one among them.
    releases: tuple[tuple[Part, Release], ...] = field(converter=tuple)
    #: Earlier events that were not read.
    left_out: int
    #: Whom to thank, as Markdown.
    people: tuple[str, ...] = field(converter=tuple)

    @property
    def announced(self) -> tuple[Item, ...]:
        """Return the items that an announcement may be followed by: those in its releases; all where there is none."""
        return tuple(item for item in self.items if item.released) if self.releases else self.items

    @property
    def others(self) -> tuple[Item, ...]:
        """Return the items that no announced release contains, where there is one."""
        return tuple(item for item in self.items if not item.released) if self.releases else ()

    def pending(self, item: Item) -> bool:
        """Return whether an item came after the last release of its repository, and there is one."""
        return not item.released and id(item.part) in self._released

    @cached_property
    def _released(self) -> frozenset[int]:
        # By identity: a part is compared by everything that it holds. The news keep the parts, and so their ids.
        return frozenset(id(part) for part, _ in self.releases)

    @cached_property
    def active(self) -> tuple[Part, ...]:
        """Return the repositories that something is told about."""
        released = {part.repository for part, _ in self.releases}
        return tuple(part for part in self.parts if part.changes or part.repository in released)

    def of(self, *sections: Section) -> tuple[Item, ...]:
        """Return the items of some sections that are no deprecations."""
        return tuple(item for item in self.items if item.change.section in sections and not item.deprecates)

    @property
    def deprecations(self) -> tuple[Item, ...]:
        """Return the items that announce that something will go."""
        return tuple(item for item in self.items if item.deprecates)

    @property
    def several(self) -> bool:
        """Whether it has to be said of each thing in which repository it is."""
        return len(self.active) > 1


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
            changes = notes.changes if notes and noted else stage.changes
            upkeep.update(change.section for change in stage.changes if not _is_news(change, voice))
            items += [
                Item(change=_whole(change), part=part, released=stage.is_released, noted=noted)
                for change in changes
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
    """Sort commits as changelogs do; the entries of notes by kind alone, for their author has put them in order."""
    whole = importance(item.change)
    return whole[:1] if item.noted else whole


def _whole(change: Change) -> Change:
    return replace(change, text=_whole_words(change.text), continuation=_whole_words(change.continuation))


def _whole_words(text: str) -> str:
    """Remove what is left of a word where a code host has cut a subject."""
    head, space, last = text.rpartition(" ")
    return f"{head}…" if space and last.endswith("…") and len(last) > 1 else text.rstrip(";, ")


def subject(parts: Sequence[Part], phrases: Phrasebook) -> str:
    """Return what was worked on, plain: the projects, or how many repositories."""
    names = list(dict.fromkeys(part.project for part in parts if part.project))
    if not names or len(names) > _PROJECTS_NAMED:
        return phrases.count(len(parts), phrases.repository_count)
    return phrases.enumerated(names)


def release_day(release: Release) -> date | None:
    """Return the day on which a release was published, as the code host says it; ``None`` if it says none."""
    try:
        return date.fromisoformat((release.published_at or "")[:10])
    except ValueError:
        return None


def release_names(news: News) -> str:
    """Return the releases, plain: ``kettle v1.2.0``, ``kettle v1.0 to v1.4``; ``""``: none."""
    phrases = news.voice.phrases
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
            known = part.project.casefold() in shown.casefold()
            named.append(shown if known else f"{part.project} {shown}")
    if len(named) > _PROJECTS_NAMED or (news.releases and not named):
        released = phrases.enumerated(counted_releases((release for _, release in news.releases), phrases))
        of = [part for part in news.active if any(each is part for each, _ in news.releases)]
        return f"{released} ({subject(of, phrases)})"
    return phrases.enumerated(named)


def counted_kinds(items: Iterable[Item], phrases: Phrasebook) -> list[str]:
    """Count changes by kind, each with its noun, in the order of importance."""
    return counted(Counter(item.change.section for item in items), phrases)


def counted(kinds: Mapping[Section, int], phrases: Phrasebook) -> list[str]:
    """Return each number with its noun, in the order of importance."""
    return [phrases.count(kinds[section], phrases.kinds[section]) for section in IMPORTANCE if kinds.get(section)]


def besides(news: News) -> list[str]:
    """Say, in a sentence each, how much news the releases do not contain: of other repositories, and since then."""
    phrases = news.voice.phrases
    since = [item for item in news.others if news.pending(item)]
    elsewhere = [item for item in news.others if not news.pending(item)]
    said: list[str] = []
    if since:
        said.append(phrases.say(phrases.not_released_counts, counts=phrases.enumerated(counted_kinds(since, phrases))))
    if elsewhere:
        counts = phrases.enumerated(counted_kinds(elsewhere, phrases))
        of = subject(parts_of(elsewhere), phrases)
        said.append(phrases.say(phrases.elsewhere, subject=of, counts=counts))
    return said


def parts_of(items: Iterable[Item]) -> list[Part]:
    """Return the repositories of some items, each once."""
    return list({item.part.repository: item.part for item in items}.values())


def page(news: News) -> tuple[bool, str] | None:
    """Return the one address to send readers to, and whether it is a release's page; ``None`` when none is known."""
    lead = news.announced[0].part if news.announced else None
    near = [release for part, release in news.releases if part is lead] or [release for _, release in news.releases]
    # The newest one; of packages that are announced together the leading one.
    for release in near if any(part.packages for part in news.active) else reversed(near):
        url = safe_url(release.url)
        if url and len(url) <= _URL_LIMIT:
            return True, url
    bases = [part.base for part in ((lead,) if lead else news.active) if part.base and len(part.base) <= _URL_LIMIT]
    return (False, bases[0]) if bases else None
