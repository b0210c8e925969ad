"""Which changes of the pushes a reader is told about, each exactly once."""

import re
from collections.abc import Iterable, Sequence
from typing import Final, final

from attrs import evolve, field, frozen

from contentsvc_core.content.changelog.conventional import Message, parse
from contentsvc_core.content.changelog.options import ChangelogOptions
from contentsvc_core.content.changelog.people import authors
from contentsvc_core.content.changelog.reverts import Entry, surviving, undoing
from contentsvc_core.content.changelog.sections import (
    is_dependency_update,
    is_hidden,
    kind_of,
    label_of,
    scope_of,
    section_of,
)
from contentsvc_core.content.changelog.wording import sentence, without_period
from contentsvc_core.content.phrases import ENGLISH
from contentsvc_core.content.sections import Section
from contentsvc_core.webhooks.events import Author, Commit, Push

_MERGE: Final = re.compile(
    r"Merge (?:remote-tracking |remote )?(?:branch|branches|tag|tags|commit|commits) (?:['\"]|\S+ (?:into|of) \S+\Z)"
    r"|Merge pull request (?:#[0-9]|['\"])|Merged in \S+ \(pull request #"
)
_MERGED_NUMBER: Final = re.compile(r"Merge pull request #([0-9]{1,10})\b")
#: Another forge writes the title into the subject: ``Merge pull request 'title' (#12) from a/b into c``.
_MERGED_TITLE: Final = re.compile(r"Merge pull request '(.+)' \(#([0-9]{1,10})\) from ")


@final
@frozen(kw_only=True)
class Change:
    """One entry of a changelog."""

    section: Section
    #: What stands in bold before it: a scope, a type, or both; ``""`` for neither.
    label: str
    #: The part of the code that it names, ``""`` for none and for one that its heading names.
    scope: str
    #: Its one line, plain and not escaped, begun like a sentence, without its period.
    text: str
    #: The same as the author began it: to stand after a colon.
    continuation: str
    #: What the breaking footers say.
    notes: tuple[str, ...] = field(converter=tuple)
    #: Pull requests and issues, without ``#``.
    numbers: tuple[str, ...] = field(converter=tuple)
    #: The commits that made it, oldest first.
    commits: tuple[Commit, ...] = field(converter=tuple)
    #: Everybody who wrote one of the commits.
    authors: tuple[Author, ...] = field(converter=tuple)
    #: Whether it only moves a dependency to another version.
    dependency: bool
    #: The type in its usual spelling, ``""`` without one.
    kind: str


@final
@frozen(kw_only=True)
class _Candidate:
    commit: Commit
    message: Message


def reported_changes(
    pushes: Iterable[Push], options: ChangelogOptions, no_message: str = ENGLISH.no_message
) -> tuple[Change, ...]:
    """Choose the changes to report, in the order in which they came.

    Left out are commits that came before (not distinct, or the same id again), merges, reverts with what they revert,
    and what the options hide. Changes that would read the same are one change; ``no_message`` stands for an empty one.
    """
    candidates = _candidates(pushes)
    entries = [Entry(sha=candidate.commit.id, message=candidate.message) for candidate in candidates]
    groups: dict[tuple[str, str, str], list[_Candidate]] = {}
    for place in surviving(entries):
        candidate = candidates[place]
        if not is_hidden(candidate.message, options):
            message = candidate.message
            key = (message.kind, (message.scope or "").casefold(), _text(message))
            groups.setdefault(key, []).append(candidate)
    return tuple(_change(group, no_message) for group in groups.values())


def _candidates(pushes: Iterable[Push]) -> list[_Candidate]:
    """Read the commits that came for the first time, without the merges that only bring others along."""
    seen: set[str] = set()
    kept: list[_Candidate] = []
    merges: list[_Candidate] = []
    for push in pushes:
        new = [_Candidate(commit=commit, message=parse(commit.message)) for commit in push.commits if commit.distinct]
        # What a merge brought stands beside it, unless it had been pushed before on a branch of its own: then the
        # pull request's title is all that tells of it.
        alone = all(_is_merge(candidate.message) for candidate in new)
        for candidate in new:
            sha = candidate.commit.id.casefold()
            if sha in seen:
                continue
            if sha:
                seen.add(sha)
            if not _is_merge(candidate.message):
                kept.append(candidate)
                continue
            titled = evolve(candidate, message=_merged(candidate.message))
            merges.append(titled)
            if alone and titled.message is not candidate.message:
                kept.append(titled)
    return kept or merges


def _is_merge(message: Message) -> bool:
    return _MERGE.match(message.subject) is not None


def _merged(message: Message) -> Message:
    """Read a merged pull request's title as the message; a merge that names no title is given back as it is."""
    if named := _MERGED_TITLE.match(message.subject):
        title, number = named[1], named[2]
    elif numbered := _MERGED_NUMBER.match(message.subject):
        title, number = message.body.strip().partition("\n")[0], numbered[1]
    else:
        return message
    if not title.strip():
        return message
    read = parse(title)
    return evolve(
        read,
        numbers=tuple(dict.fromkeys((*read.numbers, number))),
        breaking=read.breaking or message.breaking,
        breaking_notes=message.breaking_notes,
        footers=message.footers,
    )


def _text(message: Message) -> str:
    """Give a change's line: the author's words, begun with a capital where they follow the convention."""
    words = _words(message)
    return sentence(words) if message.type else words


def _words(message: Message) -> str:
    if (revert := undoing(message)) is not None and not revert.description.casefold().startswith("revert"):
        return f"{'Reapply' if revert.again else 'Revert'} “{without_period(revert.description)}”"
    return without_period(message.description)


def _change(group: Sequence[_Candidate], no_message: str) -> Change:
    first = group[0].message
    breaking = next((candidate.message for candidate in group if candidate.message.breaking), None)
    section = section_of(breaking or first)
    revert = undoing(first)
    shown = evolve(first, scope=revert.scope) if revert else first
    return Change(
        section=section,
        label=label_of(shown, section),
        scope=scope_of(shown, section),
        text=_text(first) or no_message,
        continuation=_words(first) or no_message,
        notes=dict.fromkeys(note for candidate in group for note in candidate.message.breaking_notes),
        numbers=dict.fromkeys(number for candidate in group for number in candidate.message.numbers),
        commits=(candidate.commit for candidate in group),
        authors=(author for candidate in group for author in authors(candidate.commit, candidate.message)),
        dependency=section is Section.OTHER and is_dependency_update(first),
        kind=kind_of(first),
    )
