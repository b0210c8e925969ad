"""What a change is: its section, and whether readers are told of it. Evidence first, words last."""

import re
from collections.abc import Callable
from enum import Enum
from functools import cache, lru_cache
from typing import Final, final

from attrs import Factory, field, frozen

from contentsvc_core.content.changelog import grave, patterns, words
from contentsvc_core.content.changelog.paths import NOTHING, PathClass, Touched
from contentsvc_core.content.changelog.read import Message
from contentsvc_core.content.changelog.reverts import undoing
from contentsvc_core.content.sections import Section

#: Sections that are counted in one closing line unless the options list them.
UPKEEP: Final = frozenset({Section.DOCUMENTATION, Section.DEPENDENCIES, Section.INTERNAL})
#: Sections whose changes break something where a release's number says that something breaks.
_MAY_BREAK: Final = frozenset({Section.ADDED, Section.CHANGED, Section.REMOVED, Section.FIXED, Section.OTHER})
_ASKS_NOTHING: Final = frozenset({Section.ADDED, Section.DEPRECATED, Section.FIXED})
PRIVATE_FIX: Final = "merge commit from fork"

_WORD: Final = re.compile(r"[\w'\u2019+-]+")
_DEPENDENCY_VERB: Final = re.compile(
    r"\A(?:bump|update|upgrade|pin|downgrade|lock|weekly|npm|yarn|pnpm|composer|bundle|cargo|go get|\[pre-commit|add"
    r"|remove|unpin|regenerate|refresh|semver|.*pre-?commit)",
    re.IGNORECASE,
)
_MAKE_SURE: Final = re.compile(r"(?:make|be) sure\b", re.IGNORECASE)
_PRIVATE_NAME: Final = re.compile(r"(?:^|[\s`(])_(?!_)\w+(?:\.py)?\b|\b\w+\._(?!_)\w+")


@final
class Breaks(Enum):
    """What the number of a release says about breaking changes."""

    #: It promises none, or there is no release.
    NOT = "not"
    #: ``0.8.0``: projects without a stable release break things here.
    EARLY = "early"
    #: ``3.0.0``.
    MAJOR = "major"


@final
@frozen(kw_only=True)
class Kind:
    """What a change is."""

    section: Section
    #: Whether type, sign, mark or news fragment say so: words alone may err.
    sure: bool
    #: Whether it only makes a release or says nothing at all.
    empty: bool = False


@final
@frozen(kw_only=True)
class _Evidence:
    message: Message
    #: The subject without what stands before it.
    text: str
    #: Lower case.
    scope: str
    touched: Touched
    #: The section that the author names.
    typed: Section | None = field(
        init=False, default=Factory(lambda self: _typed_section(self.message), takes_self=True)
    )

    @property
    def kind(self) -> str:
        return self.message.kind


def _typed_section(message: Message) -> Section | None:
    """Return the type's section, then the sign's."""
    if section := words.TYPES.get(message.kind):
        return section
    return None if message.kind or message.sign in words.VAGUE_SIGNS else words.GITMOJI.get(message.sign)


def classify(message: Message, touched: Touched = NOTHING, *, breaks: Breaks = Breaks.NOT) -> Kind:
    """Return what a change is; the first rule that knows decides.

    Args:
        message: The message that the entry is written from.
        touched: What its files say.
        breaks: What the number of its release says.
    """
    kind = _classified(message, touched)
    if breaks is Breaks.NOT:
        return kind
    moved = kind.section in {Section.CHANGED, Section.DEPENDENCIES} and touched.source
    if moved and grave.NEW_SERIES.match(message.description) and not _unnoticed(message.description):
        # The code had to follow; so have readers who use the same dependency.
        return _sure(Section.BREAKING)
    return Kind(section=Section.BREAKING, sure=False) if _breaks_in(breaks, message, kind) else kind


