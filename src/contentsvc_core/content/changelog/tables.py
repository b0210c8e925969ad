"""Tables of patterns that are searched in one line. A pattern runs only if a word has the pattern's beginning."""

import re
from collections.abc import Iterator
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
#: One item of a pattern, and how often it may repeat: a bracket, an escaped sign, a class of characters, a character.
_ITEM: Final = re.compile(
    r"(?P<item>(?P<group>\((?:\?(?:P<\w+>|[a-z]*:|=\.\*|<?[=!])|(?!\?)))|\\.|\[\^?\]?(?:[^\]\\]|\\.)*\]|.)"
    r"(?P<repeated>[?*+]|\{\d*(?:,\d*)?\})?(?(repeated)[?+]?)",
    re.DOTALL,
)
#: A class of characters that end a word.
_SIGNS: Final = re.compile(r"\[-?[^\w\\^-]+-?\]")
_WORD: Final = re.compile(rf"[^\w{_UNKNOWN}]+(\w+)(.?)", re.DOTALL)
#: Beginnings that are read far enough: a whole word, as many characters as are compared, unknown text, or a long sign.
_ENOUGH: Final = re.compile(rf".*{_UNKNOWN}|[^\w]+\w(?:\w{{{_COMPARED - 1}}}|\w*\W)|.{{8}}", re.DOTALL)


class Table:
    """Rows of patterns, without regard to case; a row is compiled when a text has one of its beginnings."""

    def __init__(self, text: str, begin: str = "", end: str = "", **parts: str) -> None:
        """Create a table: a row a line, or several between `` | ``; a deeper line continues the line above.

        ``begin`` and ``end`` enclose each row. ``parts`` are patterns that rows name: ``<NAME>``.
        """
        lines = re.sub(r"\n {5,}", "", text).split("\n")
        for name, pattern in parts.items():
            lines = [line.replace(f"<{name}>", pattern) for line in lines]
        rows = (row for line in lines if line.strip() for row in line.strip().split(" | "))
        self.rows: Final = tuple(f"{begin}{row}{end}" for row in rows)
        self._compiled: dict[str, re.Pattern[str]] = {}

    def search(self, text: str, found: "frozenset[str] | None" = None) -> bool:
        """Return whether a row matches anywhere in a line; ``found`` are the beginnings of the line's words."""
        for beginning in self.known & (beginnings(text) if found is None else found):
            if (pattern := self._compiled.get(beginning)) is None:
                pattern = self._compiled[beginning] = re.compile("|".join(self._rows_of[beginning]), re.IGNORECASE)
            if pattern.search(text):
                return True
        return False

    @cached_property
    def known(self) -> frozenset[str]:
        """The beginnings of words that rows need."""
        return frozenset(self._rows_of)

    @cached_property
    def _rows_of(self) -> dict[str, list[str]]:
        rows: dict[str, list[str]] = {}
        for row in self.rows:
            for beginning in beginnings_of(row):
                rows.setdefault(beginning, []).append(row)
        return rows


def beginnings(text: str) -> frozenset[str]:
    """Return the beginnings of the words of a line, as rows are found by them."""
    if text.isascii():
        words = text.lower().encode().translate(_COMPARABLE).decode().split()
    else:
        words = _NO_WORD.split(text.translate(_LIKE_ASCII).lower())
    return frozenset(map(_compared, words))


def beginnings_of(pattern: str) -> frozenset[str]:
    r"""Return beginnings of words, one of which is in each text that a pattern matches; empty: unknown."""
    words = [_WORD.match(start) for start in _starts(_ITEM.finditer(pattern))[0]]
    # The whole word, or as many characters as are compared.
    comparable = [word[1] for word in words if word and (len(word[1]) >= _COMPARED or word[2] not in {"", _UNKNOWN})]
    return frozenset(map(_compared, comparable)) if len(comparable) == len(words) else frozenset()


def _starts(items: Iterator[re.Match[str]]) -> tuple[set[str], str]:
    beginnings: set[str] = set()
    starts = {""}
    depth = 0
    for match in items:
        sign, repeated = match["item"], match["repeated"] or ""
        if not starts and (depth or sign not in {"|", ")"}):
            depth += (match["group"] is not None) - (sign == ")")
            continue
        if sign in {"|", ")"}:
            beginnings |= starts
            starts = {""}
            if sign == ")":
                return beginnings, repeated
            continue
        if match["group"]:
            read, repeated = _starts(items)
            ahead = sign.endswith(("=", "!"))
            read = {""} if ahead else {f"{start}{_UNKNOWN}" for start in read} if sign == "(?=.*" else read
        else:
            read = {_comparable(sign)}
        if repeated:
            more = read if repeated == "?" else {f"{start}{_UNKNOWN}" for start in read}
            read = more | {""} if repeated in {"?", "*"} or repeated.startswith(("{0", "{,")) else more
        starts = {f"{start}{item}" for start in starts for item in read}
        beginnings |= (far := set(filter(_ENOUGH.match, starts)))
        starts -= far
    return beginnings | starts, ""


def _comparable(sign: str) -> str:
    if len(sign) > 1:
        edge = _SIGNS.fullmatch(sign) or sign[1:] in {"b", "A", "W", "Z"}
        return _EDGE if edge else _UNKNOWN if sign[0] == "[" or sign[1].isalnum() else sign[1]
    return _EDGE if sign == "^" else _UNKNOWN if sign in ".$(" else sign.lower()


def words_of(text: str) -> Table:
    """Return a table whose rows are found as whole words."""
    return Table(text, r"\b(?:", r")\b")


def lines_of(text: str) -> Table:
    """Return a table whose rows are whole lines."""
    return Table(text, r"\A(?:", r")\Z")
