"""The selection of changes: pull requests as the unit, each change once, upkeep in one line."""

from typing import Any

import pytest
from attrs import evolve
from changelog_samples import (
    ADA,
    HOST,
    announced,
    commit,
    draft_of,
    entries,
    headings,
    push,
    release,
    section,
    sha_of,
    written,
)
from hypothesis import given
from hypothesis import strategies as st

from contentsvc_core.content.changelog import ChangelogOptions, write_changelog
from contentsvc_core.content.changelog.report import report_of
from contentsvc_core.content.pull_requests import PullRequest
from contentsvc_core.content.sections import Section
from contentsvc_core.content.writing import Brief, Chapter
from contentsvc_core.events.normalized import Author, Commit, Push


def test_sections_come_in_a_fixed_order_whatever_the_order_of_the_commits() -> None:
    messages = [
        "fix: drip",
        "Rename the lid",
        "feat: ring",
        "perf: boil",
        "security: lock",
        "feat!: x",
        "Deprecate cups",
    ]
    wanted = ["Breaking changes", "Security", "Added", "Changed", "Deprecated", "Fixed", "Performance", "Contributors"]
    for order in (messages, messages[::-1]):
        assert headings(draft_of(*order).markdown) == wanted


def test_upkeep_is_one_line_with_packages_and_a_link_to_all_commits() -> None:
    pushed = push(
        "feat: ring",
        "docs: spell it",
        "chore(deps): bump oil from 1 to 2",
        "chore(deps): bump oil from 2 to 3",
        "chore(deps): bump actions/cache from 4 to 5",
        "ci: twice",
    )
    draft = announced(release("v1.2.0"), pushed, previous_tag="v1.1.0")
    assert entries(draft.markdown) == ["Ring"]
    compare = f"{HOST}/compare/v1.1.0...v1.2.0"
    assert (
        f"Also 1 documentation change, 3 dependency changes and 1 internal change ([all commits]({compare})). "
        "Dependencies: oil 1 → 3; 1 build action.\n"
    ) in draft.markdown


def test_updates_that_cancel_out_vanish() -> None:
    draft = draft_of("fix: drip", "chore(deps): bump oil from 1 to 2", "chore(deps): bump oil from 2 to 1")
    assert "Also" not in draft.markdown


@pytest.mark.parametrize(
    "message", ["docs: spell it", "chore(deps): bump oil from 1 to 2", "ci: twice", "Release v1.2"]
)
def test_a_push_of_upkeep_alone_is_silent_and_a_release_never_is(message: str) -> None:
    assert written(push(message)) is None
    assert announced(release("v1.2.0"), push(message)).markdown


@pytest.mark.parametrize(
    ("messages", "title", "markdown"),
    [
        (["docs: spell it"], "Docs: spell it", "## Documentation\n\n- Spell it\n"),
        (
            ["chore(deps): bump oil from 1 to 2", "chore(deps): bump tea from 1 to 2", "ci: twice"],
            "2 dependency changes and 1 internal change",
            "## Dependencies\n\n- Bump oil from 1 to 2\n- Bump tea from 1 to 2\n\n## Internal changes\n\n- Twice\n",
        ),
        (["Release v1.2"], None, None),
        (["feat: ring", "docs: spell it"], "Ring", "## Added\n\n- Ring\n\nAlso 1 documentation change.\n"),
    ],
)
def test_upkeep_alone_is_listed_when_such_posts_are_asked_for(
    messages: list[str], title: str | None, markdown: str | None
) -> None:
    options = ChangelogOptions(upkeep_posts="write", commit_hashes=False, contributors=False, links=False)
    draft = written(push(*(commit(each, url="") for each in messages)), options=options)
    assert (draft and draft.title, draft and draft.markdown) == (title, markdown)


def test_a_push_with_a_merge_is_one_entry_with_its_title_number_and_authors() -> None:
    zoe = Author(name="Zoe", email="", username="zoe")
    draft = draft_of(
        commit("wip", author=zoe), "Count them twice", "Merge pull request #51 from zoe/waves\n\nAdd wave statistics"
    )
    assert entries(draft.markdown) == ["Add wave statistics"]
    assert f"[#51]({HOST}/issues/51)" in draft.markdown
    assert draft.markdown.endswith("@ada, @zoe\n")


