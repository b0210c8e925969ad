"""The section of a change, and whether posts list it: evidence first, words last."""

import re
from collections.abc import Callable
from enum import Enum
from functools import lru_cache
from typing import Final, final

from msgspec import Struct
from msgspec.structs import replace

from contentsvc_core.content.changelog import critical, patterns, words
from contentsvc_core.content.changelog.evidence import (
    ANY,
    BREAKS,
    DEPRECATES,
    DOT,
    FOREIGN,
    MERGES,
    PRIVATE,
    REMOVES,
    TAKES_AWAY,
    TIDIES,
    UNDOES,
    VERB,
    Evidence,
    evidence_of,
    typed_as,
)
from contentsvc_core.content.changelog.paths import NOTHING, PathClass, Touched
from contentsvc_core.content.changelog.read import CommitMessage
from contentsvc_core.content.changelog.reverts import undoing
from contentsvc_core.content.changelog.subjects import news_behind
from contentsvc_core.content.changelog.tables import tables_of
from contentsvc_core.content.sections import UPKEEP, Section
from contentsvc_core.on_demand import late

#: Sections whose changes break something where a release's number says that something breaks.
_MAY_BREAK: Final = frozenset({Section.ADDED, Section.CHANGED, Section.REMOVED, Section.FIXED, Section.OTHER})
_NEWS: Final = frozenset({Section.ADDED, Section.FIXED, Section.PERFORMANCE})
_MAY_DEPRECATE: Final = frozenset({None, Section.ADDED, Section.CHANGED})
#: Verbs of upkeep that also change what users see, where the words name a part of the product: "Simplify the page".
_MAY_BE_SEEN: Final = frozenset({
    "consolidate", "dedupe", "deduplicate", "modernize", "pin", "reorder", "reorganize", "restructure", "silence",
    "simplify",
})  # fmt: skip
#: Sections that a verb decides alone.
_CLEAR: Final = frozenset({Section.DEPRECATED, Section.PERFORMANCE, Section.REVERTED})
_ASKS_NOTHING: Final = frozenset({Section.ADDED, Section.DEPRECATED, Section.FIXED})
PRIVATE_FIX: Final = ("merge commit from fork", "merge pull request from ghsa-")

_DIGIT: Final = late(r"\d")
_BETWEEN_SCOPES: Final = late(r"[/,.: ]+")
_UNTYPED: Final = words.VAGUE_TYPES | {""}
_RELEASE_FILES: Final = frozenset({PathClass.MANIFEST, PathClass.CHANGELOG, PathClass.LOCK, PathClass.DOCUMENTATION})
_NOTE_FILES: Final = frozenset({PathClass.CHANGELOG, PathClass.FRAGMENT, PathClass.DOCUMENTATION, PathClass.TEST})
#: With a lock file and without code, the update of a dependency.
_UPDATE_ALONE: Final = late(r"(?:bump|update|upgrade)[sd]? \S+", re.IGNORECASE)
_PACKAGE_GONE: Final = late(r"(?:drop|remove)(?:s|d|ped)? `?[a-z@][a-z\d@/.-]*`?", re.IGNORECASE)


@final
class Breaks(Enum):
    """The promise of a release's number about breaking changes."""

    #: None, or there is no release.
    NOT = "not"
    #: ``0.8.0``: projects without a stable release break things here.
    EARLY = "early"
    #: ``3.0.0``.
    MAJOR = "major"


@final
class Kind(Struct, frozen=True, gc=False):
    section: Section
    #: Whether a type, sign, mark or news fragment decides. Words alone may err.
    sure: bool
    #: Whether the commit only makes a release, or says nothing.
    empty: bool = False


_SURE: Final = {section: Kind(section, sure=True) for section in Section}
_WORDED: Final = {section: Kind(section, sure=False) for section in Section}


