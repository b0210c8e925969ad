"""Tables of patterns that are searched in one line. A pattern runs only if a word has the pattern's beginning."""

import re
from functools import cached_property
from operator import itemgetter
from typing import Final

#: The characters of a word that are compared before a pattern runs.
_COMPARED: Final = 4
_compared: Final = itemgetter(slice(_COMPARED))
#: Lower-case letters, and spaces for other characters.
_COMPARABLE: Final = bytes(
    ord(chr(code).lower()) if re.match(r"\w", chr(code), re.ASCII) else 32 for code in range(256)
)
_NO_WORD: Final = re.compile(r"\W+")
#: Other characters that match ASCII letters without regard to case.
_LIKE_ASCII: Final = {0x130: "i", 0x131: "i", 0x17F: "s", 0x212A: "k"}

#: Signs in the beginning of a pattern: the boundary of a word, and unknown text.
_EDGE: Final = "\x01"
_UNKNOWN: Final = "\x02"
#: The characters of a pattern that are read: signs before a word, the word, the sign after it.
_READ: Final = 8
_GROUP: Final = re.compile(r"\((?:\?(?:P<\w+>|[a-z]*:|<?[=!])|(?!\?))")
_CLASS: Final = re.compile(r"\[(\^?\]?(?:[^\]\\]|\\.)*)\]")
#: A class of characters that end a word.
_SIGNS: Final = re.compile(r"-?[^\w\\^-]+-?")
_REPEATED: Final = re.compile(r"(?:([?*])|\+|\{(\d*)(?:,\d*)?\})[?+]?")
_WORD: Final = re.compile(rf"[^\w{_UNKNOWN}]+(\w+)(.?)", re.DOTALL)


class Table:
    """Rows of patterns, without regard to case; a row is compiled when a text has one of its beginnings."""

    def __init__(self, text: str, begin: str = "", end: str = "", **parts: str) -> None:
        """Create a table from a text.

        Args:
            text: A row a line, or several between `` | ``. A deeper line continues the line above.
            begin: The beginning of each row.
            end: The end of each row.
            parts: Patterns that rows name: ``<NAME>``.
        """
        lines = re.sub(r"\n {5,}", "", text).split("\n")
        for name, pattern in parts.items():
            lines = [line.replace(f"<{name}>", pattern) for line in lines]
        rows = (row for line in lines if line.strip() for row in line.strip().split(" | "))
        self.rows: Final = tuple(f"{begin}{row}{end}" for row in rows)
        self._compiled: dict[str, re.Pattern[str]] = {}

    def search(self, text: str, found: "frozenset[str] | None" = None) -> bool:
        """Return whether a row matches anywhere in a line; ``found`` are the beginnings of the line's words."""
        if self.always is not None and self.always.search(text):
            return True
        found = beginnings(text) if found is None else found
        if self.known.isdisjoint(found):
            return False
        for each in found & self.known:
            if (pattern := self._compiled.get(each)) is None:
                pattern = self._compiled[each] = _compiled(self._rows_of[each])
            if pattern.search(text):
                return True
        return False

    @cached_property
    def known(self) -> frozenset[str]:
        """The beginnings of words that rows need."""
        return frozenset(self._rows_of) - {""}

    @cached_property
    def always(self) -> "re.Pattern[str] | None":
        """The rows that may begin with anything."""
        return _compiled(self._rows_of[""]) if "" in self._rows_of else None

    @cached_property
    def _rows_of(self) -> dict[str, list[str]]:
        """The rows by the beginnings of words without which they match nothing."""
        rows: dict[str, list[str]] = {}
        for row in self.rows:
            for beginning in beginnings_of(row) or {""}:
                rows.setdefault(beginning, []).append(row)
        return rows


def _compiled(rows: list[str]) -> "re.Pattern[str]":
    return re.compile("|".join(rows), re.IGNORECASE)


def beginnings(text: str) -> frozenset[str]:
    """Return the beginnings of the words of a line, as rows are found by them."""
    if text.isascii():
        words = text.lower().encode().translate(_COMPARABLE).decode().split()
    else:
        words = _NO_WORD.split(text.translate(_LIKE_ASCII).lower())
    return frozenset(map(_compared, words))


def beginnings_of(pattern: str) -> frozenset[str]:
    r"""Return beginnings of words, one of which is in each text that a pattern matches; empty: unknown.

    A pattern that begins with anything may look ahead to a word: ``(?=.*\bword\b)``.
    """
    found: set[str] = set()
    try:
        starts, _ = _starts(pattern)
    except ValueError:
        return frozenset()
    for start in starts:
        word = _WORD.match(start)
        # The whole word, or as many characters as are compared.
        if word is None or (len(word[1]) < _COMPARED and word[2] in {"", _UNKNOWN}):
            return frozenset()
        found.add(word[1][:_COMPARED])
    return frozenset(found)


def _starts(pattern: str, at: int = 0) -> tuple[set[str], int]:
    """Return the beginnings of matching texts from ``at`` on, and the place of the closing bracket."""
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
            # A repeated item may follow itself.
            more = item if repeated[1] == "?" else {f"{each}{_UNKNOWN}" for each in item}
            item = more | {""} if repeated[1] or repeated[2] in {"", "0"} else more
        starts = {
            start if len(start) >= _READ or start.endswith(_UNKNOWN) else f"{start}{each}"[:_READ]
            for start in starts
            for each in item
        }
    return found | starts, at


def _item(pattern: str, at: int) -> tuple[set[str] | None, int]:
    """Return the beginnings of the next item and its end; ``None``: an alternative ends here."""
    sign, end = pattern[at], at + 1
    if sign == "|":
        return None, end
    if opened := _GROUP.match(pattern, at):
        if opened[0] == "(?=" and pattern.startswith(".*", opened.end()):
            inner, end = _starts(pattern, opened.end() + 2)
            return {f"{each}{_UNKNOWN}" for each in inner}, end + 1
        inner, end = _starts(pattern, opened.end())
        return {""} if opened[0].endswith(("=", "!")) else inner, end + 1
    if of_class := _CLASS.match(pattern, at):
        return {_EDGE if _SIGNS.fullmatch(of_class[1]) else _UNKNOWN}, of_class.end()
    if sign == "\\":
        sign, end = pattern[end], end + 1
        return {_EDGE if sign in "bAWZ" else _UNKNOWN if sign.isalnum() else sign}, end
    if sign == "(":
        msg = f"a group that is not read: {pattern[at:]}"
        raise ValueError(msg)
    return {_EDGE if sign == "^" else _UNKNOWN if sign in ".$" or not sign.isascii() else sign.lower()}, end


def words_of(text: str) -> Table:
    """Return a table whose rows are found as whole words."""
    return Table(text, r"\b(?:", r")\b")


def lines_of(text: str) -> Table:
    """Return a table whose rows are whole lines."""
    return Table(text, r"\A(?:", r")\Z")