def _breaks_in(breaks: Breaks, message: Message, kind: Kind) -> bool:
    """Whether a change breaks something, where the number of its release says that something does."""
    text = message.description
    typed = words.TYPES.get(message.kind) in {Section.ADDED, Section.FIXED, Section.PERFORMANCE}
    if kind.section not in _MAY_BREAK or typed or grave.MENDS_BREAKING.match(text):
        return False
    if _unnoticed(text) or grave.MESSAGE.search(text):
        return False
    stable = breaks is Breaks.MAJOR and grave.BREAKING_IN_STABLE.search(text)
    return stable or grave.BREAKING_IN_MAJOR.search(text)


def _classified(message: Message, touched: Touched) -> Kind:
    seen = _Evidence(message=message, text=message.description, scope=(message.scope or "").casefold(), touched=touched)
    for rule in _RULES:
        if (kind := rule(seen)) is not None:
            return kind
    return Kind(section=Section.CHANGED if touched.source else Section.OTHER, sure=False)


def is_dependency(text: str) -> bool:
    """Whether a subject only moves a dependency to another version."""
    line = text.strip().rstrip(".")
    return bool(_DEPENDENCY_VERB.match(line)) and any(pattern.fullmatch(line) for pattern in patterns.DEPENDENCY)


@cache
def _sure(section: Section) -> Kind:
    return Kind(section=section, sure=True)


def _marked_breaking(seen: _Evidence) -> Kind | None:
    # A commit that touches fragments alone words them anew.
    announced = seen.touched.announced is Section.BREAKING and seen.touched.upkeep is None
    marked = seen.message.breaking or seen.typed is Section.BREAKING or announced
    return _sure(Section.BREAKING) if marked else None


def _release(seen: _Evidence) -> Kind | None:
    """What only makes a release: never a typed feature or fix, nor what touches code without a version's number."""
    code = seen.touched.classes - {PathClass.MANIFEST, PathClass.CHANGELOG, PathClass.LOCK, PathClass.DOCUMENTATION}
    typed = seen.typed in {Section.ADDED, Section.FIXED, Section.PERFORMANCE, Section.SECURITY}
    if (typed and (code or not seen.touched.classes)) or seen.touched.announced:
        return None
    line = seen.text.strip("` ").replace("`", "")
    if _breaks(seen.text) or (
        seen.touched.source and not (any(map(str.isdigit, line)) or patterns.RELEASE_WORDS.fullmatch(line))
    ):
        return _nothing(seen)
    names = seen.kind == "release" or seen.message.sign == words.RELEASE_SIGN
    if names or patterns.RELEASE.fullmatch(line) or (seen.scope == "release" and words.TYPES.get(seen.kind) is None):
        return Kind(section=Section.INTERNAL, sure=True, empty=names or _makes_release(seen, line))
    return _nothing(seen)


def _nothing(seen: _Evidence) -> Kind | None:
    """What a machine wrote, and what says nothing."""
    line = seen.text.strip("` ").replace("`", "")
    if patterns.ROBOT.fullmatch(line):
        return _sure(Section.DOCUMENTATION if patterns.DOCUMENTATION.search(line) else Section.INTERNAL)
    if patterns.EMPTY.fullmatch(line) and not (seen.typed and seen.touched.source and seen.message.scope):
        return _sure(Section.INTERNAL)
    return None


def _makes_release(seen: _Evidence, line: str) -> bool:
    return not is_dependency(line) or seen.scope not in words.SCOPES


def _security(seen: _Evidence) -> Kind | None:
    said = seen.message.subject
    if said.casefold().startswith(PRIVATE_FIX):
        return _sure(Section.SECURITY)
    fix = seen.typed in {Section.FIXED, Section.SECURITY} or seen.kind in words.VAGUE_TYPES
    if fix and (seen.scope in words.SECURITY_SCOPES or seen.typed is Section.SECURITY):
        return None if seen.touched.upkeep is Section.INTERNAL else _sure(Section.SECURITY)
    if seen.touched.announced is Section.SECURITY and seen.touched.upkeep is None:
        return _sure(Section.SECURITY)
    if not grave.SECURITY.search(said):
        return None
    outside = seen.typed in UPKEEP and seen.typed is not Section.DEPENDENCIES
    return (
        None if outside or seen.touched.upkeep in {Section.DOCUMENTATION, Section.INTERNAL} else _sure(Section.SECURITY)
    )


