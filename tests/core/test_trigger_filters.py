"""Filters of triggers: the filtered events and the reasons."""

import re
from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from attrs import evolve
from hypothesis import example, given
from hypothesis import strategies as st
from tests.builders import a_release, a_trigger
from tests.refusals import existing

from contentsvc_core.events.normalized import Author, Commit, HeadCommit, Push, Release
from contentsvc_core.refusals import RefusalKind
from contentsvc_core.testing import START
from contentsvc_core.workflows.filters import (
    NO_OPTIONS,
    Batch,
    TriggerOptions,
    options_faults,
    options_from_json,
    options_to_json,
)
from contentsvc_core.workflows.globs import (
    MATCHING_BUDGET,
    MAX_PATTERN,
    MAX_PATTERNS,
    Glob,
    Globs,
    MatchingBudget,
    pattern_fault,
)
from contentsvc_core.workflows.triggers import (
    ANY_SOURCE,
    MAX_TRIGGERS,
    Trigger,
    collecting,
    latest_end,
    matching,
    window_end,
)
from contentsvc_core.zones import DEFAULT_ZONE, day_of, start_of_day, zone_names

BERLIN = ZoneInfo("Europe/Berlin")
_AUTHOR = Author(name="Ada", email="ada@acme.example")


def commit(message: str, *paths: str, cut: int = 0, id_: str = "c0ffee") -> Commit:
    return Commit(id=id_, message=message, author=_AUTHOR, timestamp="", url="", modified=paths, paths_cut=cut)


def push(*commits: Commit, branch: str = "main", is_cut: bool = False, off_default: bool = False) -> Push:
    return Push(
        ref=f"refs/heads/{branch}",
        branch=branch,
        commits=commits or (commit("feat: a lamp", "a/lamp.py"),),
        head_commit=HeadCommit(id="c0ffee", message=""),
        is_cut=is_cut,
        off_default=off_default,
    )


def trigger(**options: object) -> Trigger:
    return a_trigger(options=TriggerOptions(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("main", "main", True),
        ("main", "main2", False),
        ("release/*", "release/1.x", True),
        ("release/*", "release/1/x", False),
        ("release/**", "release/1/x", True),
        ("*", "a/b", False),
        ("**", "a/b", True),
        ("**/README.md", "README.md", True),
        ("**/README.md", "docs/a/README.md", True),
        ("**/README.md", "docs/THEREADME.md", False),
        ("docs/**/x", "docs/x", True),
        ("docs/**/x", "docs/a/b/x", True),
        ("docs/**/x", "docsx", False),
        ("**/**/x", "x", True),
        ("v?.0", "v1.0", True),
        ("v?.0", "v/.0", False),
        ("?b", "/b", False),
        ("pkg-a@*", "pkg-a@1.2.0", True),
        ("[id].tsx", "[id].tsx", True),
        ("[id].tsx", "i.tsx", False),
        ("*.md", ".md", True),
        ("a*b*c", "abc", True),
        ("a*a", "a", False),
    ],
)
def test_a_pattern_matches_whole_names(pattern: str, text: str, expected: bool) -> None:
    assert Glob(pattern).matches(text) is expected


def _expression(pattern: str) -> str:
    """Translate a pattern into a regular expression, which may backtrack."""
    found = re.sub(r"(?<![^/])\*{2,}/", "\0", pattern)
    found = re.sub(r"\*{2,}", "\1", found)
    words = {"\0": "(?:(?s:.)*/)?", "\1": "(?s:.)*", "*": "[^/]*", "?": "[^/]"}
    return "".join(words.get(each, re.escape(each)) for each in found)


@given(st.text("ab/*?", max_size=7), st.text("ab/", max_size=8))
@example("**/", "")
@example("a/**/b", "a/b")
@example("***/a", "a")
def test_a_pattern_matches_as_its_regular_expression_does(pattern: str, text: str) -> None:
    assert Glob(pattern).matches(text) == (re.fullmatch(_expression(pattern), text) is not None)


def test_the_work_of_a_match_is_linear_in_the_text() -> None:
    # A backtracking match would never end.
    assert not Glob("*a" * 100).matches("a" * 99)
    assert not Glob("**/a*" * 40).matches("/a" * 39)


@pytest.mark.parametrize("field", ["paths", "scopes"])
def test_the_patterns_of_all_triggers_share_one_budget(field: str) -> None:
    hostile = tuple(f"**a{'?' * number}**a**/b" for number in range(MAX_PATTERNS))
    commits = [commit(f"fix({'a' * 199}b): x", *[f"{'a' * 240}b"] * 50) for _ in range(9)]
    watching = trigger(**{field: hostile})

    assert watching.why_left_out(push(*commits)) is not None
    budget = MatchingBudget(remaining=5_000)
    # The budget ends during the first trigger, which then matches: its run applies the filter again.
    assert watching.why_left_out(push(*commits), budget) is None
    assert -MAX_PATTERNS * 250 < budget.remaining <= 0
    spent = budget.remaining
    assert watching.why_left_out(push(*commits), budget) is None
    assert budget.remaining == spent


