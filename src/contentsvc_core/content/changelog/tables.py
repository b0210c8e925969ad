"""Tables of patterns that are searched in one line: a pattern runs only where a word begins as the pattern does."""

import re
from functools import cached_property, lru_cache
from typing import Final

#: How many characters of a word are compared before a pattern runs.
_COMPARED: Final = 4
_BEGINNING: Final = re.compile(rf"(\w{{1,{_COMPARED}}})\w*")
#: Stands for the beginning of a row that may begin with anything, and is in every text.
_ANY: Final = ""
#: Characters that are no ASCII letters, and that a pattern without regard to case takes for some.
_LIKE_ASCII: Final = {0x130: "i", 0x131: "i", 0x17F: "s", 0x212A: "k"}

#: In what was read of a pattern: the boundary of a word, and text that the pattern does not spell out.
_EDGE: Final = "\x01"
_UNKNOWN: Final = "\x02"
#: How much of a pattern is read: the signs before a word, the word, and what follows the word.
_READ: Final = 8
_GROUP: Final = re.compile(r"\((?:\?(?:P<\w+>|[a-z]*:|<?[=!])|(?!\?))")
_CLASS: Final = re.compile(r"\[(\^?\]?(?:[^\]\\]|\\.)*)\]")
#: A class of characters that end a word.
_SIGNS: Final = re.compile(r"-?[^\w\\^-]+-?")
_REPEATED: Final = re.compile(r"(?:([?*])|\+|\{(\d*)(?:,\d*)?\})[?+]?")
_WORD: Final = re.compile(rf"[^\w{_UNKNOWN}]+(\w+)(.?)", re.DOTALL)


class Table:
    """Rows of patterns, without regard to case; a row is compiled when a text has one of its beginnings."""

    def __init__(self, *rows: str) -> None:
        """Keep the rows; nothing is compiled yet."""
        self.rows: Final = rows
        self._compiled: dict[str, re.Pattern[str]] = {}

    def search(self, text: str) -> bool:
        """Return whether a row matches anywhere in a line."""
        beginnings = _beginnings(text)
        if self._rows_of.keys().isdisjoint(beginnings):
            return False
        return any(self._pattern(each).search(text) for each in beginnings if each in self._rows_of)

    def _pattern(self, beginning: str) -> "re.Pattern[str]":
        if (pattern := self._compiled.get(beginning)) is None:
            pattern = self._compiled[beginning] = re.compile("|".join(self._rows_of[beginning]), re.IGNORECASE)
        return pattern

    @cached_property
    def _rows_of(self) -> dict[str, list[str]]:
        """The rows by the beginnings of words without which they match nothing."""
        rows: dict[str, list[str]] = {}
        for row in self.rows:
            for beginning in beginnings_of(row) or {_ANY}:
                rows.setdefault(beginning, []).append(row)
        return rows


@lru_cache(maxsize=16)
def _beginnings(text: str) -> frozenset[str]:
    folded = text if text.isascii() else text.translate(_LIKE_ASCII)
    return frozenset((_ANY, *_BEGINNING.findall(folded.lower())))


def beginnings_of(pattern: str) -> frozenset[str]:
    """Return beginnings of words, one of which is in each text that a pattern matches; empty: none are known."""
    found: set[str] = set()
    try:
        starts, _ = _starts(pattern)
    except ValueError:
        return frozenset()
    for start in starts:
        word = _WORD.match(start)
        # The whole word, or as much of it as is compared.
        if word is None or (len(word[1]) < _COMPARED and word[2] in {"", _UNKNOWN}):
            return frozenset()
        found.add(word[1][:_COMPARED])
    return frozenset(found)


def _starts(pattern: str, at: int = 0) -> tuple[set[str], int]:
    """Return how the texts start that a pattern matches from ``at`` on, and the place of the bracket that ends it."""
    found: set[str] = set()
    starts = {""}
    while at < len(pattern) and pattern[at] != ")":
        item, at = _item(pattern, at)
        if item is None:
            found |= starts
            starts = {""}
            continue
        if repeated := _REPEATED.match(pattern, at):
            at = repeated.end()
            # What comes more than once may follow itself.
            more = item if repeated[1] == "?" else {f"{each}{_UNKNOWN}" for each in item}
            item = more | {""} if repeated[1] or repeated[2] in {"", "0"} else more
        starts = {
            start if len(start) >= _READ or start.endswith(_UNKNOWN) else f"{start}{each}"[:_READ]
            for start in starts
            for each in item
        }
    return found | starts, at


def _item(pattern: str, at: int) -> tuple[set[str] | None, int]:
    """Return what the next part of a pattern may be, and where the part ends; ``None``: an alternative ends here."""
    sign, end = pattern[at], at + 1
    if sign == "|":
        return None, end
    if opened := _GROUP.match(pattern, at):
        inner, end = _starts(pattern, opened.end())
        return {""} if opened[0].endswith(("=", "!")) else inner, end + 1
    if of_class := _CLASS.match(pattern, at):
        return {_EDGE if _SIGNS.fullmatch(of_class[1]) else _UNKNOWN}, of_class.end()
    if sign == "\\":
        sign, end = pattern[end], end + 1
        return {_EDGE if sign in "bA" else _UNKNOWN if sign.isalnum() else sign}, end
    if sign == "(":
        msg = f"a group that is not read: {pattern[at:]}"
        raise ValueError(msg)
    return {_EDGE if sign == "^" else _UNKNOWN if sign in ".$" or not sign.isascii() else sign.lower()}, end


def any_of(*alternatives: str) -> "re.Pattern[str]":
    """Return one pattern of several, without regard to case."""
    return re.compile("|".join(alternatives), re.IGNORECASE)


def words_of(*alternatives: str) -> Table:
    """Return a table whose rows are found as whole words."""
    return Table(*(rf"\b(?:{each})\b" for each in alternatives))
