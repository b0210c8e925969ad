"""Patterns of names and paths: ``*``, ``**``, ``?``, and exclusions by ``!``. Matching takes linear time."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, final

from attrs import define, field, frozen

from contentsvc_core.refusals import FIELD

#: The most patterns of one filter, and the most characters of one pattern: a monorepo has some ten packages.
MAX_PATTERNS: Final = 20
MAX_PATTERN: Final = 200
#: The longest text that is matched, in characters. A longer branch, tag or path is cut.
_LONGEST: Final = 1_000
_CACHED: Final = 4_096
#: The budget for one push, in comparisons and characters read: some 0.3 s.
MATCHING_BUDGET: Final = 500_000
#: The wildcards of a pattern. The slash of ``**/`` may be missing in the text.
_WILD: Final = re.compile(r"\*\*+/?|[*?]")


@final
@define
class MatchingBudget:
    """The comparisons, and the characters that patterns read, that are left for one event."""

    remaining: int = MATCHING_BUDGET

    @property
    def is_spent(self) -> bool:
        return self.remaining <= 0


@final
@frozen
class Glob:
    """One pattern: ``*`` and ``?`` match characters but ``/``, and ``**`` matches any characters, also no folder."""

    #: The pattern without its ``!``.
    text: str
    #: The text must begin and end so, and contain the longest literal: most texts are refused by this alone.
    _head: str = field(init=False, eq=False, repr=False)
    _tail: str = field(init=False, eq=False, repr=False)
    _literal: str = field(init=False, eq=False, repr=False)
    _automaton: "_Automaton | None" = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        wild = [index for index, each in enumerate(self.text) if each in "*?"]
        head = self.text[: wild[0]] if wild else self.text
        tail = self.text[wild[-1] + 1 :] if wild else self.text
        # The slash of "**/" may be missing in the text.
        tail = tail.removeprefix("/") if self.text[: len(self.text) - len(tail)].endswith("**") else tail
        literal = max(_WILD.split(self.text), key=len)
        object.__setattr__(self, "_literal", literal)
        object.__setattr__(self, "_head", head)
        object.__setattr__(self, "_tail", tail)
        object.__setattr__(self, "_automaton", _automaton(self.text) if wild else None)

    def matches(self, text: str, budget: MatchingBudget | None = None) -> bool:
        if budget is not None:
            budget.remaining -= 1
        if self._automaton is None:
            return text == self.text
        if not (self._literal in text and text.startswith(self._head) and text.endswith(self._tail)):
            return False
        if budget is not None:
            budget.remaining -= len(text)
        return self._automaton.accepts(text[:_LONGEST])


@frozen
class _Automaton:
    #: The states that a character leads on from, and the states that any character but ``/`` leads on from.
    literal: dict[str, int]
    one: int
    #: The states that stay at any character, and at any character but ``/``.
    anything: int
    segment: int
    #: The states that lead on without a character, to the next one, and to the third one.
    next: int
    third: int
    end: int

    def accepts(self, text: str) -> bool:
        states = self._closed(1)
        for character in text:
            moved = (states & self.literal.get(character, 0)) << 1 | (states & self.anything)
            if character != "/":
                moved |= (states & self.one) << 1 | (states & self.segment)
            if not moved:
                return False
            states = self._closed(moved)
        return bool(states & self.end)

    def _closed(self, states: int) -> int:
        while (more := states | (states & self.next) << 1 | (states & self.third) << 3) != states:
            states = more
        return states


def _automaton(pattern: str) -> _Automaton:
    literal: dict[str, int] = {}
    one = anything = segment = skips = folders = 0
    position, state = 0, 0
    while position < len(pattern):
        bit = 1 << state
        stars = len(pattern) - position - len(pattern[position:].lstrip("*"))
        if (
            stars > 1
            and pattern[position + stars : position + stars + 1] == "/"
            and pattern[position - 1 : position] in {"", "/"}
        ):
            # Three tokens: an optional group of anything and a slash.
            folders |= bit
            skips |= bit | bit << 1
            anything |= bit << 1
            literal["/"] = literal.get("/", 0) | bit << 2
            position, state = position + stars + 1, state + 3
            continue
        if stars:
            skips |= bit
            anything |= bit if stars > 1 else 0
            segment |= bit if stars == 1 else 0
        elif pattern[position] == "?":
            one |= bit
        else:
            literal[pattern[position]] = literal.get(pattern[position], 0) | bit
        position, state = position + max(stars, 1), state + 1
    return _Automaton(literal, one, anything, segment, skips, folders, 1 << state)


@final
@frozen
class Globs:
    """The compiled patterns of a filter: the last match decides. If the first one excludes, other texts match."""

    texts: tuple[str, ...]
    _compiled: tuple[tuple[bool, Glob], ...] = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        compiled = tuple((not each.startswith("!"), Glob(each.removeprefix("!"))) for each in self.texts)
        object.__setattr__(self, "_compiled", compiled)

    def matches(self, text: str, budget: MatchingBudget | None = None) -> bool:
        """Check whether the patterns let a text through. The work is subtracted from ``budget``."""
        # From the end: the first one found decides.
        for includes, glob in reversed(self._compiled):
            if glob.matches(text, budget):
                return includes
        return self.is_open

    @property
    def is_open(self) -> bool:
        """Return whether a text that no pattern matches is let through."""
        return not self._compiled[0][0]

    @property
    def words(self) -> str:
        return " or ".join(self.texts)


@lru_cache(maxsize=_CACHED)
def globs_of(patterns: tuple[str, ...]) -> Globs | None:
    """Return compiled patterns, each list compiled once; ``None``: there are no patterns."""
    return Globs(patterns) if patterns else None


def pattern_fault(patterns: Sequence[str]) -> str | None:
    if len(patterns) > MAX_PATTERNS:
        return f"{FIELD} must have at most {MAX_PATTERNS} patterns"
    for pattern in patterns:
        name = pattern.removeprefix("!")
        if not name:
            return f"{FIELD} has an empty pattern"
        if len(pattern) > MAX_PATTERN:
            return f"{FIELD} has a pattern with more than {MAX_PATTERN} characters"
        if not pattern.isprintable() or pattern != pattern.strip():
            return f"{FIELD} has a pattern with a line break, a control character or a space at its end"
        if name.startswith(("/", "./", "refs/")):
            needless = name[: name.index("/") + 1]
            return f"{FIELD} has the pattern '{pattern}', which matches nothing: write it without '{needless}'"
    return None