def classify(message: CommitMessage, touched: Touched = NOTHING, *, breaks: Breaks = Breaks.NOT) -> Kind:
    """Return the section of a change; the first rule with an answer decides."""
    seen = evidence_of(message, touched)
    kind: Kind | None = None
    bits, before = seen.bits, message.subject[: len(message.subject) - len(seen.text)]
    for needed, rule in _rules(message.kind, message.sign, seen.scope, before, touched):
        if bits & needed:
            kind = rule if isinstance(rule, Kind) else rule(seen)
            if kind is not None:
                break
    kind = kind or _WORDED[Section.CHANGED if touched.source else Section.OTHER]
    advised = "CVE-" in message.body or "GHSA-" in message.body
    if advised and kind.section in _MAY_BREAK and critical.ADVISORY.search(message.body):
        return _SURE[Section.SECURITY]
    if breaks is Breaks.NOT:
        return kind
    moved = kind.section in {Section.CHANGED, Section.DEPENDENCIES} and touched.source
    if moved and critical.NEW_SERIES.match(seen.text) and not seen.unnoticed:
        # The code had to follow the dependency. So have users of both.
        return _SURE[Section.BREAKING]
    return _WORDED[Section.BREAKING] if _breaks_in(breaks, seen, kind) else kind


def classify_news(message: CommitMessage, touched: Touched, breaks: Breaks) -> tuple[CommitMessage, Kind]:
    """Return a message and its section; without the upkeep, if its subject names a change for users behind upkeep."""
    kind = classify(message, touched, breaks=breaks)
    is_upkeep = kind.section in UPKEEP and not (kind.sure or kind.empty)
    if not is_upkeep or not (text := news_behind(message.description)):
        return message, kind
    behind = replace(message, description=text)
    news = classify(behind, touched, breaks=breaks)
    return (message, kind) if news.section in UPKEEP else (behind, news)


def _breaks_in(breaks: Breaks, seen: Evidence, kind: Kind) -> bool:
    if kind.section not in _MAY_BREAK or words.TYPES.get(seen.message.kind) in _NEWS:
        return False
    if critical.MENDS_BREAKING.match(seen.text) or seen.unnoticed or seen.matches(critical.MESSAGE):
        return False
    if PathClass.LOCK in seen.touched.classes and _PACKAGE_GONE.fullmatch(seen.text):
        return False
    if seen.matches(critical.LOOKS) and not critical.CODE.search(seen.text):
        return False
    stable = breaks is Breaks.MAJOR and seen.matches(critical.BREAKING_IN_STABLE)
    return (stable or seen.matches(critical.BREAKING_IN_MAJOR)) and not seen.raises_compiler


def _private_fix(seen: Evidence) -> Kind | None:
    return _SURE[Section.SECURITY] if seen.message.subject.casefold().startswith(PRIVATE_FIX) else None


def _security(seen: Evidence) -> Kind | None:
    found = critical.SECURITY.search(seen.message.subject) and not critical.OF_OTHERS.match(seen.text)
    return _SURE[Section.SECURITY] if found else None


def _release(seen: Evidence) -> Kind | None:
    line = seen.text.replace("`", "")
    names = seen.message.kind == "release" or seen.message.sign == words.RELEASE_SIGN
    if (
        (
            names
            or patterns.VERSION.fullmatch(line)
            or seen.matches(patterns.RELEASE, of=line)
            or (seen.scope in words.RELEASE_SCOPES and words.TYPES.get(seen.message.kind) is None)
        )
        and not (seen.touched.source and not (_DIGIT.search(line) or seen.matches(patterns.RELEASE_WORDS, of=line)))
        and not seen.breaks
    ):
        empty = names or seen.scope not in words.SCOPES or not seen.is_dependency
        return Kind(Section.INTERNAL, sure=True, empty=empty)
    if seen.matches(patterns.ROBOT, of=line):
        return _SURE[Section.DOCUMENTATION if seen.matches(patterns.DOCUMENTATION, of=line) else Section.INTERNAL]
    return _empty(seen)


def _empty(seen: Evidence) -> Kind | None:
    line = seen.text.replace("`", "")
    scoped = seen.typed and seen.touched.source and seen.message.scope
    empty = not scoped and (seen.matches(patterns.EMPTY, of=line) or set(line) == {"."})
    return _SURE[Section.INTERNAL] if empty else None


def _revert(seen: Evidence) -> Kind | None:
    undone = undoing(seen.message)
    if undone is None:
        return None
    if not undone.quoted:
        # The words may describe the undone change, or the new one.
        return _SURE[seen.touched.upkeep or Section.CHANGED]
    inner = classify(undone.message, seen.touched)
    # What a merge without a title brought is unknown.
    upkeep = inner.section in UPKEEP and not undone.message.subject.startswith("Merge ")
    return inner if undone.again or upkeep or inner.empty else _SURE[Section.REVERTED]


