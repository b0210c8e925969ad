"""Subjects in many styles: the text and the section of each change."""

import random
from pathlib import Path
from typing import Final

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from tests.core.changelog.styles import STYLES, changes_of, commit_of, found
from tests.golden_text import check_text

from contentsvc_core.content.changelog.classify import classify
from contentsvc_core.content.changelog.merges import merge_of
from contentsvc_core.content.changelog.paths import touched
from contentsvc_core.content.changelog.read import parse
from contentsvc_core.content.changelog.select import Change, reported_changes
from contentsvc_core.content.options import DEFAULT_OPTIONS
from contentsvc_core.content.sections import UPKEEP, Section
from contentsvc_core.events.normalized import Commit, Push
from contentsvc_core.strategies import commits


@pytest.mark.parametrize("style", STYLES)
def test_each_entry_of_a_style_belongs_where_it_is_expected(style: str) -> None:
    wrong = [
        (subject, expected, change and change.section)
        for subject, expected, change in found(STYLES[style])
        if (change and change.section) is not expected
    ]
    assert wrong == []


@pytest.mark.parametrize("style", STYLES)
def test_upkeep_is_folded_and_nothing_else_is(style: str) -> None:
    for change in changes_of(STYLES[style]):
        assert change.shown is (change.section not in UPKEEP), change.text


@pytest.mark.parametrize(
    ("message", "scope", "text", "numbers"),
    [
        ("feat(beam): turn it (#12) (#13)", "beam", "turn it", ("12", "13")),
        ("Fixed #34 -- Made it blink.", None, "Made it blink.", ("34",)),
        ("[Fix #14] Stop the drip", None, "Stop the drip", ("14",)),
        ("gh-15: Stop the drip (GH-16)", None, "Stop the drip", ("15", "16")),
        ("bug #17 [Horn] Stop the noise", "Horn", "Stop the noise", ("17",)),
        ("ABC-18: stop the drip", None, "stop the drip", ()),
        ("ABC-18; The drip stops", None, "The drip stops", ()),
        ("ABC-18. Stop the drip. Contributed by Ada L.", None, "Stop the drip", ()),
        ("feat - ring at noon", None, "ring at noon", ()),
        ("ENH ring at noon (#25)", None, "ring at noon", ("25",)),
        ("API keys ring at noon", None, "API keys ring at noon", ()),
        ("[IMP] bell: ring at noon", "bell", "ring at noon", ()),
        ("[5.x] Fix #19 (#20)", None, "Fix #19", ("20",)),
        ("net/horn, net/fog: share a type", "net/horn, net/fog", "share a type", ()),
        ("Vim plugin: prefix messages", "Vim plugin", "prefix messages", ()),
        ("Fix bug: the lamp burns", None, "Fix bug: the lamp burns", ()),
        ("Keep it compact. #21 (#22)", None, "Keep it compact", ("21", "22")),
        ("Ring twice (thanks @ada) (#23)", None, "Ring twice", ("23",)),
        (":sparkles: Ring", None, "Ring", ()),
        ("✨ feat(bell): ring [skip ci]", "bell", "ring", ()),
        ("Fix acme/lid#24", None, "Fix acme/lid#24", ()),
        ("net: phy: add a horn", "net: phy", "add a horn", ()),
        ("chore(optimize): the lens", None, "optimize the lens", ()),
        ("Fix(Simplify): a lens, #27", None, "Simplify a lens", ("27",)),
        ("fix(cache): the lens turns", "cache", "the lens turns", ()),
        ("breaking: ring at noon", None, "ring at noon", ()),
        ("Ring at noon and…\n\n… at one (#26)", None, "Ring at noon and at one", ("26",)),
        ("https://lamp.example: explain", None, "https://lamp.example: explain", ()),
        ('Resolve "Horn is silent" (#28)', None, "Horn is silent", ("28",)),
        ("AB#29 Ring", None, "Ring", ()),
        ("feat[bell]: ring", "bell", "ring", ()),
        ("bell/{lid,spout}.py: ring", "bell/{lid,spout}.py", "ring", ()),
        ("bell & lid: ring", "bell & lid", "ring", ()),
        ("Big Bell - add a ring", "Big Bell", "add a ring", ()),
        ("Add Bell - add a ring", None, "Add Bell - add a ring", ()),
        ("ring --loud: stop", "ring --loud", "stop", ()),
        (
            "Ring the bell of the\nlighthouse at noon. It sings.\n\nMore",
            None,
            "Ring the bell of the lighthouse at noon.",
            (),
        ),
        ("Ring for\n- ships", None, "Ring for", ()),
        ("Ring for the\nSigned-off-by: Ada", None, "Ring for the", ()),
        ("Ring for the\nships\n- at noon\n- at night", None, "Ring for the ships", ()),
        ("Ring for the\nships\nSigned-off-by: Ada", None, "Ring for the ships", ()),
        ("fix/bell: ring", "bell", "ring", ()),
        ("Bug fix: ring", None, "ring", ()),
        ("+ ring", None, "ring", ()),
        ("* ring", None, "ring", ()),
        ("Ada/fix the bell", None, "fix the bell", ()),
        ("Gm/the bell rings (#30)", None, "the bell rings", ("30",)),
        ("Db/lens is fixed", None, "Db/lens is fixed", ()),
        ("Issue 31: Ring at noon (#32)", None, "Ring at noon", ("31", "32")),
        ("Task 33 - ring at noon", None, "ring at noon", ()),
        ("Issue 34 in bells: ring", None, "Issue 34 in bells: ring", ()),
        ("Input/output is fixed", None, "Input/output is fixed", ()),
        ("UTF-8 names ring", None, "UTF-8 names ring", ()),
        ("ui: fix the bell", "ui", "fix the bell", ()),
        ("UI(bell): ring!", "bell", "ring!", ()),
        ("API: ring!", "api", "ring!", ()),
        ("GPT-4 rings", None, "GPT-4 rings", ()),
        ("LAMP-4 rings", None, "LAMP-4 rings", ()),
        ("LAMP-4: ring", None, "ring", ()),
        ("[LAMP-4] ring", None, "ring", ()),
        ("LAMP-44 ring", None, "ring", ()),
        ("fix(SHA-256): ring", "SHA-256", "ring", ()),
        ("fix(LAMP-44): ring", None, "ring", ()),
    ],
)
def test_a_subject_is_taken_apart(message: str, scope: str | None, text: str, numbers: tuple[str, ...]) -> None:
    read = parse(message)
    assert (read.scope, read.description, read.numbers) == (scope, text, numbers)


