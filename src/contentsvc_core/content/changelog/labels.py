"""Classifies pull requests by their labels; labels override the words of a title."""

import re
from collections.abc import Iterable, Mapping
from typing import Final, Literal

from contentsvc_core.content.changelog.tables import rows_of
from contentsvc_core.content.sections import Section

#: The result for a pull request that its maintainers leave out of changelogs.
SKIP: Final = "skip"

#: Words before a kind, as in ``type: bug``, ``kind/bug``, ``C-bug`` (category) and ``changelog: fixed``.
_KIND_PREFIXES: Final = frozenset({"c", "category", "changelog", "kind", "pr", "t", "type"})
#: Words before a part of the code, as in ``area/docs`` and ``A-docs``. A part is a kind only where readers do not use
#: it: ``area/security`` is about a component, and no fix of a vulnerability.
_PART_PREFIXES: Final = frozenset({"a", "area", "component", "module", "scope", "topic"})
_PART_SECTIONS: Final = frozenset({Section.DOCUMENTATION, Section.DEPENDENCIES, Section.INTERNAL})

#: The labels of each kind: words in lower case, without emoji and punctuation. The order decides between several
#: labels: first the ones that leave a change out, which maintainers set on purpose, then kinds that readers must not
#: miss. Internal changes are last, so that they hide no kind that readers notice.
_LABELS: Final[Mapping[Section | Literal["skip"], str]] = {
    SKIP: """
    skip changelog | skip release notes | skip release note | skip news | skip notes | no changelog
    no changelog needed | no changelog entry needed | no changenote | no news | no release note | no release notes
    changelog skip | changelog ignore | changelog none | changelog no | changelog not needed | changelog not required
    changelog exclude | release note none | release notes none | release note skip | release notes skip
    release note not required | release note ignore | ignore for release | ignore for release notes | ignore changelog
    exclude from changelog | exclude from release notes
    """,
    Section.BREAKING: """
    breaking | breaking change | breaking changes | backward incompatible | backwards incompatible
    backward incompatibility | bc break | incompatible | incompatible change | major | semver major | release major
    api breaking | api break | release note action required | release note breaking change | impact breaking
    """,
    Section.SECURITY: "security | security fix | security update | vulnerability | cve",
    Section.DEPRECATED: "deprecated | deprecation | deprecations | release note deprecation",
    Section.REMOVED: "removed | removal | removals",
    Section.REVERTED: "revert | reverted | reverts",
    Section.PERFORMANCE: "performance | perf | optimization | optimisation | performance improvement",
    Section.DEPENDENCIES: """
    dependencies | dependency | dependency update | dependency updates | dependencies update | dependency upgrade | deps
    dependabot | renovate | bump
    """,
    Section.DOCUMENTATION: """
    documentation | documentation update | docs | doc | docs only | examples | release note documentation
    """,
    Section.ADDED: """
    feature | features | feat | new feature | new features | feature request | enhancement | enhancements | added
    addition | release note feature | release note enhancement
    """,
    Section.FIXED: """
    bug | bugs | bugfix | bug fix | bug fixes | bugfixes | fix | fixes | fixed | hotfix | regression | defect | crash
    release note bug fix
    """,
    Section.CHANGED: "improvement | improvements | changed | change | api change | behavior change | behaviour change",
    Section.INTERNAL: """
    internal | internals | chore | maintenance | cleanup | clean up | refactor | refactoring | refactored | code quality
    technical debt | tech debt | housekeeping | test | tests | testing | flake | flaky test | failing test | ci | ci cd
    continuous integration | github actions | build | infra | infrastructure | tooling | style | typo | release
    """,
}  # fmt: skip
_SECTIONS: Final[Mapping[str, Section | Literal["skip"]]] = {
    label: section for section, labels in _LABELS.items() for label in rows_of(labels)
}
_ORDER: Final = {section: rank for rank, section in enumerate(_LABELS)}
#: ``:bug:``, as accounts without emoji write them.
_SHORTCODE: Final = re.compile(r"(?<!\w):\w+:")
_WORD: Final = re.compile(r"[a-z0-9]+")


def section_of_labels(labels: Iterable[str]) -> Section | Literal["skip"] | None:
    """Return the section of a pull request by its labels, or :data:`SKIP`; ``None``: no label decides."""
    kinds: list[Section | Literal["skip"]] = []
    parts: list[Section | Literal["skip"]] = []
    for label in labels:
        words = _WORD.findall(_SHORTCODE.sub(" ", label.lower()))
        if (section := _section(words)) is not None:
            kinds.append(section)
        elif words and words[0] in _PART_PREFIXES and (section := _section(words[1:])) in _PART_SECTIONS:
            parts.append(section)
    return min(kinds or parts, key=_ORDER.__getitem__, default=None)


def _section(words: list[str]) -> Section | Literal["skip"] | None:
    section = _SECTIONS.get(" ".join(words))
    if section is None and words and words[0] in _KIND_PREFIXES:
        section = _SECTIONS.get(" ".join(words[1:]))
    return section
