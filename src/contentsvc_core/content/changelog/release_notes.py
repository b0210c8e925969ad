"""Release notes of authors, made ready to be shown: still the author's Markdown."""

import re
from collections.abc import Iterable
from typing import Final

from contentsvc_core.content.changelog.select import Change
from contentsvc_core.content.changelog.wording import mask_addresses, masked_line
from contentsvc_core.text import storable

# An at sign in disguise would become one when the Markdown is rendered.
_AT_SIGN: Final = re.compile(r"\\@|&#0{0,6}64;|&#[xX]0{0,6}40;|&commat;")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
#: Limits of the search for the first items: lines, characters of an item, items.
_LINES_READ: Final = 200
_ITEM_LIMIT: Final = 300
_ITEMS: Final = 6
_HEADING: Final = re.compile(r"#{1,6}[ \t]+(.*)")
_ITEM: Final = re.compile(r"[-*+][ \t]+(?:\[[ x]\][ \t]+)?(\S.*)")
_NO_NEWS: Final = re.compile(
    r"doc|internal|chore|depend|\bci\b|test|contributor|thank|refactor|maint|housekeep|misc|sponsor|other",
    re.IGNORECASE,
)
_LINK: Final = re.compile(r"\[([^\[\]]*)\]\([^()]*\)")
_IMAGE_OR_TAG: Final = re.compile(r"!\[[^\]]*\]|<[^<>]*>")
#: `by @ada in https://…`, `(#12)`, `([#12], thanks @ada)`, hashes: where an item stops telling.
_REFERENCE: Final = re.compile(
    r"[ ,]*(?:\bby @\S+.*|\(?\bhttps?://.*|[(\[]*#\d+.*|[(\[]+(?:thanks|by|via) .*|\([0-9a-f, ]{7,}\).*|@[\w-]+)\Z",
    re.IGNORECASE,
)
#: The beginnings of items by release tools: `#12 abc1234 Thanks @ada! - `.
_CREDITED: Final = re.compile(r"\A(?:#\d+ +)?(?:`?[0-9a-f]{7,40}`?:? +)?(?:Thanks @.{1,200}?! - )?")
#: Texts of release tools for a package that only follows another one.
_FOLLOWS: Final = re.compile(
    r"\s*(?:#{1,6}[ \t].*|[-*+][ \t]+(?:Updated? dependenc(?:y|ies)\b.*|`?@?[\w./-]+@\d[\w.+-]*`?)"
    r"|\*\*Note:\*\* Version bump only for package .*)?",
    re.IGNORECASE,
)
#: In characters: the notes of one package among several.
_PACKAGE_LIMIT: Final = 4_000
#: References in notes: `#12`, `!12`, `…/pull/12`, `…/issues/12`; and hashes of commits.
_NUMBER: Final = re.compile(r"(?:[#!]|/(?:pull|pulls|issues|merge_requests)/)(\d{1,10})\b")
_COMMIT: Final = re.compile(r"\b[0-9a-fA-F]{7,40}\b")
_HASH: Final = 7
#: Words with a meaning: short words are in every line.
_WORD: Final = re.compile(r"[^\W_]{3,40}")
#: A line of notes is about a change if it has this share of the change's words: authors reword.
_MOST_WORDS: Final = 0.6
_BLANK_LINE: Final = re.compile(r"^[ \t]+$", re.MULTILINE)