@pytest.mark.parametrize(
    ("message", "merge"),
    [
        ("Merge pull request #1 from ada/x\n\nRing", ("Ring", "1")),
        ("Merge pull request #1 from ada/x", ("", "1")),
        ("Merge pull request 'Ring' (#2) from ada/x into main", ("Ring", "2")),
        ("Merge branch 'x' into 'main'\n\nRing\n\nSee merge request a/b!3", ("Ring", "3")),
        ("Merged in ada/x (pull request #4)\n\nRing", ("Ring", "4")),
        ("Merged PR 5: Ring", ("Ring", "5")),
        ("Pull request #5: Ring", ("Ring", "5")),
        ("Merge pull request #8 from acme/ada/ring-at-noon\n\nAda/ring at noon", ("Ring at noon", "8")),
        ("Merge pull request #8 from acme/fix/ring-at-noon\n\nFix/ring at noon", ("Fix/ring at noon", "8")),
        ("Merge pull request #8 from acme/ring\n\nAda/ring at noon", ("Ada/ring at noon", "8")),
        ("Merge #6\n\n6: Ring r=ada a=bob", ("Ring", "6")),
        ("Rollup merge of #7 - ada:x, r=bob\n\nRing", ("Ring", "7")),
        ("Merge branch 'main' into x", None),
        ("Merge the tables of tides", None),
    ],
)
def test_a_merge_names_its_pull_request(message: str, merge: tuple[str, str] | None) -> None:
    assert merge_of(parse(message)) == merge


@pytest.mark.parametrize(
    "body",
    [
        "BREAKING CHANGE: gone",
        "Words.\n\nBREAKING-CHANGE: gone\nRefs: #1",
        "* feat: one\n\nBREAKING CHANGE: gone\n\n* fix: two",
        "* feat: one\n* BREAKING CHANGE: gone\n* fix: two",
        "**BREAKING CHANGE:** gone",
        "Breaking change: gone",
        "**Breaking**: gone",
        "[breaking] gone",
        "⚠️ BREAKING: gone",
        "## Breaking changes\n\ngone\n\n## Tests\n\nall",
        "### 💥 Breaking\n* gone\n\n### Notes\n\n- other",
        "Breaking changes:\n- gone",
        "## Breaking change\n\nYes, gone",
        "* feat(lamp)!: gone\n* fix: two",
    ],
)
def test_a_breaking_note_is_found_anywhere_in_a_body(body: str) -> None:
    read = parse(f"chore: tidy\n\n{body}")
    assert (read.breaking, read.breaking_notes) == (True, ("gone",))


