"""Titles: one line of plain text that says what changed, never just "Update"."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from contentsvc_core.content.changelog.sections import Section
from contentsvc_core.content.changelog.selection import Change
from contentsvc_core.content.changelog.wording import counted, cut_at_word, enumerated, masked_line
from contentsvc_core.webhooks.events import Release

TITLE_LIMIT: Final = 120
_TAG_LIMIT: Final = 40
_LEAD_ROOM: Final = 40
#: So many kinds of change are counted one by one; what is beyond is counted together.
_KINDS: Final = 3
_RELEASES_NAMED: Final = 3

_DEPENDENCY: Final = "dependency"
_NOUNS: Final[dict[Section | str, tuple[str, str]]] = {
    Section.BREAKING: ("breaking change", "breaking changes"),
    Section.SECURITY: ("security change", "security changes"),
    Section.FEATURES: ("feature", "features"),
    Section.FIXES: ("fix", "fixes"),
    Section.PERFORMANCE: ("performance improvement", "performance improvements"),
    Section.DOCUMENTATION: ("documentation change", "documentation changes"),
    Section.OTHER: ("other change", "other changes"),
    _DEPENDENCY: ("dependency update", "dependency updates"),
}
#: What a title needs to say because no heading stands above it, and the beginnings that say it already.
_PREFIXES: Final = {
    Section.BREAKING: ("Breaking", re.compile(r"break", re.IGNORECASE)),
    Section.SECURITY: ("Security", re.compile(r"secur", re.IGNORECASE)),
    Section.FIXES: ("Fix", re.compile(r"(?:hot|bug)?fix(?:es|ed|ing)?\b", re.IGNORECASE)),
    Section.DOCUMENTATION: ("Docs", re.compile(r".*\bdoc(?:s|ument|umentation)?\b", re.IGNORECASE)),
}
_BETWEEN_WORDS: Final = re.compile(r"[\W_]+")
_EMPTY_WORDS: Final = frozenset({"release", "version", "v", "ver", "rel", "the"})


def changes_title(changes: Sequence[Change], releases: Sequence[Release] = ()) -> str:
    """Say what changed: the most important change, and how many others of each kind.

    Args:
        changes: In the order in which they are printed, at least one if there are no releases.
        releases: The releases of the window, oldest first; they are named in front.
    """
    named = _releases_named(releases)
    if not changes:
        return _title("", f"{named} released", "", TITLE_LIMIT)
    start = f"{named}: " if named else ""
    room = TITLE_LIMIT - len(start)
    lead = _headline(changes[0])
    if len(changes) == 1:
        return _title(start, lead, "", room)
    counts = Counter(_kind(change) for change in changes[1:])
    # Counter keeps the order in which the kinds came first, which is the order of the sections.
    kinds = list(counts.items())
    parts = [_counted_kind(kind, number, more=kind == _kind(changes[0])) for kind, number in kinds]
    tail = _tail(parts)
    if len(parts) > _KINDS or room - len(tail) < _LEAD_ROOM:
        shown = min(_KINDS - 1, len(parts) - 1)
        rest = sum(number for _, number in kinds[shown:])
        tail = _tail([*parts[:shown], counted(rest, "more change", "more changes")])
    if room - len(tail) < _LEAD_ROOM:
        tail = _tail([counted(len(changes) - 1, "more change", "more changes")])
    return _title(start, lead, tail, room)


def release_title(release: Release, repository: str) -> str:
    """Name a release: the repository and the tag, and what the author's title adds to them."""
    project = masked_line(repository.rpartition("/")[2], _TAG_LIMIT)
    tag = masked_line(release.tag_name, _TAG_LIMIT)
    name = _plain(masked_line(release.name or "", TITLE_LIMIT))
    if not _adds(name, tag, project):
        title = (tag if _mentions(tag, project) else f"{project} {tag}") if tag else f"New release of {project}"
    elif tag and not _mentions(name, tag):
        title = f"{project} {tag}: {name}"
    else:
        title = name if _mentions(name, project) else f"{project} {name}"
    mark = " (pre-release)" if release.prerelease and "pre" not in title.casefold() else ""
    return _title("", title.strip(), mark, TITLE_LIMIT)


def released_name(release: Release) -> str:
    """Give what a release's title adds to its tag, plain, ``""`` for nothing."""
    tag = masked_line(release.tag_name, _TAG_LIMIT)
    name = masked_line(release.name or "", TITLE_LIMIT)
    return name if _adds(name, tag, "") else ""


def _title(start: str, lead: str, tail: str, room: int) -> str:
    # Masked once more: pieces that were harmless alone may have met.
    return masked_line(_plain(f"{start}{cut_at_word(lead, room - len(tail))}{tail}"), TITLE_LIMIT) or "Changes"


def _headline(change: Change) -> str:
    text = _plain(change.text)
    scope = _plain(change.scope)
    place = f" ({scope})" if scope and not change.dependency and scope.casefold() not in text.casefold() else ""
    prefix, said = _PREFIXES.get(change.section, ("", None))
    if said is None or said.match(text):
        return f"{text}{place}"
    return f"{prefix}: {_plain(change.continuation)}{place}"


def _plain(text: str) -> str:
    return text.replace("`", "")


def _kind(change: Change) -> Section | str:
    return _DEPENDENCY if change.dependency else change.section


def _counted_kind(kind: Section | str, number: int, *, more: bool) -> str:
    one, many = _NOUNS[kind]
    if not more:
        return counted(number, one, many)
    # "1 more change", not "1 more other change".
    return counted(number, f"more {one.removeprefix('other ')}", f"more {many.removeprefix('other ')}")


def _tail(parts: list[str]) -> str:
    return f", plus {enumerated(parts)}"


def _releases_named(releases: Sequence[Release]) -> str:
    tags = [tag for release in releases if (tag := masked_line(release.tag_name, _TAG_LIMIT // 2))]
    if len(tags) > _RELEASES_NAMED:
        return f"{counted(len(tags), 'release', 'releases')} up to {tags[-1]}"
    return enumerated(tags) or ("New release" if releases else "")


def _adds(name: str, tag: str, project: str) -> bool:
    return not {*_words(tag), *_words(project), *_EMPTY_WORDS}.issuperset(_words(name))


def _mentions(text: str, part: str) -> bool:
    return bool(_words(part)) and f" {' '.join(_words(part))} " in f" {' '.join(_words(text))} "


def _words(text: str) -> list[str]:
    """Give the words of a name or a tag; a version's ``v`` counts for nothing, names often leave it out."""
    return [re.sub(r"\Av(?=[0-9])", "", word) for word in _BETWEEN_WORDS.split(text.casefold()) if word]