def _noted_upkeep(seen: Evidence) -> Kind | None:
    return _SURE[Section.INTERNAL] if seen.is_dependency else None


def _unsorted(seen: Evidence) -> Kind:
    """Return the section of the words, for projects whose fragments call all of their news changes."""
    worded = _worded(seen)
    return _SURE[worded.section if worded and worded.section in _NEWS else Section.CHANGED]


def _dependency(seen: Evidence) -> Kind | None:
    is_declared = seen.typed is Section.DEPENDENCIES or words.SCOPES.get(seen.scope) is Section.DEPENDENCIES
    is_locked = _is_locked(seen.touched) and _UPDATE_ALONE.fullmatch(seen.text) is not None
    if not (is_declared or is_locked or seen.is_dependency) or (seen.message.kind in _UNTYPED and seen.breaks):
        return None
    if seen.touched.noted and seen.verb is Section.REMOVED:
        return None
    return _SURE[Section.DEPENDENCIES]


def _is_locked(touched: Touched) -> bool:
    return PathClass.LOCK in touched.classes and not touched.source


def _broken(seen: Evidence) -> Kind | None:
    if seen.scope == "msrv" or seen.breaks:
        return _SURE[Section.CHANGED if seen.raises_compiler else Section.BREAKING]
    if seen.message.kind in words.VAGUE_TYPES or (seen.touched.classes and not seen.touched.source):
        return None
    if seen.typed is Section.FIXED:
        # Authors of types mark what breaks. What a fix removes was the fault.
        return None
    # An upgrade guide asks readers to act. Added, fixed and deprecated things ask for nothing yet.
    guided = PathClass.UPGRADE_GUIDE in seen.touched.classes and seen.verb not in _ASKS_NOTHING
    gone = critical.REMOVED.match(seen.text) or (not seen.message.kind and (seen.matches(critical.GONE) or guided))
    if not gone or critical.MENDS_BREAKING.match(seen.text) or seen.unnoticed:
        return None
    return _WORDED[Section.BREAKING]


def _mistyped(seen: Evidence) -> Kind | None:
    if not seen.matches(patterns.MISTYPED):
        return None
    return _WORDED[Section.DOCUMENTATION if seen.matches(patterns.DOCUMENTATION) else Section.INTERNAL]


def _documentation(seen: Evidence) -> Kind | None:
    return _SURE[Section.DOCUMENTATION] if seen.matches(patterns.DOCUMENTATION) else None


def _worded_upkeep(seen: Evidence) -> Kind | None:
    documents = seen.first in words.DOCUMENTATION_VERBS and not (seen.touched.source and seen.matches(critical.MESSAGE))
    if documents or seen.matches(patterns.IN_DOCUMENTATION):
        return _WORDED[Section.DOCUMENTATION]
    if seen.matches(patterns.DOCUMENTATION) and not _about_code(seen):
        return _WORDED[Section.DOCUMENTATION]
    if seen.verb is Section.ADDED and seen.touched.source and seen.matches(patterns.COMMAND):
        return _WORDED[Section.ADDED]
    # A change of code is not internal because it matters to tests, nor a fix because it has a private cause.
    private = seen.names_private and not (seen.touched.source and seen.verb is Section.FIXED)
    seen_by_users = seen.touched.source and _is_seen(seen)
    noticed = seen_by_users or (seen.touched.source and seen.first in words.NOTICED_VERBS)
    tidies = seen.first in words.INTERNAL_VERBS and not seen_by_users
    internal = seen.matches_apart if seen.touched.source else seen.matches
    inside = tidies or private or (not noticed and internal(patterns.INTERNAL))
    return _WORDED[Section.INTERNAL] if inside else None


def _is_seen(seen: Evidence) -> bool:
    """Check that the words name a part of the product or its behaviour, and not its code."""
    at_runtime = patterns.AT_RUNTIME.match(seen.text) is not None
    if not at_runtime and seen.first in words.INTERNAL_VERBS - _MAY_BE_SEEN:
        return False
    product = seen.verb in _NEWS and seen.matches(patterns.PRODUCT)
    names = at_runtime or product or seen.matches(critical.LOOKS)
    return names and not seen.matches(patterns.OF_CODE) and not critical.CODE.search(seen.text)


