"""A post's rendered content among other posts. The input is the service's own sanitized HTML."""

import re
from collections.abc import Iterable
from html import unescape
from typing import Final

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
#: The HTML of whole posts on one page or in one feed, in characters: twenty usual posts take a tenth of it.
PAGE_ROOM: Final = 256 * 1024
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


def shown_in_full(posts: Iterable[Post], *, room: int = PAGE_ROOM) -> frozenset[str]:
    """Return the ids of the posts that fit on one page as a whole, in the given order; the others get an excerpt."""
    in_full: set[str] = set()
    for post in posts:
        if len(post.content) <= room:
            room -= len(post.content)
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
