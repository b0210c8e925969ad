"""A model's Markdown becomes text and links to web pages, for each renderer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from contentsvc_adapters.markup import SafeMarkdown
from contentsvc_adapters.writers.openai_compatible import inert
from contentsvc_core.content.prompting import UnusableDraft

#: A renderer with all features, as readers of the Markdown may have.
CARELESS = MarkdownIt("commonmark", {"html": True})


def kinds(markdown: str) -> set[str]:
    return {token.type for block in CARELESS.parse(markdown) for token in (block, *(block.children or ()))}


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("a [b](https://x.example) <https://x.example/c> d", None),
        ("`<b>` and ``a ` <b>`` and\n\n```html\n<script>\n```\n\n~~~\n![a](b)\n~~~\n", None),
        ("1 \\< 2 \\![a", None),
        ("1 < 2 <b>", "1 \\< 2 \\<b>"),
        ("<script>alert(1)</script>", "\\<script>alert(1)\\</script>"),
        ("<!-- a -->", "\\<!-- a -->"),
        ("![a](https://x.example/y.png)", "[a](https://x.example/y.png)"),
        ("a ` b <i>", "a ` b \\<i>"),
        ("```a`b\n<i>", "```a`b\n\\<i>"),
        # An escaped backtick begins no code: the rest is escaped, too.
        ("\\`<i>` and `<b>`", "\\`\\<i>` and `\\<b>`"),
    ],
)
def test_html_becomes_text_and_images_links(markdown: str, expected: str | None) -> None:
    safe = inert(markdown)

    assert safe == (markdown if expected is None else expected)
    assert not {"html_inline", "html_block", "image"} & kinds(str(safe))


@pytest.mark.parametrize(
    "target",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:x",
        "data:text/html,x",
        "mailto:a@b.example",
        "/path",
        "//x.example",
        "#a",
        "ftp://x",
    ],
)
@pytest.mark.parametrize("form", ["[a]({})", "[a][b]\n\n[b]: {}", "[a](<{}>)"])
def test_links_to_anything_but_web_pages_are_unusable(form: str, target: str) -> None:
    unusable = inert(form.format(target))

    assert isinstance(unusable, UnusableDraft)
    assert "http or https" in unusable.reason


def test_an_autolink_to_anything_but_a_web_page_is_text() -> None:
    assert inert("<javascript:alert(1)>") == "\\<javascript:alert(1)>"


def test_a_text_that_is_too_long_once_it_is_escaped_is_unusable() -> None:
    assert isinstance(inert("<" * 60_000), UnusableDraft)


@given(text=st.text(alphabet="<>`!\\[]()~ \n/ahs:tp*_#-&;\"'", max_size=120))
def test_any_text_of_a_model_is_inert(text: str) -> None:
    safe = inert(text)
    if isinstance(safe, UnusableDraft):
        return

    assert not {"html_inline", "html_block", "image"} & kinds(safe)
    assert "<img" not in SafeMarkdown().html(safe)
