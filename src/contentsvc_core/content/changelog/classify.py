"""The section of a change, and whether posts list it: evidence first, words last."""

import re
from collections.abc import Callable
from enum import Enum
from functools import lru_cache
from typing import Final, final

from msgspec import Struct

from contentsvc_core.content.changelog import grave, patterns, words
from contentsvc_core.content.changelog.paths import NOTHING, PathClass, Touched
from contentsvc_core.content.changelog.read import CommitMessage
from contentsvc_core.content.changelog.reverts import undoing
from contentsvc_core.content.changelog.tables import Table, late, tables_of
from contentsvc_core.content.sections import Section

#: Sections that one closing line counts, unless the options list them.
UPKEEP: Final = frozenset({Section.DOCUMENTATION, Section.DEPENDENCIES, Section.INTERNAL})
#: Sections whose changes break something where a release's number says that something breaks.
_MAY_BREAK: Final = frozenset({Section.ADDED, Section.CHANGED, Section.REMOVED, Section.FIXED, Section.OTHER})
_NEWS: Final = frozenset({Section.ADDED, Section.FIXED, Section.PERFORMANCE})
_ASKS_NOTHING: Final = frozenset({Section.ADDED, Section.DEPRECATED, Section.FIXED})
PRIVATE_FIX: Final = "merge commit from fork"

_WORD: Final = late(r"[\w'\u2019+-]+")
_DIGIT: Final = late(r"\d")
_BETWEEN_SCOPES: Final = late(r"[/,.: ]+")
_UNTYPED: Final = words.VAGUE_TYPES | {""}
_RELEASE_FILES: Final = frozenset({PathClass.MANIFEST, PathClass.CHANGELOG, PathClass.LOCK, PathClass.DOCUMENTATION})
_NOTE_FILES: Final = frozenset({PathClass.CHANGELOG, PathClass.FRAGMENT, PathClass.DOCUMENTATION, PathClass.TEST})
_MAKE_SURE: Final = late(r"(?:make|be) sure\b", re.IGNORECASE)
_PRIVATE_NAME: Final = late(r"(?:^|[\s`(])_(?!_)\w+(?:\.py)?\b|\b\w+\._(?!_)\w+")


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
    """The result of the classification."""

    section: Section
    #: Whether a type, sign, mark or news fragment decides. Words alone may err.
    sure: bool
    #: Whether the commit only makes a release, or says nothing.
    empty: bool = False


_SURE: Final = {section: Kind(section, sure=True) for section in Section}
_WORDED: Final = {section: Kind(section, sure=False) for section in Section}


#: The evidence that rules need, beside the tables of :func:`tables_of`: of the type, scope and files, and of the words.
_BREAKS, _SECURES, _RELEASES, _FILED, _DEPENDS, _SCOPED, _TYPED = (1 << place for place in range(48, 55))
_GONE, _PRIVATE, _VERB, _DEPRECATES, _UPKEEP_VERB, _DOT, _FOREIGN, _QUOTES = (1 << place for place in range(55, 63))
_TAKES_AWAY: Final = frozenset(
    {"remove", "removes", "removed", "removing", "drop", "drops", "dropped", "delete", "deletes", "deleted", "purge"}
)
_OF_FIRST_WORDS: Final = {
    word: _VERB * (word in words.VERBS)
    | _DEPRECATES * (words.VERBS.get(word) is Section.DEPRECATED)
    | _GONE * (word in _TAKES_AWAY)
    | _UPKEEP_VERB * (word in words.INTERNAL_VERBS or word in words.DOCUMENTATION_VERBS)
    for word in words.VERBS.keys() | words.INTERNAL_VERBS | words.DOCUMENTATION_VERBS | _TAKES_AWAY
}


@final
class _Parts(Struct, frozen=True, gc=False):
    """The evidence of a change apart from its description."""

    #: The section of the type or sign.
    typed: Section | None
    bits: int
    #: The class, unless the words have one of the bits of ``matters``. Most typed changes have none of them.
    usual: Kind | None
    matters: int