def clean(body: str, limit: int) -> tuple[str, bool]:
    """Return notes without comments and e-mail addresses, and whether they were cut to ``limit``.

    Line ends become line feeds, and an open code block is closed. The renderer shows raw HTML as text.
    """
    # Comments are removed: so more than the limit is read.
    text = storable(body[: 4 * limit]).replace("\r\n", "\n").replace("\r", "\n")
    text, fence = _without_comments(text)
    text = _BLANK_LINE.sub("", mask_addresses(_AT_SIGN.sub("@", text))).strip()
    cut = len(text) > limit or len(body) > 4 * limit
    if cut:
        # Cut at the end of a line: the rest of a cut line may be half a link, or half an e-mail address.
        text = text[:limit].rpartition("\n")[0] or text[:limit].rpartition(" ")[0] or text[: limit // 2]
        _, fence = _without_comments(text)
    return f"{text.rstrip()}\n{fence}" if fence else text.rstrip(), cut


def first_items(notes: str) -> list[str]:
    """Return the first items of an author's list as plain lines, without links and references."""
    found: list[str] = []
    skipped = False
    for line in notes.split("\n")[:_LINES_READ]:
        if heading := _HEADING.match(line):
            skipped = _NO_NEWS.search(heading[1]) is not None
        elif not skipped and (item := _ITEM.match(line)):
            text = _IMAGE_OR_TAG.sub("", _LINK.sub(r"\1", masked_line(item[1], _ITEM_LIMIT)))
            text = _REFERENCE.sub("", _CREDITED.sub("", text).replace("**", "").replace("__", "")).strip(" .:-")
            if len(text.split()) > 1:
                found.append(text)
        if len(found) == _ITEMS:
            break
    return found


def untold(notes: str, changes: Iterable[Change]) -> list[Change]:
    """Return the changes that the notes do not name by number, hash, or most of their words."""
    numbers = set(_NUMBER.findall(notes))
    hashes = {found[:_HASH].casefold() for found in _COMMIT.findall(notes)}
    lines = [set(_WORD.findall(line.casefold())) for line in notes.split("\n")[:_LINES_READ]]

    def is_told(change: Change) -> bool:
        if not numbers.isdisjoint(change.numbers):
            return True
        if any(commit.id[:_HASH].casefold() in hashes for commit in change.commits):
            return True
        words = set(_WORD.findall(change.text.casefold()))
        return any(len(words & line) >= _MOST_WORDS * len(words) for line in lines) if words else True

    return [change for change in changes if change.shown and not is_told(change)]


def package_notes(body: str | None) -> str:
    """Return the notes of one package among others; empty if it only follows other packages."""
    notes, _ = clean(body or "", _PACKAGE_LIMIT)
    return "" if all(map(_FOLLOWS.fullmatch, notes.split("\n"))) else notes


def lowered(notes: str, level: int) -> str:
    """Return notes with headings below a level; code is unchanged."""
    lines: list[str] = []
    fence = ""
    for line in notes.split("\n"):
        found = _FENCE.fullmatch(line)
        if fence:
            fence = "" if found and found[1].startswith(fence) and not found[2].strip() else fence
        elif found:
            fence = found[1]
        elif _HEADING.match(line):
            marks = len(line) - len(line.lstrip("#"))
            line = f"{'#' * min(max(marks, level + 1), 6)}{line[marks:]}"  # noqa: PLW2901  # the line as it is shown
        lines.append(line)
    return "\n".join(lines)


def _without_comments(text: str) -> tuple[str, str]:
    lines: list[str] = []
    fence = ""
    in_comment = False
    comments_end = text.rfind("-->")
    at = 0
    for line in text.split("\n"):
        kept = line
        if fence:
            found = _FENCE.fullmatch(line)
            if found and found[1].startswith(fence) and not found[2].strip():
                fence = ""
        else:
            opened = None if in_comment else _FENCE.fullmatch(line)
            if opened and not (opened[1][0] == "`" and "`" in opened[2]):
                fence = opened[1]
            else:
                kept, in_comment = _uncommented(line, at, comments_end, in_comment=in_comment)
                if kept != line and not kept.strip():
                    at += len(line) + 1
                    continue
        lines.append(kept)
        at += len(line) + 1
    return "\n".join(lines), fence


def _uncommented(line: str, at: int, comments_end: int, *, in_comment: bool) -> tuple[str, bool]:
    pieces: list[str] = []
    here = 0
    in_code = False
    while True:
        if in_comment:
            closing = line.find("-->", here)
            if closing < 0:
                return "".join(pieces), True
            here, in_comment = closing + 3, False
        opening = line.find("<!--", here)
        if opening < 0 or at + opening + 4 > comments_end:
            pieces.append(line[here:])
            return "".join(pieces), False
        before = line[here:opening]
        in_code ^= before.count("`") % 2 == 1
        pieces.append(before)
        if in_code:
            pieces.append("<!--")
        else:
            in_comment = True
        here = opening + 4
