"""Tables of patterns that are searched in one line. A pattern runs only if a word has the pattern's beginning.

One pass over the words of a line returns which tables are worth a search.
"""

import re
from collections.abc import Iterator
from functools import cache, cached_property
from operator import itemgetter
from typing import Final

from contentsvc_core.text import lowered

#: The characters of a word that are compared before a pattern runs.
_COMPARED: Final = 4
_compared: Final = itemgetter(slice(_COMPARED))
#: Lower-case letters, and spaces for other characters.
_COMPARABLE: Final = bytes(
    ord(chr(code).lower()) if re.match(r"\w", chr(code), re.ASCII) else 32 for code in range(256)
)
_WORDS: Final = re.compile(r"\w+")
#: The mark of a beginning that the first word of a line must have.
_FIRST: Final = "^"

#: Signs in the beginning of a pattern: the boundary of a word, unknown text, the start of the line, and any place.
_EDGE, _UNKNOWN, _START, _ANYWHERE = "\x01\x02\x03\x04"
#: One item of a pattern, and how often it may repeat: letters, a bracket, an escaped sign, a class of characters, a
#: character.
_CLASS: Final = r"\[\^?\]?(?:[^\]\\]|\\.)*\]"
_ITEM: Final = re.compile(
    rf"(?P<item>[a-z]{{2,}}(?![?*+{{])|(?P<group>\((?:\?(?:P<\w+>|[a-z]*:|=\.\*|<?[=!])|(?!\?)))|\\.|{_CLASS}|.)"
    r"(?P<repeated>[?*+]|\{\d*(?:,\d*)?\})?(?(repeated)[?+]?)",
    re.DOTALL,
)
#: A class of characters that end a word.
_SIGNS: Final = re.compile(r"\[-?[^\w\\^-]+-?\]")
_WORD: Final = re.compile(rf"([^\w{_UNKNOWN}]+)(\w+)(.?)", re.DOTALL)
#: Beginnings that are read far enough: a whole word, as many characters as are compared, unknown text, or a long sign.
_ENOUGH: Final = re.compile(rf".*{_UNKNOWN}|[^\w]+\w(?:\w{{{_COMPARED - 1}}}|\w*\W)|.{{8}}", re.DOTALL)


#: The word that a row needs, before the row: the row itself has it as well.
_NEEDED: Final = re.compile(r"\(\?=\.\*(?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")


class Table:
    """Rows of patterns in lower case; a row is compiled when a text has one of its beginnings."""

    def __init__(self, text: str, begin: str = "", end: str = "", **parts: str) -> None:
        """Create a table of :func:`rows_of` a text. ``begin`` and ``end`` enclose each row.

        ``parts`` are patterns that rows name: ``<NAME>``.
        """
        for name, pattern in parts.items():
            text = text.replace(f"<{name}>", pattern)
        self.rows: Final = tuple(f"{begin}{row}{end}" for row in rows_of(text))
        #: The table among the bits of :func:`tables_of`.
        self.bit: Final = 1 << len(_TABLES)
        self._compiled: dict[str, re.Pattern[str]] = {}
        _TABLES.append(self)
        _index.cache_clear()

    def search(self, text: str, found: set[str] | None = None) -> bool:
        """Return whether a row matches anywhere in a line, without regard to case.

        ``found`` are the beginnings of the line's words.
        """
        # Lower case costs less than a pattern without regard to case: it tries each alternative in full.
        line = lowered(text)
        for beginning in self.by_beginning.keys() & (tables_of(text)[1] if found is None else found):
            if (pattern := self._compiled.get(beginning)) is None:
                pattern = re.compile("|".join(map(without_need, self.by_beginning[beginning])))
                self._compiled[beginning] = pattern
            if pattern.search(line):
                return True
        return False

    @cached_property
    def by_beginning(self) -> dict[str, list[str]]:
        rows: dict[str, list[str]] = {}
        for row in self.rows:
            for beginning in beginnings_of(row):
                rows.setdefault(beginning, []).append(row)
        return rows


_TABLES: Final[list[Table]] = []


@cache
def _index() -> dict[str, int]:
    index: dict[str, int] = {}
    for table in _TABLES:
        for beginning in table.by_beginning:
            index[beginning] = index.get(beginning, 0) | table.bit
    return index


def rows_of(text: str) -> list[str]:
    """Return the rows of a text: one a line, or several between `` | ``; a deeper line continues the line above."""
    lines = re.sub(r"\n {5,}", "", text).split("\n")
    return [row for line in lines if line.strip() for row in line.strip().split(" | ")]


def without_need(row: str) -> str:
    """Return a row without the words that it needs, which it has after them once more."""
    return _NEEDED.sub("", row, count=1)


def tables_of(line: str) -> tuple[int, set[str]]:
    """Return the tables that a line may match, as bits, and the beginnings of words that their rows need."""
    index = _index()
    words = line.encode().translate(_COMPARABLE).decode().split() if line.isascii() else _WORDS.findall(lowered(line))
    found = index.keys() & map(_compared, words)
    if words and (first := _FIRST + words[0][:_COMPARED]) in index:
        found.add(first)
    bits = 0
    for beginning in found:
        bits |= index[beginning]
    return bits, found


def beginnings_of(pattern: str) -> frozenset[str]:
    r"""Return beginnings of words, one of which is in each text that a pattern matches; empty: unknown.

    ``^`` is before the beginning of a word that must be the first one.
    """
    words = [_WORD.match(start) for start in _starts(_ITEM.finditer(pattern))[0]]
    # The whole word, or as many characters as are compared.
    comparable = [word for word in words if word and (len(word[2]) >= _COMPARED or word[3] not in {"", _UNKNOWN})]
    if len(comparable) < len(words):
        return frozenset()
    firsts = (_FIRST if _START in word[1] and _ANYWHERE not in word[1] else "" for word in comparable)
    return frozenset(first + word[2][:_COMPARED] for first, word in zip(firsts, comparable, strict=True))


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
            if sign == "(?=.*":
                read = {f"{_ANYWHERE}{start}{_UNKNOWN}" for start in read}
            elif sign.endswith(("=", "!")):
                read = {""}
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
    if sign[0] in "\\[" and len(sign) > 1:
        if sign == r"\A":
            return _START
        edge = _SIGNS.fullmatch(sign) or sign[1:] in {"b", "W", "Z"}
        return _EDGE if edge else _UNKNOWN if sign[0] == "[" or sign[1].isalnum() else sign[1]
    return {"^": _START, ".": _UNKNOWN, "$": _UNKNOWN, "(": _UNKNOWN}.get(sign, sign.lower())


def words_of(text: str) -> Table:
    return Table(text, r"\b(?:", r")\b")


def lines_of(text: str) -> Table:
    return Table(text, r"\A(?:", r")\Z")