@lru_cache(maxsize=1024)
def _parts_of(kind: str, sign: str, scope: str, before: str, touched: Touched) -> _Parts:
    """Return the evidence of the type, sign, scope, files, and the text before the description."""
    typed = words.TYPES.get(kind)
    if not (typed or kind or sign in words.VAGUE_SIGNS):
        typed = words.GITMOJI.get(sign)
    announced = touched.announced
    found = (
        (_BREAKS, typed is Section.BREAKING or announced is Section.BREAKING),
        (_SECURES, Section.SECURITY in {typed, announced} or scope in words.SECURITY_SCOPES),
        (_RELEASES, kind == "release" or sign == words.RELEASE_SIGN or scope in words.RELEASE_SCOPES),
        (_FILED, touched.upkeep or announced),
        (_DEPENDS, Section.DEPENDENCIES in {typed, words.SCOPES.get(scope)}),
        (_SCOPED, _of_scope(scope, kind)),
        (_GONE, scope == "msrv" or PathClass.UPGRADE_GUIDE in touched.classes),
        (_TYPED, typed or kind in words.VAGUE_TYPES),
        (_PRIVATE, scope.startswith("_")),
    )
    bits = sum(bit for bit, holds in found if holds) | (tables_of(before)[0] & grave.SECURITY.bit)
    decides = typed not in {None, Section.CHANGED, Section.DEPRECATED} and kind not in words.VAGUE_TYPES
    usual = _SURE[typed] if typed and decides and not touched.noted else None
    news = typed in _NEWS and touched.source and scope not in words.SCOPES
    return _Parts(typed, bits, usual, _NEWS_MATTER if news else _TYPES_MATTER)


@final
class _Evidence(Struct, gc=False):
    message: CommitMessage
    touched: Touched
    text: str
    kind: str
    scope: str
    typed: Section | None
    first: str
    bits: int
    found: set[str]

    @property
    def verb(self) -> Section | None:
        return words.VERBS.get(self.first)

    def says(self, table: Table, of: str | None = None) -> bool:
        """Return whether the words match a table; ``of``: fewer words than the description."""
        return bool(table.bit & self.bits) and table.search(self.text if of is None else of, self.found)

    @property
    def noted(self) -> bool:
        return self.touched.noted and self.touched.source

    @property
    def is_dependency(self) -> bool:
        return self.says(patterns.DEPENDENCY, of=self.text.strip().rstrip("."))

    @property
    def unnoticed(self) -> bool:
        return any(map(self.says, (grave.UNNOTICED, patterns.INTERNAL, patterns.DOCUMENTATION))) or self.names_private

    @property
    def names_private(self) -> bool:
        """Whether the words name something private of the code."""
        return self.scope.startswith("_") or ("_" in self.text and _PRIVATE_NAME.search(self.text) is not None)

    @property
    def breaks(self) -> bool:
        """Whether the words announce a breaking change, and do not mend one."""
        return self.says(grave.BREAKING) and grave.MENDS_BREAKING.match(self.text) is None


def _said(text: str, first: str) -> tuple[int, set[str]]:
    """Return the evidence of a description, and the beginnings of words by which tables are searched."""
    bits, found = tables_of(text)
    if "`" in text:
        more, also = tables_of(text.replace("`", ""))
        bits |= more
        found |= also
    bits |= _OF_FIRST_WORDS.get(first, 0) | _DOT * ("." in text) | _PRIVATE * ("_" in text)
    return bits if text.isascii() else bits | _FOREIGN, found


