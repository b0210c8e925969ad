import asyncio
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Final, final

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token
    from nh3 import Cleaner

#: Longer Markdown, in characters, is rendered in a thread. The most expensive kilobyte takes some 20 ms.
_ON_THE_LOOP: Final = 1_000
#: The limit for the targets of all links together, in characters: references can repeat a target.
_TARGETS_LEAST: Final = 100_000
_TARGETS_GROWTH: Final = 10
#: The key in the parser's environment: how many cells of tables are left for the document.
_CELLS: Final = "contentsvc_cells"
#: The tags that a post may have. No images: a remote image reveals each reader to its server.
_TAGS: Final = frozenset(
    {
        *("a", "blockquote", "br", "code", "del", "em", "hr", "li", "ol", "p", "pre", "s", "strong", "ul"),
        *("h1", "h2", "h3", "h4", "h5", "h6"),
        *("table", "tbody", "td", "th", "thead", "tr"),
    }
)
_ATTRIBUTES: Final = {"a": {"href", "title"}, "ol": {"start"}, "td": {"align"}, "th": {"align"}}


def commonmark(*, html: bool) -> "MarkdownIt":
    """Create a parser of CommonMark with tables and strikethrough; its time is proportional to the text's length."""
    from markdown_it import MarkdownIt  # noqa: PLC0415  # a process that only receives never renders

    from contentsvc_core.content.changelog.markdown import INERT_URL  # noqa: PLC0415  # lists import no writer

    parser = MarkdownIt("commonmark", {"html": html}).enable(["table", "strikethrough"])
    parser.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    # The parser would take a quarter of its time to find that it need not change most addresses.
    normalize = parser.normalizeLink
    parser.normalizeLink = lambda url: url if INERT_URL.fullmatch(url) else normalize(url)  # pyright: ignore[reportAttributeAccessIssue]
    return parser


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
    def _parser(self) -> "MarkdownIt":
        # html=False first: the allow-list alone would drop the text that follows a <script>.
        parser = commonmark(html=False)
        parser.inline.ruler.at("image", _image)
        return parser

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
        if "_parser" not in vars(self):
            # Imports and creates the parser. The texts are not rendered there: many threads would hold up the loop.
            await asyncio.to_thread(self.html, "")
        if len(markdown) <= _ON_THE_LOOP:
            content = self.html(markdown)
        else:
            content = await asyncio.to_thread(self.html, markdown)
        return content if len(content) <= self._limit else None

    def html(self, markdown: str) -> str:
        tokens = self._parser.parse(markdown)
        _bound_links(tokens, max(_TARGETS_LEAST, _TARGETS_GROWTH * len(markdown)))
        return self._cleaner.clean(self._parser.renderer.render(tokens, self._parser.options, {}))


def _image(state: "StateInline", silent: bool) -> bool:  # noqa: FBT001  # the parser's signature
    """Read an image as a link to it, without its exclamation mark; inside a link, as its description."""
    from markdown_it.rules_inline import link  # noqa: PLC0415  # as above

    start = state.pos
    if not state.src.startswith("![", start):
        return False
    state.pos += 1
    is_nested = state.linkLevel > 0
    if not link(state, silent or is_nested):
        state.pos = start
        return False
    if is_nested and not silent:
        state.pending += state.src[start + 2 : state.md.helpers.parseLinkLabel(state, start + 1)]
    elif not silent and (opened := state.tokens[-2]).type == "link_open":
        # Without a description, its address is the text.
        closed = state.tokens.pop()
        state.push("text", "", 0).content = str(opened.attrs["href"])
        state.tokens.append(closed)
    return True


def _bound_links(tokens: Iterable["Token"], limit: int) -> None:
    for block in tokens:
        is_hidden = False
        for token in block.children or ():
            if token.type == "link_open":
                limit -= sum(len(str(value)) for value in token.attrs.values())
                is_hidden = limit < 0
            if token.type in {"link_open", "link_close"}:
                # The renderer leaves out hidden tokens. Links do not nest, so the next end is this link's.
                token.hidden = is_hidden


def _table(state: "StateBlock", start: int, end: int, silent: bool) -> bool:  # noqa: FBT001  # the parser's signature
    """Read a table as the parser's own rule does, with no more cells in a document than it has characters.

    A short row would become as many cells as the widest header has. Rows beyond the bound are a paragraph.
    """
    from markdown_it.rules_block import table  # noqa: PLC0415  # as above

    if silent or not table(state, start, end, silent=True):
        return table(state, start, end, silent)
    columns = state.src.count("|", state.bMarks[start], state.eMarks[start]) + 1
    remaining: int = state.env.setdefault(_CELLS, len(state.src))
    table(state, start, min(end, start + 2 + max(remaining, 0) // columns), silent=False)
    state.env[_CELLS] = remaining - columns * (state.line - start)
    return True
