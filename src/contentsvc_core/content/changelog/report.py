"""The changes and releases of each repository and package: the analysis behind every content type."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain
from typing import Final, assert_never, final

from attrs import evolve
from msgspec import Struct
from msgspec.structs import replace

from contentsvc_core.content.changelog.markdown import compare_url, is_bare, masked_line, safe_url
from contentsvc_core.content.changelog.paths import PathClass, class_of
from contentsvc_core.content.changelog.read import parse
from contentsvc_core.content.changelog.release_notes import Notes, notes_of, package_notes
from contentsvc_core.content.changelog.select import Change, reported_changes
from contentsvc_core.content.options import DEFAULT_OPTIONS, ChangelogOptions
from contentsvc_core.content.packages import package_tag
from contentsvc_core.content.phrases import ENGLISH, Phrasebook
from contentsvc_core.content.sections import Section
from contentsvc_core.content.writing import Brief, Chapter, PackageRelease
from contentsvc_core.events.normalized import MAX_COMMITS, RELEASE_ACTIONS, Commit, Push, Release
from contentsvc_core.values import Value

_SECTIONS: Final = tuple(Section)
_NAME_LIMIT: Final = 255
_PROJECT_LIMIT: Final = 40
_NAMED: Final = 3


#: Folders of packages, which name no package themselves unless a package has that name.
_HOLDERS: Final = frozenset(
    {"packages", "package", "pkgs", "pkg", "crates", "libs", "apps", "plugins", "modules", "components", "clients"}
    | {"integrations", "extensions", "adapters", "services", "projects", "workspaces", "sdk", "sdks", "tools", "src"}
)
_SEPARATORS: Final = re.compile(r"[_.]")


@final
class Packages:
    def __init__(self, names: Iterable[str], noted: Iterable[str] = ()) -> None:
        """``noted`` are the names of folders with a changelog of their own, which no tag names yet."""
        self.names = tuple(sorted(set(names)))
        spellings = [(spelling, name) for name in self.names for spelling in _spellings(name)]
        counted = Counter(spelling for spelling, _ in spellings)
        self._names = {spelling: name for spelling, name in spellings if counted[spelling] == 1}
        self._names = {_spelled(folder): folder for folder in noted} | self._names
        self._folders = [f"{name}/" for name in self.names if "/" in name]
        self._folders.sort(key=len, reverse=True)

    def __bool__(self) -> bool:
        return bool(self.names)

    def owners(self, commits: Iterable[Commit]) -> frozenset[str]:
        """Return the packages of a change's commits; may be empty."""
        if not self.names:
            return frozenset()
        commits = list(commits)
        paths = (path for commit in commits for path in (*commit.added, *commit.modified, *commit.removed))
        owners = frozenset(filter(None, map(self._of_path, paths)))
        if len(owners) == 1:
            return owners
        scoped = frozenset(filter(None, map(self._of_scope, commits)))
        return scoped & owners or owners or scoped

    def is_named(self, scope: str, package: str) -> bool:
        return self._names.get(_spelled(scope)) == package

    def _of_path(self, path: str) -> str | None:
        for folder in self._folders:
            if path.startswith(folder):
                return folder[:-1]
        for part in path.split("/")[:-1]:
            if (owner := self._names.get(_spelled(part))) is not None:
                return owner
            if part not in _HOLDERS and not part.startswith("@"):
                return None
        return None

    def _of_scope(self, commit: Commit) -> str | None:
        return self._names.get(_spelled(parse(commit.message).scope or ""))


def _spellings(name: str) -> set[str]:
    scope, _, short = name.lstrip("@").rpartition("/")
    return {_spelled(name), _spelled(short), _spelled(f"{scope.rpartition('/')[2]}-{short}") if scope else ""} - {""}


def _spelled(name: str) -> str:
    return _SEPARATORS.sub("-", name.strip().casefold())


def folders_with_changelogs(commits: Sequence[Commit]) -> frozenset[str]:
    """Return the names of the folders whose changelogs authors write, together with changes of the code there."""
    names: set[str] = set()
    for commit in commits:
        paths = (*commit.added, *commit.modified)
        folders = {path.rpartition("/")[0] for path in paths if _is_changelog(path)}
        codes = [path for path in paths if class_of(path) is PathClass.SOURCE] if folders else []
        names.update(each.rpartition("/")[2] for each in folders if any(path.startswith(f"{each}/") for path in codes))
    names -= _HOLDERS | {""}
    present = (path for commit in commits for path in (*commit.added, *commit.modified)) if names else ()
    # A tool writes changelogs from fragments.
    return frozenset() if any(class_of(path) is PathClass.FRAGMENT for path in present) else frozenset(names)


