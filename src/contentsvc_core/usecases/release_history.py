from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Final, final

from attrs import define, evolve, frozen

from contentsvc_core.content.changelog.read import parse
from contentsvc_core.content.changelog.report import Packages, folders_with_changelogs
from contentsvc_core.content.changelog.reverts import Undoing, undoing
from contentsvc_core.content.packages import package_tag
from contentsvc_core.content.writing import Brief, Chapter, PackageRelease
from contentsvc_core.events.normalized import RELEASE_ACTIONS, Commit, Event, Push, Release
from contentsvc_core.workflows.context import ContextRecord

#: In characters: a revert is recognized in this part of a message.
_SUBJECT: Final = 200


@frozen
class _OlderPush:
    record: ContextRecord
    #: The packages of the reported releases; ``None`` is the series of tags without a package.
    open: frozenset[str | None]
    #: Whether no other release of any series followed.
    newest: bool


@define
class _Revert:
    sha: str
    ref: str
    undoing: Undoing
    tag: str = ""


@final
class RevertHistory:
    """Finds the releases that contained the targets of reverts. Events are added newest first."""

    def __init__(self, series: Collection[str | None] = (None,)) -> None:
        """``series`` are the packages whose releases count; ``None`` is tags without one."""
        self._series = series
        self._open: list[_Revert] = []
        self.found: dict[str, str] = {}

    @property
    def is_open(self) -> bool:
        """Return whether the target of a revert was not added yet."""
        return bool(self._open)

    def add(self, event: Event, *, finds_reverts: bool = False) -> None:
        """Add the next older event; ``finds_reverts``: search for the targets of a push's reverts."""
        if isinstance(event, Release):
            if event.action in RELEASE_ACTIONS and not event.draft and _series(event) in self._series:
                for revert in self._open:
                    # A final release is more specific than its pre-releases.
                    revert.tag = revert.tag if revert.tag and event.prerelease else event.tag_name
            return
        for commit in reversed(event.commits):
            may_revert = finds_reverts and "revert" in commit.message[:_SUBJECT].casefold()
            if not (may_revert or self._open):
                continue
            message = parse(commit.message)
            undone = undoing(message)
            for revert in [each for each in self._open if each.ref == event.ref]:
                contained = revert.undoing.undoes(commit.id, message)
                # A change that an earlier revert has undone is in no release since.
                if contained or (undone is not None and undone.is_alike(revert.undoing)):
                    self._open.remove(revert)
                if contained and revert.tag:
                    self.found[revert.sha] = revert.tag
            if may_revert and undone is not None and undone.quoted and not undone.again and commit.id:
                self._open.append(_Revert(commit.id.casefold(), event.ref, undone))


@final
class ReleaseHistory:
    """The records that arrived before the releases of one commit: added newest first, then read.

    Changes of no package belong to the first release after them.
    """

    def __init__(self, release: Release, companions: Mapping[str, str] | None = None) -> None:
        """``companions`` are the tags of the releases that share its post, by their delivery ids."""
        self._missing = dict(companions or {})
        self._tags = {release.tag_name, *self._missing.values()}
        self._releases: dict[str, Release] = {release.tag_name: release}
        self._previous: dict[str | None, str | None] = {_series(release): None}
        #: A final release ignores pre-releases before it, because they have other readers.
        self._pre = release.prerelease
        self._other: str | None = None
        self._packages_found: set[str] = set()
        self._older_pushes: list[_OlderPush] = []
        self.reverts = RevertHistory(self._previous.keys())

    @property
    def is_missing(self) -> bool:
        return bool(self._missing)

    @property
    def is_closed(self) -> bool:
        return None not in self._previous.values()

    @property
    def contained(self) -> tuple[str, ...]:
        """Return the custom ids of the pushes that are reported whole, oldest first."""
        return tuple(
            older.record.custom_id for older, push, is_complete in self._contents if push is not None and is_complete
        )

    def add(self, record: ContextRecord) -> None:
        event = record.event
        if isinstance(event, Push) and event.off_default:
            return
        self.reverts.add(event, finds_reverts=not self.is_closed)
        if isinstance(event, Push):
            still = frozenset(series for series, before in self._previous.items() if before is None)
            self._older_pushes.append(_OlderPush(record, still, self._other is None))
            return
        tag = event.tag_name
        if self._missing.pop(record.delivery_id, None) is not None and tag not in self._releases:
            self._releases[tag] = event
            self._previous.setdefault(_series(event), None)
            self._pre &= event.prerelease
        if tag in self._tags:
            return
        series = _series(event)
        if series is not None:
            self._packages_found.add(series)
        if event.prerelease and not self._pre:
            return
        self._other = self._other or tag
        if series in self._previous and self._previous[series] is None:
            self._previous[series] = tag

    def brief(self, repository: str) -> Brief:
        events = [push for _, push, _ in self._contents if push is not None]
        chapter = Chapter(
            repository=repository, events=events, packages=self._packages().names, undone=self.reverts.found
        )
        packages = [
            PackageRelease(release=release, tag=tag, previous_tag=self._previous[tag.package])
            for release in reversed(self._releases.values())
            if (tag := package_tag(release.tag_name)) is not None
        ]
        if len(packages) > 1:
            return Brief(chapters=(chapter,), packages=sorted(packages, key=_step))
        (release,) = self._releases.values()
        return Brief(chapters=(chapter,), release=release, previous_tag=self._previous[_series(release)])

    def _packages(self) -> Packages:
        released = {series for series in self._previous if series is not None}
        tagged = Packages(self._packages_found | released)
        pushes = (older.record.event for older in self._older_pushes if released)
        commits = [commit for push in pushes if isinstance(push, Push) for commit in push.commits]
        noted = folders_with_changelogs(commits)
        # A package without a changelog of its own may contain packages with one.
        named = any(tagged.is_named(folder, series) for folder in noted for series in released)
        return Packages(tagged.names, noted) if named else tagged

    @cached_property
    def _contents(self) -> list[tuple[_OlderPush, Push | None, bool]]:
        packages = self._packages()
        contents: list[tuple[_OlderPush, Push | None, bool]] = []
        for older in reversed(self._older_pushes):
            push = older.record.event
            assert isinstance(push, Push)
            common = older.newest if self._previous.get(None) is None else None in older.open
            if not packages:
                contents.append((older, push if common else None, True))
                continue
            commits: list[Commit] = []
            is_complete = True
            for commit in push.commits:
                owners = packages.owners([commit])
                if not owners:
                    if common or (commits and not (commit.added or commit.modified or commit.removed)):
                        commits.append(commit)
                elif owners & older.open:
                    commits.append(commit)
                elif not owners & self._previous.keys():
                    is_complete = False
            contents.append((older, evolve(push, commits=commits) if commits else None, is_complete))
        return contents


def _series(release: Release) -> str | None:
    tag = package_tag(release.tag_name)
    return None if tag is None else tag.package


def _step(release: PackageRelease) -> tuple[int, str]:
    parts = release.tag.version.partition("-")[0].partition("+")[0].split(".")
    minor, patch = (any(part.strip("0") for part in parts[index : index + 1]) for index in (1, 2))
    step = 3 if release.release.prerelease else 2 if patch else 1 if minor else 0
    return step, release.tag.name.casefold()
