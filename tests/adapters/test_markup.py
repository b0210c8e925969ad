import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.elements import Elements

from contentsvc_adapters.markup import SafeMarkdown

RENDERER = SafeMarkdown()
ALLOWED = {
    *("a", "blockquote", "br", "code", "del", "em", "hr", "li", "ol", "p", "pre", "s", "strong", "ul"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "table", "tbody", "td", "th", "thead", "tr"),
}


def test_headings_lists_links_and_tables_are_rendered() -> None:
    html = RENDERER.html("## A\n\n- b [c](https://x.example/d)\n\n|e|\n|-|\n|~~f~~|\n")

    tags = [tag for tag, _ in Elements(html).seen]
    assert tags == ["h2", "ul", "li", "a", "table", "thead", "tr", "th", "tbody", "tr", "td", "del"]
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
        (
            "[a](b.md) ![c](javascript:d) [![e](https://x.example/f)](g) [h](https://i.example)",
            "a c e h",
            ["https://x.example/f", "https://i.example"],
        ),
    ],
)
def test_images_are_links_and_other_links_than_to_the_web_are_text(markdown: str, shown: str, links: list[str]) -> None:
    parsed = Elements(RENDERER.html(markdown))

    assert parsed.text.strip() == shown
    assert [attributes["href"] for tag, attributes in parsed.seen if tag == "a"] == links


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
    parsed = Elements(RENDERER.html(markdown))

    assert all(tag in ALLOWED for tag, _ in parsed.seen)
    for tag, attributes in parsed.seen:
        assert not any(name.startswith("on") or name in {"style", "src"} for name in attributes)
        if tag == "a":
            assert (attributes.get("href") or "https://").startswith(("https://", "http://"))


def test_no_controls_reach_a_reader() -> None:
    controls = "\x1b\x9b\u202e\u2066"
    numbers = "".join(f"&#x{ord(control):x};" for control in controls)

    html = RENDERER.html(f"a{controls}b{numbers}c `d{controls}e`\n\n- [f{controls}g](https://h.example '{numbers}')\tx")

    assert not set(controls) & set(html)
    assert Elements(html).text.split() == ["abc", "de", "fg", "x"]
    # Right-to-left texts need these marks.
    assert "\u200f" in RENDERER.html("a\u200fb")


def test_text_after_a_script_is_not_lost() -> None:
    assert "after" in Elements(RENDERER.html("<script>alert(1)</script> after")).text


@given(st.lists(st.sampled_from([*HOSTILE, "*", "<", ">", "[", "](", ")", "`", "\n", "&#106;", "a", " "])).map("".join))
def test_no_mixture_of_them_gets_through(markdown: str) -> None:
    for tag, attributes in Elements(RENDERER.html(markdown)).seen:
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


async def test_a_long_text_is_rendered_in_a_thread() -> None:
    threads = Counting(max_workers=1)
    asyncio.get_running_loop().set_default_executor(threads)
    # 25 characters.
    paragraph = "a *word* and <b>no</b>.\n\n"
    html = RENDERER.html(paragraph)

    assert await RENDERER.render(paragraph * 160) == html * 160
    assert threads.given == 0
    assert await RENDERER.render(paragraph * 161) == html * 161
    assert threads.given == 1


@pytest.mark.parametrize("title", ["", " '{}'"])
def test_a_reference_is_expanded_up_to_a_bound(title: str) -> None:
    definition = f"[a]: http://x.example/{'y' * 5_000}{title.format('z' * 5_000)}"
    markdown = f"{definition}\n\n{'[a] ' * 1_000}"
    parsed = Elements(html := RENDERER.html(markdown))

    links = [attributes["href"] for tag, attributes in parsed.seen if tag == "a"]
    assert 1 < len(links) < 10
    assert len(html) < 20_000 + 2 * len(markdown)
    # Links beyond the bound stay text.
    assert parsed.text.count("a") == 1_000


def test_ordinary_references_are_all_expanded() -> None:
    lines = "".join(f"[{number}]: https://x.example/{number}\n" for number in range(200))
    several = Elements(
        RENDERER.html(f"{lines}\n{' '.join(f'[{number}]' for number in range(200))} [end](https://x.example)")
    )
    assert len([tag for tag, _ in several.seen if tag == "a"]) == 201
    often = Elements(RENDERER.html(f"{'[a] ' * 150}\n\n[a]: https://x.example/{'y' * 80}\n"))
    assert len([tag for tag, _ in often.seen if tag == "a"]) == 150


def test_missing_cells_are_added_up_to_a_bound() -> None:
    short = RENDERER.html("|a|b|c|\n|-|-|-|\n|1|\n")
    assert short.count("<td>") == 3
    # Each row of 2 characters would become 50 cells.
    table = f"{'|a' * 50}\n{'|-' * 50}\n"
    assert RENDERER.html(table + "x\n" * 8).count("<td>") == 8 * 50
    html = RENDERER.html(table + "x\n" * 500)
    assert "<td>" not in html
    assert Elements(html).text.count("x") == 500


def test_quotations_beyond_a_depth_become_paragraphs() -> None:
    assert RENDERER.html(">" * 100 + "a\n\n> b").count("<blockquote>") == 101
    assert RENDERER.html(">" * 50_000 + "a").split() == ["<p>a</p>"]


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
