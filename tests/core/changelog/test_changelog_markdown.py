import re
import time
from typing import Final

import pytest
from changelog_samples import HOST, RENDERERS, commit, draft_of, push, text_of, tokens, written
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from contentsvc_core.content.changelog.markdown import inline, safe_url
from contentsvc_core.events.normalized import Author
from contentsvc_core.text import one_line

_HOSTILE: Final = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<!-- hidden",
    "[click](javascript:alert(1))",
    "![pixel](https://evil.example/p.png)",
    "[ref]: https://evil.example",
    "[^1]: note",
    "[x] done",
    "<https://evil.example>",
    "https://evil.example/a_b_c and www.evil.example",
    "*bold* **bold** _it_ __it__ ***",
    "~~gone~~ ~gone~",
    "# heading",
    "###### heading #",
    "- item",
    "+ item",
    "1. item",
    "1) item",
    "> quote",
    "---",
    "===",
    "***",
    "___",
    "```code",
    "~~~code",
    "| a | b |",
    "a | b",
    "&lt;b&gt; &copy; &#60; &#x3c;",
    "back\\slash \\* \\",
    "`unbalanced",
    "``double`` and `single`",
    "`a` `b` ` ` `",
    "`<b>` `[x](y)` `a\\`",
    "text `code` text_with_under_scores _x_",
    "!`a`[b](c)",
    "http:// https:/x www. ftp://a.b",
    "  leading and trailing  ",
    "\u202eevil\u2066",
    ") ](x) [y](z",
    "a\\",
    ":warning: @everyone $x$ ^a^ ==b== {c}",
)
_ALPHABET: Final = st.sampled_from([*"`*_[]()<>!#|~\\&;:=+-.1 a\"'@{}$^/\n\té", "``", "&lt;", "http://", "www."])
_SUBJECTS: Final = st.lists(_ALPHABET, max_size=30).map("".join) | st.text(max_size=60)


def _visible(text: str) -> str:
    """Return the visible text: without the backticks of code, and with single spaces."""
    return re.sub(r"[\s`]+", "", text)


def _assert_inert(text: str) -> None:
    for renderer in RENDERERS:
        markdown = f"- {inline(text)}"
        kinds = {token.type for token in tokens(markdown, renderer)}
        structure = {"bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"}
        assert kinds <= structure | {
            "paragraph_open",
            "paragraph_close",
            "inline",
            "text",
            "text_special",
            "code_inline",
        }
        assert _visible(text_of(markdown, renderer)) == _visible(text)


@pytest.mark.parametrize("text", _HOSTILE)
def test_hostile_text_renders_as_itself(text: str) -> None:
    _assert_inert(one_line(text, 200))


@given(_SUBJECTS)
@example("`\\`` `")
@example("a`b``c`d")
def test_any_line_of_text_renders_as_nothing_but_text_and_code(text: str) -> None:
    _assert_inert(one_line(text, 200))


@given(subject=_SUBJECTS, scope=_SUBJECTS, note=_SUBJECTS, name=_SUBJECTS)
def test_no_part_of_a_commit_adds_structure_to_the_post(subject: str, scope: str, note: str, name: str) -> None:
    author = Author(name=name, email="")
    first = commit(f"feat({scope})!: {subject}\n\nBREAKING CHANGE: {note}", sha="a1" * 20, author=author)
    second = commit(subject, sha="b2" * 20, author=author)
    draft = written(push(first, second))
    if draft is None:
        return
    allowed = {
        "heading_open", "heading_close", "bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close",
        "paragraph_open", "paragraph_close", "blockquote_open", "blockquote_close", "inline", "text", "text_special",
        "code_inline", "strong_open", "strong_close", "link_open", "link_close", "softbreak",
    }  # fmt: skip
    for renderer in RENDERERS:
        found = tokens(draft.markdown, renderer)
        assert {token.type for token in found} <= allowed
        assert {str(token.attrs["href"]) for token in found if token.type == "link_open"} <= {first.url, second.url} | {
            str(token.attrs["href"])
            for token in found
            if token.type == "link_open"
            and re.fullmatch(rf"{HOST}/(?:issues/[0-9]+|commits)", str(token.attrs["href"]))
        }
        assert {token.tag for token in found if token.type == "heading_open"} <= {"h2"}


def test_words_with_underscores_stay_readable_in_the_source() -> None:
    assert inline("add_many and __all__") == "add_many and \\_\\_all\\_\\_"


def test_addresses_in_a_subject_are_broken_for_renderers_that_link_them() -> None:
    assert inline("see https://evil.example or www.evil.example") == (
        "see https\\://evil.example or www\\.evil.example"
    )