def classify(message: CommitMessage, touched: Touched = NOTHING, *, breaks: Breaks = Breaks.NOT) -> Kind:
    """Return the section of a change; the first rule with an answer decides."""
    text, subject = message.description, message.subject
    scope = message.scope.casefold() if message.scope else ""
    before = subject[: len(subject) - len(text)]
    first = _first(text)
    bits, found = _said(text, first)
    # Security is looked for in the whole subject.
    if before and (before[-1].isalnum() or before[-1] == "_" or not subject.endswith(text)):
        bits |= tables_of(subject)[0] & grave.SECURITY.bit
        before = ""
    parts = _parts_of(message.kind, message.sign, scope, before, touched)
    bits |= parts.bits | _BREAKS * message.breaking | _QUOTES * (message.may_undo or subject[:1] in "Mm")
    if parts.usual is not None and not bits & parts.matters and breaks is Breaks.NOT:
        return parts.usual
    seen = _Evidence(message, touched, text, message.kind, scope, parts.typed, first, bits, found)
    for needed, rule in _RULES:
        if bits & needed and (kind := rule(seen)) is not None:
            break
    else:
        kind = _WORDED[Section.CHANGED if touched.source else Section.OTHER]
    if breaks is Breaks.NOT:
        return kind
    moved = kind.section in {Section.CHANGED, Section.DEPENDENCIES} and touched.source
    if moved and grave.NEW_SERIES.match(seen.text) and not seen.unnoticed:
        # The code had to follow the dependency. So have users of both.
        return _SURE[Section.BREAKING]
    return _WORDED[Section.BREAKING] if _breaks_in(breaks, seen, kind) else kind


def _breaks_in(breaks: Breaks, seen: _Evidence, kind: Kind) -> bool:
    if kind.section not in _MAY_BREAK or words.TYPES.get(seen.kind) in _NEWS or grave.MENDS_BREAKING.match(seen.text):
        return False
    if seen.unnoticed or seen.says(grave.MESSAGE):
        return False
    stable = breaks is Breaks.MAJOR and seen.says(grave.BREAKING_IN_STABLE)
    return stable or seen.says(grave.BREAKING_IN_MAJOR)


def _marked_breaking(seen: _Evidence) -> Kind | None:
    # A commit of fragments alone rewords them.
    announced = seen.touched.announced is Section.BREAKING and seen.touched.upkeep is None
    return _SURE[Section.BREAKING] if seen.message.breaking or seen.typed is Section.BREAKING or announced else None


def _security(seen: _Evidence) -> Kind | None:
    said, upkeep, typed = seen.message.subject, seen.touched.upkeep, seen.typed
    if said[:1] in "Mm" and said.casefold().startswith(PRIVATE_FIX):
        return _SURE[Section.SECURITY]
    if typed is Section.SECURITY or (
        seen.scope in words.SECURITY_SCOPES and (typed is Section.FIXED or seen.kind in words.VAGUE_TYPES)
    ):
        return None if upkeep is Section.INTERNAL else _SURE[Section.SECURITY]
    if seen.touched.announced is Section.SECURITY and upkeep is None:
        return _SURE[Section.SECURITY]
    if not seen.bits & grave.SECURITY.bit or not grave.SECURITY.search(said):
        return None
    outside = typed in UPKEEP and typed is not Section.DEPENDENCIES
    return None if outside or upkeep in {Section.DOCUMENTATION, Section.INTERNAL} else _SURE[Section.SECURITY]


def _release(seen: _Evidence) -> Kind | None:
    code = seen.touched.classes - _RELEASE_FILES
    typed = seen.typed in _NEWS or seen.typed is Section.SECURITY
    if (typed and (code or not seen.touched.classes)) or seen.touched.announced:
        return None
    line = seen.text.strip("` ").replace("`", "") if "`" in seen.text else seen.text.strip()
    names = seen.kind == "release" or seen.message.sign == words.RELEASE_SIGN
    if (
        (
            names
            or patterns.VERSION.fullmatch(line)
            or seen.says(patterns.RELEASE, of=line)
            or (seen.scope in words.RELEASE_SCOPES and words.TYPES.get(seen.kind) is None)
        )
        and not (seen.touched.source and not (_DIGIT.search(line) or seen.says(patterns.RELEASE_WORDS, of=line)))
        and not seen.breaks
    ):
        empty = names or seen.scope not in words.SCOPES or not seen.is_dependency
        return Kind(Section.INTERNAL, sure=True, empty=empty)
    if seen.says(patterns.ROBOT, of=line):
        return _SURE[Section.DOCUMENTATION if seen.says(patterns.DOCUMENTATION, of=line) else Section.INTERNAL]
    if (seen.says(patterns.EMPTY, of=line) or set(line) == {"."}) and not (
        seen.typed and seen.touched.source and seen.message.scope
    ):
        return _SURE[Section.INTERNAL]
    return None


