import asyncio
import re
from functools import cached_property
from html import unescape
from itertools import accumulate
from typing import TYPE_CHECKING, Final, final

from contentsvc_core.text import without_controls

if TYPE_CHECKING:
    from nh3 import Cleaner

#: Longer Markdown, in characters, is rendered in a thread. The most expensive text of this length takes some 15 ms.
_ON_THE_LOOP: Final = 4_000
#: The cells that a text may have, for each of its characters; beyond that, its tables stay text. A row with one cell
#: becomes as many cells as its header has.
_CELLS: Final = 5
#: The renderer expands link references up to the length of the text, which is too few for a short one. So a blank line
#: of this length, in characters, precedes a text with definitions. It has room for 200 addresses of 100 characters.
_REFERENCES: Final = 20_000
#: The depth of nested quotations; with deeper ones, all quotations of a text become paragraphs. The allow-list's time
#: grows with the square of the depth, to half a minute for the longest text.
_NESTED_QUOTATIONS: Final = 100
#: The tags that a post may have. No images: a remote image reveals each reader to its server.
_TAGS: Final = frozenset(
    {
        *("a", "blockquote", "br", "code", "del", "em", "hr", "li", "ol", "p", "pre", "s", "strong", "ul"),
        *("h1", "h2", "h3", "h4", "h5", "h6"),
        *("table", "tbody", "td", "th", "thead", "tr"),
    }
)
_ATTRIBUTES: Final = {"a": {"href", "title"}, "ol": {"start"}, "td": {"align"}, "th": {"align"}}
# As the renderer writes them: it escapes quotation marks and angle brackets.
_LINK_OR_IMAGE: Final = re.compile(
    r'<a href="(?P<target>[^"]*)"[^>]*>|</a>|<img src="(?P<source>[^"]*)" alt="(?P<text>[^"]*)"[^>]*>'
)
_QUOTATION: Final = re.compile("</?blockquote>")
#: What the renderer writes in place of raw HTML that it omits.
_OMITTED: Final = "<!-- raw HTML omitted -->"


def _rendered(markdown: str, *, escapes: bool) -> str:
    """Return the HTML of CommonMark with tables and strikethrough, in a time proportional to the text's length.

    Raw HTML becomes text with ``escapes``, and :data:`_OMITTED` without.
    """
    from comrak import ExtensionOptions, RenderOptions, render_markdown  # noqa: PLC0415  # a receiver never renders

    extensions, rendering = ExtensionOptions(), RenderOptions()
    lines = markdown.splitlines()
    widest = max((line.count("|") for line in lines), default=0) + 1
    extensions.table = widest * len(lines) <= _CELLS * len(markdown)
    extensions.strikethrough = True
    rendering.escape = escapes
    if "]:" in markdown:
        markdown = f"{' ' * _REFERENCES}\n{markdown}"
    return render_markdown(markdown, extension_options=extensions, render_options=rendering)


def has_markup(markdown: str) -> bool:
    """Check whether a text has raw HTML or an image."""
    html = _rendered(markdown, escapes=False)
    return _OMITTED in html or "<img " in html


def links_elsewhere(markdown: str) -> bool:
    """Check whether a link of a text leads to another scheme than http and https, or is relative."""
    links = _LINK_OR_IMAGE.finditer(_rendered(markdown, escapes=True))
    return not all(_is_web(unescape(link["target"])) for link in links if link["target"] is not None)


@final
class SafeMarkdown:
    """CommonMark with tables and strikethrough; raw HTML stays text, and an allow-list has the last word."""

    def __init__(self, limit: int | None = None) -> None:
        self._at_most = limit

    @cached_property
    def _limit(self) -> int:
        from contentsvc_core.content.editing import CONTENT_LIMIT  # noqa: PLC0415  # most commands render nothing

        return CONTENT_LIMIT if self._at_most is None else self._at_most

    @cached_property
    def _cleaner(self) -> "Cleaner":
        from nh3 import Cleaner  # noqa: PLC0415  # as above

        return Cleaner(
            tags=set(_TAGS),
            attributes=_ATTRIBUTES,
            url_schemes={"http", "https"},
            # A post is read at many addresses, so a relative link leads nowhere.
            url_relative="deny",
            link_rel="nofollow noopener noreferrer",
        )

    async def render(self, markdown: str) -> str | None:
        if len(markdown) <= _ON_THE_LOOP:
            content = self.html(markdown)
        else:
            content = await asyncio.to_thread(self.html, markdown)
        return content if len(content) <= self._limit else None

    def html(self, markdown: str) -> str:
        # The allow-list alone would drop the text that follows a <script>.
        html = _web_links(_rendered(markdown, escapes=True))
        if _deepest_quotation(html) > _NESTED_QUOTATIONS:
            html = _QUOTATION.sub("", html)
        # Last, because Markdown can write any character by its number.
        return without_controls(self._cleaner.clean(html))


def _deepest_quotation(html: str) -> int:
    steps = (-1 if tag.startswith("</") else 1 for tag in _QUOTATION.findall(html))
    return max(accumulate(steps), default=0)


def _web_links(html: str) -> str:
    """Return HTML with links to images instead of images, and with links to the web alone.

    Inside a link, an image becomes its description.
    """
    is_open = False

    def replaced(found: re.Match[str]) -> str:
        nonlocal is_open
        if (source := found["source"]) is not None:
            # Without a description, its address is the text.
            text = found["text"] or source
            return text if is_open or not _is_web(source) else f'<a href="{source}">{text}</a>'
        was_open, is_open = is_open, _is_web(found["target"] or "")
        return found[0] if is_open or was_open else ""

    return _LINK_OR_IMAGE.sub(replaced, html)


def _is_web(target: str) -> bool:
    return target.lower().startswith(("http://", "https://"))
