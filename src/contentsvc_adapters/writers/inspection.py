"""Checks a model's Markdown with a parser: only text, and links to http and https, are allowed."""

import re
from typing import Final

from contentsvc_adapters.markup import has_markup, links_elsewhere
from contentsvc_core.content.changelog.writer import MARKDOWN_LIMIT
from contentsvc_core.content.prompting import UnusableDraft

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_TICKS: Final = re.compile(r"(`+)")
# An escaped character; an address in angle brackets; the start of HTML; the start of an image.
_MARKUP: Final = re.compile(r"\\.|<https?://[^<>\s]*>|<|!(?=\[)")
_EVERY: Final = re.compile(r"\\.|<|!(?=\[)")


def inert(markdown: str) -> str | UnusableDraft:
    """Return Markdown with raw HTML as text and images as links; unusable: a link to another scheme than http(s)."""
    safe = _escaped(markdown)
    if len(safe) <= MARKDOWN_LIMIT and has_markup(safe):
        # That part looked like code, but is not. Escape everything: code with HTML then shows backslashes, no more.
        safe = _EVERY.sub(_escape, markdown)
        if has_markup(safe):
            return UnusableDraft(reason="it holds HTML or an image")
    if len(safe) > MARKDOWN_LIMIT:
        return UnusableDraft(reason=f"it is longer than {MARKDOWN_LIMIT:,} characters")
    if links_elsewhere(safe):
        return UnusableDraft(reason="it links to something that is no http or https address")
    return safe


def _escaped(markdown: str) -> str:
    lines: list[str] = []
    fence = ""
    for line in markdown.split("\n"):
        match = _FENCE.fullmatch(line)
        if fence:
            lines.append(line)
            if match and match[1].startswith(fence) and not match[2].strip():
                fence = ""
        elif match and not (match[1][0] == "`" and "`" in match[2]):
            fence = match[1]
            lines.append(line)
        else:
            lines.append(_escaped_line(line))
    return "\n".join(lines)


def _escaped_line(line: str) -> str:
    if "<" not in line and "![" not in line:
        return line
    pieces = _TICKS.split(line)
    # The next run of the same number of backticks: the text between two such runs is code.
    closing: dict[int, int] = {}
    ahead: dict[int, int] = {}
    for place in range(len(pieces) - 2, 0, -2):
        closing[place] = ahead.get(len(pieces[place]), 0)
        ahead[len(pieces[place])] = place
    parts: list[str] = []
    place = 0
    while place < len(pieces):
        if place % 2 and (end := closing[place]):
            parts += pieces[place : end + 1]
            place = end + 1
            continue
        parts.append(pieces[place] if place % 2 else _MARKUP.sub(_escape, pieces[place]))
        place += 1
    return "".join(parts)


def _escape(found: re.Match[str]) -> str:
    match found[0]:
        case "<":
            return "\\<"
        case "!":
            return ""
        case kept:
            return kept