def _revert(seen: _Evidence) -> Kind | None:
    undone = undoing(seen.message)
    if undone is None:
        return None
    if not undone.quoted:
        # The words may describe the undone change, or the new one.
        return _SURE[seen.touched.upkeep or Section.CHANGED]
    inner = classify(undone.message, seen.touched)
    return inner if undone.again or inner.section in UPKEEP or inner.empty else _SURE[Section.REVERTED]


def _paths(seen: _Evidence) -> Kind | None:
    """Changes without code are upkeep, unless the author wrote news for readers: these name the section."""
    upkeep, announced = seen.touched.upkeep, seen.touched.announced
    news = seen.touched.noted and upkeep is Section.INTERNAL and seen.typed is not Section.INTERNAL
    if upkeep and not (news and seen.touched.classes - _NOTE_FILES and not seen.is_dependency):
        return _SURE[upkeep]
    return _SURE[announced] if announced else None


def _dependency(seen: _Evidence) -> Kind | None:
    if (seen.typed in _NEWS and seen.scope not in words.SCOPES) or seen.noted:
        return None
    is_declared = seen.typed is Section.DEPENDENCIES or words.SCOPES.get(seen.scope) is Section.DEPENDENCIES
    if not (is_declared or seen.is_dependency) or (seen.kind in _UNTYPED and seen.breaks):
        return None
    return _SURE[Section.DEPENDENCIES]


def _scoped(seen: _Evidence) -> Kind | None:
    section = _of_scope(seen.scope, seen.kind)
    return None if section is None or seen.noted or (seen.touched.source and seen.typed in _NEWS) else _SURE[section]


def _of_scope(scope: str, kind: str) -> Section | None:
    parts = [] if scope.isalnum() else _BETWEEN_SCOPES.split(scope)
    return next(filter(None, map(words.SCOPES.get, (scope, *parts[: 1 if kind else 2]))), None)


def _broken(seen: _Evidence) -> Kind | None:
    vague = seen.kind in words.VAGUE_TYPES
    if seen.typed in UPKEEP and not vague:
        return None
    if seen.scope == "msrv" or seen.breaks:
        return _SURE[Section.BREAKING]
    if vague or (seen.touched.classes and not seen.touched.source):
        return None
    # An upgrade guide asks readers to act. Added, fixed and deprecated things ask for nothing yet.
    guided = PathClass.UPGRADE_GUIDE in seen.touched.classes and seen.verb not in _ASKS_NOTHING
    gone = grave.REMOVED.match(seen.text) or (not seen.kind and (seen.says(grave.GONE) or guided))
    if not gone or grave.MENDS_BREAKING.match(seen.text) or seen.unnoticed:
        return None
    return _WORDED[Section.BREAKING]


def _typed(seen: _Evidence) -> Kind | None:
    section = seen.typed
    if seen.kind in words.VAGUE_TYPES and not seen.touched.source:
        return _SURE[Section.DOCUMENTATION if seen.says(patterns.DOCUMENTATION) else Section.INTERNAL]
    if section is None or section is Section.CHANGED or seen.kind in words.VAGUE_TYPES:
        return None
    if section is Section.INTERNAL and seen.noted:
        return None
    if section is Section.DEPRECATED and seen.verb is Section.REMOVED:
        return _WORDED[Section.BREAKING]
    deprecates = section is Section.ADDED and seen.verb is Section.DEPRECATED
    return _SURE[Section.DEPRECATED if deprecates else section]