@pytest.mark.parametrize(
    "body",
    [
        "This is a breaking change.",
        "This breaks backwards compatibility.",
        "- [x] Breaking change (a fix or feature that changes what was there)",
        "## Does it introduce a breaking change?\n\n- [ ] No\n- [x] Yes",
    ],
)
def test_a_body_may_say_that_something_breaks_without_a_note(body: str) -> None:
    read = parse(f"Turn the mirror\n\n{body}")
    assert (read.breaking, read.breaking_notes) == (True, ())


@pytest.mark.parametrize(
    "body",
    [
        "This is not a breaking change.",
        "Does this introduce a breaking change? We think not.",
        "- [ ] Breaking change",
        "- [x] No breaking changes",
        "- [x] Breaking changes are documented",
        "## Breaking changes\n\nNone",
        "## Breaking changes\n\n## Tests\n\nall",
        "## Breaking changes\n<!-- what breaks? -->\n\n## Notes\n\nall",
        "Breaking change: no",
        "Breaking the glass: it is thin",
        "* Handle breaking change of the glass",
    ],
)
def test_a_template_that_is_not_filled_in_announces_no_breaking_change(body: str) -> None:
    read = parse(f"Turn the mirror\n\n{body}")
    assert (read.breaking, read.breaking_notes) == (False, ())


@pytest.mark.parametrize(
    ("subject", "paths", "early", "major"),
    [
        ("Rename the horn to bell", "src/horn.py", True, True),
        ("Require a wick for each lamp", "src/lamp.py", True, True),
        ("Move the bell to another package", "src/bell.py", True, True),
        ("Upgrade the compass to v3", "src/compass.py setup.py", True, True),
        ("`light()` now returns a lamp", "src/lamp.py", False, True),
        ("Ring at noon by default", "src/noon.py", False, True),
        ("Upgrade the compass to v3.1.2", "src/compass.py setup.py", False, False),
        ("Update the error message of the horn, by default red", "src/horn.py", False, False),
        ("Fix the bell, which now returns a tone", "src/bell.py", False, False),
        ("feat: ring at noon by default", "src/noon.py", False, False),
        ("Remove `bell-rope`", "src/bell.py", True, True),
        ("Remove `bell-rope`", "src/bell.py uv.lock", False, False),
        ("Remove the confirmation before a night", "src/night.py", False, False),
        ("Remove the `confirm` dialog", "src/night.py", True, True),
        ("Config file moved to ~/.lamp", "src/lamp.py", True, True),
        ("Migrate config to TOML", "src/lamp.py", True, True),
        ("The error has changed from A to B", "src/lamp.py", True, True),
        ("Replace old tide format", "src/tide.py", True, True),
        ("Make the header sticky and required", "src/header.py", False, False),
        ("Lamps now use less oil", "src/lamp.py", False, False),
        ("Raise the limit to 100", "src/lamp.py", False, False),
        ("No longer flickers in fog", "src/lamp.py", False, False),
        ("Remove the limit of lamps", "src/lamp.py", False, False),
        ("Remove a loop of lamps", "src/lamp.py", False, False),
        ("Removed lamps are shown again", "src/lamp.py", False, False),
    ],
)
def test_the_number_of_a_release_decides_what_breaks(subject: str, paths: str, early: bool, major: bool) -> None:
    push = Push(ref="refs/heads/main", branch="main", commits=(commit_of(1, subject, paths),), head_commit=None)
    for tag, breaks in (("v1.4.0", False), ("0.8.1", False), ("0.8.0", early), ("lamp-v3.0.0", major)):
        (change,) = reported_changes([push], DEFAULT_OPTIONS, tag=tag)
        assert (change.section is Section.BREAKING) is breaks, tag


