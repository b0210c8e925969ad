import asyncio
import re
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from html.parser import HTMLParser
from typing import Any, final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it.common.normalize_url import normalizeLink

from contentsvc_adapters.markup import SafeMarkdown
from contentsvc_core.content.changelog.markdown import INERT_URL

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


@pytest.mark.parametrize(
    ("markdown", "shown", "links"),
    [
        ("see ![a beam](https://x.example/b.png)!", "see a beam!", ["https://x.example/b.png"]),
        ("![](https://x.example/b.png)", "https://x.example/b.png", ["https://x.example/b.png"]),
        ("[![a badge](https://x.example/b.svg)](https://y.example)", "a badge", ["https://y.example"]),
        ("![a beam][b]\n\n[b]: https://x.example/b.png", "a beam", ["https://x.example/b.png"]),
        (r"new\![a beam](https://x.example)", "new!a beam", ["https://x.example"]),
        ("![no image] and !", "![no image] and !", []),
    ],
)
def test_an_image_is_a_link_with_its_description(markdown: str, shown: str, links: list[str]) -> None:
    parsed = Tags(RENDERER.html(markdown))

    assert parsed.text.strip() == shown
    assert [attributes["href"] for tag, attributes in parsed.seen if tag == "a"] == links


@given(st.from_regex(INERT_URL, fullmatch=True))
@example("http://A.0/")
def test_the_parser_would_not_change_an_address_that_it_skips(url: str) -> None:
    assert normalizeLink(url) == url
    # The allow-list removes an address whose host ends in a number and is no IPv4 address.
    removed = re.match(r"https?://([^/]*\.)?(\d+|0[xX][0-9a-fA-F]*)\.?(/|$)", url)
    assert removed or f'<a href="{url}" ' in RENDERER.html(f"[a]({url})")


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


@final
class Counting(ThreadPoolExecutor):
    """Counts its tasks."""

    given = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        self.given += 1
        return super().submit(fn, *args, **kwargs)


async def test_a_text_of_more_than_a_thousand_characters_is_rendered_in_a_thread() -> None:
    threads = Counting(max_workers=1)
    asyncio.get_running_loop().set_default_executor(threads)
    # 25 characters.
    paragraph = "a *word* and <b>no</b>.\n\n"
    html = RENDERER.html(paragraph)

    assert await RENDERER.render(paragraph * 40) == html * 40
    assert threads.given == 0
    assert await RENDERER.render(paragraph * 41) == html * 41
    assert threads.given == 1


async def test_the_parser_is_imported_in_a_thread() -> None:
    threads = Counting(max_workers=1)
    asyncio.get_running_loop().set_default_executor(threads)
    renderer = SafeMarkdown()

    assert [await renderer.render("a"), await renderer.render("b")] == ["<p>a</p>\n", "<p>b</p>\n"]
    assert threads.given == 1


def test_a_reference_is_expanded_up_to_a_bound() -> None:
    target = f"http://x.example/{'y' * 5_000}"
    parsed = Tags(html := RENDERER.html(f"[a]: {target}\n\n{'[a] ' * 1_000}"))

    links = [attributes["href"] for tag, attributes in parsed.seen if tag == "a"]
    assert set(links) == {target}
    assert len(links) == 100_000 // len(target)
    assert len(html) < 120_000
    # Links beyond the bound become their text.
    assert parsed.text.count("a") == 1_000


def test_titles_of_references_count_as_well() -> None:
    html = RENDERER.html(f"[a]: http://x.example '{'y' * 5_000}'\n\n{'[a] ' * 1_000}")
    assert len(html) < 120_000


def test_ordinary_references_are_all_expanded() -> None:
    lines = "".join(f"[{number}]: https://x.example/{number}\n" for number in range(200))
    parsed = Tags(
        RENDERER.html(f"{lines}\n{' '.join(f'[{number}]' for number in range(200))} [end](https://x.example)")
    )

    assert len([tag for tag, _ in parsed.seen if tag == "a"]) == 201


def test_missing_cells_are_added_while_there_are_no_more_cells_than_characters() -> None:
    short = RENDERER.html("|a|b|c|\n|-|-|-|\n|1|\n")
    assert short.count("<td>") == 3
    # Each row of 2 characters would become 50 cells.
    markdown = f"{'|a' * 50}\n{'|-' * 50}\n{'x' + chr(10)}" + "x\n" * 500
    html = RENDERER.html(markdown)
    assert 0 < html.count("<td>") <= len(markdown)
    assert Tags(html).text.count("x") == 501
    # One bound for all tables.
    several = f"{markdown}\n" * 5
    assert RENDERER.html(several).count("<td>") <= len(several)


@pytest.mark.slow("writes or reads very large texts")
def test_tables_that_write_their_cells_out_are_whole() -> None:
    row = "|" + "a|" * 40
    markdown = "\n".join([row, "|" + "-|" * 40, *[row] * 500]) + "\n"
    assert RENDERER.html(markdown).count("<td>") == 40 * 500
    assert RENDERER.html("a|b\n-|-\n" + "1|\n" * 300).count("<tr>") == 301


async def test_html_beyond_the_limit_is_not_returned() -> None:
    # Each 22 characters become 540; in a thread as well as on the event loop.
    quotation = f"{'>' * 20}\n\n"
    html = RENDERER.html(quotation)
    exact = SafeMarkdown(limit=len(html))

    assert await exact.render(quotation) == html
    assert await exact.render(quotation * 2) is None
    assert await exact.render(quotation * 100) is None