def test_two_hundred_triggers_have_a_budget_for_a_large_push() -> None:
    # Every file of 50 commits is compared with the pattern of each trigger.
    event = push(*(commit("fix: x", *[f"src/{number}.py" for number in range(10)]) for _ in range(50)))
    triggers = [trigger(paths=(f"packages/{number}/**",)) for number in range(MAX_TRIGGERS)]

    budget = MatchingBudget()

    assert all(each.why_left_out(event, budget) is not None for each in triggers)
    assert budget.remaining > MATCHING_BUDGET / 2
    assert MATCHING_BUDGET == 500_000


@pytest.mark.parametrize(
    ("patterns", "matching_", "others"),
    [
        (("docs/**", "!docs/internal/**"), ["docs/a"], ["docs/internal/a", "src/a"]),
        (("!docs/**",), ["src/a"], ["docs/a"]),
        (("!docs/**", "docs/api/**"), ["src/a", "docs/api/x"], ["docs/a"]),
        (("main", "!main"), [], ["main"]),
    ],
)
def test_the_last_pattern_that_matches_decides(
    patterns: tuple[str, ...], matching_: list[str], others: list[str]
) -> None:
    globs = Globs(patterns)

    assert [text for text in (*matching_, *others) if globs.matches(text)] == matching_


@pytest.mark.parametrize(
    ("patterns", "fault"),
    [
        ([""], "empty"),
        (["!"], "empty"),
        (["x" * (MAX_PATTERN + 1)], f"more than {MAX_PATTERN} characters"),
        (["x"] * (MAX_PATTERNS + 1), f"at most {MAX_PATTERNS} patterns"),
        (["a\nb"], "line break"),
        ([" a"], "space"),
        (["/src/**"], "without '/'"),
        (["!./src"], "without './'"),
        (["refs/heads/main"], "without 'refs/'"),
    ],
)
def test_a_bad_pattern_is_refused_by_the_name_of_its_field(patterns: list[str], fault: str) -> None:
    (refused,) = options_faults({"paths": patterns})

    assert (refused.kind, refused.field) == (RefusalKind.INVALID, "paths")
    assert fault in refused.message("the field")
    assert pattern_fault(["a", "!b", "x" * MAX_PATTERN]) is None


@pytest.mark.parametrize(
    ("options", "event", "filter_", "reason"),
    [
        ({"branches": ("main",)}, push(branch="feature/x"), "branch", "branch feature/x does not match main"),
        ({}, push(branch="next", off_default=True), "branch", "branch next is not the default branch"),
        ({"branches": ("release/*",)}, push(), "branch", "branch main does not match release/*"),
        ({"tags": ("v*", "!*-rc*")}, a_release("v1-rc1"), "tag", "tag v1-rc1 does not match v* or !*-rc*"),
        ({"pre_releases": False}, a_release("v1", prerelease=True), "pre-release", "v1 is a pre-release"),
        ({"paths": ("b/**",)}, push(), "path", "no changed file matches b/**"),
        ({"paths": ("b/**",)}, push(evolve(commit("x"), added=("a/1",))), "path", "no changed file matches b/**"),
        ({"paths": ("b/**",)}, push(evolve(commit("x"), removed=("a/1",))), "path", "no changed file matches b/**"),
        ({"scopes": ("api",)}, push(), "scope", "no commit has a scope that matches api"),
        ({"scopes": ("!deps",)}, push(commit("fix(deps): x")), "scope", "no commit has a scope that matches !deps"),
        (
            {"scopes": ("api",), "paths": ("b/**",)},
            push(commit("fix(api): x", "a/x"), commit("fix(web): y", "b/y")),
            "path",
            "no changed file matches b/**",
        ),
    ],
)
def test_an_event_that_is_left_out_has_its_reason(
    options: dict[str, object], event: Push | Release, filter_: str, reason: str
) -> None:
    exclusion = existing(trigger(**options).why_left_out(event))

    assert (exclusion.filter, exclusion.reason) == (filter_, reason)


@pytest.mark.parametrize(
    ("options", "event"),
    [
        ({}, push()),
        ({"branches": ("release/*",)}, push(branch="release/1", off_default=True)),
        # A filter applies to one kind of events only.
        ({"branches": ("next",), "paths": ("b/**",), "scopes": ("api",)}, a_release("v1")),
        ({"tags": ("v*",), "pre_releases": False}, push()),
        ({"pre_releases": False}, a_release("v1")),
        ({"scopes": ("api", "cli")}, push(commit("fix(cli,web)!: x"))),
        ({"scopes": ("API",)}, push(commit("fix(Api): x"))),
        ({"scopes": ("!deps",)}, push(commit("tidy up"))),
        ({"paths": ("a/**",)}, push(commit("x", "b/1"), commit("y", "a/2"))),
        ({"paths": ("b/**",)}, push(evolve(commit("x", "a/1"), added=("b/1",)))),
        ({"paths": ("b/**",)}, push(evolve(commit("x", "a/1"), removed=("b/1",)))),
        # The code host has omitted the files, a part of their list, or commits.
        ({"paths": ("b/**",)}, push(commit("x"), commit("y"))),
        ({"paths": ("b/**",)}, push(commit("x", "a/1", cut=3))),
        ({"paths": ("b/**",), "scopes": ("api",)}, push(is_cut=True)),
    ],
)
def test_an_event_matches(options: dict[str, object], event: Push | Release) -> None:
    assert trigger(**options).why_left_out(event) is None


