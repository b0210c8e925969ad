"""The changes and releases of each repository: the analysis behind every content type."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final, assert_never, final

from attrs import evolve, field, frozen
from msgspec.structs import replace

from contentsvc_core.content.changelog.markdown import compare_url, safe_url
from contentsvc_core.content.changelog.packages import Packages
from contentsvc_core.content.changelog.release_notes import package_notes
from contentsvc_core.content.changelog.select import Change, reported_changes
from contentsvc_core.content.changelog.wording import masked_line
from contentsvc_core.content.options import DEFAULT_OPTIONS, ChangelogOptions
from contentsvc_core.content.packages import package_tag
from contentsvc_core.content.phrases import ENGLISH, Phrasebook
from contentsvc_core.content.sections import Section
from contentsvc_core.content.writing import Brief, Chapter, PackageRelease
from contentsvc_core.events.normalized import MAX_COMMITS, RELEASE_ACTIONS, Commit, Push, Release

_ORDER: Final = {section: place for place, section in enumerate(Section)}
_NAME_LIMIT: Final = 255
_PROJECT_LIMIT: Final = 40
#: A change of more packages does not name them.
_NAMED: Final = 3


@final
@frozen(kw_only=True)
class Stage:
    """The changes between two releases."""

    #: The next release; ``None``: not released yet.
    release: Release | None
    #: Sorted by section.
    changes: tuple[Change, ...] = field(converter=tuple)
    #: Whether any commit came, listed or not.
    busy: bool
    #: The released package, if several packages are announced together.
    package: PackageRelease | None = None
    #: Whether the changes belong to all packages that are announced together.
    common: bool = False

    @property
    def notes(self) -> str:
        """The cleaned notes of a package's release; may be empty."""
        return "" if self.package is None else package_notes(self.package.release.body)

    @property
    def tells(self) -> bool:
        """Whether the stage has notes or listed changes."""
        return bool(self.notes) or any(change.shown for change in self.changes)

    @property
    def is_released(self) -> bool:
        """Whether a release has the changes."""
        return self.release is not None or self.common


@final
@frozen(kw_only=True)
class Part:
    """The changes and releases of one repository."""

    #: ``owner/name`` as received.
    repository: str
    #: The address at the code host, safe to link; ``None``: no event has it.
    base: str | None
    pushes: tuple[Push, ...] = field(converter=tuple)
    #: Oldest first; the last one is not released yet.
    stages: tuple[Stage, ...] = field(converter=tuple)
    #: Sorted by section, then in the order of arrival.
    changes: tuple[Change, ...] = field(converter=tuple)
    #: The page with all commits, safe to link; ``None``: unknown.
    commits_page: str | None = None
    #: Oldest first, each once, without the announced release.
    releases: tuple[Release, ...] = field(converter=tuple)

    @property
    def name(self) -> str:
        """``owner/name`` as one clean line, not escaped."""
        return masked_line(self.repository, _NAME_LIMIT)

    @property
    def project(self) -> str:
        """The repository's own name, plain, in one line."""
        return masked_line(self.repository.rpartition("/")[2], _PROJECT_LIMIT).replace("`", "")

    @property
    def packages(self) -> tuple[PackageRelease, ...]:
        """The packages that are announced together, in the order of the stages."""
        return tuple(stage.package for stage in self.stages if stage.package is not None)

    @property
    def incomplete(self) -> bool:
        """Whether a push has the most commits that the code host sends, so that some may be missing."""
        return any(len(push.commits) >= MAX_COMMITS for push in self.pushes)

    @cached_property
    def commits(self) -> tuple[Commit, ...]:
        """All commits, each once, listed or not."""
        new = [commit for push in self.pushes for commit in push.commits if commit.distinct]
        return tuple({commit.id.casefold() or str(place): commit for place, commit in enumerate(new)}.values())


def report_of(
    brief: Brief, options: ChangelogOptions = DEFAULT_OPTIONS, phrases: Phrasebook = ENGLISH
) -> tuple[Part, ...]:
    """Return the parts of a brief, in its order, each commit and each release once."""
    parts: list[Part] = []
    told: set[str] = set()
    for chapter in _merged(brief.chapters):
        runs, releases = _told_apart(chapter, brief.release)
        # A commit that two repositories share is reported in the first one.
        runs = [[_without(push, told) for push in run] for run in runs] if told else runs
        pushes = [push for run in runs for push in run]
        if len(brief.chapters) > 1:
            told.update(commit.id.casefold() for push in pushes for commit in push.commits if commit.id)
        changes = reported_changes(
            pushes,
            options,
            phrases,
            tag=brief.announced[0].tag_name if brief.announced else "",
            requests=chapter.pull_requests,
            undone=chapter.undone,
        )
        if brief.packages:
            stages = _by_package(brief.packages, Packages(chapter.packages), changes, busy=any(pushes))
            releases = [stage.release for stage in stages if stage.release is not None]
        else:
            own = package_tag(brief.release.tag_name) if brief.release else None
            if own is not None:
                packages = Packages(chapter.packages)
                changes = [_placed(change, packages, own.package) for change in changes]
            stages = _stages(runs, (*releases, brief.release), changes)
        base = _base(brief.release, pushes, releases)
        parts.append(
            Part(
                repository=chapter.repository,
                base=base,
                commits_page=_commits_page(brief, base),
                pushes=pushes,
                stages=stages,
                changes=in_order(change for stage in stages for change in stage.changes),
                releases=releases,
            )
        )
    return tuple(parts)


