"""The one sanitizer of untrusted text: all text of code hosts passes it before it is stored, shown or logged."""

import re
from typing import Final
from unicodedata import combining, normalize

from contentsvc_core.on_demand import late

_REPLACEMENT: Final = "\ufffd"
#: U+0000 is refused by one of the databases, lone surrogates by both: replaced once, so that the stores cannot differ.
_UNSTORABLE: Final = late("[\x00\ud800-\udfff]")
#: Controls and line separators would break a log line or a title; bidirectional controls would reorder one (Unicode
#: Technical Report 36, section 3.5).
_CONTROLS: Final = late("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")
#: The same in a text of several lines: line ends and tabs stay, and so do the marks that right-to-left texts need.
_CONTROLS_OF_LINES: Final = late("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
#: Invisible, and would hide a word from a search.
_SOFT_HYPHEN: Final = "\u00ad"
#: Characters that match ASCII letters without regard to case.
_LIKE_ASCII: Final = {"\u0130": "i", "\u0131": "i", "\u017f": "s", "\u212a": "k"}
_SPACES: Final = late(r"\s+")
#: In characters: rarely does the start of a text have more spaces to remove.
_SPARE: Final = 32
#: Combining marks in a row. Sorting more of them takes quadratic time, and no script needs more (Unicode Standard
#: Annex 15, section 13, Stream-Safe Text Format).
MARKS_LIMIT: Final = 30
#: Characters that are not marks themselves, but decompose into marks.
_INTO_MARKS: Final = frozenset("\u0f73\u0f75\u0f81\uff9e\uff9f")
#: A run that may hold more marks: no letter but the two of ``_INTO_MARKS``, no space and no ASCII is in it.
_MAYBE_MARKS: Final = late(rf"(?:[^\w\s\x00-\x7f]|[\uff9e\uff9f]){{{MARKS_LIMIT + 1},}}")


def storable(text: str) -> str:
    """Replace characters that a database cannot hold (U+0000, lone surrogates) by U+FFFD."""
    if "\x00" not in text and (text.isascii() or _can_be_encoded(text)):
        # Nearly all texts; both checks are a hundred times as fast as the pattern.
        return text
    return _UNSTORABLE.sub(_REPLACEMENT, text)


def lowered(text: str) -> str:
    """Return a text in lower case, with ASCII letters instead of characters that match them without regard to case."""
    if not text.isascii():
        for character, letter in _LIKE_ASCII.items():
            text = text.replace(character, letter)
    return text.lower()


def _can_be_encoded(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def compatible(text: str) -> str:
    """Return the NFKC form of ``text`` without the marks beyond ``MARKS_LIMIT`` in a row, in linear time."""
    if text.isascii():
        return text
    return normalize("NFKC", _MAYBE_MARKS.sub(_bounded_marks, text))


def _bounded_marks(match: re.Match[str]) -> str:
    chars: list[str] = []
    marks = 0
    for char in match[0]:
        marks = marks + 1 if combining(char) or char in _INTO_MARKS else 0
        if marks <= MARKS_LIMIT:
            chars.append(char)
    return "".join(chars)


def has_controls(text: str) -> bool:
    """Check for characters that break a line, control a terminal or reorder the displayed text."""
    return _CONTROLS.search(text) is not None


def without_controls(text: str) -> str:
    """Return a text of several lines without characters that control a terminal or reorder the displayed text."""
    return _CONTROLS_OF_LINES.sub("", text)


def one_line(text: str, limit: int) -> str:
    """Return ``text`` as one line of at most ``limit`` characters, cut with ``…``, without control characters."""
    start = text[: limit + 1]
    if start.isprintable() and (
        " " not in start or not ("  " in start or start.startswith(" ") or start.endswith(" "))
    ):
        # Nearly all texts: nothing to replace and no space too many.
        return text if len(text) <= limit else f"{start[: limit - 1].rstrip()}…"
    # A start is enough for nearly all other texts.
    start = text[: limit + _SPARE].replace("\n", " ")
    if start.isprintable():
        line = " ".join(start.split())
        if len(line) > limit or len(start) == len(text):
            return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"
    # Cut before the patterns run, so that a line of 25 MB costs little; eight times the limit leaves room for spaces.
    text = storable(text[: 8 * limit].replace(_SOFT_HYPHEN, ""))
    line = _SPACES.sub(" ", _CONTROLS.sub(" ", text)).strip()
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"
