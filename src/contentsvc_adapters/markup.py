"""Markdown to HTML that is safe to show (port :class:`~contentsvc_core.ports.MarkupRenderer`)."""

import asyncio
from functools import cached_property
from typing import TYPE_CHECKING, Final, final

import nh3

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

#: From here on, in characters, rendering takes long enough to leave the event loop for.
_LONG: Final = 10_000
#: What may stand in a post. No images: a remote one would tell its server who reads.
_TAGS: Final = frozenset(
    {
        *("a", "blockquote", "br", "code", "del", "em", "hr", "li", "ol", "p", "pre", "s", "strong", "ul"),
        *("h1", "h2", "h3", "h4", "h5", "h6"),
        *("table", "tbody", "td", "th", "thead", "tr"),
    }
)
_ATTRIBUTES: Final = {"a": {"href", "title"}, "ol": {"start"}, "td": {"align"}, "th": {"align"}}


@final
class SafeMarkdown:
    """CommonMark with tables and strikethrough; raw HTML stays text, and an allow-list has the last word."""

    @cached_property
    def _parser(self) -> "MarkdownIt":
        from markdown_it import MarkdownIt  # noqa: PLC0415  # a process that only receives never renders

        # html=False first: the allow-list alone would drop the text that follows a <script>.
        return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")

    async def render(self, markdown: str) -> str:
        """Give the HTML; a long text is rendered off the event loop."""
        if len(markdown) < _LONG:
            return self.html(markdown)
        return await asyncio.to_thread(self.html, markdown)

    def html(self, markdown: str) -> str:
        """Give the HTML."""
        return nh3.clean(
            self._parser.render(markdown),
            tags=set(_TAGS),
            attributes=_ATTRIBUTES,
            url_schemes={"http", "https"},
            # A post is read in many places: what is relative to none of them leads nowhere.
            url_relative="deny",
            link_rel="nofollow noopener noreferrer",
        )
