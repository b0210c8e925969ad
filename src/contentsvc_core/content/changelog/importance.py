"""Which of several changes stands in front: the order of importance that all kinds of content share."""

import re
from collections.abc import Iterable
from typing import Final

from contentsvc_core.content.changelog.classify import UPKEEP
from contentsvc_core.content.changelog.select import Change
from contentsvc_core.content.sections import Section

#: The order of importance; it differs from the order of headings in what takes something away.
IMPORTANCE: Final = (
    Section.BREAKING,
    Section.SECURITY,
    Section.ADDED,
    Section.CHANGED,
    Section.FIXED,
    Section.PERFORMANCE,
    Section.REMOVED,
    Section.DEPRECATED,
    Section.REVERTED,
    Section.OTHER,
    Section.DOCUMENTATION,
    Section.DEPENDENCIES,
    Section.INTERNAL,
)
RANK: Final = {section: rank for rank, section in enumerate(IMPORTANCE)}
#: Words that make any change small for most readers.
_MINOR: Final = re.compile(
    r"\b(?:docs?|documentation|readme|changelog|examples?|tests?|type hints?|typing|docstrings?|imports?|warnings?"
    r"|refactor(?:ing)?|clean-?up|messages?|logs?|logging)\b",
    re.IGNORECASE,
)
#: What is no part of an author's explanation, however long it is.
_TRAILER: Final = re.compile(r"^(?:[\w-]+-by: |<|---).*$", re.MULTILINE)
_SIZE_STEP: Final = 100
_LARGEST: Final = 4_000
_FEW_WORDS: Final = 2


def is_minor(change: Change) -> bool:
    """Whether a change is small for most readers, or says too little to be told among the first."""
    return len(change.text.split()) <= _FEW_WORDS or _MINOR.search(change.text) is not None


def importance(change: Change) -> tuple[int, bool, int]:
    """Sort by kind, then by how much its author had to say about it; small things come last."""
    size = max(len(_TRAILER.sub("", commit.message[: 2 * _LARGEST])) for commit in change.commits)
    return (RANK[change.section], is_minor(change), -(min(size, _LARGEST) // _SIZE_STEP))


def most_important(changes: Iterable[Change], count: int) -> list[Change]:
    """Return the most important changes; only those of the first kinds are compared in full."""
    by_kind = sorted(changes, key=lambda change: RANK[change.section])
    last = RANK[by_kind[count - 1].section] if len(by_kind) > count else len(RANK)
    return sorted((change for change in by_kind if RANK[change.section] <= last), key=importance)[:count]


def is_news(change: Change) -> bool:
    """Whether a change is told in posts of every kind; the others are counted there."""
    return change.shown and change.section not in UPKEEP
