"""A post's rendered content where it is shown among others. It is our own HTML: the sanitizer has had the last word."""

import re
from html import unescape
from typing import Final

from contentsvc_core.text import one_line

_HEADING: Final = re.compile(r"<h([1-6])>(.*?)</h\1>", re.DOTALL)
_TAG: Final = re.compile(r'<(?:[^">]|"[^"]*")*+>')
#: Of those that a post may have, the tags that may stand in the middle of a word.
_INLINE: Final = re.compile(r'</?(?:a|code|del|em|s|strong)(?: (?:[^">]|"[^"]*")*+)?>')
#: What is referred to in parentheses, as commits and issues are: of use to who can follow the link.
_REFERENCE: Final = re.compile(r' ?\(<a (?:[^">]|"[^"]*")*+>[^<]*</a>\)')
_NEXT_ITEM: Final = re.compile(r"(?<![.!?:;\s])\s*</li>(?:\s|</?[ou]l>)*<li>")
_LOWEST: Final = 6


def nested(content: str, *, under: int) -> str:
    """Give content whose headings continue those around it.

    No heading is as high as ``under``, which is that of the post's title, and none skips a level: who reads by
    headings finds each post, and its parts below it (WCAG 2.2, 1.3.1).
    """
    open_levels: list[tuple[int, int]] = []

    def put(found: re.Match[str]) -> str:
        level = int(found[1])
        while open_levels and open_levels[-1][0] >= level:
            open_levels.pop()
        above = open_levels[-1][1] if open_levels else under
        shown = min(above + 1, _LOWEST)
        open_levels.append((level, shown))
        return f"<h{shown}>{found[2]}</h{shown}>"

    return _HEADING.sub(put, content)


def excerpt(content: str, limit: int = 200) -> str:
    """Give the beginning of a post's text as one line of at most ``limit`` characters, without its headings."""
    # Of a long text only the beginning is looked at.
    text = _REFERENCE.sub("", _HEADING.sub(" ", content[: 40 * limit]))
    text = _TAG.sub(" ", _INLINE.sub("", _NEXT_ITEM.sub("; ", text)))
    return one_line(unescape(text.partition("<")[0]), limit)