def _is_changelog(path: str) -> bool:
    # Few names begin like this, and a class costs more.
    return "/change" in path.casefold() and class_of(path) is PathClass.CHANGELOG


@final
class Stage(Value, frozen=True, kw_only=True):
    #: The next release; ``None``: not released yet.
    release: Release | None
    #: Sorted by section, then in the order of arrival.
    changes: tuple[Change, ...]
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
    def reported(self) -> Notes:
        """The lead and the entries of the release's notes; without entries, the changes of its commits."""
        notes = Notes(lead="", changes=()) if self.release is None else notes_of(self.release)
        return notes if notes.changes else replace(notes, changes=self.changes)

    @property
    def has_content(self) -> bool:
        return bool(self.notes) or any(change.shown for change in self.changes)

    @property
    def is_released(self) -> bool:
        return self.release is not None or self.common


@final
class Part(Value, frozen=True, kw_only=True, gc=True, dict=True):
    repository: str
    #: The address at the code host, safe to link; ``None``: no event has it.
    base: str | None
    pushes: tuple[Push, ...]
    #: Oldest first; the last one is not released yet.
    stages: tuple[Stage, ...]
    #: The page with all commits, safe to link; ``None``: unknown.
    commits_page: str | None = None

    @property
    def name(self) -> str:
        """``owner/name`` as one clean line, not escaped."""
        return masked_line(self.repository, _NAME_LIMIT)

    @property
    def project(self) -> str:
        return masked_line(self.repository.rpartition("/")[2], _PROJECT_LIMIT).replace("`", "")

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """The changes of all stages, sorted by section, then in the order of arrival."""
        if len(self.stages) == 1:
            return self.stages[0].changes
        return in_order(change for stage in self.stages for change in stage.changes)

    @cached_property
    def releases(self) -> tuple[Release, ...]:
        """The releases, oldest first, each once; of packages that are announced together, the leading one first."""
        return tuple(stage.release for stage in self.stages if stage.release is not None)

    @property
    def packages(self) -> tuple[PackageRelease, ...]:
        return tuple(stage.package for stage in self.stages if stage.package is not None)

    @property
    def incomplete(self) -> bool:
        """Whether a push has the most commits that the code host sends, so that some may be missing."""
        return any(len(push.commits) >= MAX_COMMITS for push in self.pushes)

    @cached_property
    def commits(self) -> tuple[Commit, ...]:
        new = [commit for push in self.pushes for commit in push.commits if commit.distinct]
        return tuple({commit.id.casefold() or str(index): commit for index, commit in enumerate(new)}.values())


@final
class Item(Struct, frozen=True, kw_only=True, gc=False):
    change: Change
    part: Part
    #: Whether a reported release of the repository contains the change.
    released: bool


def items_of(parts: Iterable[Part]) -> list[Item]:
    return [
        Item(change=change, part=part, released=stage.is_released)
        for part in parts
        for stage in part.stages
        for change in stage.changes
    ]


def report_of(
    brief: Brief, options: ChangelogOptions = DEFAULT_OPTIONS, phrases: Phrasebook = ENGLISH, *, technical: bool = True
) -> tuple[Part, ...]:
    """Return the parts of a brief, in its order, each commit and each release once.

    ``technical``: whether changes name parts of the code.
    """
    parts: list[Part] = []
    reported: set[str] = set()
    for chapter in _merged(brief.chapters):
        runs, releases = _split_at_releases(chapter, brief.release)
        # A commit that two repositories share is reported in the first one.
        runs = [[_without(push, reported) for push in run] for run in runs] if reported else runs
        pushes = [push for run in runs for push in run]
        if len(brief.chapters) > 1:
            reported.update(commit.id.casefold() for push in pushes for commit in push.commits if commit.id)
        changes = reported_changes(
            pushes,
            options,
            phrases,
            tag=brief.announced[0].tag_name if brief.announced else "",
            requests=chapter.pull_requests,
            undone=chapter.undone,
        )
        if not technical:
            changes = tuple(
                change if is_bare(change.text) else replace(change, scope="", label="") for change in changes
            )
        if brief.packages:
            stages = _by_package(brief.packages, Packages(chapter.packages), changes, busy=any(pushes))
        else:
            own = package_tag(brief.release.tag_name) if brief.release else None
            if own is not None:
                packages = Packages(chapter.packages)
                changes = [_without_package_scope(change, packages, own.package) for change in changes]
            stages = _stages(runs, (*releases, brief.release), changes)
        base = _base(pushes, [stage.release for stage in stages if stage.release is not None])
        compared = compare_url(brief.previous_tag, brief.release.tag_name, base) if brief.release else None
        parts.append(
            Part(
                repository=chapter.repository,
                base=base,
                commits_page=compared or (base and f"{base}/commits"),
                pushes=tuple(pushes),
                stages=tuple(stages),
            )
        )
    return tuple(parts)