def _revert(seen: _Evidence) -> Kind | None:
    undone = undoing(seen.message)
    if undone is None:
        return None
    if not undone.quoted:
        # It may say what is undone, or what is done instead.
        return _sure(seen.touched.upkeep or Section.CHANGED)
    inner = classify(undone.message, seen.touched)
    return inner if undone.again or inner.section in UPKEEP or inner.empty else _sure(Section.REVERTED)


def _paths(seen: _Evidence) -> Kind | None:
    """What touches no code is upkeep, whatever its words say; news that the author wrote for readers outweigh that."""
    upkeep = seen.touched.upkeep
    if upkeep is None:
        return None
    if seen.touched.noted and upkeep is Section.INTERNAL and seen.typed is not Section.INTERNAL:
        code = seen.touched.classes - {PathClass.CHANGELOG, PathClass.FRAGMENT, PathClass.DOCUMENTATION, PathClass.TEST}
        if code and not is_dependency(seen.text):
            return None
    return _sure(upkeep)


def _announced(seen: _Evidence) -> Kind | None:
    return _sure(seen.touched.announced) if seen.touched.announced else None


def _dependency(seen: _Evidence) -> Kind | None:
    if seen.typed in {Section.ADDED, Section.FIXED, Section.PERFORMANCE} and seen.scope not in words.SCOPES:
        return None
    if seen.kind in {"", *words.VAGUE_TYPES} and _breaks(seen.text):
        return None
    if seen.touched.noted and seen.touched.source:
        # The author wrote news for readers about it.
        return None
    if seen.typed is Section.DEPENDENCIES or words.SCOPES.get(seen.scope) is Section.DEPENDENCIES:
        return _sure(Section.DEPENDENCIES)
    return _sure(Section.DEPENDENCIES) if is_dependency(seen.text) else None


def _scoped(seen: _Evidence) -> Kind | None:
    """`fix(docs)`, `feat(ci)`, `docs: …`: the part of the project outweighs the type, unless code is touched."""
    if not seen.scope or (seen.touched.source and seen.typed in {Section.ADDED, Section.FIXED, Section.PERFORMANCE}):
        return None
    scopes = (seen.scope, *re.split(r"[/,. ]+", seen.scope))
    for scope in scopes[: 2 if seen.kind else 3]:
        if section := words.SCOPES.get(scope):
            return None if seen.touched.noted and seen.touched.source else _sure(section)
    return None


def _broken(seen: _Evidence) -> Kind | None:
    if seen.typed in UPKEEP and seen.kind not in words.VAGUE_TYPES:
        return None
    if seen.scope == "msrv" or _breaks(seen.text):
        return _sure(Section.BREAKING)
    if seen.kind in words.VAGUE_TYPES or (seen.touched.classes and not seen.touched.source):
        return None
    gone = grave.REMOVED.match(seen.text) or (not seen.kind and grave.GONE.search(seen.text))
    gone = gone or (_in_upgrade_guide(seen) and not seen.kind)
    if not gone or grave.MENDS_BREAKING.match(seen.text) or _unnoticed(seen.text):
        return None
    return Kind(section=Section.BREAKING, sure=False)


def _in_upgrade_guide(seen: _Evidence) -> bool:
    """Whether the author tells readers what they have to do; new, mended and deprecated things ask for nothing yet."""
    verb = words.VERBS.get(_first(seen.text))
    return PathClass.UPGRADE_GUIDE in seen.touched.classes and verb not in _ASKS_NOTHING


def _unnoticed(text: str) -> bool:
    """Whether words are about what no reader has used."""
    inside = grave.UNNOTICED.search(text) or patterns.INTERNAL.search(text) or patterns.DOCUMENTATION.search(text)
    return inside or _names_private(text)


@lru_cache(maxsize=256)
def _breaks(text: str) -> bool:
    """Whether words say that something breaks, and not that a breakage is mended."""
    folded = text.casefold()
    if not any(stem in folded for stem in grave.BREAKING_STEMS):
        return False
    return grave.BREAKING.search(text) and grave.MENDS_BREAKING.match(text) is None