def _worded_upkeep(seen: _Evidence) -> Kind | None:
    if seen.noted:
        return None
    if seen.first in words.DOCUMENTATION_VERBS or (seen.says(patterns.DOCUMENTATION) and not _about_code(seen)):
        return _WORDED[Section.DOCUMENTATION]
    if seen.verb is Section.ADDED and seen.touched.source and seen.says(patterns.COMMAND):
        return _WORDED[Section.ADDED]
    inside = seen.first in words.INTERNAL_VERBS or seen.says(patterns.INTERNAL) or seen.names_private
    return _WORDED[Section.INTERNAL] if inside else None


def _about_code(seen: _Evidence) -> bool:
    if seen.verb is not Section.FIXED and seen.says(patterns.AROUND_CODE):
        return False
    return seen.touched.source and PathClass.DOCUMENTATION not in seen.touched.classes and seen.verb is not None


def _worded(seen: _Evidence) -> Kind | None:
    section = seen.verb
    if section in {Section.DEPRECATED, Section.PERFORMANCE, Section.REVERTED}:
        return _WORDED[section]
    if section is not Section.ADDED and seen.says(patterns.PERFORMANCE):
        return _WORDED[Section.PERFORMANCE]
    if section is Section.REMOVED and seen.says(patterns.LEFTOVER):
        return _WORDED[Section.INTERNAL]
    public = section is Section.REMOVED and seen.says(patterns.PUBLIC_THING)
    unsure = section in {None, Section.CHANGED} or (section is Section.REMOVED and not public)
    if unsure and seen.says(patterns.FAULT):
        return _WORDED[Section.FIXED]
    if section is None and seen.says(patterns.NOVELTY):
        return _WORDED[Section.ADDED]
    return _WORDED[section] if section else None


def _without_spaces(seen: _Evidence) -> Kind | None:
    if seen.text.isascii():
        return None
    return next((_WORDED[of] for of, row in words.WORDS_WITHOUT_SPACES.items() if re.search(row, seen.text)), None)


def _first(text: str) -> str:
    word = text.partition(" ")[0]
    if not word.isalpha():
        match = _WORD.match(text.lstrip("`*_\"'"))
        word = match[0].replace("\u2019", "'") if match else ""
    word = word.casefold()
    return "ensure" if word in {"make", "be"} and _MAKE_SURE.match(text) else word


def _bits_of(*tables: Table) -> int:
    return sum(table.bit for table in tables)


#: The evidence on which rules before the one of types may answer, for new things, fixes and speed, and for other types.
_NEWS_MATTER: Final = (
    _BREAKS | _SECURES | _QUOTES | _FILED | _GONE | _DEPRECATES | _bits_of(grave.SECURITY, grave.BREAKING, grave.GONE)
)
_RELEASE_MATTERS: Final = _RELEASES | _DOT | _bits_of(patterns.RELEASE, patterns.ROBOT, patterns.EMPTY)
_TYPES_MATTER: Final = _NEWS_MATTER | _RELEASE_MATTERS | _DEPENDS | _SCOPED | _bits_of(patterns.DEPENDENCY)
#: In order: marks of the author, then files, then type and scope, then words. Each rule has the evidence that it needs:
#: one of these bits.
_RULES: Final[tuple[tuple[int, Callable[[_Evidence], Kind | None]], ...]] = (
    (_BREAKS, _marked_breaking),
    (_SECURES | _QUOTES | _bits_of(grave.SECURITY), _security),
    (_RELEASE_MATTERS, _release),
    (_QUOTES, _revert),
    (_FILED, _paths),
    (_DEPENDS | _bits_of(patterns.DEPENDENCY), _dependency),
    (_SCOPED, _scoped),
    (_GONE | _bits_of(grave.BREAKING, grave.GONE), _broken),
    (_TYPED, _typed),
    (
        _UPKEEP_VERB | _PRIVATE | _bits_of(patterns.DOCUMENTATION, patterns.INTERNAL, patterns.COMMAND),
        _worded_upkeep,
    ),
    (_VERB | _bits_of(patterns.PERFORMANCE, patterns.FAULT, patterns.NOVELTY), _worded),
    (_FOREIGN, _without_spaces),
)
