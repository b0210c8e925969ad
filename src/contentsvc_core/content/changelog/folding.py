"""The closing line of a changelog: upkeep, counted, with the packages that moved."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from contentsvc_core.content.changelog.dependencies import Bump, chained
from contentsvc_core.content.changelog.markdown import inline, link
from contentsvc_core.content.changelog.select import Change
from contentsvc_core.content.changelog.voice import Voice
from contentsvc_core.content.phrases import Phrasebook
from contentsvc_core.content.sections import Section

#: So many packages are named with their versions.
_PACKAGES_NAMED: Final = 5


def folded(changes: Iterable[Change], page: str | None, voice: Voice) -> list[str]:
    """Return the paragraph that counts what is not shown, nothing where all is.

    Args:
        changes: Those of one repository, shown and not.
        page: Where all commits can be read; ``None``: no address is known.
        voice: For whom it is; only those who build software read names of packages.
    """
    phrases = voice.phrases
    hidden = _lasting([change for change in changes if not change.shown])
    if not hidden:
        return []
    counts = phrases.enumerated(counted_upkeep(hidden, phrases))
    line = phrases.also_upkeep.of(voice.tone).format(counts=counts)
    if page is not None and voice.technical:
        line = f"{line} ({link(phrases.all_commits, page)})"
    packages = _packages(hidden, phrases) if voice.technical else ""
    return [f"{line}. {packages}." if packages else f"{line}."]


def counted_upkeep(hidden: Sequence[Change], phrases: Phrasebook) -> list[str]:
    """Count the changes that are not shown by kind, each with its noun."""
    kinds = Counter(change.section for change in hidden)
    upkeep = (Section.DOCUMENTATION, Section.DEPENDENCIES, Section.INTERNAL)
    said = [phrases.count(kinds[section], phrases.kinds[section]) for section in upkeep if kinds[section]]
    smaller = sum(number for section, number in kinds.items() if section not in upkeep)
    return [*([phrases.count(smaller, phrases.smaller)] if smaller else []), *said]


def _lasting(hidden: list[Change]) -> list[Change]:
    """Leave out the updates that cancel out: a version that was raised and taken back."""
    bumps = [change.bump for change in hidden if change.bump]
    left = {bump.name.casefold() for bump in chained(bumps)}
    return [
        change for change in hidden if not (change.bump and change.bump.name) or change.bump.name.casefold() in left
    ]


def _packages(hidden: Iterable[Change], phrases: Phrasebook) -> str:
    moved = chained(change.bump for change in hidden if change.bump)
    packages = [bump for bump in moved if not bump.builds]
    named = [_named(bump) for bump in packages[:_PACKAGES_NAMED]]
    if rest := len(packages) - len(named):
        named.append(phrases.more_people.removeprefix(phrases.conjunction.lstrip()).format(n=phrases.number(rest)))
    told = phrases.enumerated(named)
    if builds := len(moved) - len(packages):
        told = "; ".join(filter(None, (told, phrases.count(builds, phrases.build_actions))))
    return phrases.dependencies.format(packages=told) if told else ""


def _named(bump: Bump) -> str:
    versions = [inline(each) for each in (bump.begin, bump.end) if each]
    return f"{inline(bump.name)} {' → '.join(versions)}".strip()
