import pytest
from changelog_samples import HOST, draft_of, entries, headings, section
from hypothesis import given
from hypothesis import strategies as st

from contentsvc_core.content.changelog.conventional import parse


def test_a_header_gives_type_scope_mark_and_description() -> None:
    message = parse("feat(lid)!: close by itself")
    assert (message.type, message.scope, message.breaking, message.description) == (
        "feat",
        "lid",
        True,
        "close by itself",
    )


def test_type_and_scope_are_optional_parts_of_a_subject() -> None:
    assert (parse("fix: drip").scope, parse("Stop the drip").type) == (None, None)
    assert parse("Stop the drip").description == "Stop the drip"


@pytest.mark.parametrize("subject", ["fix:no space", "fix (lid): x", "two words: x", "fix(a(b)): x", "fix", ": x", ""])
def test_what_breaks_the_convention_is_all_description(subject: str) -> None:
    message = parse(subject)
    assert message.type is None
    assert message.description == subject


@pytest.mark.parametrize("kind", ["FEAT", "Feat", "feat", "feature"])
def test_types_are_compared_without_case(kind: str) -> None:
    assert headings(draft_of(f"{kind}: whistle").markdown)[0] == "Added"


# The situations of the specification's own examples, in our words.
@pytest.mark.parametrize(
    ("message", "heading"),
    [
        ("feat: heat by gas\n\nBREAKING CHANGE: the plug is gone", "Breaking changes"),
        ("feat!: ring when the water boils", "Breaking changes"),
        ("feat(bell)!: ring when the water boils", "Breaking changes"),
        ("chore!: no more wooden handles\n\nBREAKING CHANGE: handles are of steel now", "Breaking changes"),
        ("docs: spell the manual right", "Documentation"),
        ("feat(lang): speak Polish", "Added"),
        ("fix: do not boil twice\n\nRemember the last boil.\n\nReviewed-by: Z\nRefs: #123", "Fixed"),
        ("perf: heat faster", "Performance"),
        ("security: close the spout", "Security"),
        ("fix(security): close the spout", "Security"),
        ("refactor: turn the handle", "Internal changes"),
        ("tweak: turn the handle", "Other changes"),
    ],
)
def test_each_kind_of_change_has_its_section(message: str, heading: str) -> None:
    assert headings(draft_of(message).markdown)[0] == heading


@pytest.mark.parametrize("token", ["BREAKING CHANGE", "BREAKING-CHANGE"])
def test_both_breaking_tokens_are_one_and_their_text_is_shown(token: str) -> None:
    draft = draft_of(f"feat: new plug\n\n{token}: buy a\nnew socket\nReviewed-by: Z")
    assert headings(draft.markdown)[0] == "Breaking changes"
    assert "\n  > Buy a new socket\n" in draft.markdown
    assert "Reviewed" not in draft.markdown


@pytest.mark.parametrize(
    "body",
    [
        "breaking change: lower case is prose",
        "Breaking-Change: so is this",
        "BREAKING CHANGE: said in the middle\n\nand then the prose goes on",
        "prose\nBREAKING CHANGE: inside a paragraph of prose",
    ],
)
def test_a_breaking_note_counts_only_as_a_footer_in_capitals(body: str) -> None:
    assert not parse(f"feat: new plug\n\n{body}").breaking


def test_a_subject_is_never_a_footer() -> None:
    assert not parse("BREAKING CHANGE: everything").breaking


def test_a_footer_goes_on_until_the_next_token_and_may_use_a_number_sign() -> None:
    message = parse("fix: x\n\nprose\n\nRefs: one\n two\nthree\nFixes #12\n\nAcked-by: Z\n")
    assert [(footer.token, footer.value) for footer in message.footers] == [
        ("Refs", "one\ntwo\nthree"),
        ("Fixes", "#12"),
        ("Acked-by", "Z"),
    ]


def test_a_note_that_repeats_the_line_is_not_shown_twice() -> None:
    assert "  >" not in draft_of("feat: Drop the plug\n\nBREAKING CHANGE: drop the plug").markdown


def test_line_ends_of_windows_change_nothing() -> None:
    unix = "feat: new plug\n\nprose\n\nBREAKING CHANGE: buy a socket\nRefs: #1\n"
    ours, theirs = parse(unix), parse(unix.replace("\n", "\r\n"))
    assert ours.breaking_notes == ("buy a socket",)
    assert theirs == ours


