"""Titles: one line of plain text that says what changed, never just "Update"."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from contentsvc_core.content.changelog.importance import importance
from contentsvc_core.content.changelog.selection import Change
from contentsvc_core.content.changelog.wording import cut_at_word, masked_line
from contentsvc_core.content.phrases import Phrasebook
from contentsvc_core.content.sections import Section
from contentsvc_core.webhooks.events import Release

TITLE_LIMIT: Final = 120
_TAG_LIMIT: Final = 40
_LEAD_ROOM: Final = 40
#: So many kinds of change are counted one by one; what is beyond is counted together.
_KINDS: Final = 3
_RELEASES_NAMED: Final = 3
#: In characters: all tags that are named; less room than this is none for a change.
_NAMES_ROOM: Final = 45
_LEAST_ROOM: Final = 12
_SAYS_PRE: Final = re.compile(r"(?<![^\W\d_])pre(?:-?release)?(?![^\W\d_])", re.IGNORECASE)

#: Beginnings that say already what a title would say because no heading stands above it.
_SAID: Final = {
    Section.BREAKING: re.compile(r"break", re.IGNORECASE),
    Section.SECURITY: re.compile(r"secur", re.IGNORECASE),
    Section.FIXED: re.compile(r"(?:hot|bug)?fix(?:es|ed|ing)?\b", re.IGNORECASE),
    Section.DOCUMENTATION: re.compile(r".*\bdoc(?:s|ument|umentation)?\b", re.IGNORECASE),
}
#: A kind of change: its section, and whether it is an update of a dependency.
_Kind = tuple[Section, bool]
_BETWEEN_WORDS: Final = re.compile(r"[\W_]+")
_EMPTY_WORDS: Final = frozenset({"release", "version", "v", "ver", "rel", "the"})


def changes_title(changes: Sequence[Change], named: str, phrases: Phrasebook) -> str:
    """Say what changed: the most important change, and how many others of each kind.

    Args:
        changes: In the order in which they are printed, at least one if there are no releases.
        named: The releases or the projects that have these changes, or ``""``; they stand in front.
        phrases: In which language.
    """
    if not changes:
        return plain_title("", phrases.released.format(names=named), "", phrases)
    start = f"{named}: " if named else ""
    room = TITLE_LIMIT - len(start)
    first = min(changes, key=importance)
    lead = headline(first, phrases)
    if len(changes) == 1:
        return plain_title(start, lead, "", phrases)
    counts = Counter(_kind(change) for change in changes if change is not first)
    # Counter keeps the order in which the kinds came first, which is the order of the sections.
    kinds = list(counts.items())
    parts = [_counted_kind(kind, number, phrases, more=kind == _kind(first)) for kind, number in kinds]
    tail = _tail(parts, phrases)
    if len(parts) > _KINDS or room - len(tail) < _LEAD_ROOM:
        shown = min(_KINDS - 1, len(parts) - 1)
        rest = sum(number for _, number in kinds[shown:])
        tail = _tail([*parts[:shown], phrases.count(rest, phrases.more_changes)], phrases)
    if room - len(tail) < _LEAD_ROOM:
        tail = _tail([phrases.count(len(changes) - 1, phrases.more_changes)], phrases)
    return plain_title(start, lead, tail, phrases)


def release_title(release: Release, repository: str, phrases: Phrasebook) -> str:
    """Name a release: the repository and the tag, and what the author's title adds to them."""
    project = masked_line(repository.rpartition("/")[2], _TAG_LIMIT)
    tag = masked_line(release.tag_name, _TAG_LIMIT)
    name = plain(masked_line(release.name or "", TITLE_LIMIT))
    if not _adds(name, tag, project):
        title = (
            (tag if _mentions(tag, project) else f"{project} {tag}")
            if tag
            else phrases.new_release_of.format(project=project)
        )
    elif tag and not _mentions(name, tag):
        title = f"{project} {tag}: {name}"
    else:
        title = name if _mentions(name, project) else f"{project} {name}"
    mark = f" ({phrases.pre_release})" if release.prerelease and not _SAYS_PRE.search(title) else ""
    return plain_title("", title.strip(), mark, phrases)


