"""What of everything that happened is news, most important first: what posts other than changelogs are made from."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from functools import cached_property
from typing import Final, final

from attrs import evolve, field, frozen

from contentsvc_core.content.changelog.importance import IMPORTANCE, importance, is_deprecation, is_minor, is_news
from contentsvc_core.content.changelog.markdown import safe_url
from contentsvc_core.content.changelog.people import contributors
from contentsvc_core.content.changelog.report import Part, report_of
from contentsvc_core.content.changelog.selection import Change
from contentsvc_core.content.changelog.titles import counted_releases, marked_tag, plain, short_tag
from contentsvc_core.content.changelog.voice import Voice, voice_of
from contentsvc_core.content.phrases import Phrasebook
from contentsvc_core.content.sections import Section
from contentsvc_core.content.windows import LookbackWindow
from contentsvc_core.content.writing import Brief
from contentsvc_core.webhooks.events import Release

_PROJECTS_NAMED: Final = 3
_TAGS_NAMED: Final = 2
#: A longer address, in characters, would leave no room for a text.
_URL_LIMIT: Final = 1_000


@final
@frozen(kw_only=True)
class Item:
    """One change that is news, and where."""

    change: Change
    part: Part
    #: Whether it came before a release of its repository that is told of, or is what the announced one contains.
    released: bool

    @property
    def deprecates(self) -> bool:
        """Whether it announces that something will go."""
        return is_deprecation(self.change)

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
    #: Changes that are counted and not told: documentation, updates of dependencies, the inside.
    documentation: int
    dependencies: int
    internal: int
    #: Oldest first within a repository; the announced one among them.
    releases: tuple[tuple[Part, Release], ...] = field(converter=tuple)
    #: Earlier events that were not read.
    left_out: int
    #: Whom to thank, as Markdown.
    people: tuple[str, ...] = field(converter=tuple)

    @property
    def announced(self) -> tuple[Item, ...]:
        """Give the items that an announcement may be followed by: those in its releases; all where there is none."""
        return tuple(item for item in self.items if item.released) if self.releases else self.items

    @property
    def others(self) -> tuple[Item, ...]:
        """Give the items that no announced release contains, where there is one."""
        return tuple(item for item in self.items if not item.released) if self.releases else ()

    def pending(self, item: Item) -> bool:
        """Whether an item came after the last release of its repository, and there is one."""
        return not item.released and id(item.part) in self._released

    @cached_property
    def _released(self) -> frozenset[int]:
        # By identity: a part is compared by everything that it holds. The news keep the parts, and so their ids.
        return frozenset(id(part) for part, _ in self.releases)

    @property
    def dated(self) -> bool:
        """Whether all that is told may be said to be of the window: no known day of a release is outside of it."""
        if self.window is None:
            return False
        first, last = self.window.since.date(), self.window.until.date()
        return all(first <= day <= last for _, release in self.releases if (day := release_day(release)) is not None)

    @cached_property
    def active(self) -> tuple[Part, ...]:
        """Give the repositories that something is told about."""
        released = {part.repository for part, _ in self.releases}
        return tuple(part for part in self.parts if part.changes or part.repository in released)

    def of(self, *sections: Section) -> tuple[Item, ...]:
        """Give the items of some sections that are no deprecations."""
        return tuple(item for item in self.items if item.change.section in sections and not item.deprecates)

    @property
    def deprecations(self) -> tuple[Item, ...]:
        """Give the items that announce that something will go."""
        return tuple(item for item in self.items if item.deprecates)

    @property
    def several(self) -> bool:
        """Whether it has to be said of each thing in which repository it is."""
        return len(self.active) > 1


def news_of(brief: Brief) -> News:
    """Find what is news in a brief, and in which order it is worth being told."""
    voice = voice_of(brief.brand)
    parts = report_of(brief, no_message=voice.phrases.no_message)
    items: list[Item] = []
    documentation = dependencies = internal = 0
    for part in parts:
        for stage in part.stages:
            for each in stage.changes:
                if is_news(each):
                    change = evolve(each, text=_whole_words(each.text), continuation=_whole_words(each.continuation))
                    items.append(Item(change=change, part=part, released=stage.release is not None))
                elif each.dependency:
                    dependencies += 1
                elif each.section is Section.DOCUMENTATION:
                    documentation += 1
                else:
                    internal += 1
    releases = [(part, release) for part in parts for release in part.releases]
    if brief.release is not None:
        releases.append((parts[0], brief.release))
    authors = (author for part in parts for change in part.changes for author in change.authors)
    return News(
        voice=voice,
        window=brief.window,
        parts=parts,
        items=sorted(items, key=lambda item: importance(item.change)),
        documentation=documentation,
        dependencies=dependencies,
        internal=internal,
        releases=releases,
        left_out=brief.left_out,
        people=contributors(authors),
    )


def _whole_words(text: str) -> str:
    """Take off what is left of a word where a code host has cut a subject."""
    head, space, last = text.rpartition(" ")
    return f"{head}…" if space and last.endswith("…") and len(last) > 1 else text


def subject(parts: Sequence[Part], phrases: Phrasebook) -> str:
    """Name what was worked on, plain: the projects, or how many repositories."""
    names = list(dict.fromkeys(part.project for part in parts if part.project))
    if not names or len(names) > _PROJECTS_NAMED:
        return phrases.count(len(parts), phrases.repository_count)
    return phrases.enumerated(names)


def release_day(release: Release) -> date | None:
    """Give the day on which a release was published, as the code host says it; ``None`` if it says none."""
    try:
        return date.fromisoformat((release.published_at or "")[:10])
    except ValueError:
        return None


def release_names(news: News, releases: Sequence[tuple[Part, Release]] | None = None) -> str:
    """Name the releases, plain: ``kettle v1.2.0``, ``kettle v1.0 and v1.1``, ``kettle v1.0 to v1.4``; ``""``: none.

    A pre-release is called one, unless only such ``releases`` are asked for.
    """
    phrases = news.voice.phrases
    told = news.releases if releases is None else releases
    plainly = releases is not None and all(release.prerelease for _, release in told)
    named: list[str] = []
    for part in news.active:
        of_part = [release for of, release in told if of is part]
        tags = [plain(short_tag(each)) if plainly else marked_tag(each, phrases) for each in of_part]
        tags = [tag for tag in tags if tag]
        if len(tags) > _TAGS_NAMED:
            tags = [phrases.release_range.format(first=tags[0], last=tags[-1])]
        if tags:
            shown = phrases.enumerated(tags)
            # Some tags name their project: `kettle-v1.2.0`.
            known = part.project.casefold() in shown.casefold()
            named.append(shown if known else f"{part.project} {shown}")
    if len(named) > _PROJECTS_NAMED or (told and not named):
        released = phrases.enumerated(counted_releases((release for _, release in told), phrases))
        return f"{released} ({subject([part for part in news.active if any(of is part for of, _ in told)], phrases)})"
    return phrases.enumerated(named)


def figures(news: News, items: Sequence[Item] | None = None) -> list[str]:
    """Count releases and kinds of change, each with its noun; of all changes, or of some."""
    counted = counted_releases((release for _, release in news.releases), news.voice.phrases)
    return counted + counted_kinds(news.items if items is None else items, news.voice.phrases)


def counted_kinds(items: Iterable[Item], phrases: Phrasebook) -> list[str]:
    """Count changes by kind, each with its noun, in the order of importance."""
    kinds = Counter(item.change.section for item in items)
    return [phrases.count(kinds[section], phrases.kinds[section]) for section in IMPORTANCE if kinds[section]]


def besides(news: News) -> list[str]:
    """Say, in a sentence each, how much news the releases do not contain: of other repositories, and since then."""
    phrases = news.voice.phrases
    since = [item for item in news.others if news.pending(item)]
    elsewhere = [item for item in news.others if not news.pending(item)]
    said: list[str] = []
    if since:
        said.append(phrases.not_released_counts.format(counts=phrases.enumerated(counted_kinds(since, phrases))))
    if elsewhere:
        counts = phrases.enumerated(counted_kinds(elsewhere, phrases))
        of = subject(parts_of(elsewhere), phrases)
        said.append(phrases.elsewhere.format(subject=of, counts=counts))
    return said


def parts_of(items: Iterable[Item]) -> list[Part]:
    """Give the repositories of some items, each once."""
    return list({item.part.repository: item.part for item in items}.values())


def upkeep(news: News) -> list[str]:
    """Count what is not told, each with its noun."""
    phrases = news.voice.phrases
    counted = (
        (news.documentation, phrases.kinds[Section.DOCUMENTATION]),
        (news.dependencies, phrases.dependency),
        (news.internal, phrases.kinds[Section.INTERNAL]),
    )
    return [phrases.count(number, phrase) for number, phrase in counted if number]


def areas(items: Iterable[Item]) -> list[str]:
    """Give the parts of the code that most changes name, plain; nothing unless two of them stand out."""
    counted = Counter(plain(item.change.scope) for item in items if item.change.scope)
    top = [(name, number) for name, number in counted.most_common(3) if number > 1]
    return [f"{name} ({number})" for name, number in top] if len(top) > 1 else []


def page(news: News) -> tuple[bool, str] | None:
    """Give the one address to send readers to, and whether it is a release's page; ``None`` when none is known."""
    lead = news.announced[0].part if news.announced else None
    near = [release for part, release in news.releases if part is lead] or [release for _, release in news.releases]
    for release in reversed(near):
        url = safe_url(release.url)
        if url and len(url) <= _URL_LIMIT:
            return True, url
    bases = [part.base for part in ((lead,) if lead else news.active) if part.base and len(part.base) <= _URL_LIMIT]
    return (False, bases[0]) if bases else None
