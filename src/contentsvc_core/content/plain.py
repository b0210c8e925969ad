"""Markdown as plain text, for social networks that do not render Markdown."""

import re
from typing import Final

from contentsvc_core.on_demand import late

#: Invisible characters, which plain text does not have.
INVISIBLE: Final = r"[\u200b-\u200d\u2060\ufeff]"
_MARKUP: Final = late(
    r"\[(?P<shown>[^\[\]\n]{1,500})\]\((?P<url>https?://[^\s()]{1,1000})\)|<(?P<bare>https?://[^\s<>]{1,1000})>"
    r"|\\(?P<literal>[!-/:-@\[-`{-~])|^#{1,6}[ \t]+|^[ \t]*[*+-][ \t]+(?P<entry>)|`+|\*+(?=\S)|(?<=\S)\*+|~~"
    rf"|(?<![^\W_])_+(?=\S)|(?<=\S)_+(?![^\W_])|(?P<end>\\$|(?<![ \t])[ \t]++$)|{INVISIBLE}",
    re.MULTILINE,
)


def text_of(markdown: str) -> str:
    """Return the plain text of Markdown, without escapes and invisible characters."""
    return _MARKUP.sub(_plain, markdown).strip()


def _plain(match: re.Match[str]) -> str:
    if (label := match["shown"]) is not None:
        return match["url"] if label == match["url"] else f"{label} {match['url']}"
    if match["entry"] is not None:
        return "• "
    return match["bare"] or match["literal"] or ""
