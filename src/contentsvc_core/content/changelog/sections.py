"""Where a change belongs, what stands before it, and what no reader needs to see."""

import re
from typing import Final

from contentsvc_core.content.changelog.conventional import Message
from contentsvc_core.content.changelog.options import ChangelogOptions
from contentsvc_core.content.changelog.upkeep import upkeep_of
from contentsvc_core.content.sections import Section

#: Spellings of one type. Conventional Commits fixes only ``feat`` and ``fix`` (rules 2, 3); the rest is custom.
_SPELLINGS: Final = {
    "feature": "feat",
    "bugfix": "fix",
    "hotfix": "fix",
    "performance": "perf",
    "doc": "docs",
    "sec": "security",
}
_SECTIONS: Final = {
    "security": Section.SECURITY,
    "feat": Section.ADDED,
    "fix": Section.FIXED,
    "perf": Section.PERFORMANCE,
    "docs": Section.DOCUMENTATION,
}
_SECURITY_SCOPES: Final = frozenset({"security", "sec"})
_DOCUMENTATION_SCOPES: Final = frozenset({"docs", "doc", "documentation"})
#: Scopes that only repeat the heading above them.
_SAID_BY_HEADING: Final = {
    Section.SECURITY: _SECURITY_SCOPES,
    Section.PERFORMANCE: frozenset({"perf", "performance"}),
    Section.DOCUMENTATION: _DOCUMENTATION_SCOPES,
}

#: The types that release work and dependency updates come under; ``""`` is no type at all.
_UPKEEP: Final = frozenset({"", "chore", "build"})
_DEPENDENCIES: Final = frozenset({"dep", "deps", "deps-dev", "dependency", "dependencies"})
_DEPENDENCY_UPDATE: Final = re.compile(
    r"(?:bump|update|upgrade) (?!version |release )(?:dependency )?\S+ (?:from \S+ )to \S+"
    r"|update dependency \S+ to \S+|lock file maintenance|bump the \S+ group .*",
    re.IGNORECASE,
)

_VERSION: Final = re.compile(r"v[0-9]+|v?[0-9]+(?:\.[0-9]+){1,3}(?:[-+.]?[a-z][a-z0-9.+-]*)?", re.IGNORECASE)
_RELEASE_VERBS: Final = frozenset({
    "bump", "bumps", "bumped", "bumping", "prepare", "prepares", "prepared", "prep", "preparing", "publish", "cut",
    "tag", "release", "releases", "released", "releasing", "start", "set",
})  # fmt: skip
_RELEASE_NOUNS: Final = frozenset({"version", "versions", "release"})
_RELEASE_FILLERS: Final = frozenset({
    "for", "to", "from", "of", "and", "the", "a", "new", "next", "development", "dev", "beta", "alpha", "rc",
    "pre-release", "prerelease", "patch", "minor", "major", "final", "stable", "number",
})  # fmt: skip
_CHANGELOG_UPKEEP: Final = re.compile(
    r"(?:update|updates|updated|generate|regenerate) (?:the )?change-?log(?:\.[a-z]{2,4})?(?: for \S+)?", re.IGNORECASE
)


def kind_of(message: Message) -> str:
    """Give the type in its usual spelling, ``""`` without one."""
    return _SPELLINGS.get(message.kind, message.kind)


def section_of(message: Message) -> Section:
    """Say where a change belongs: breaking first, security before the rest, then by type.

    What only updates a dependency is another change, and what nobody outside waits for is internal, whatever the type
    says: there is one answer for all kinds of content.
    """
    kind, scope = kind_of(message), (message.scope or "").casefold()
    if message.breaking:
        return Section.BREAKING
    if kind == "fix" and scope in _SECURITY_SCOPES:
        return Section.SECURITY
    section = _SECTIONS.get(kind, Section.OTHER)
    if section is Section.SECURITY:
        return section
    if section is not Section.DOCUMENTATION and is_dependency_update(message):
        return Section.OTHER
    # `chore(docs): …`: the type says nothing, so the scope decides.
    if section is Section.OTHER and scope in _DOCUMENTATION_SCOPES:
        return Section.DOCUMENTATION
    return upkeep_of(kind, scope, message.description, section) or section


def scope_of(message: Message, section: Section) -> str:
    """Give the part of the code that a change names, ``""`` if it names none or only repeats its heading."""
    scope = message.scope or ""
    return "" if scope.casefold() in _SAID_BY_HEADING.get(section, frozenset()) else scope


def label_of(message: Message, section: Section) -> str:
    """Give what stands in bold before a change: its scope, and its type where the heading does not say it."""
    scope = scope_of(message, section)
    hint = (message.type or "") if section in {Section.OTHER, Section.INTERNAL} else ""
    if kind_of(message) in _UPKEEP | {"revert"} and (scope or kind_of(message) != "build"):
        hint = ""
    return f"{hint}({scope})" if hint and scope else hint or scope


def is_dependency_update(message: Message) -> bool:
    """Whether a change only moves a dependency to another version."""
    if (message.scope or "").casefold() in _DEPENDENCIES or message.kind in _DEPENDENCIES:
        return True
    return message.kind in _UPKEEP and _DEPENDENCY_UPDATE.fullmatch(message.description) is not None


def is_hidden(message: Message, options: ChangelogOptions) -> bool:
    """Whether a change stays out of the changelog."""
    if section_of(message) in {Section.BREAKING, Section.SECURITY}:
        return False
    if kind_of(message) in options.hidden or (message.scope or "").casefold() in options.hidden:
        return True
    return options.hide_release_chores and is_release_chore(message)


def is_release_chore(message: Message) -> bool:
    """Whether a commit only makes a release: a version bump, its preparation, an update of the changelog file."""
    if message.kind == "release":
        return True
    if message.kind not in _UPKEEP or is_dependency_update(message):
        return False
    if (message.scope or "").casefold() == "release" or _CHANGELOG_UPKEEP.fullmatch(message.description):
        return True
    words = message.description.replace("`", "").casefold().rstrip(".").split()
    return _is_version_bump(words, typed=message.type is not None)


def _is_version_bump(words: list[str], *, typed: bool) -> bool:
    if not words:
        return False
    versions = [word for word in words if _VERSION.fullmatch(word)]
    verbs = _RELEASE_VERBS.intersection(words)
    nouns = _RELEASE_NOUNS.intersection(words)
    known = all(
        word in _RELEASE_VERBS or word in _RELEASE_NOUNS or word in _RELEASE_FILLERS or _VERSION.fullmatch(word)
        for word in words
    )
    if known:
        # `v1.2.3`, `bump to v1.2`, `release 1.2.3`; without a number only where the type says that it is upkeep.
        return bool(versions) if not typed else bool(versions or (verbs and nouns))
    # `release some-package 1.2.3`, as release tools write it.
    return typed and len(words) == 3 and words[0] in {"release", "released"} and words[-1] in versions  # noqa: PLR2004
