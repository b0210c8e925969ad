"""Which of several changes stands in front: the order of importance that all kinds of content share."""

import re
from typing import Final

from contentsvc_core.content.changelog.selection import Change
from contentsvc_core.content.sections import Section

#: The order of importance; it differs from the order of headings in nothing but documentation.
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
#: Words that make any change small for most readers.
_MINOR: Final = re.compile(
    r"\b(?:docs?|documentation|readme|changelog|examples?|tests?|type hints?|typing|docstrings?|imports?|warnings?"
    r"|refactor(?:ing)?|clean-?up)\b",
    re.IGNORECASE,
)
_DEPRECATION: Final = re.compile(r"deprecat(?:e|es|ed|ing)\b(?! (?:param|config|call|usage|code|api))", re.IGNORECASE)
#: What is no part of an author's explanation, however long it is.
_TRAILER: Final = re.compile(r"^(?:[\w-]+-by: |<|---).*$", re.MULTILINE)
_SIZE_STEP: Final = 100
_LARGEST: Final = 4_000
_FEW_WORDS: Final = 2


def is_deprecation(change: Change) -> bool:
    """Whether a change announces that something will go."""
    return change.section is not Section.BREAKING and _DEPRECATION.match(change.text) is not None


def is_minor(change: Change) -> bool:
    """Whether a change is small for most readers, or says too little to be told among the first."""
    return len(change.text.split()) <= _FEW_WORDS or _MINOR.search(change.text) is not None


def importance(change: Change) -> tuple[int, bool, bool, bool, int]:
    """Sort by kind, then by how much its author had to say about it; deprecations and small things come last."""
    size = max(len(_TRAILER.sub("", commit.message[: 2 * _LARGEST])) for commit in change.commits)
    return (
        IMPORTANCE.index(change.section),
        change.dependency,
        is_deprecation(change),
        is_minor(change),
        -(min(size, _LARGEST) // _SIZE_STEP),
    )


def is_news(change: Change) -> bool:
    """Whether a change is told in posts of every kind; the others are counted there, and told in changelogs alone."""
    return not change.dependency and change.section not in {
        Section.DOCUMENTATION,
        Section.DEPENDENCIES,
        Section.INTERNAL,
    }