def _about_code(seen: Evidence) -> bool:
    if seen.verb is not Section.FIXED and seen.matches(patterns.AROUND_CODE):
        return False
    return seen.touched.source and PathClass.DOCUMENTATION not in seen.touched.classes and seen.first in words.VERBS


def _worded(seen: Evidence) -> Kind | None:
    section = seen.verb
    if section in _CLEAR:
        return _WORDED[section]
    if section in _MAY_DEPRECATE and seen.matches_apart(patterns.DEPRECATION):
        return _WORDED[Section.DEPRECATED]
    if section is Section.ADDED and patterns.MISSING.match(seen.text):
        return _WORDED[Section.FIXED]
    # "Fix a crash when lamps are lit in parallel" makes nothing faster.
    found = seen.matches_apart if section is Section.FIXED else seen.matches
    if section is not Section.ADDED and found(patterns.PERFORMANCE):
        return _WORDED[Section.PERFORMANCE]
    if section is Section.REMOVED and seen.matches(patterns.LEFTOVER) and not seen.matches(patterns.FAULT):
        return _WORDED[Section.INTERNAL]
    if section is Section.REMOVED and critical.REMOVES_AT_WORK.match(seen.text):
        section = Section.CHANGED
    unsure = section in {None, Section.CHANGED, Section.REMOVED}
    if unsure and seen.first not in words.IMPROVING_VERBS and seen.matches(patterns.FAULT):
        return _WORDED[Section.FIXED]
    if section is Section.CHANGED and patterns.FAULT_BELOW.search(seen.message.body):
        return _WORDED[Section.FIXED]
    return _WORDED[section] if section else _without_verb(seen)


def _without_verb(seen: Evidence) -> Kind | None:
    if seen.matches(patterns.NOVELTY):
        return _WORDED[Section.ADDED]
    if seen.matches(patterns.STATED_FAULT) and seen.matches_apart(patterns.STATED_FAULT):
        return _WORDED[Section.FIXED]
    return None


def _without_spaces(seen: Evidence) -> Kind | None:
    matches: list[tuple[re.Match[str], Section]] = []
    for section, row in words.WORDS_WITHOUT_SPACES.items():
        found = [*re.finditer(row, seen.text)]
        if found and (section in UPKEEP or section is Section.PERFORMANCE):
            return _WORDED[section]
        matches += [(each, section) for each in found]
    if not matches:
        return None
    return _WORDED[(max(matches, key=_end) if words.VERBS_LAST.search(seen.text) else min(matches, key=_start))[1]]


def _start(found: "tuple[re.Match[str], Section]") -> int:
    return found[0].start()


def _end(found: "tuple[re.Match[str], Section]") -> int:
    """Return where the words of an action end: "ends the support" begins with the word for "supports" in Korean."""
    return found[0].end()


_Rule = Callable[[Evidence], Kind | None]
_SECURITY: Final = critical.SECURITY.bit
_IN_RELEASES: Final = DOT | patterns.RELEASE.bit | patterns.ROBOT.bit | patterns.EMPTY.bit
_IN_BREAKS: Final = TAKES_AWAY | critical.BREAKING.bit | critical.GONE.bit
_IN_UPKEEP: Final = (
    TIDIES | patterns.IN_DOCUMENTATION.bit | patterns.DOCUMENTATION.bit | patterns.INTERNAL.bit | patterns.COMMAND.bit
)
_IN_WORDS: Final = (
    VERB
    | patterns.DEPRECATION.bit
    | patterns.PERFORMANCE.bit
    | patterns.FAULT.bit
    | patterns.NOVELTY.bit
    | patterns.STATED_FAULT.bit
)


def _of_scope(scope: str, kind: str) -> Kind | None:
    parts = [] if scope.isalnum() else _BETWEEN_SCOPES.split(scope)
    section = next(filter(None, map(words.SCOPES.get, (scope, *parts[: 1 if kind else 2]))), None)
    return _SURE[section] if section else None