@pytest.mark.parametrize(
    ("subject", "entry"),
    [
        ("fix(lens): empty value error", "**lens:** Fix empty value error"),
        ("fix: Lens not turning in fog", "Fix lens not turning in fog"),
        ("fix: LensError when fog comes", "Fix LensError when fog comes"),
        ("fix: Docker error in fog", "Fix Docker error in fog"),
        ("fix: lamp colour", "Fix lamp colour"),
        ("fix: lens is not turning", "Lens is not turning"),
        ("fix: `LensError` when the fog is thick", "Fix `LensError` when the fog is thick"),
        ("fix: issue with the lens", "Fix issue with the lens"),
        ("Removal of the lens panel", "Remove the lens panel"),
        ("Fixing the lens", "Fix the lens"),
        ("Enabling fog, renaming the lens", "Enable fog, rename the lens"),
        ("Enabling fog is slow", "Enabling fog is slow"),
        ("feat: accepts the lens", "Accept the lens"),
        ("add: lens panel", "Add lens panel"),
        ("remove: the old lens", "Remove the old lens"),
        ("add: support fog", "Support fog"),
        ("[Snyk] Security upgrade oil from 1.6.0 to 1.7.0", "Upgrade oil from 1.6.0 to 1.7.0"),
        ("Refactor the lens and fix a crash in fog", "Fix a crash in fog"),
        ("fix: raise error in fog", "Raise error in fog"),
        ("fix: properly turning lens not shown", "Properly turning lens not shown"),
        ("feat: lamp colour", "Lamp colour"),
        ("fix(lens): turning error in fog", "**lens:** Fix turning error in fog"),
        ("feat: Ability to turn in fog", "Add ability to turn in fog"),
        ("feat: `Fog` field type", "Add `Fog` field type"),
        ("feat: Support for fog", "Add support for fog"),
        ("feat: initial support for fog", "Add initial support for fog"),
        ("feat: Support for fog was restored", "Support for fog was restored"),
        ("feat: cleanup the lens option", "Clean up the lens option"),
        ("fix: fixup the lens", "Fix the lens"),
        ("feat!: drops the lens", "Drop the lens"),
        ("feat: colorize the lens option", "Colorize the lens option"),
        ("feat: Eine Option für Nebel", "Eine Option für Nebel"),
        ("imp: Improvements for lenses in fog", "Improve lenses in fog"),
        ("fix: Crash in der Laterne", "Crash in der Laterne"),
        ("fix: battery drain in fog", "Fix battery drain in fog"),
        ("XSS in the notes of the lamp", "Fix XSS in the notes of the lamp"),
        ("Prevent XSS in the notes", "Prevent XSS in the notes"),
        ("Tell vulnerabilities from features about them", "Tell vulnerabilities from features about them"),
        ("hotfix the lamp", "Fix the lamp"),
        ("lamp/{fog,ice}.py: shine", "**lamp/{fog,ice}.py:** Shine"),
        ("Shine in these places:\n\n- fog", "Shine in these places"),
        ("impl Clone for Lamp", "Implement Clone for Lamp"),
    ],
)
def test_a_subject_that_only_names_a_fault_or_a_new_thing_gets_a_verb(subject: str, entry: str) -> None:
    assert entries(draft_of(subject).markdown) == [entry]


def test_a_change_that_only_refers_to_an_issue_is_counted() -> None:
    page = "Fix https://codehost.example/acme/lamp/issues/13"
    draft = draft_of("Fix #12", "Fixes issue acme/lamp#13 (#14)", page, "Fix the lamp of #15")
    assert entries(draft.markdown) == ["Fix the lamp of #15"]
    assert "Also 3 smaller changes" in draft.markdown
    reported = draft_of("Fix issue #18 (#19)\n\n* fix #18\n\nThe lamp is now dim in fog, and lit at night.\n\n* test")
    assert entries(reported.markdown) == ["The lamp is now dim in fog, and lit at night"]
    branch = ("Dim the lamp in fog", "Merge pull request #17 from ada/x\n\nFixes issue #16")
    assert entries(draft_of(*branch).markdown) == ["Dim the lamp in fog"]