def test_a_run_reports_the_commits_that_match_alone() -> None:
    own = existing(trigger(paths=("a/**",), scopes=("!deps",)).filter)
    both, other = commit("feat: x", "a/1", id_="1"), commit("feat: y", "b/1", id_="2")
    bump, empty = commit("chore(deps): z", "a/2", id_="3"), commit("merge", id_="4")
    complete = push(both, other, bump, empty)

    narrowed = existing(own.narrowed(complete, {"1", "2", "3", "4"}))

    assert narrowed.commits == (both,)
    assert own.narrowed(push(other), {"2"}) is None
    # The files of commits that were read later are unknown.
    assert own.narrowed(push(other, both, bump), set()) == push(other, both)


@given(
    st.builds(
        TriggerOptions,
        all_repositories=st.booleans(),
        branches=st.lists(st.text("ab*!é", min_size=1), max_size=3).map(tuple),
        paths=st.lists(st.text("ab*!é", min_size=1), max_size=3).map(tuple),
        pre_releases=st.booleans(),
        batch=st.sampled_from(Batch),
    )
)
def test_stored_options_are_read_back(options: TriggerOptions) -> None:
    stored = options_to_json(options)

    assert options_from_json(stored) == options
    assert (stored is None) == (options == NO_OPTIONS)


def test_stored_options_of_a_later_version_are_left_out() -> None:
    assert options_from_json('{"tags":["v*"],"colour":"red"}') == TriggerOptions(tags=("v*",))


def test_a_trigger_for_all_repositories_watches_every_provider() -> None:
    every = evolve(trigger(all_repositories=True), repository_ids=(), source_type=ANY_SOURCE)
    one = evolve(every, source_type="github_webhook")

    def watches(source: str) -> list[Trigger]:
        return list(
            matching(
                [every, one, trigger()], organization_id="org_1", source_type=source, repository_id=9, event_type="push"
            )
        )

    assert watches("github_webhook") == [every, one]
    assert watches("gitlab_webhook") == [every]


def test_a_window_begins_when_a_trigger_begins_to_batch() -> None:
    daily = collecting(trigger(batch=Batch.DAILY), START, BERLIN)
    end = window_end(Batch.DAILY, START, BERLIN)
    assert (daily.since, daily.due_at) == (START, end)
    assert collecting(trigger(), START, BERLIN) == trigger()

    later = end.replace(hour=9)
    assert collecting(evolve(daily, name="x"), later, BERLIN, was=daily) == evolve(daily, name="x")
    weekly = collecting(evolve(daily, options=TriggerOptions(batch=Batch.WEEKLY)), later, BERLIN, was=daily)
    assert (weekly.since, weekly.due_at) == (START, window_end(Batch.WEEKLY, later, BERLIN))
    off = collecting(evolve(daily, enabled=False), later, BERLIN, was=daily)
    assert (off.since, off.due_at) == (None, None)
    assert collecting(evolve(off, enabled=True), later, BERLIN, was=off).since == later
    assert collecting(daily, later, BERLIN, was=evolve(daily, enabled=False)).since == later
    assert collecting(trigger(batch=Batch.DAILY), later, BERLIN, was=trigger()).since == later
    # A command has no window of its own.
    assert collecting(trigger(batch=Batch.DAILY), later, BERLIN, was=daily) == daily


@given(st.sampled_from([Batch.DAILY, Batch.WEEKLY]), st.integers(0, 60 * 24 * 366), st.sampled_from(zone_names()))
def test_windows_follow_each_other_without_gaps(batch: Batch, minutes: int, name: str) -> None:
    zone = ZoneInfo(name)
    at = START + timedelta(minutes=minutes)
    end = window_end(batch, at, zone)

    assert latest_end(batch, at, zone) <= at < end
    assert window_end(batch, latest_end(batch, at, zone), zone) == end
    assert latest_end(batch, end, zone) == end
    assert end == start_of_day(zone, day_of(zone, end))


def test_a_window_moves_with_the_zone_unless_it_is_due() -> None:
    weekly = collecting(trigger(batch=Batch.WEEKLY), START, DEFAULT_ZONE)
    assert weekly.due_at is not None

    moved = weekly.moved(START, BERLIN)

    # The batch keeps its events; its Monday begins an hour earlier.
    assert moved == evolve(weekly, due_at=weekly.due_at - timedelta(hours=1))
    assert weekly.moved(weekly.due_at, BERLIN) == weekly
    assert trigger().moved(START, BERLIN) == trigger()
