import re

import pytest
from changelog_samples import announced, commit, draft_of, push, release, written
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("message", "title"),
    [
        ("feat: ring when the water boils (#3)", "Ring when the water boils"),
        ("feat(bell): ring when the water boils", "Ring when the water boils (bell)"),
        ("feat(bell): add a bell", "Add a bell"),
        ("fix: the lid drips.", "Fix: the lid drips"),
        ("fix(lid): it drips", "Fix: it drips (lid)"),
        ("fix: fixes the drip", "Fix the drip"),
        ("feat!: drop the plug", "Breaking: drop the plug"),
        # One mood for all authors, if the first word is certainly a verb.
        ("Added a lid and fixed the spout", "Add a lid and fix the spout"),
        ("Upgraded to iron", "Upgrade to iron"),
        ("Fixed to the pot", "Fixed to the pot"),
        ("feat: makes the pot whistle", "Make the pot whistle"),
        ("fix: fixed a lid that is open", "Fix a lid that is open"),
        ("fix: removed lids are shown again", "Removed lids are shown again"),
        ("Adding a lid and removing the spout", "Add a lid and remove the spout"),
        ("fix: adding a lid shows the spout", "Fix: adding a lid shows the spout"),
        ("fix: fixes for lids", "Fixes for lids"),
        ("fix: fixed width of lids", "Fixed width of lids"),
        ("security: close the spout", "Security: close the spout"),
        ("perf: heat faster", "Heat faster"),
        ("feat: `lid_open` *and* [more]", "lid_open *and* [more]"),
        ("sTOP the drip", "sTOP the drip"),
        ("zinc", "1 other change"),
        ('Revert "feat: ring"', "Revert “ring”"),
    ],
)
def test_a_single_change_is_its_own_title(message: str, title: str) -> None:
    assert draft_of(message).title == title


@pytest.mark.parametrize(
    ("messages", "title"),
    [
        (["docs: spell", "fix: drip", "fix: drop", "feat: ring"], "Ring"),
        (["fix: drip", "fix: drop", "ci: x"], "Fix: drip"),
        (["zinc", "copper", "feat: ring"], "Ring"),
        (["zinc", "copper"], "2 other changes"),
        (["fix: drip", "feat!: no handle", "security: spout"], "Breaking: no handle"),
        (["security: lock the lid; see LIGHT-2025-01"], "Security: lock the lid"),
    ],
)
def test_a_push_is_named_by_its_most_important_change_alone(messages: list[str], title: str) -> None:
    assert draft_of(*messages).title == title


@pytest.mark.parametrize(
    ("messages", "title"),
    [
        (["feat: add support for zinc", "feat: Ring at noon", "fix: drip"], ": support for zinc, ring at noon"),
        (["feat: add a bell", "feat: add a lid", "fix: drip"], ": add a bell, a lid"),
        (["feat: add a bell, loud", "feat: add a lid"], ": add a bell, loud; add a lid"),
        (["feat: add a bell to the lid", "feat: add a spout"], ": add a bell to the lid, add a spout"),
        (["feat: support for zinc", "feat: support for tin"], ": support for zinc, tin"),
        (["fix: stop the drip", "feat!: remove the handle"], " \u2013 Breaking: remove the handle; stop the drip"),
        (
            [
                "feat: boil two cups",
                "feat!: remove the handle of the kettle, which is hot, and the plug, which is cold, at once",
            ],
            " \u2013 Breaking: remove the handle of the kettle, which is hot, and the plug, which is cold, at once",
        ),
        (["Bump MSRV to 1.80", "Use a flat whistle, loud"], ": use a flat whistle, loud"),
        (["feat!: remove one handle", "feat!: drop the plug"], " \u2013 Breaking: remove one handle, drop the plug"),
        (["feat: " + "boil " * 60], ": boil " + "boil " * 19 + "boil…"),
        (
            ["fix: lid is stuck in winter", "fix: spout leaks in winter"],
            " \u2013 Fix: lid is stuck in winter, spout leaks in winter",
        ),
        (["fix: stop the drip at noon", "fix: lid is stuck"], ": stop the drip at noon; Fix: lid is stuck"),
        (
            ["feat: add a lid to the kettle of the old kitchen and close it at noon because of the cats in the house"],
            ": add a lid to the kettle of the old kitchen",
        ),
        (
            ["feat: show the lids and cups of the kettle in the old kitchen, which is rather dark since it is winter"],
            ": show the lids and cups of the kettle in the old kitchen, which is rather dark",
        ),
        (
            ["feat: let guests ring the bell of the lighthouse without a key of their own because they are in a hurry"],
            ": let guests ring the bell of the lighthouse without a key of their own",
        ),
        (["fix: tidy the lid", "feat: ring"], ": ring, tidy the lid"),
        (["feat: ring, e.g. A minor, at noon. It sings. It hums."], ": ring, e.g. A minor, at noon"),
        (["fix: not closing in winter"], " \u2013 Fix: not closing in winter"),
        (["fix: cancel button does nothing"], " \u2013 Fix: cancel button does nothing"),
        (
            [
                "feat!: drop the handle",
                "security: close the hole in the lid of the pot through which it leaks",
                "feat: x",
            ],
            " \u2013 Breaking: drop the handle; Security: close the hole in the lid of the pot through which it leaks",
        ),
        (["docs: spell", "ci: x", "ci: y"], ": 1 documentation change and 2 internal changes"),
        (["zinc", "copper"], ": 2 other changes"),
        (["feat(types): add Lean", "feat(pot): hum"], ": add Lean (types), hum (pot)"),
        (["feat(lean): add Lean", "fix: start on 1.2.3."], ": add Lean, start on 1.2.3"),
        ([], ""),
    ],
)
def test_a_release_is_named_with_up_to_three_changes(messages: list[str], title: str) -> None:
    assert announced(release("v2.0"), push(*messages)).title == f"kettle v2.0{title}"


