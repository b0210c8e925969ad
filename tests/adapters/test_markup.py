from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contentsvc_adapters.markup import SafeMarkdown

RENDERER = SafeMarkdown()
ALLOWED = {
    *("a", "blockquote", "br", "code", "del", "em", "hr", "li", "ol", "p", "pre", "s", "strong", "ul"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "table", "tbody", "td", "th", "thead", "tr"),
}


class Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_headings_lists_links_and_tables_are_rendered() -> None:
    html = RENDERER.html("## A\n\n- b [c](https://x.example/d)\n\n|e|\n|-|\n|~~f~~|\n")

    tags = [tag for tag, _ in Tags(html).seen]
    assert tags == ["h2", "ul", "li", "a", "table", "thead", "tr", "th", "tbody", "tr", "td", "s"]
    assert '<a href="https://x.example/d" rel="nofollow noopener noreferrer">c</a>' in html


HOSTILE = [
    "<script>alert(1)</script> after",
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "![x](https://tracker.example/pixel.png)",
    "<a href='javascript:alert(1)'>x</a>",
    "<iframe src='https://x.example'></iframe>",
    "[x]: javascript:alert(1)\n\n[x]",
    "<style>*{display:none}</style>",
    "<svg/onload=alert(1)>",
    "`<b>`\n\n    <i>\n",
]


@pytest.mark.parametrize("markdown", HOSTILE)
def test_hostile_markdown_comes_out_inert(markdown: str) -> None:
    parsed = Tags(RENDERER.html(markdown))

    assert all(tag in ALLOWED for tag, _ in parsed.seen)
    for tag, attributes in parsed.seen:
        assert not any(name.startswith("on") or name in {"style", "src"} for name in attributes)
        if tag == "a":
            assert (attributes.get("href") or "https://").startswith(("https://", "http://"))


def test_text_after_a_script_is_not_lost() -> None:
    assert "after" in Tags(RENDERER.html("<script>alert(1)</script> after")).text


@given(st.lists(st.sampled_from([*HOSTILE, "*", "<", ">", "[", "](", ")", "`", "\n", "&#106;", "a", " "])).map("".join))
def test_no_mixture_of_them_gets_through(markdown: str) -> None:
    for tag, attributes in Tags(RENDERER.html(markdown)).seen:
        assert tag in ALLOWED
        assert set(attributes) <= {"href", "rel", "title", "start", "align"}
        assert (attributes.get("href") or "https:").split(":")[0].lower() in {"https", "http"}


async def test_a_long_text_is_rendered_as_a_short_one_is() -> None:
    paragraph = "some *words* and <b>no tags</b>\n\n"

    assert await RENDERER.render(paragraph * 1000) == RENDERER.html(paragraph) * 1000
    assert await RENDERER.render(paragraph) == RENDERER.html(paragraph)