def test_several_commits_with_one_number_are_one_entry() -> None:
    assert entries(draft_of("Ring (#7)", "Ring louder (#7)", "Sing (#8)").markdown) == ["Ring", "Sing"]


def test_a_number_stands_in_one_entry_alone() -> None:
    markdown = draft_of("[Fix #1] Ring (#2)", "[Fix #1] Sing (#3)").markdown
    assert markdown.count("[#1]") == 1
    markdown = draft_of("Ring (#4)", "Revert the bell (#4)").markdown
    assert (entries(markdown), markdown.count("[#4]")) == (["Revert the bell", "Ring"], 1)


def test_a_breaking_commit_of_a_branch_makes_its_pull_request_breaking() -> None:
    draft = draft_of(
        "feat!: no cups\n\nBREAKING CHANGE: use litres", "Merge pull request #5 from ada/x\n\nTidy the shelf"
    )
    assert section(draft.markdown, "Breaking changes") == ["Tidy the shelf"]
    assert "> Use litres" in draft.markdown


def test_changes_that_read_the_same_are_one_with_all_numbers() -> None:
    assert entries(draft_of("fix: drip (#1)", "fix: drip (#2)").markdown) == ["Drip"]


def test_changes_with_other_marks_of_code_are_one_as_their_pull_request_says_it() -> None:
    markdown = draft_of("Ring 'bell' at noon", "Ring `bell` at noon (#7)").markdown
    assert entries(markdown) == ["Ring `bell` at noon"]
    markdown = draft_of("Bell: ring at noon", "`Bell`: ring at noon (#7)").markdown
    assert entries(markdown) == ["**Bell:** Ring at noon"]
    assert "[#7]" in markdown


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        ("Ring at noon and add tests", "Ring at noon"),
        ("Ring at noon and update dependencies", "Ring at noon"),
        ("Ring at noon; update the changelog", "Ring at noon"),
        ("Bump minimum Go version to 1.24 and update workflows", "Bump minimum Go version to 1.24"),
        ("Remove `.ring()`, and document clean closing", "Remove `.ring()`"),
        ("Ring at noon with a rope and its test", "Ring at noon with a rope"),
        ("Let cooks add and update docs", "Let cooks add and update docs"),
        ("Ring at noon and add a lid", "Ring at noon and add a lid"),
    ],
)
def test_tests_and_documents_that_came_with_a_change_are_not_mentioned(subject: str, expected: str) -> None:
    assert entries(draft_of(f"feat: {subject}").markdown) == [expected]