def _merged(chapters: Iterable[Chapter]) -> list[Chapter]:
    merged: dict[str, Chapter] = {}
    for chapter in chapters:
        key = chapter.repository.casefold()
        first = merged.get(key)
        merged[key] = (
            chapter
            if first is None
            else evolve(
                first,
                events=(*first.events, *chapter.events),
                pull_requests={**chapter.pull_requests, **first.pull_requests},
                undone={**chapter.undone, **first.undone},
            )
        )
    return list(merged.values())


def _split_at_releases(chapter: Chapter, announced: Release | None) -> tuple[list[list[Push]], list[Release]]:
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
                is_listed = event.tag_name in releases or (
                    announced is not None and event.tag_name == announced.tag_name
                )
                if published and not is_listed:
                    releases[event.tag_name] = event
                    runs.append([])
            case _:
                assert_never(event)
    return runs, list(releases.values())


def _stages(
    runs: Sequence[Sequence[Push]], releases: Sequence[Release | None], changes: Iterable[Change]
) -> list[Stage]:
    sorted_: list[list[Change]] = [[] for _ in runs]
    if len(runs) == 1:
        sorted_ = [[*changes]]
    else:
        firsts: dict[str | Commit, int] = {}
        for index, run in enumerate(runs):
            for push in run:
                for commit in push.commits:
                    if commit.distinct:
                        # A change begins with the first commit of its hash.
                        firsts.setdefault(commit.id or commit, index)
        for change in changes:
            first = change.reads[0].commit
            sorted_[firsts[first.id or first]].append(change)
    return [
        Stage(release=release, changes=in_order(stage_changes), busy=any(push.commits for push in run))
        for release, run, stage_changes in zip(releases, runs, sorted_, strict=True)
    ]


def _by_package(
    released: Sequence[PackageRelease], packages: Packages, changes: Iterable[Change], *, busy: bool
) -> list[Stage]:
    names = {package.tag.package for package in released}
    sorted_: dict[str | None, list[Change]] = {name: [] for name in (*names, None)}
    for change in changes:
        owners = packages.owners(change.commits) & names
        if len(owners) == 1:
            (owner,) = owners
            sorted_[owner].append(_without_package_scope(change, packages, owner))
        else:
            few = ", ".join(sorted(owner.rpartition("/")[2] for owner in owners)) if len(owners) <= _NAMED else ""
            sorted_[None].append(replace(change, label=change.label or few))
    stages = [
        Stage(
            release=package.release, changes=in_order(sorted_.pop(package.tag.package, ())), busy=busy, package=package
        )
        for package in released
    ]
    stages.sort(key=lambda stage: not stage.has_content)
    return [*stages, Stage(release=None, changes=in_order(sorted_[None]), busy=busy, common=True)]


def _without_package_scope(change: Change, packages: Packages, package: str) -> Change:
    return replace(change, scope="", label="") if packages.is_named(change.scope, package) else change


def _without(push: Push, reported: set[str]) -> Push:
    return replace(push, commits=tuple(commit for commit in push.commits if commit.id.casefold() not in reported))


def in_order(changes: Iterable[Change]) -> tuple[Change, ...]:
    by_section: dict[Section, list[Change]] = {}
    for change in changes:
        by_section.setdefault(change.section, []).append(change)
    return tuple(chain.from_iterable(by_section.get(section, ()) for section in _SECTIONS))


def _base(pushes: Iterable[Push], releases: Iterable[Release]) -> str | None:
    commits = (commit for push in pushes for commit in push.commits if commit.id)
    pages = chain(
        ((release.url, "/releases/tag/") for release in releases),
        ((commit.url, f"/commit/{commit.id}") for commit in commits),
    )
    bases = (url.rpartition(page)[0] for url, page in pages)
    return next(filter(None, map(safe_url, bases)), None)
