import re
from collections.abc import Collection, Mapping
from enum import Enum
from itertools import chain
from typing import Annotated, Any, Final, TypeAlias, assert_never, final

import msgspec
from attrs import frozen
from msgspec import Meta
from msgspec.structs import replace

from contentsvc_core.commands import Command
from contentsvc_core.events.normalized import Commit, Event, Push, Release
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.text import one_line
from contentsvc_core.workflows.globs import Globs, MatchingBudget, globs_of, pattern_fault

#: The type and the scope of a conventional subject; the scope in parentheses may name several, with commas.
_SCOPE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}\(([^()\n]{1,200})\)!?:")
#: The length of an untrusted name in a reason, in characters.
_SHOWN: Final = 80

Patterns: TypeAlias = tuple[str, ...]


class Batch(Enum):
    """The batch of a trigger: one run for each event, or one for all events of a day or a week."""

    NONE = "none"
    DAILY = "daily"
    WEEKLY = "weekly"


class TriggerOptions(Command, frozen=True, kw_only=True):
    """The fields of a trigger that its wire form has only if they are set."""

    all_repositories: Annotated[bool, Meta(description="Watch all repositories, new ones too.")] = False
    branches: Annotated[
        Patterns,
        Meta(
            description="Branches whose pushes start a run, as patterns such as 'release/*'. '!' excludes. Without "
            "one, the default branch."
        ),
    ] = ()
    tags: Annotated[
        Patterns,
        Meta(description="Tags whose releases start a run, as patterns such as 'v*' or 'pkg@*'. '!' excludes."),
    ] = ()
    paths: Annotated[
        Patterns,
        Meta(
            description="Changed files, as patterns such as 'packages/a/**'. Only commits that change one count. '!' "
            "excludes."
        ),
    ] = ()
    scopes: Annotated[
        Patterns,
        Meta(
            description="Conventional scopes, as patterns: 'api' is the scope of 'fix(api): …'. Only commits with one "
            "count. '!' excludes."
        ),
    ] = ()
    pre_releases: Annotated[bool, Meta(description="Start a run for pre-releases, too.")] = True
    batch: Annotated[
        Batch, Meta(description="Write one post for each event, or one for all events of a day or a week.")
    ] = Batch.NONE


NO_OPTIONS: Final = TriggerOptions()
PATTERN_FIELDS: Final = ("branches", "tags", "paths", "scopes")


def options_faults(values: Mapping[str, Any]) -> list[Refusal]:
    """Return the refusals of all patterns among the fields of a command, the first one of each field."""
    faults = ((name, pattern_fault(values.get(name, ()))) for name in PATTERN_FIELDS)
    return [Refusal(RefusalKind.INVALID, fault, name) for name, fault in faults if fault is not None]


def options_to_json(options: TriggerOptions) -> str | None:
    set_ = {
        name: getattr(options, name)
        for name in TriggerOptions.__struct_fields__
        if getattr(options, name) != getattr(NO_OPTIONS, name)
    }
    return msgspec.json.encode(set_).decode() if set_ else None


def options_from_json(text: str | None) -> TriggerOptions:
    if text is None:
        return NO_OPTIONS
    stored = msgspec.json.decode(text, type=dict[str, object])
    options = {
        wire: stored[name]
        for name, wire in zip(TriggerOptions.__struct_fields__, TriggerOptions.__struct_encode_fields__, strict=True)
        if name in stored
    }
    return msgspec.convert(options, TriggerOptions)


@final
@frozen
class Exclusion:
    #: ``branch``, ``tag``, ``path``, ``scope`` or ``pre-release``.
    filter: str
    reason: str


@final
@frozen(kw_only=True)
class EventFilter:
    branches: Globs | None
    tags: Globs | None
    paths: Globs | None
    scopes: Globs | None
    pre_releases: bool

    def why_left_out(self, event: Event, budget: MatchingBudget | None = None) -> Exclusion | None:
        """Return why an event does not match; ``None``: the event matches.

        A push matches if one of its commits does, or if commits, files or budget are missing: the run looks closer.
        """
        match event:
            case Push():
                if self.branches is not None and not self.branches.matches(event.branch):
                    return Exclusion("branch", f"branch {_shown(event.branch)} does not match {self.branches.words}")
                return self._commits_left_out(event, budget)
            case Release():
                if event.prerelease and not self.pre_releases:
                    return Exclusion("pre-release", f"{_shown(event.tag_name)} is a pre-release")
                if self.tags is not None and not self.tags.matches(event.tag_name):
                    return Exclusion("tag", f"tag {_shown(event.tag_name)} does not match {self.tags.words}")
                return None
            case _:
                assert_never(event)

    def _commits_left_out(self, push: Push, budget: MatchingBudget | None) -> Exclusion | None:
        if not self.chooses_commits or push.is_cut:
            return None
        has_paths = _has_paths(push)
        in_scope = [commit for commit in push.commits if self._is_in_scope(commit, budget)]
        if not in_scope:
            assert self.scopes is not None
            return Exclusion("scope", f"no commit has a scope that matches {self.scopes.words}")
        if not any(self._changes(commit, budget, has_paths=has_paths) for commit in in_scope):
            assert self.paths is not None
            return Exclusion("path", f"no changed file matches {self.paths.words}")
        return None

    @property
    def chooses_commits(self) -> bool:
        """Return whether a run reports only some commits of a push."""
        return self.paths is not None or self.scopes is not None

    def narrowed(self, push: Push, listed: Collection[str]) -> Push | None:
        """Return a push with its commits that match; ``None``: no commit matches.

        The files of commits that are not in ``listed`` are unknown: their scopes alone count.
        """
        budget = MatchingBudget()
        has_paths = _has_paths(push)
        commits = tuple(
            commit
            for commit in push.commits
            if self._is_in_scope(commit, budget)
            and (commit.id not in listed or self._changes(commit, budget, has_paths=has_paths))
        )
        if len(commits) == len(push.commits):
            return push
        return replace(push, commits=commits) if commits else None

    def _is_in_scope(self, commit: Commit, budget: MatchingBudget | None) -> bool:
        if self.scopes is None or (budget is not None and budget.is_spent):
            return True
        if budget is not None:
            budget.remaining -= 1
        match = _SCOPE.match(commit.message)
        if match is None:
            return self.scopes.is_open
        return any(self.scopes.matches(scope.strip().casefold(), budget) for scope in match[1].split(","))

    def _changes(self, commit: Commit, budget: MatchingBudget | None, *, has_paths: bool) -> bool:
        if self.paths is None or not has_paths or commit.paths_cut:
            return True
        for path in chain(commit.modified, commit.added, commit.removed):
            if (budget is not None and budget.is_spent) or self.paths.matches(path, budget):
                return True
        return False


def _has_paths(push: Push) -> bool:
    return any(commit.added or commit.modified or commit.removed or commit.paths_cut for commit in push.commits)


def filter_of(options: TriggerOptions) -> EventFilter | None:
    if options is NO_OPTIONS:
        return None
    scopes = tuple(each.casefold() for each in options.scopes)
    compiled = EventFilter(
        branches=globs_of(options.branches),
        tags=globs_of(options.tags),
        paths=globs_of(options.paths),
        scopes=globs_of(scopes),
        pre_releases=options.pre_releases,
    )
    return None if compiled == _NO_FILTER else compiled


_NO_FILTER: Final = EventFilter(branches=None, tags=None, paths=None, scopes=None, pre_releases=True)


def _shown(name: str) -> str:
    return one_line(name, _SHOWN)
