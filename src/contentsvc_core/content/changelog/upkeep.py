"""Which changes nobody outside waits for: documentation and the inside, whatever their type says."""

import re
from typing import Final

from contentsvc_core.content.sections import Section

#: Types whose changes nobody outside waits for.
_INTERNAL_KINDS: Final = frozenset({
    "build", "chore", "ci", "cleanup", "deps", "dev", "internal", "lint", "merge", "refactor", "release", "style",
    "test", "tests", "tooling", "wip",
})  # fmt: skip
_INTERNAL_SCOPES: Final = frozenset({
    "agents", "bench", "benchmark", "benchmarks", "build", "cd", "chore", "ci", "deps", "deps-dev", "dev", "github",
    "infra", "internal", "lint", "linting", "release", "test", "testing", "tests", "tooling",
})  # fmt: skip
#: Subjects without a type that say of themselves that they are upkeep.
_UPKEEP: Final = re.compile(
    r"(?:fix(?:es|ed)? )?(?:a |some )?typos?\b|(?:re)?format(?:ting)?(?: (?:the )?(?:code|files?|imports?)\b.*)?\Z"
    r"|lint|clean ?-?up|wip\b|(?:add|fix|update|run|improve)s? (?:the )?(?:unit |integration )?tests?\b"
    r"|tests?: |refactor|bump|merge\b",
    re.IGNORECASE,
)
#: Fixes of what no user runs: the documentation, the examples, the building.
_UPKEEP_FIX: Final = re.compile(
    r"\b(?:docs?|documentation|readme|changelog|examples?(?!\.)|typos?|lint(?:ing|er)?|tests?|ci"
    r"|(?:ci|docs|github|preview|release) workflows?)\b",
    re.IGNORECASE,
)
_DOCUMENTATION: Final = re.compile(
    r"\b(?:docs?|documentation|docstrings?|readme)\b(?!.*\b(?:workflows?|ci|build)\b)", re.IGNORECASE
)


def upkeep_of(kind: str, scope: str, text: str, section: Section) -> Section | None:
    """Say where a change belongs that no user of the code waits for; ``None`` for one that somebody may wait for.

    Args:
        kind: Its type in its usual spelling, ``""`` without one.
        scope: The part of the code that it names, casefolded.
        text: What its subject says beside that.
        section: Where its type alone would put it: neither breaking nor security, of which everybody is told.
    """
    if section is Section.DOCUMENTATION:
        return section
    if not (
        kind in _INTERNAL_KINDS
        or scope in _INTERNAL_SCOPES
        or (section is Section.FIXED and _UPKEEP_FIX.search(text))
        or (not kind and _UPKEEP.match(text))
    ):
        return None
    about_docs = scope not in _INTERNAL_SCOPES and kind in {"build", "chore", "cleanup", "fix", "style"}
    return Section.DOCUMENTATION if about_docs and _DOCUMENTATION.search(text) else Section.INTERNAL