def test_a_title_that_the_code_host_cut_is_joined_again() -> None:
    draft = draft_of("fix: keep the water warm until some… (#7)\n\n…body pours it\n\nMore.")
    assert entries(draft.markdown) == ["Keep the water warm until somebody pours it"]
    assert f"[#7]({HOST}/issues/7)" in draft.markdown


def test_a_scope_that_is_a_number_becomes_a_reference() -> None:
    draft = draft_of("fix(#3): drip (#4)")
    assert entries(draft.markdown) == ["Drip"]
    assert parse("fix(#3): drip (#4)").numbers == ("3", "4")


def test_orders_to_the_build_are_not_words_for_readers() -> None:
    assert entries(draft_of("docs: spell it right [skip ci] (#2)").markdown) == ["Spell it right"]


def test_the_type_stays_visible_where_the_heading_does_not_say_it() -> None:
    draft = draft_of(
        "test(lid): count", "tweak: bend", "chore(lid): wipe", "chore: sweep", "build: stamp", "Just words."
    )
    assert section(draft.markdown, "Other changes") == ["**tweak:** Bend", "Just words"]
    assert section(draft.markdown, "Internal changes") == [
        "**test(lid):** Count",
        "**lid:** Wipe",
        "Sweep",
        "**build:** Stamp",
    ]


@pytest.mark.parametrize(
    ("message", "heading"),
    [
        ("tests: move to other kettles", "Internal changes"),
        ("feat(tests): boil in parallel", "Internal changes"),
        ("fix(lint): indent", "Internal changes"),
        ("fix: docs preview workflow", "Internal changes"),
        ("chore: make docs consistent", "Documentation"),
        ("fix: broken link in the docs", "Documentation"),
        ("Refactor the lid", "Internal changes"),
        ("Format dates like people do", "Other changes"),
        ("fix(deps): bump cup from 1 to 2", "Other changes"),
        ("test!: no more cups", "Breaking changes"),
        ("fix(security): tests of the lid", "Security"),
    ],
)
def test_what_nobody_outside_waits_for_is_no_feature_and_no_fix(message: str, heading: str) -> None:
    assert headings(draft_of(message).markdown)[0] == heading


def test_a_scope_that_repeats_the_heading_is_left_out() -> None:
    draft = draft_of("chore(docs): spell it right", "fix(security): close the spout")
    assert section(draft.markdown, "Documentation") == ["Spell it right"]
    assert section(draft.markdown, "Security") == ["Close the spout"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("add a lid", "Add a lid"),
        ("re-heat: twice.", "Re-heat: twice"),
        ("foo_bar() is gone", "foo_bar() is gone"),
        ("README is new.", "README is new"),
        ("`lid` closes", "`lid` closes"),
        ("pyproject.toml is new", "pyproject.toml is new"),
        ("iOS app", "iOS app"),
        ("wait...", "wait..."),
        ("knobs, e.g.", "Knobs, e.g."),
    ],
)
def test_entries_begin_like_sentences_but_identifiers_are_never_changed(words: str, line: str) -> None:
    assert entries(draft_of(f"fix: {words}").markdown) == [line]


def test_a_subject_without_convention_is_kept_word_for_word() -> None:
    assert entries(draft_of("sTOP the drip, at last").markdown) == ["sTOP the drip, at last"]


def test_an_empty_message_is_named_honestly() -> None:
    assert entries(draft_of("").markdown) == ["(no commit message)"]


@given(st.text())
def test_every_text_is_a_message(text: str) -> None:
    message = parse(text)
    assert len(message.subject) <= 400
    assert "\n" not in message.subject
    assert message.description in message.subject


@given(
    kind=st.from_regex(r"\A[a-z][a-z0-9-]{0,8}\Z"),
    scope=st.none() | st.from_regex(r"\A[a-z]( ?[a-z0-9/-]){0,8} ?[a-z]\Z"),
    marked=st.booleans(),
    words=st.from_regex(r"\A[a-z]{1,8}( [a-z]{1,8}){0,4}\Z"),
)
def test_what_is_put_together_by_the_grammar_is_taken_apart_again(
    kind: str, scope: str | None, *, marked: bool, words: str
) -> None:
    message = parse(f"{kind}{f'({scope})' if scope else ''}{'!' if marked else ''}: {words}")
    assert (message.type, message.scope, message.breaking, message.description) == (kind, scope, marked, words)