def test_a_commit_that_a_pull_request_repeats_in_other_words_is_one_change_with_it() -> None:
    def of(message: str, path: str = "src/bell.py") -> Commit:
        return evolve(commit(message), modified=(path,))

    markdown = draft_of(
        of("Ring `bell` when hot"), of("Drip"), of("Ring the bell when the kettle is hot (#7)")
    ).markdown
    assert entries(markdown) == ["Ring the bell when the kettle is hot", "Drip"]
    markdown = draft_of(of("Fix the lid that drips"), of("fix: lid that drips")).markdown
    assert entries(markdown) == ["Fix the lid that drips"]
    others = of("Ring the bell when hot (#7)", "src/lid.py"), of("Ring the bell when not hot"), of("Ring the bell")
    assert len(entries(draft_of(of("Ring bell when hot"), *others).markdown)) == 1 + len(others)
    pulled = "Ring a small bell if the kettle is hot and full"
    branch = of("For now, ring a small bell when the kettle is hot and full")
    assert entries(draft_of(branch, of(f"{pulled} (#7)")).markdown) == [pulled]
    for turned in ("Do not ring", "Ring 2 times", "Add", "Ring without"):
        assert len(entries(draft_of(branch, of(f"{pulled.replace('Ring', turned)} (#7)")).markdown)) == 2


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        (["feat!: raise the minimum version of oil to 2", "feat!: require oil 3"], ["Require oil 3"]),
        (["msrv: bump to Rust 1.88 (#1)", "cargo: set MSRV to 1.85 (#2)"], ["**cargo:** Set MSRV to 1.85"]),
        (["Raise MSRV to 1.70", "Bump the minimum Rust version to 1.80 (#1)"], ["Bump the minimum Rust"]),
        (["Set engines field to node 18 and above", "Require Node 20, and log it"], ["Require Node 20, and log it"]),
        (["Require Node 18, use `lid()`", "Require Node 20 and update oil", "Require Node 22"], ["Require Node 22"]),
        (["feat!: require oil 2, and stir", "feat!: require oil 3"], ["Require oil 2, and stir", "Require oil 3"]),
        (["feat!: require oil 2\n\nBREAKING CHANGE: warm it", "feat!: require oil 3"], 2 * ["Require oil"]),
        (["feat(lid)!: require oil 2", "feat(pot)!: require oil 3"], ["**lid:** Require oil", "**pot:** Require oil"]),
        (["Drop support for Python 3.8", "Drop support for Python 3.9"], 2 * ["Drop support for Python"]),
        (
            ["Raise upper limit of oil to 7 (#1)", "Raise upper limit of oil to 8 (#2)"],
            ["Raise upper limit of oil to 8"],
        ),
        (["Raise the limit of oil to 7", "Lower the limit of tea to 8"], ["Raise the limit", "Lower the limit"]),
    ],
)
def test_of_several_requirements_of_the_same_thing_the_last_one_holds(messages: list[str], expected: list[str]) -> None:
    markdown = draft_of(*messages).markdown
    for line, begin in zip(entries(markdown), expected, strict=True):
        assert line.startswith(begin)
    assert all(f"[#{number}]" in markdown for number in "12" if f"(#{number})" in "".join(messages))


def test_updates_of_one_dependency_are_all_counted() -> None:
    draft = draft_of("feat: ring", "build(deps): bump oil to 2", "build(deps): bump oil to 3")
    assert "Also 2 dependency changes" in draft.markdown


def test_an_announced_submodule_has_no_folder_and_no_hashes() -> None:
    message = "Bump lamps/beams/Fresnel from `1e55f32` to `4fde0fd`"
    bump = evolve(commit(message), modified=("lamps/beams/Fresnel", "CHANGELOG.md"))
    assert entries(draft_of(bump).markdown) == ["Update Fresnel"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (ChangelogOptions(), ["**bell:** Ring", "Sing", "**lid:** Drip"]),
        (ChangelogOptions(hidden=frozenset({"BELL", "fix"})), ["Sing", "**rope:** Cut"]),
        (ChangelogOptions(hidden_authors=frozenset({"Zoe"})), ["**bell:** Ring", "**lid:** Drip"]),
        (ChangelogOptions(hidden=frozenset({"Fixed"})), ["**bell:** Ring", "Sing"]),
        (ChangelogOptions(hidden_paths=("lib/*",)), ["**bell:** Ring", "Sing"]),
        (ChangelogOptions(folded=frozenset({Section.FIXED, Section.BREAKING})), ["**bell:** Ring", "Sing"]),
    ],
)
def test_what_is_hidden_is_a_choice(options: ChangelogOptions, expected: list[str]) -> None:
    fix = evolve(commit("fix(lid): drip"), modified=("lib/lid.py",))
    draft = written(
        push("feat(bell): ring", commit("feat: sing", author=Author(name="zoe", email="")), fix, "ci: x"),
        options=options,
    )
    assert draft is not None
    assert entries(draft.markdown) == [line for line in expected if "rope" not in line]


