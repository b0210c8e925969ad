import re

import pytest
from attrs import evolve
from changelog_samples import HOST, commit, draft_of, entries, headings, push, release, section, sha_of, written
from hypothesis import given
from hypothesis import strategies as st

from contentsvc_core.content.changelog import ChangelogOptions


def test_sections_come_in_a_fixed_order_whatever_the_order_of_the_commits() -> None:
    draft = draft_of(
        "sweep", "docs: spell", "perf: hurry", "fix: drip", "feat: ring", "security: close", "fix!: no handle"
    )
    assert headings(draft.markdown) == [
        "Breaking changes",
        "Security",
        "Added",
        "Fixed",
        "Performance",
        "Documentation",
        "Other changes",
        "Contributors",
    ]


def test_inside_a_section_the_order_of_the_commits_is_kept_with_dependency_updates_last() -> None:
    draft = draft_of("chore(deps): bump tea from 1 to 2", "sweep", "Bump cup from 3 to 4", "wipe")
    assert entries(draft.markdown) == ["sweep", "wipe", "**deps:** Bump tea from 1 to 2", "Bump cup from 3 to 4"]


def test_a_breaking_feature_stands_under_breaking_only() -> None:
    draft = draft_of("feat!: no handle")
    assert headings(draft.markdown) == ["Breaking changes", "Contributors"]
    assert entries(draft.markdown) == ["No handle"]


@pytest.mark.parametrize(
    "subject",
    [
        "Merge branch 'lid' into main",
        "Merge branch 'main' of codehost.example:acme/kettle",
        "Merge branch lid into main",
        "Merge pull request #12 from ada/lid",
        "Merge remote-tracking branch 'origin/main'",
        "Merge tag 'v1.0.0' into next",
        "Merge commit '0123abc' into main",
        "Merge pull request 'Lid' (#12) from ada/lid into main",
        "Merged in lid (pull request #12)",
    ],
)
def test_a_merge_is_dropped_when_what_it_brought_stands_beside_it(subject: str) -> None:
    assert entries(draft_of("feat: ring", f"{subject}\n\nLid").markdown) == ["Ring"]


@pytest.mark.parametrize("subject", ["Merge branch handling into one class", "Merge two lids", "Mergers welcome"])
def test_a_change_that_only_speaks_of_merging_is_no_merge(subject: str) -> None:
    assert entries(draft_of("feat: ring", subject).markdown) == ["Ring", subject]


def test_merges_are_shown_when_they_are_all_there_is() -> None:
    assert entries(draft_of("Merge branch 'lid' into main").markdown) == ["Merge branch 'lid' into main"]


def test_a_merged_pull_request_alone_is_told_by_its_title() -> None:
    draft = draft_of("Merge pull request #12 from ada/lid\n\nfeat(lid): close by itself")
    assert section(draft.markdown, "Added") == ["**lid:** Close by itself"]
    assert f"[#12]({HOST}/issues/12)" in draft.markdown


def test_another_forges_merge_carries_its_title_in_the_subject() -> None:
    draft = draft_of("Merge pull request 'fix: drip' (#12) from ada/lid into main")
    assert section(draft.markdown, "Fixed") == ["Drip"]


def test_a_pull_request_whose_commits_came_before_is_told_beside_other_pushes() -> None:
    draft = written(
        push(
            commit("lid: one", distinct=False),
            commit("Merge pull request #12 from ada/lid\n\nA lid"),
        ),
        push("fix: drip", "Merge branch 'main' of codehost.example:acme/kettle"),
        push("Merge branch 'main' into next"),
    )
    assert draft is not None
    assert entries(draft.markdown) == ["Drip", "A lid"]


def test_changes_that_read_the_same_are_one_with_all_commits_and_numbers() -> None:
    draft = draft_of("fix(lid): drip (#1)", "fix(lid): drip. (#2)", "FIX(lid): Drip")
    assert entries(draft.markdown) == ["**lid:** Drip"]
    assert [f"[#{number}]({HOST}/issues/{number})" in draft.markdown for number in (1, 2, 3)] == [True, True, False]
    assert draft.markdown.count(f"({HOST}/commit/") == 3


@pytest.mark.parametrize("other", ["feat: drip", "fix(lid): drip", "fix: drop", "drip"])
def test_changes_that_read_differently_are_two(other: str) -> None:
    assert len(entries(draft_of("fix: drip", other).markdown)) == 2


def test_a_change_is_breaking_if_one_of_its_commits_is() -> None:
    draft = draft_of("fix: drip", "fix!: drip")
    assert headings(draft.markdown) == ["Breaking changes", "Contributors"]