@given(st.sampled_from([line for lines in STYLES.values() for line in lines]), st.integers(0, 2**32))
def test_a_marked_breaking_change_is_never_lost(line: tuple[str, str, Section | None], seed: int) -> None:
    others = [each for lines in STYLES.values() for each in lines if not each[0].startswith("Merge")]
    some = random.Random(seed).sample(others, 6)  # noqa: S311
    marked = ("chore!: take the ladder away", line[1], Section.BREAKING)
    changes = changes_of([*some[:3], marked, *some[3:]])
    assert [change.shown for change in changes if change.text == "Take the ladder away"] == [True]


@given(st.lists(commits(), max_size=8))
def test_any_commits_are_reported_at_most_once(made: list[Commit]) -> None:
    push = Push(ref="refs/heads/main", branch="main", commits=tuple(made), head_commit=None)
    changes = changes_of_push(push)
    ids = [commit.id for change in changes for commit in change.commits if commit.id]
    assert len(ids) == len(set(ids))
    # A revert with the number of the reverted change is a change of its own.
    kept = [change for change in changes if not any(message.may_undo for message in change.messages)]
    numbers = [number for change in kept for number in change.numbers]
    assert len(numbers) == len(set(numbers))
    assert changes_of_push(push) == changes


def changes_of_push(push: Push) -> tuple[Change, ...]:
    return reported_changes([push], DEFAULT_OPTIONS)


@pytest.mark.parametrize(
    ("body", "section"),
    [
        ("The old rope was a regression of the last winter.", Section.FIXED),
        ("It is stronger.", Section.CHANGED),
        ("- [ ] Bug fix\n- [x] Feature", Section.CHANGED),
        ("> This fixes nothing", Section.CHANGED),
    ],
)
def test_prose_that_names_a_fault_makes_a_change_a_fix(body: str, section: Section) -> None:
    assert [change.section for change in changes_of([(f"Use a thinner rope\n\n{body}", "src/rope.py", None)])] == [
        section
    ]


def test_a_habit_of_news_folds_what_comes_without() -> None:
    noted = [(f"Ring bell {n}", "src/bell.py CHANGES.md", None) for n in range(3)]
    lines = [*noted, ("Use a thinner rope", "src/rope.py", None), ("feat: ring at noon", "src/noon.py", None)]
    shown = {change.text: change.shown for change in changes_of(lines)}
    assert shown == {"Ring bell 0": True, "Ring bell 1": True, "Ring bell 2": True} | {
        "Use a thinner rope": False,
        "Ring at noon": True,
    }
    assert all(change.shown for change in changes_of(lines[2:]))
    branch = [("Add a rope", "src/rope.py", None), ("Merge pull request #7 from ada/rope\n\nAdd a rope", "", None)]
    assert [change.text for change in changes_of([*noted, *branch]) if change.shown][-1] == "Add a rope"
    later = [("Use a thin rope (#8)", "src/rope.py", None), ("Add news", "+newsfragments/8.change.md", None)]
    assert [change.text for change in changes_of([*noted, *later]) if change.shown][-1] == "Use a thin rope"


def test_commits_of_one_news_fragment_are_one_change() -> None:
    fragment = "src/bell.py newsfragments/8.fixed.rst"
    lines = [
        ("Fix the bell at noon", fragment, None),
        ("Fix the bell at one", fragment, None),
        ("Fix the bell at two (#9)", fragment, None),
        ("fix!: mend the bell at three", fragment, None),
        ("Fix the bell at four", "src/bell.py newsfragments/8.added.rst", None),
        ("Fix the bell at five", "src/bell.py newsfragments/tower.fixed.rst", None),
        ("Fix the bell at six", "src/bell.py newsfragments/tower.fixed.rst", None),
    ]
    texts = [change.text.rpartition(" ")[2] for change in changes_of(lines)]
    assert texts == ["noon", "two", "three", "four", "five", "six"]
    assert [len(change.commits) for change in changes_of(lines)] == [2, 1, 1, 1, 1, 1]


def test_few_news_fold_untyped_changes_that_come_without_and_without_a_number() -> None:
    noted = [(f"Add bell {n}", "src/bell.py CHANGES.md", None) for n in range(3)]
    typed = [(f"fix: mend rope {n}", "src/rope.py", None) for n in range(20)]
    few = [("Use a thinner rope", "src/rope.py", None), ("Use a thicker rope (#7)", "src/rope.py", None)]
    shown = {change.text for change in changes_of([*noted, *typed, *few]) if change.shown}
    assert {"Add bell 0", "Mend rope 0", "Use a thicker rope"} <= shown
    assert "Use a thinner rope" not in shown