def test_a_breaking_or_security_change_is_never_hidden() -> None:
    options = ChangelogOptions(hidden=frozenset({"feat", "fix", "bell"}), hidden_authors=frozenset({"ada"}))
    draft = written(push("feat(bell)!: ring", "fix(security): lock the lid"), options=options)
    assert draft is not None
    assert headings(draft.markdown) == ["Breaking changes", "Security", "Contributors"]


def test_commits_that_came_before_on_another_branch_are_ignored() -> None:
    assert written(push(commit("feat: ring", distinct=False))) is None
    one = commit("feat: ring")
    draft = written(push(one), push(one))
    assert draft is not None
    assert entries(draft.markdown) == ["Ring"]


def test_a_fix_from_a_private_fork_is_a_security_fix() -> None:
    draft = draft_of("Merge commit from fork\n\nDo not print the key", "fix: drip")
    assert section(draft.markdown, "Security") == ["A privately reported vulnerability was fixed"]


@given(
    st.lists(st.sampled_from(["feat: ring (#1)", "fix: drip", "Sing (#2)", "docs: x", "v1.2"]), max_size=8),
    st.integers(0, 8),
)
def test_how_commits_are_spread_over_pushes_changes_nothing(subjects: list[str], cut: int) -> None:
    made = [commit(subject, sha=sha_of(f"{index} {subject}"), author=ADA) for index, subject in enumerate(subjects)]
    assert written(push(*made)) == written(push(*made[:cut]), push(*made[cut:]))


def described(number: int, title: str, *labels: str, **more: Any) -> Brief:
    """Return a brief with one pull request that the code host describes."""
    grace = Author(name="Grace Murray", email="grace@mail.example", username="grace")
    request = PullRequest(number=number, title=title, labels=labels, **more)
    return of_requests(push("Do it (#3)", commit(f"Polish (#{number})", author=grace)), request)


def of_requests(pushed: Push, *requests: PullRequest) -> Brief:
    described = {request.number: request for request in requests}
    return Brief(chapters=[Chapter(repository="acme/kettle", events=[pushed], pull_requests=described)])


def reported(given: Brief) -> list[tuple[Section, str, tuple[str, ...]]]:
    (part,) = report_of(given)
    return [(change.section, change.text, change.numbers) for change in part.changes if "3" not in change.numbers]


def test_a_pull_request_has_its_own_title_and_its_labels_decide_before_words_do() -> None:
    assert reported(described(7, "Add a lid")) == [(Section.ADDED, "Add a lid", ("7",))]
    assert reported(described(7, "Add a lid", "type: bug")) == [(Section.FIXED, "Add a lid", ("7",))]
    assert reported(described(7, "Add a lid", "breaking-change")) == [(Section.BREAKING, "Add a lid", ("7",))]
    assert reported(described(7, "feat: close the lid", "documentation")) == [
        (Section.DOCUMENTATION, "Close the lid", ("7",))
    ]
    # A title without information is not used: the commit's words stay.
    assert reported(described(7, "wip"))[0][1] == "Polish"


def test_a_label_that_leaves_a_pull_request_out_hides_no_breaking_change() -> None:
    assert reported(described(7, "Add a lid", "skip-changelog")) == []
    assert [section for section, _, _ in reported(described(7, "feat!: add a lid", "skip-changelog"))] == [
        Section.BREAKING
    ]
    broken = described(7, "Add a lid", body="It closes.\n\nBREAKING CHANGE: cups must be wider")
    assert [section for section, _, _ in reported(broken)] == [Section.BREAKING]


def test_a_rebased_pull_request_is_found_by_the_commit_that_it_left() -> None:
    pushed = push("polish the handle")
    request = PullRequest(number=9, title="Add a handle", merged_sha=pushed.commits[0].id)
    (part,) = report_of(of_requests(pushed, request))
    assert [(change.text, change.numbers) for change in part.changes] == [("Add a handle", ("9",))]


def test_a_first_contribution_is_marked() -> None:
    given = described(7, "Add a lid", author="grace", first_contribution=True)
    draft = write_changelog(given)
    assert draft is not None
    assert "@grace (first contribution)" in draft.markdown
    assert "@ada (first" not in draft.markdown
