"""The reasons for no post: the counted changes, for users who miss a post."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from attrs import evolve

from contentsvc_core.content.changelog.paths import PathClass, touched
from contentsvc_core.content.changelog.report import Part, Stage, report_of
from contentsvc_core.content.changelog.select import Change
from contentsvc_core.content.forms.notes import notes_of
from contentsvc_core.content.phrases import ENGLISH
from contentsvc_core.content.phrases.phrasebook import Count
from contentsvc_core.content.sections import Section
from contentsvc_core.content.writing import NOTHING_TO_REPORT, Brief

_UPDATES: Final = Count(one="{n} dependency update", many="{n} dependency updates")
_DOCUMENTATION: Final = Count(one="{n} change to the documentation", many="{n} changes to the documentation")
_TESTS: Final = Count(one="{n} change to tests", many="{n} changes to tests")
_BUILD: Final = Count(one="{n} change to build and tools", many="{n} changes to build and tools")
_UNKNOWN: Final = Count(one="{n} change of no known kind", many="{n} changes of no known kind")
_FOLDED: Final = Count(
    one="{n} change that the house style only counts", many="{n} changes that the house style only counts"
)
_INSIDE: Final = Count(one="{n} change that only developers notice", many="{n} changes that only developers notice")
_HIDDEN: Final = Count(one="{n} change that the house style hides", many="{n} changes that the house style hides")
_RELEASING: Final = Count(one="{n} commit that only makes a release", many="{n} commits that only make a release")
_NO_ENTRY: Final = Count(one="{n} commit without an entry", many="{n} commits without an entry")
#: The subjects of internal changes, by type and by files.
_TYPES: Final = {
    **dict.fromkeys(("test", "tests", "testing", "tst"), _TESTS),
    **dict.fromkeys(("build", "bld", "cd", "ci", "infra", "tooling"), _BUILD),
}
_FILES: Final = {PathClass.TEST: _TESTS, PathClass.TOOL: _BUILD}
_NOUNS: Final = {
    Section.DEPENDENCIES: _UPDATES,
    Section.DOCUMENTATION: _DOCUMENTATION,
    Section.INTERNAL: ENGLISH.kinds[Section.INTERNAL],
    Section.OTHER: _UNKNOWN,
}
#: The order of the counts in a reason.
_ORDER: Final = (
    _UPDATES, _DOCUMENTATION, _TESTS, _BUILD, ENGLISH.kinds[Section.INTERNAL], _UNKNOWN, _FOLDED, _INSIDE, _HIDDEN,
    _RELEASING, _NO_ENTRY,
)  # fmt: skip


def why_silent(brief: Brief, told: Sequence[Part], post: str = "") -> str:
    """Return the reason for no post: the counted changes, in English.

    ``post`` names a post such as ``a LinkedIn post``; empty: a changelog.
    """
    counted = Counter(_noun(change) for part in told for stage in part.stages for change in _said(stage, part))
    if _without_entry(told):
        counted.update(_left_out(brief, told))
    counts = [ENGLISH.count(counted[noun], noun) for noun in _ORDER if counted[noun] > 0]
    if not counts:
        released = brief.release is not None or any(part.releases for part in told)
        return f"{NOTHING_TO_REPORT}: {'no commits, and no release notes' if released else 'no new commits'}"
    return f"{ENGLISH.enumerated(counts)}: nothing a reader{f' of {post}' if post else ''} notices"


def _left_out(brief: Brief, told: Sequence[Part]) -> dict[Count, int]:
    """Return the numbers of changes that the options hide, or that no options show."""
    shown = evolve(brief.options, hidden=frozenset(), hidden_paths=(), hidden_authors=frozenset())
    unhidden = told if shown == brief.options else report_of(brief, shown)
    whole = report_of(brief, evolve(shown, hide_release_chores=False))
    return {
        _HIDDEN: _number(unhidden) - _number(told),
        _RELEASING: _number(whole) - _number(unhidden),
        _NO_ENTRY: _without_entry(whole),
    }


def _number(parts: Iterable[Part]) -> int:
    return sum(len(part.changes) for part in parts)


def _without_entry(parts: Iterable[Part]) -> int:
    return sum(len(part.commits) - sum(len(change.commits) for change in part.changes) for part in parts)


def _said(stage: Stage, part: Part) -> Sequence[Change]:
    noted = notes_of(stage.release, part.repository).changes if stage.release else ()
    return noted or stage.changes


def _noun(change: Change) -> Count:
    if change.section not in _NOUNS:
        return _INSIDE if change.shown else _FOLDED
    if change.section is Section.INTERNAL:
        if known := _TYPES.get(change.kind):
            return known
        classes = touched(change.commits).classes
        if len(classes) == 1:
            return _FILES.get(next(iter(classes)), _NOUNS[change.section])
    return _NOUNS[change.section]
