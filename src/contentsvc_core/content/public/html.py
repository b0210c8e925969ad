"""A post's rendered content among other posts. The input is the service's own sanitized HTML."""

import re
from collections.abc import Iterable
from html import unescape
from typing import Final, final

from attrs import define

from contentsvc_core.content.posts import Post
from contentsvc_core.text import one_line

_HEADING: Final = re.compile(r"<h([1-6])>(.*?)</h\1>", re.DOTALL)
_TAG: Final = re.compile(r'<(?:[^">]|"[^"]*")*+>')
#: The tags of a post that may occur in the middle of a word.
_INLINE: Final = re.compile(r'</?(?:a|code|del|em|s|strong)(?: (?:[^">]|"[^"]*")*+)?>')
#: References in parentheses, as to commits and issues: useful only with their links.
_REFERENCE: Final = re.compile(r' ?\(<a (?:[^">]|"[^"]*")*+>[^<]*</a>\)')
_SCOPE: Final = re.compile(r"<li>(?:<p>)?<strong>[^<]{1,60}:</strong> (.?)")
#: The search begins at the first space of a run: from each space, a run costs the square of its length.
_QUOTATION: Final = re.compile(r"(?<!\s)\s*<blockquote>(?:[^<]|<(?!/blockquote>))*</blockquote>\s*")
_SENTENCE: Final = re.compile(r".*[.!?。](?=\s)", re.DOTALL)
#: The tags between two paragraphs or entries, if the first ends without punctuation.
_NEXT_BLOCK: Final = re.compile(r'(?<=[^.!?:;。…\s>])(?:\s|</?(?:[ou]l|li|p)(?: start="[0-9]+")?>)*+(?<=>)(?=[^\s<])')
_LOWEST: Final = 6
#: A start tag or an end tag of the service's own HTML.
MARK: Final = re.compile(r'<(/?)([a-z][a-z0-9]*)(?:[^">]|"[^"]*")*+>')
#: The elements that may read in a direction of their own.
_BLOCKS: Final = frozenset({"p", "li", "blockquote", "td", "th", *(f"h{n}" for n in range(1, 7))})
#: Code reads from left to right, in a text of any direction.
_CODE: Final = frozenset({"code", "pre"})
_LETTER: Final = re.compile(r"[^\W\d_]")
#: The letters that read from right to left: the blocks of Hebrew, Arabic and their relatives.
_LEFTWARD: Final = re.compile(
    r"(?=[^\W\d_])[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
#: The HTML of whole posts on one page or in one feed, in characters: twenty usual posts take a tenth of it.
PAGE_BUDGET: Final = 256 * 1024
#: The length of the excerpt of a post that is not shown whole, in characters: a paragraph.
EXCERPT: Final = 500


def nested(content: str, *, under: int) -> str:
    """Return content whose heading levels continue those of the page.

    No level is skipped: screen reader users find each post by its heading, and its parts below (WCAG 2.2, 1.3.1).
    """
    open_levels: list[tuple[int, int]] = []

    def put(match: re.Match[str]) -> str:
        level = int(match[1])
        while open_levels and open_levels[-1][0] >= level:
            open_levels.pop()
        above = open_levels[-1][1] if open_levels else under
        new_level = min(above + 1, _LOWEST)
        open_levels.append((level, new_level))
        return f"<h{new_level}>{match[2]}</h{new_level}>"

    return _HEADING.sub(put, content)


@final
@define
class _Block:
    around: "_Block | None"
    #: The position of ``dir``, before the end of the tag.
    at: int = 0
    #: Whether its first letter reads from right to left; ``None``: it has no letter.
    is_leftward: bool | None = None
    #: The numbers of its own letters outside of code; without own ones, those of the first block within.
    leftward: int = 0
    letters: int = 0

    def read(self, text: str, *, is_code: bool) -> None:
        text = unescape(text)
        first = _LETTER.search(text)
        if first is None:
            return
        if self.is_leftward is None:
            self.is_leftward = _LEFTWARD.match(first[0]) is not None
        if not is_code:
            self.leftward += len(_LEFTWARD.findall(text))
            self.letters += len(_LETTER.findall(text))

    def end(self) -> "_Block":
        assert self.around is not None
        if self.around.is_leftward is None:
            self.around.is_leftward = self.is_leftward
        if not self.around.letters:
            self.around.leftward, self.around.letters = self.leftward, self.letters
        return self.around

    def direction(self, *, around: bool | None) -> bool | None:
        """Return whether the block reads from right to left among what reads in the direction ``around``.

        A name or code of the other direction at its beginning does not turn a block.
        """
        most = 2 * self.leftward > self.letters if self.is_leftward else 2 * self.leftward < self.letters
        return self.is_leftward if most and self.is_leftward is not None else around


def directed(content: str, *, is_alone: bool = False) -> str:
    """Return content with ``dir="auto"`` at each block that reads in another direction than the text around it.

    An element with ``dir="auto"`` has the direction of its first letter outside of elements with ``dir``. So no block
    gets it whose first letter gives the direction around it. ``is_alone``: no such element is around the content, as
    in a feed, whose readers expect the direction from left to right.
    """
    if not _LEFTWARD.search(content):
        return content
    whole = _Block(None)
    blocks = _blocks(content, whole)
    directions = {id(whole): False if is_alone else whole.is_leftward}
    parts: list[str] = []
    done = 0
    for block in blocks:
        around = directions[id(block.around)]
        directions[id(block)] = own = block.direction(around=around)
        if own is not around:
            parts += [content[done : block.at], ' dir="auto"']
            done = block.at
    return "".join([*parts, content[done:]])


def _blocks(content: str, whole: _Block) -> list[_Block]:
    blocks: list[_Block] = []
    within, code, end = whole, 0, 0
    for tag in MARK.finditer(content):
        within.read(content[end : tag.start()], is_code=code > 0)
        end = tag.end()
        closes, name = tag[1] == "/", tag[2]
        if name in _CODE:
            code += -1 if closes else 1
        elif name in _BLOCKS and not closes:
            within = _Block(within, tag.end() - 1)
            blocks.append(within)
        elif name in _BLOCKS and within.around is not None:
            within = within.end()
    whole.read(content[end:], is_code=False)
    return blocks


def shown_in_full(posts: Iterable[Post], *, budget: int = PAGE_BUDGET) -> frozenset[str]:
    """Return the ids of the posts that fit on one page as a whole, in the given order; the others get an excerpt."""
    in_full: set[str] = set()
    for post in posts:
        if len(post.content) <= budget:
            budget -= len(post.content)
            in_full.add(post.id)
    return frozenset(in_full)


def summary_of(post: Post, content: str, limit: int = 200) -> str:
    """Return a post's summary; without one, the beginning of ``content``, its text as the reader sees it."""
    return excerpt(content, limit) if post.summary is None else one_line(post.summary, limit)


def text_of(content: str) -> str:
    """Return the text of a post's content, without its tags."""
    return unescape(_TAG.sub(" ", content))


def excerpt(content: str, limit: int = 200) -> str:
    """Return the beginning of a post's text as one line of at most ``limit`` characters, without its headings."""
    text = _REFERENCE.sub("", _HEADING.sub(" ", content[: 40 * limit]))
    text = _SCOPE.sub(lambda entry: f"<li>{entry[1].upper()}", _QUOTATION.sub("", text))
    text = _TAG.sub(" ", _NEXT_BLOCK.sub(". ", _INLINE.sub("", text)))
    line = one_line(unescape(text.partition("<")[0]), len(text))
    if len(line) <= limit:
        return line
    sentence = _SENTENCE.match(line[: limit + 1])
    if sentence is not None and len(sentence[0]) >= limit // 3:
        return sentence[0]
    start = line[:limit].rpartition(" ")[0]
    # A single long word is cut; so are texts without spaces between their words.
    return one_line(line, limit) if len(start) < limit // 2 else f"{start.rstrip(' ,;:')}…"