def _merged(chapters: Iterable[Chapter]) -> list[Chapter]:
    """Join the chapters of one repository, which may be connected through two providers."""
    merged: dict[str, Chapter] = {}
    for chapter in chapters:
        key = chapter.repository.casefold()
        first = merged.get(key)
        merged[key] = chapter if first is None else _joined(first, chapter)
    return list(merged.values())


def _joined(first: Chapter, second: Chapter) -> Chapter:
    return evolve(
        first,
        events=(*first.events, *second.events),
        pull_requests={**second.pull_requests, **first.pull_requests},
        undone={**second.undone, **first.undone},
    )


def _told_apart(chapter: Chapter, announced: Release | None) -> tuple[list[list[Push]], list[Release]]:
    """Return the pushes before each published release and after the last one, and the releases.

    A repeated release counts once. The announced release is left out: all events are before it.
    """
    runs: list[list[Push]] = [[]]
    releases: dict[str, Release] = {}
    for event in chapter.events:
        match event:
            case Push():
                runs[-1].append(event)
            case Release():
                # The code host sends `published` and `prereleased` for one pre-release.
                published = event.action in RELEASE_ACTIONS and not event.draft
                known = event.tag_name in releases or (announced is not None and event.tag_name == announced.tag_name)
                if published and not known:
                    releases[event.tag_name] = event
                    runs.append([])
            case _:
                assert_never(event)
    return runs, list(releases.values())


def _stages(
    runs: Sequence[Sequence[Push]], releases: Sequence[Release | None], changes: Iterable[Change]
) -> list[Stage]:
    firsts: dict[str | Commit, int] = {}
    for place, run in enumerate(runs):
        for push in run:
            for commit in push.commits:
                if commit.distinct:
                    firsts.setdefault(_key(commit), place)
    sorted_: list[list[Change]] = [[] for _ in runs]
    for change in changes:
        sorted_[firsts[_key(change.commits[0])]].append(change)
    return [
        Stage(release=release, changes=in_order(told), busy=any(push.commits for push in run))
        for release, run, told in zip(releases, runs, sorted_, strict=True)
    ]


def _by_package(
    released: Sequence[PackageRelease], packages: Packages, changes: Iterable[Change], *, busy: bool
) -> list[Stage]:
    """Return the stages of packages, those with content first, then the stage of common changes."""
    names = {each.tag.package for each in released}
    sorted_: dict[str | None, list[Change]] = {name: [] for name in (*names, None)}
    for change in changes:
        owners = packages.owners(change.commits) & names
        if len(owners) == 1:
            (owner,) = owners
            sorted_[owner].append(_placed(change, packages, owner))
        else:
            few = ", ".join(sorted(owner.rpartition("/")[2] for owner in owners)) if len(owners) <= _NAMED else ""
            sorted_[None].append(replace(change, label=change.label or few))
    stages = [
        Stage(release=each.release, changes=in_order(sorted_.pop(each.tag.package, ())), busy=busy, package=each)
        for each in released
    ]
    stages.sort(key=lambda stage: not stage.tells)
    return [*stages, Stage(release=None, changes=in_order(sorted_[None]), busy=busy, common=True)]


def _placed(change: Change, packages: Packages, package: str) -> Change:
    """Return a change without a scope that only repeats the package."""
    return replace(change, scope="", label="") if packages.is_named(change.scope, package) else change


def _key(commit: Commit) -> str | Commit:
    return commit.id.casefold() or commit


def _without(push: Push, told: set[str]) -> Push:
    return evolve(push, commits=tuple(commit for commit in push.commits if commit.id.casefold() not in told))


def in_order(changes: Iterable[Change]) -> list[Change]:
    """Return changes by section, in the order of headings."""
    return sorted(changes, key=lambda change: _ORDER[change.section])


def _commits_page(brief: Brief, base: str | None) -> str | None:
    if base is None:
        return None
    release = brief.release
    compared = compare_url(brief.previous_tag, release.tag_name, base) if release else None
    # Without a release, the history of the branch has all commits.
    return compared or f"{base}/commits"


def _base(release: Release | None, pushes: Iterable[Push], releases: Iterable[Release]) -> str | None:
    pages = [(each.url, "/releases/tag/") for each in (release, *releases) if each is not None]
    for url, mark in pages:
        base, found, _ = url.rpartition(mark)
        if found and (safe := safe_url(base)):
            return safe
    for push in pushes:
        for commit in push.commits:
            if commit.id and commit.url.endswith(ending := f"/commit/{commit.id}"):
                safe = safe_url(commit.url.removesuffix(ending))
                if safe:
                    return safe
    return None