@lru_cache(maxsize=1024)
def _rules(kind: str, sign: str, scope: str, before: str, touched: Touched) -> tuple[tuple[int, Kind | _Rule], ...]:
    """Return the rules for a type, sign, scope, text before the description, and files.

    In order: marks of the author, then files, then type and scope, then words. Each rule has the evidence of which it
    needs one bit; 0: it has no answer. A rule that needs no words is its answer.
    """
    typed, announced, upkeep, source = typed_as(kind, sign), touched.announced, touched.upkeep, touched.source
    vague, news, noted = kind in words.VAGUE_TYPES, typed in _NEWS, touched.noted and touched.source
    # A commit of fragments alone rewords them.
    marked = typed is Section.BREAKING or (announced is Section.BREAKING and upkeep is None)
    secure = typed is Section.SECURITY or (scope in words.SECURITY_SCOPES and (typed is Section.FIXED or vague))
    inside = {Section.DOCUMENTATION, Section.INTERNAL}
    outside = typed in inside or upkeep in inside
    security_evidence = ANY if tables_of(before)[0] & _SECURITY else _SECURITY
    if secure:
        secure, outside = upkeep is not Section.INTERNAL, True
    elif announced is Section.SECURITY and upkeep is None:
        secure = True
    releases = kind == "release" or sign == words.RELEASE_SIGN or scope in words.RELEASE_SCOPES
    coded = bool(touched.classes - _RELEASE_FILES) or not touched.classes
    no_release = announced or scope == "msrv" or ((news or typed is Section.SECURITY) and coded)
    # Changes without code are upkeep, unless the author wrote news for readers.
    news_too = touched.noted and upkeep is Section.INTERNAL and typed is not upkeep and touched.classes - _NOTE_FILES
    depends = Section.DEPENDENCIES in {typed, words.SCOPES.get(scope)}
    # Tools ask for a fragment for each change of a package: one without a kind announces no update of a dependency.
    asked = PathClass.FRAGMENT in touched.classes and touched.classes & {PathClass.LOCK, PathClass.MANIFEST}
    no_dependency = (noted and not asked) or (news and scope not in words.SCOPES)
    guided = scope == "msrv" or PathClass.UPGRADE_GUIDE in touched.classes
    vague_upkeep = vague and not source
    typed_ = None if vague or typed is Section.CHANGED or (typed is Section.INTERNAL and noted) else typed
    noted_as = _unsorted if announced is Section.OTHER else announced and _SURE[announced]
    rules: tuple[tuple[int, Kind | _Rule | None], ...] = (
        (ANY if marked else BREAKS, _SURE[Section.BREAKING]),
        (ANY if secure else 0, _SURE[Section.SECURITY]),
        (MERGES, _private_fix),
        (0 if outside else security_evidence, _security),
        (0 if no_release else ANY if releases else _IN_RELEASES, _release),
        (0 if announced else patterns.EMPTY.bit, _empty),
        (UNDOES, _revert),
        (patterns.DEPENDENCY.bit if news_too else 0, _noted_upkeep),
        (ANY, _SURE[upkeep] if upkeep and not news_too else noted_as),
        (0 if no_dependency else ANY if depends or _is_locked(touched) else patterns.DEPENDENCY.bit, _dependency),
        (0 if noted or (source and news) else ANY, _of_scope(scope, kind)),
        (0 if typed in UPKEEP and not vague else ANY if guided else _IN_BREAKS, _broken),
        (patterns.DOCUMENTATION.bit if vague_upkeep else 0, _documentation),
        (ANY, _SURE[Section.INTERNAL] if vague_upkeep else None),
        (REMOVES if typed_ is Section.DEPRECATED else 0, _WORDED[Section.BREAKING]),
        (DEPRECATES if typed_ in {Section.ADDED, Section.FIXED} else 0, _SURE[Section.DEPRECATED]),
        (patterns.MISTYPED.bit if news and not touched.noted else 0, _mistyped),
        (ANY, _SURE[typed_] if typed_ else None),
        (0 if noted else ANY if scope.startswith("_") else PRIVATE | _IN_UPKEEP, _worded_upkeep),
        (_IN_WORDS, _worded),
        (FOREIGN, _without_spaces),
    )
    return tuple((needed, rule) for needed, rule in rules if needed and rule is not None)