def test_commits_that_came_before_on_another_branch_are_ignored() -> None:
    assert written(push(commit("feat: ring", distinct=False))) is None


def test_a_commit_that_comes_in_two_pushes_is_one_change() -> None:
    ring = commit("feat: ring")
    assert written(push(ring), push(ring, commit("fix: drip"))) == written(push(ring, commit("fix: drip")))


@pytest.mark.parametrize(
    "message",
    [
        "chore(release): bump to `v1.2.0`",
        "chore(release): updated changelog",
        "chore: release v1.2.3",
        "chore(main): release 1.2.3",
        "chore: release kettle 1.2.3",
        "release: v1.2.3",
        "bump version to 1.2.3",
        "Bump version from 1.2.2 to 1.2.3",
        "chore: bump to v1.2",
        "chore: bump version",
        "build: prepare release 2.0.0-rc.1",
        "v1.2.3",
        "Release 1.2.3",
        "chore: updated changelog (#7)",
        "ci: run twice",
        "CI: run twice",
        "chore(ci): run twice",
    ],
)
def test_release_chores_and_ci_are_hidden(message: str) -> None:
    assert written(push(message)) is None


@pytest.mark.parametrize(
    "message",
    [
        "chore(deps): bump cup from 1 to 2",
        "chore(deps): bump cup from 1.2.0 to 1.3.0",
        "chore(deps): bump to v1.2",
        "Bump cup from 1.2.0 to 1.3.0",
        "build: update dependency cup to v2",
        "feat(release): support pre-releases",
        "fix: release the lid",
        "Release the lid",
        "chore: release the lid",
        "docs: version 2 of the manual",
        "ci!: needs new runners",
        "fix(security): close the spout",
        "chore(release)!: no more wooden handles",
    ],
)
def test_what_a_reader_would_miss_is_not_hidden(message: str) -> None:
    assert len(entries(draft_of(message).markdown)) == 1


def test_what_is_hidden_is_a_choice() -> None:
    chores = push("ci: run twice", "chore(release): 1.2.3", "style: indent", "fix: drip")
    options = ChangelogOptions(hidden=frozenset({"Style"}), hide_release_chores=False)
    draft = written(chores, options=options)
    assert draft is not None
    assert entries(draft.markdown) == ["Drip", "**ci:** Run twice", "**release:** 1.2.3"]


def test_updates_of_one_dependency_that_continue_each_other_are_one() -> None:
    draft = draft_of(
        "chore(deps): bump cup from 1 to 2 (#1)",
        "chore(deps): bump tea from 2 to 3 (#2)",
        "chore(deps): bump cup from 2 to 4 (#3)",
        "chore(deps): bump tea from 5 to 6 (#4)",
    )
    assert [line.partition(" ([")[0] for line in entries(draft.markdown)] == [
        "**deps:** Bump cup from 1 to 4",
        "**deps:** Bump tea from 2 to 3",
        "**deps:** Bump tea from 5 to 6",
    ]
    assert f"([#1]({HOST}/issues/1), [#3]({HOST}/issues/3))" in draft.markdown


_SUBJECTS = st.lists(
    st.builds(
        "{}{}: {}".format,
        st.sampled_from(["feat", "fix", "docs", "perf", "security", "refactor", "chore", "odd"]),
        st.sampled_from(["", "(lid)", "!", "(spout)!"]),
        st.integers(0, 10**6).map(lambda number: f"thing{number} turned"),
    ),
    min_size=1,
    max_size=30,
)


@given(_SUBJECTS)
def test_every_change_is_told_exactly_once(subjects: list[str]) -> None:
    draft = draft_of(*subjects)
    told = re.findall("[Tt]hing([0-9]+) turned", draft.markdown)
    different = {subject.replace("!", "") for subject in subjects}
    assert sorted(told) == sorted(re.sub("[^0-9]", "", subject) for subject in different)
    assert draft.markdown.count("/commit/") == len(subjects)
    assert [heading for heading in headings(draft.markdown) if not section(draft.markdown, heading)] == ["Contributors"]


@given(_SUBJECTS, st.integers(0, 30))
def test_how_commits_are_spread_over_pushes_changes_nothing(subjects: list[str], cut: int) -> None:
    commits = [commit(subject, sha=sha_of(f"{place}")) for place, subject in enumerate(subjects)]
    together = written(push(*commits))
    apart = written(push(*commits[:cut]), push(*commits[cut:]))
    assert together == apart


def test_the_same_events_give_the_same_bytes() -> None:
    events = (push("feat: ring", "fix: drip (#3)"), release(), push("sweep"))
    assert written(*events) == written(*(evolve(event) for event in events))