def _typed(seen: _Evidence) -> Kind | None:
    section = seen.typed
    if section is None or seen.kind in words.VAGUE_TYPES:
        return None
    if section is Section.CHANGED or (section is Section.INTERNAL and seen.touched.noted and seen.touched.source):
        # The author calls it a change of any kind, or wrote news for readers about it.
        return None
    if section is Section.DEPRECATED and words.VERBS.get(_first(seen.text)) is Section.REMOVED:
        # What was deprecated is gone.
        return Kind(section=Section.BREAKING, sure=False)
    deprecates = section is Section.ADDED and words.VERBS.get(_first(seen.text)) is Section.DEPRECATED
    return _sure(Section.DEPRECATED if deprecates else section)


def _vague(seen: _Evidence) -> Kind | None:
    """A chore is internal unless it touches code."""
    if seen.kind in words.VAGUE_TYPES and not seen.touched.source:
        if patterns.DOCUMENTATION.search(seen.text):
            return _sure(Section.DOCUMENTATION)
        return _sure(Section.INTERNAL)
    return None


def _worded_upkeep(seen: _Evidence) -> Kind | None:
    """What the words say of texts around the code and of work inside; news for readers outweigh them."""
    text, first = seen.text, _first(seen.text)
    if seen.touched.noted and seen.touched.source:
        return None
    if first in words.DOCUMENTATION_VERBS or (patterns.DOCUMENTATION.search(text) and not _about_code(seen)):
        return Kind(section=Section.DOCUMENTATION, sure=False)
    if words.VERBS.get(first) is Section.ADDED and seen.touched.source and patterns.COMMAND.search(text):
        return Kind(section=Section.ADDED, sure=False)
    inside = first in words.INTERNAL_VERBS or patterns.INTERNAL.search(text) or _names_private(text)
    return Kind(section=Section.INTERNAL, sure=False) if inside else None


def _worded(seen: _Evidence) -> Kind | None:
    """What the verb says, else words of faults and of new things."""
    text, first = seen.text, _first(seen.text)
    section = words.VERBS.get(first)
    if section in {Section.DEPRECATED, Section.PERFORMANCE, Section.REVERTED}:
        return Kind(section=section, sure=False)
    if patterns.PERFORMANCE.search(text) and section is not Section.ADDED:
        return Kind(section=Section.PERFORMANCE, sure=False)
    if section is Section.REMOVED and not patterns.PUBLIC_THING.search(text) and patterns.FAULT.search(text):
        section = Section.FIXED
    if section is not None and not (section is Section.CHANGED and patterns.FAULT.search(text)):
        return Kind(section=section, sure=False)
    if patterns.FAULT.search(text):
        return Kind(section=Section.FIXED, sure=False)
    if patterns.NOVELTY.search(text):
        return Kind(section=Section.ADDED, sure=False)
    return Kind(section=section, sure=False) if section else None


def _about_code(seen: _Evidence) -> bool:
    """Whether words like "link" or "changelog" name a feature of code that is touched."""
    section = words.VERBS.get(_first(seen.text))
    if section is not Section.FIXED and patterns.AROUND_CODE.search(seen.text):
        return False
    return seen.touched.source and PathClass.DOCUMENTATION not in seen.touched.classes and section is not None


def _names_private(text: str) -> bool:
    return "_" in text and _PRIVATE_NAME.search(text) is not None


def _first(text: str) -> str:
    if _MAKE_SURE.match(text):
        return "ensure"
    found = _WORD.match(text.lstrip("`*_\"'"))
    return found[0].casefold().replace("\u2019", "'") if found else ""


#: In order: marks of the author, then files, then type and scope, then words.
_RULES: Final[tuple[Callable[[_Evidence], Kind | None], ...]] = (
    _marked_breaking,
    _security,
    _release,
    _revert,
    _paths,
    _announced,
    _dependency,
    _scoped,
    _broken,
    _typed,
    _vague,
    _worded_upkeep,
    _worded,
)