def test_a_habit_of_pull_requests_folds_what_came_past_them() -> None:
    requested = [(f"Ring bell {n} (#{n})", "src/bell.py", None) for n in range(1, 8)]
    past = [
        ("Use a thinner rope", "src/rope.py", None),
        ("Add a rope", "src/rope.py", None),
        ("fix: ring at noon", "src/noon.py", None),
        ("Fix the bell at noon", "src/bell.py", None),
        ("Deprecate the old rope", "src/rope.py", None),
        ("Drop support for Python 3.9", "src/bell.py", None),
        ("Raise MSRV to 1.80", "Cargo.toml src/bell.rs", None),
    ]
    shown_by_text = {change.text: change.shown for change in changes_of([*requested, *past])}
    assert [text for text, shown in shown_by_text.items() if not shown] == ["Use a thinner rope"]
    assert all(change.shown for change in changes_of([*requested[2:], *past]))


def test_a_list_of_files_that_was_cut_says_nothing() -> None:
    whole = commit_of(1, "Add a bell", "tests/test_bell.py")
    for commit, section in ((whole, Section.INTERNAL), (evolve(whole, paths_cut=1), Section.ADDED)):
        push = Push(ref="refs/heads/main", branch="main", commits=(commit,), head_commit=None)
        assert [change.section for change in changes_of_push(push)] == [section]


#: A letter for each section. In the table, words alone find small letters, and a dot marks a change without news.
_LETTERS: Final = dict(zip(Section, "BSACDRFPVWOUI", strict=True))
_FILES: Final = (
    "",
    "src/lamp.py",
    "tests/test_lamp.py",
    "docs/lamp.md",
    ".github/workflows/ci.yml",
    "uv.lock",
    "CHANGELOG.md",
    "src/lamp.py CHANGELOG.md",
    "src/lamp.py +changes/1.fixed.md",
    "UPGRADING.md src/lamp.py",
    "src/lamp.py +changes/1.breaking.md",
    "src/lamp.py +changes/1.security.md",
    "tests/test_lamp.py +changes/1.security.md",
    ".github/workflows/ci.yml +changes/1.added.md",
)
_KINDS: Final = (
    *("feat", "fix", "perf", "docs", "test", "ci", "build", "chore", "refactor"),
    *("release", "revert", "breaking", "security", "deps", "zap"),
)
_SCOPED: Final = ("feat", "fix", "chore", "build", "refactor")
_SCOPES: Final = (
    *("(deps)", "(api)", "(docs)", "(ci)", "(release)", "(security)"),
    *("(msrv)", "(_lamp)", "(lamp)!", "(deps)!", "(lamp/docs)", "(tests, api)"),
)
_TEXTS: Final = (
    "add a lamp",
    "fix the crash of `lamp`",
    "bump oil from 1.0 to 2.0",
    "release 2.0.0",
    "remove the old API",
    "drop support for Python 3.8",
    "update the tests of _lamp",
    "be faster",
    "work around a CVE in oil",
    "make lamps brighter",
    "deprecate lamp()",
    "Reland the horn",
    "typo",
    "add missing docs of the lamp",
    "drop the unused import of lamp",
    "move to lamp 3.x",
    "say more in the error of lamp_fog",
)


_TOUCHED: Final = [touched([commit_of(1, "", files)]) for files in _FILES]


def _cells(message: str) -> str:
    read = parse(message)
    kinds = [classify(read, each) for each in _TOUCHED]
    letters = [(_LETTERS[each.section], each) for each in kinds]
    return "".join(f"{letter if each.sure else letter.lower()}{'.' * each.empty}" for letter, each in letters)


def test_each_message_with_each_kind_of_files_reads_like_this() -> None:
    headings = [f"{kind}: " for kind in _KINDS] + [f"{kind}{scope}: " for kind in _SCOPED for scope in _SCOPES]
    rows = [(heading, " ".join(_cells(f"{heading}{text}") for text in _TEXTS)) for heading in ["", *headings]]
    rows += [(message.partition("\n")[0], _cells(message)) for lines in STYLES.values() for message, _, _ in lines]
    table = "".join(f"{cells}  {name}".rstrip() + "\n" for name, cells in rows)

    check_text(Path(__file__).with_name("golden_sections.txt"), table)