@pytest.mark.parametrize(
    ("url", "safe"),
    [
        ("https://codehost.example/a/b", "https://codehost.example/a/b"),
        ("HTTP://codehost.example:8080/a?b=c#d", "http://codehost.example:8080/a?b=c#d"),
        ("https://[::1]/a", "https://[::1]/a"),
        ('https://h.example/a b(c)<d>"e\\f\ng', "https://h.example/a%20b%28c%29%3Cd%3E%22e%5Cf%0Ag"),
        ("https://h.example/a[b]`c`{d}|^'", "https://h.example/a%5Bb%5D%60c%60%7Bd%7D%7C%5E%27"),
        ("https://h.example/%41%zz%", "https://h.example/%41%25zz%25"),
        ("https://h.example/?a=1&copy;=2", "https://h.example/?a=1&amp;copy%3B=2"),
        ("https://h.example/é\ud800", "https://h.example/%C3%A9%EF%BF%BD"),
        ("https://h.example/ada@mail.example", "https://h.example/ada%40mail.example"),
        ("https://ada@mail.example/", None),
        ("javascript:alert(1)", None),
        ("data:text/html,x", None),
        ("ftp://h.example/", None),
        ("//h.example/", None),
        ("https:///a", None),
        ("https://", None),
        ("https://h example/", None),
        ("https://h)example/", None),
        (" https://h.example/", None),
        ("java\nscript:https://h.example/", None),
        ("", None),
        ("https://h.example/" + "a" * 2_000, None),
    ],
)
def test_only_addresses_that_cannot_break_out_are_linked(url: str, safe: str | None) -> None:
    assert safe_url(url) == safe


@given(st.lists(st.sampled_from([*"()<>[]\\ \n\t\"'`&;#%*_!ab/é", "%41", "&lt;"]), max_size=40).map("".join))
def test_a_link_to_any_path_ends_where_it_should(path: str) -> None:
    url = safe_url(f"https://h.example/{path}")
    assert url is not None
    found = tokens(f"([text]({url})) end")
    assert [token.type for token in found if token.type.startswith("link")] == ["link_open", "link_close"]
    assert text_of(f"([text]({url})) end").replace(" ", "") == "(text)end"


def test_a_commit_without_a_safe_address_is_named_without_a_link() -> None:
    markdown = draft_of(commit("fix: drip (#1)", sha="abcdef0123", url="javascript:alert(1)")).markdown
    assert "- Drip (#1) (abcdef0)\n" in markdown


def test_numbers_inside_a_subject_stay_text() -> None:
    assert "- Close #3 (really) ([#4](" in draft_of("fix: close #3 (really) (#4)").markdown


def test_five_entries_of_one_scope_stand_below_its_name() -> None:
    fixes = [f"fix(lens): mend facet {n} (#{n})" for n in range(1, 5)]
    few = draft_of("fix: drip (#9)", *fixes).markdown
    assert few.count("- **lens:** Mend") == 4
    many = draft_of(
        "fix: drip (#9)", *fixes, "fix(horn): ring (#8)", "fix(lens): dim it (#7)\n\nBREAKING: dark"
    ).markdown
    assert many.count("- **lens:** Mend") == 4
    grouped = draft_of("fix: drip (#9)", *fixes, "fix(horn): ring (#8)", "fix(Lens): dim it (#7)").markdown
    lines = [line.split(" ([")[0] for line in grouped.splitlines() if line.lstrip().startswith("- ")]
    fixed = lines[lines.index("- Drip") :][:8]
    assert fixed[:2] == ["- Drip", "- **lens**"]
    assert fixed[2:7] == [*(f"  - Mend facet {n}" for n in range(1, 5)), "  - Dim it"]
    assert fixed[7] == "- **horn:** Ring"
    assert [token.type for token in tokens(grouped)].count("bullet_list_open") == 2


@pytest.mark.slow("measures processor time over long texts")
@pytest.mark.parametrize(
    "piece", ["a", "`", "`a", "@", "a@b.", "(", "[", '"', "_", " ", "(#1) ", 'Revert "', "<!--", "…", "é"]
)
def test_a_huge_subject_costs_next_to_nothing(piece: str) -> None:
    huge = piece * (5_000_000 // len(piece))
    begun = time.process_time()
    draft_of(commit(f"feat: {huge}", sha="a1" * 20, author=Author(name=huge, email=huge[:1_000])))
    assert time.process_time() - begun < 2


def test_the_gfm_renderer_of_these_tests_has_tables_and_strikethrough() -> None:
    # Otherwise the properties above would prove less than they state.
    kinds = {token.type for token in tokens("|a|\n|-|\n\n~~b~~", RENDERERS[1])}
    assert {"table_open", "s_open"} <= kinds
    assert isinstance(RENDERERS[1], MarkdownIt)
