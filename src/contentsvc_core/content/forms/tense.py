"""English subjects in the past tense: ``Add X`` becomes ``Added X`` where the first word is surely a verb."""

import re
from typing import Final

#: What authors do to software, in the imperative, and how it is said once it is done.
_PAST: Final = {
    "add": "added", "adjust": "adjusted", "allow": "allowed", "avoid": "avoided", "bring": "brought",
    "centralize": "centralized", "clarify": "clarified", "consolidate": "consolidated", "convert": "converted",
    "correct": "corrected", "create": "created", "deprecate": "deprecated", "detect": "detected",
    "disable": "disabled", "disallow": "disallowed", "downgrade": "downgraded", "eliminate": "eliminated",
    "enable": "enabled", "enforce": "enforced", "enhance": "enhanced", "ensure": "ensured", "expand": "expanded",
    "expose": "exposed", "extend": "extended", "fix": "fixed", "harden": "hardened", "implement": "implemented",
    "improve": "improved", "include": "included", "increase": "increased", "integrate": "integrated",
    "introduce": "introduced", "lower": "lowered", "make": "made", "migrate": "migrated", "modernize": "modernized",
    "optimize": "optimized", "patch": "patched", "permit": "permitted", "prevent": "prevented", "raise": "raised",
    "reduce": "reduced", "reimplement": "reimplemented", "relax": "relaxed", "remove": "removed",
    "rename": "renamed", "replace": "replaced", "resolve": "resolved", "restore": "restored",
    "restrict": "restricted", "rewrite": "rewrote", "simplify": "simplified", "speed": "sped", "standardize":
    "standardized", "tighten": "tightened", "unify": "unified",
}  # fmt: skip
#: Verbs that are nouns as often; ``Update dialog is gone`` stays as it is.
_PAST_OR_NOUN: Final = {
    "change": "changed", "drop": "dropped", "handle": "handled", "limit": "limited", "move": "moved", "port": "ported",
    "support": "added support for", "switch": "switched", "update": "updated", "upgrade": "upgraded",
}  # fmt: skip
_PARTICIPLES: Final = frozenset({*_PAST.values(), *_PAST_OR_NOUN.values()})
_FIRST: Final = re.compile(r"([A-Za-z]+)( +)(?=(\S+))")
#: What follows a noun: then the first word was none of the verbs.
_AFTER_NOUN: Final = re.compile(
    r"(?:for|in|of|on|with|by|at|is|are|was|were|when|after|during|has|have|does|doesn't|and|or)\Z", re.IGNORECASE
)
_FINITE: Final = re.compile(r"\b(?:is|are|was|were|has|have|does|do|can|cannot|fails?|crash(?:es)?|breaks?)\b|n't\b")
#: Another imperative in the same subject would stay in the present.
_AND_VERB: Final = re.compile(r"(?:,| and| or| &|;|\. ) ?([A-Za-z]+)")


def in_past(text: str) -> str:
    """Return an English subject in the past tense; as it is when its first word is not surely an imperative."""
    first = _FIRST.match(text)
    if first is None or _AFTER_NOUN.match(first[3]):
        return text
    word = first[1].casefold()
    past = _PAST.get(word)
    if past is None and not _FINITE.search(text):
        past = _PAST_OR_NOUN.get(word)
    if past is None or any(_is_verb(found[1]) for found in _AND_VERB.finditer(text)):
        return text
    return f"{past.capitalize() if first[1][0].isupper() else past}{text[first.end(1) :]}"


def says_what_was_done(text: str) -> bool:
    """Return whether a subject begins with what was done, e.g. ``Fixed`` or ``Avoid``."""
    first = text.partition(" ")[0].casefold()
    return _is_verb(first) or first in _PARTICIPLES or first in {"don't", "do", "never", "no", "stop", "use"}


def _is_verb(word: str) -> bool:
    return word.casefold() in _PAST or word.casefold() in _PAST_OR_NOUN