def released_name(release: Release) -> str:
    """Give what a release's title adds to its tag, plain, ``""`` for nothing."""
    tag = masked_line(release.tag_name, _TAG_LIMIT)
    name = masked_line(release.name or "", TITLE_LIMIT)
    return name if _adds(name, tag, "") else ""


def plain_title(start: str, lead: str, tail: str, phrases: Phrasebook) -> str:
    """Join a title of 1 to 120 characters, in one line of plain text; the lead is cut where it is too long."""
    room = TITLE_LIMIT - len(start) - len(tail)
    # Masked once more: pieces that were harmless alone may have met.
    line = f"{start}{cut_at_word(lead, room)}{tail}" if room >= _LEAST_ROOM or not start else start.rstrip(": ")
    return masked_line(plain(line), TITLE_LIMIT) or phrases.untitled


def headline(change: Change, phrases: Phrasebook) -> str:
    """Say one change where no heading stands above it: plain, with the part of the code that it names."""
    text = plain(change.text)
    scope = plain(change.scope)
    place = f" ({scope})" if scope and not change.dependency and scope.casefold() not in text.casefold() else ""
    said = _SAID.get(change.section)
    if said is None or said.match(text):
        return f"{text}{place}"
    return f"{phrases.title_leads[change.section].format(text=plain(change.continuation))}{place}"


def plain(text: str) -> str:
    """Take the signs of code off a text that is to stand outside Markdown."""
    return text.replace("`", "")


def _kind(change: Change) -> _Kind:
    return change.section, change.dependency


def _counted_kind(kind: _Kind, number: int, phrases: Phrasebook, *, more: bool) -> str:
    section, dependency = kind
    if dependency:
        return phrases.count(number, phrases.more_dependency if more else phrases.dependency)
    return phrases.count(number, (phrases.more_kinds if more else phrases.kinds)[section])


def _tail(parts: list[str], phrases: Phrasebook) -> str:
    return phrases.plus.format(parts=phrases.enumerated(parts))


def short_tag(release: Release) -> str:
    """Give a release's tag as a title names it among others."""
    return masked_line(release.tag_name, _TAG_LIMIT // 2)


def marked_tag(release: Release, phrases: Phrasebook) -> str:
    """Give a release's tag, plain, and that it is a pre-release where it is one; ``""`` without a tag."""
    tag = plain(short_tag(release))
    return f"{tag} ({phrases.pre_release})" if tag and release.prerelease else tag


def counted_releases(releases: Iterable[Release], phrases: Phrasebook) -> list[str]:
    """Count releases and pre-releases, each with its noun; nothing of what there is none of."""
    kinds = Counter(release.prerelease for release in releases)
    counted = ((kinds[False], phrases.release_count), (kinds[True], phrases.pre_release_count))
    return [phrases.count(number, phrase) for number, phrase in counted if number]


def releases_named(releases: Sequence[Release], project: str, phrases: Phrasebook) -> str:
    """Name the releases of one repository, oldest first: each one, or how many up to the last; ``""`` for none."""
    named = [tag for release in releases if (tag := marked_tag(release, phrases))]
    if len(named) > _RELEASES_NAMED or sum(map(len, named)) > _NAMES_ROOM:
        count = phrases.enumerated(counted_releases(releases, phrases))
        told = phrases.releases_up_to.format(releases=count, tag=named[-1])
        return f"{project}, {told}"
    if named:
        told = phrases.enumerated(named)
        # Some tags name their project: `kettle-v1.2.0`.
        return told if not project or _mentions(told, project) else f"{project} {told}"
    return phrases.new_release_of.format(project=project) if releases else ""


def _adds(name: str, tag: str, project: str) -> bool:
    return not {*_words(tag), *_words(project), *_EMPTY_WORDS}.issuperset(_words(name))


def _mentions(text: str, part: str) -> bool:
    return bool(_words(part)) and f" {' '.join(_words(part))} " in f" {' '.join(_words(text))} "


def _words(text: str) -> list[str]:
    """Give the words of a name or a tag; a version's ``v`` counts for nothing, names often leave it out."""
    return [re.sub(r"\Av(?=[0-9])", "", word) for word in _BETWEEN_WORDS.split(text.casefold()) if word]