@pytest.mark.parametrize(
    ("messages", "title"),
    [
        (["feat: ring, sing and hum", "feat: boil two cups"], ": ring, sing and hum; boil two cups"),
        (["feat!: no handle", "security: lock"], " \u2013 Breaking: no handle; Security: lock"),
        (["feat!: no handle", "feat: boil two cups"], " \u2013 Breaking: no handle; boil two cups"),
        (["feat: ring at noon; it was late", "feat: sing \u2014 it helps"], ": ring at noon, sing"),
        (
            ["feat!: no handle", "feat!: no lid", "feat: boil two cups"],
            " \u2013 Breaking: no handle, no lid; boil two cups",
        ),
    ],
)
def test_changes_that_have_commas_or_labels_are_separated_by_semicolons(messages: list[str], title: str) -> None:
    assert announced(release("v2.0"), push(*messages)).title == f"kettle v2.0{title}"


def test_a_release_with_notes_is_named_with_their_first_items() -> None:
    notes = "## New\n\n- Ring at **noon** by @ada in https://x.example/pull/3\n- [Sing](https://y.example) (#4)\n- x\n"
    assert announced(release("v2", body=notes), push("fix: drip")).title == "kettle v2: ring at noon"
    # The first section has additions, which the title does not name.
    notes = "- **New:** a lid\n- Security: no spills\n- Changed: louder\n"
    assert announced(release("v2", body=notes)).title == "kettle v2 \u2013 Security: no spills; a lid"
    assert announced(release("v2", name="Spring", body=notes)).title == "kettle v2: Spring"


@pytest.mark.parametrize(
    ("tag", "name", "title"),
    [
        ("v1.2.0", None, "kettle v1.2.0"),
        ("v1.2.0", "", "kettle v1.2.0"),
        ("v1.2.0", "v1.2.0", "kettle v1.2.0"),
        ("v1.2.0", "1.2.0", "kettle v1.2.0"),
        ("1.2.0", "Release v1.2.0", "kettle 1.2.0"),
        ("v1.2.0", "Kettle 1.2.0", "kettle v1.2.0"),
        ("v1.2.0", "Faster boiling", "kettle v1.2.0: Faster boiling"),
        ("v1.2.0", "v1.2.0: Faster boiling", "kettle v1.2.0: Faster boiling"),
        ("v1.2.0", "Kettle 1.2.0 - Faster `boiling`", "Kettle 1.2.0 - Faster boiling"),
        ("kettle-v1.2.0", None, "kettle v1.2.0"),
        ("lid/v1.2.0", None, "kettle lid v1.2.0"),
        ("@acme/kettle@1.2.0", None, "@acme/kettle 1.2.0"),
        ("1.2", "31.25 liters", "kettle 1.2: 31.25 liters"),
        ("", None, "New release of kettle"),
        ("v1.2.0", "ada@mail.example", "kettle v1.2.0: (email-hidden)"),
        ("v1.2", "Kettle version 1.2 the release", "kettle v1.2"),
        ("", "The bell", "kettle The bell"),
        ("", "The kettle bell", "The kettle bell"),
        ("bell-1", "bell 1: louder", "kettle bell 1: louder"),
        ("x" * 41, None, "kettle " + "x" * 39 + "…"),
    ],
)
def test_a_release_is_named_by_its_tag_and_by_what_its_name_adds(tag: str, name: str | None, title: str) -> None:
    assert announced(release(tag, name=name)).title == title


def test_a_title_begins_with_the_change_that_its_author_explained_most() -> None:
    explained = "feat: sing three songs\n\n" + "prose " * 100
    assert draft_of("feat: ring at noon", explained).title == "Sing three songs"


_TEXTS = st.text(max_size=200)


@given(messages=st.lists(_TEXTS, max_size=12), tag=_TEXTS, name=st.none() | _TEXTS)
def test_every_title_is_one_clean_line_of_1_to_120_characters(messages: list[str], tag: str, name: str | None) -> None:
    commits = push(*(commit(message, sha=f"{index:040x}") for index, message in enumerate(messages)))
    named = release(tag, name=name)
    drafts = [written(commits), written(commits, named), announced(named), announced(named, commits)]
    for draft in filter(None, drafts):
        assert 1 <= len(draft.title) <= 120
        assert draft.title == draft.title.strip()
        assert not re.search(
            "[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069`\ud800-\udfff]", draft.title
        )
