"""Commits into entries: one entry for each pull request, without duplicates and undone changes."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Final, final

from attrs import frozen
from msgspec import Struct
from msgspec.structs import replace

from contentsvc_core.content.changelog.paths import Touched, touched
from contentsvc_core.content.changelog.patterns import EMPTY
from contentsvc_core.content.changelog.read import CommitMessage, parse
from contentsvc_core.content.changelog.reverts import surviving
from contentsvc_core.content.changelog.words import VERBS
from contentsvc_core.content.pull_requests import PullRequest
from contentsvc_core.events.normalized import Commit, Push

#: The subjects of merges by code hosts and robots, with the places of title and number.
_MERGES: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"Merge pull request '(?P<title>.+)' \(#(?P<number>\d{1,10})\) from .*",
        r"Merge pull request #(?P<number>\d{1,10})(?:: (?P<title>\S.*)| (?:from|in) (?P<from>\S+).*|\b.*)",
        r"(?:Merged? PR|Merge) #?(?P<number>\d{1,10}): (?P<title>\S.*)",
        r"Merged in (?P<from>\S+) \(pull request #(?P<number>\d{1,10})\)",
        r"(?:Auto merge|Rollup merge|Unrolled build|Merge) (?:of |for )?#(?P<number>\d{1,10})(?: - (?P<from>\S+)|\b).*",
        r"Merge branch '[^']*'(?: of \S+)? into '?[^']*'?",
        r"Merge (?P<from>[\w.-]+/[\w./-]+) into \S+",
    )
)
#: The beginnings of these subjects. Other commits need no look.
MERGE_BEGINNINGS: Final = ("Merge", "merge", "Auto merge", "Rollup merge", "Unrolled build")
_GITLAB_NUMBER: Final = re.compile(r"^See merge request \S*?!([0-9]{1,10})[ \t]*$", re.MULTILINE)
_MERGE: Final = re.compile(
    r"Merge (?:remote-tracking |remote )?(?:branch|branches|tag|tags|commit|commits) (?:['\"]|\S+ (?:into|of) \S+\Z)"
    r"|Merge (?:pull request|PR)\b|Merged in \S+ \(pull request|Merged? PR #?\d|(?:Auto merge|Rollup merge) of #"
    r"|Merge [\"\u201c]|Merge #\d|Merge (?:branch |remote |upstream |latest )?[\w./-]+ (?:in)?to [\w./-]+\Z"
    r"|Merge (?:upstream|master|main|develop|trunk|origin)(?:/\w+)?\Z"
)


@final
@frozen(kw_only=True)
class Merge:
    """A merge of a pull request."""

    #: Empty if unknown.
    title: str
    number: str
    #: The account or branch; empty if unknown.
    source: str


def is_merge(message: CommitMessage) -> bool:
    """Return whether a commit only merges others."""
    return message.subject.startswith(MERGE_BEGINNINGS) and _MERGE.match(message.subject) is not None


def merge_of(message: CommitMessage) -> Merge | None:
    """Return the pull request that a merge commit brings; ``None`` for any other commit."""
    if not message.subject.startswith(MERGE_BEGINNINGS):
        return None
    for pattern in _MERGES:
        if (found := pattern.fullmatch(_whole_subject(message))) is None:
            continue
        groups: dict[str, str | None] = found.groupdict()
        number = groups.get("number")
        if number is None and (gitlab := _GITLAB_NUMBER.search(message.body)):
            number = gitlab[1]
        if number is None:
            return None
        lines = [line.strip() for line in message.body.split("\n", 8)[:8]]
        title = groups.get("title") or next((line for line in lines if line), "")
        title = re.sub(rf"\A#?{number}: (.*?)(?: r=\S+.*)?\Z", r"\1", title)
        if _GITLAB_NUMBER.match(title) or (title.startswith(("Co-authored-by", "Signed-off-by"))):
            title = ""
        return Merge(title=title, number=number, source=groups.get("from") or "")
    return None


def _whole_subject(message: CommitMessage) -> str:
    # The number of some merges was at the end, and was cut.
    return (
        message.subject
        if not message.numbers or "#" in message.subject or "PR " in message.subject
        else (f"{message.subject} (#{message.numbers[-1]})")
    )


#: The search of a merge for the commits of its branch: so many earlier commits without a merge.
_LOOK_BACK: Final = 64
_WORDS_OF_A_TITLE: Final = 3
#: For a code host that was not asked.
NO_REQUESTS: Final[Mapping[int, PullRequest]] = MappingProxyType({})


@final
class Read(Struct, frozen=True, gc=False):
    """A commit with its parsed message."""

    commit: Commit
    message: CommitMessage


@final
class Entry(Struct, frozen=True, kw_only=True, gc=False):
    """One change: a commit, or the commits of one pull request."""

    #: The pull request's title, or the commit's message.
    message: CommitMessage
    #: The leading commit first, then the others, oldest first.
    commits: tuple[Read, ...]
    touched: Touched
    numbers: tuple[str, ...]
    #: The code host's description; ``None``: unknown.
    request: PullRequest | None = None


def combine(pushes: Iterable[Push], requests: Mapping[int, PullRequest] = NO_REQUESTS) -> tuple[Entry, ...]:
    """Return the entries of some pushes, in the order of arrival.

    Commits that came before, merges without changes of their own, and reverts with their targets are left out.

    Args:
        pushes: Oldest first.
        requests: The described pull requests, by number.
    """
    seen: set[str] = set()
    groups: list[list[Read]] = []
    merges: list[Read] = []
    for push in pushes:
        new: list[Read] = []
        for commit in push.commits:
            sha = commit.id.casefold()
            if commit.distinct and (not sha or sha not in seen):
                seen.add(sha)
                new.append(Read(commit, parse(commit.message)))
        if not any(read.message.subject.startswith(MERGE_BEGINNINGS) for read in new):
            groups += [[read] for read in new]
            continue
        found, bare = _requests(new)
        groups += found
        merges += bare
    groups = _same_request(groups)
    told = [_message(group) for group in groups]
    kept = surviving([(group[0].commit.id, said) for group, said in zip(groups, told, strict=True)])
    named = {message.request for message in told} if requests else set[str]()
    merged = {
        request.merged_sha.casefold(): request
        for request in requests.values()
        if request.merged_sha and str(request.number) not in named
    }
    entries = [
        _entry(told[place], groups[place], _asked(told[place], groups[place], requests, merged)) for place in kept
    ]
    if not groups:
        entries = [_entry(merge.message, [merge]) for merge in merges]
    return _once(entries)


def _requests(new: Sequence[Read]) -> tuple[list[list[Read]], list[Read]]:
    """Group the commits of one push by pull request; return the groups, and the merges that bring none.

    The wire form has no parents. A merge brings the commits before it that no merge has brought, as far as their files
    are among its own. Where no files are known, a merge that ends a push brings the whole push, and others nothing.
    """
    merges = [merge_of(read.message) for read in new]
    alone = len(merges) - merges.count(None) == 1 and merges[-1] is not None
    groups: list[list[Read] | None] = []
    waiting: list[int] = []
    bare: list[Read] = []
    for read, merge in zip(new, merges, strict=True):
        if merge is None and is_merge(read.message):
            bare.append(read)
            continue
        if merge is None:
            waiting.append(len(groups))
            groups.append([read])
            continue
        before = waiting if alone else waiting[-_LOOK_BACK:]
        brought = _brought(read, merge.number, [(place, groups[place]) for place in before], alone=alone)
        waiting = [place for place in waiting if place not in brought]
        branch = [each for place in sorted(brought) for each in groups[place] or ()]
        if not branch and (not merge.title or (waiting and not _files(read.commit))):
            # The commits of this merge are unknown, and stay entries of their own.
            bare.append(replace(read, message=_titled(read.message, merge.title, merge.number)))
            continue
        titled = replace(read, message=_titled(read.message, merge.title, merge.number))
        for place in brought:
            groups[place] = None
        # A merge without a title follows its first commit.
        lead = [titled, *branch] if merge.title else [*branch[:1], titled, *branch[1:]]
        groups.append(lead)
    return [group for group in groups if group is not None], bare


def _brought(merge: Read, number: str, waiting: Sequence[tuple[int, list[Read] | None]], *, alone: bool) -> set[int]:
    files = _files(merge.commit)
    brought: set[int] = set()
    for place, group in waiting:
        for read in group or ():
            own = _files(read.commit)
            first_line = read.commit.message.partition("\n")[0].rstrip()
            # A commit with another pull request's number came with that one.
            foreign = read.message.request != number and first_line.endswith(f"(#{read.message.request})")
            if not foreign and (own <= files if own and files else alone):
                brought.add(place)
    return brought


def _files(commit: Commit) -> frozenset[str]:
    return frozenset() if commit.paths_cut else frozenset((*commit.added, *commit.modified, *commit.removed))


def _titled(message: CommitMessage, title: str, number: str) -> CommitMessage:
    read = parse(title)
    return replace(
        read,
        numbers=(*(each for each in read.numbers if each != number), number),
        breaking=read.breaking or message.breaking,
        breaking_notes=message.breaking_notes,
        # What follows the title is the pull request's own text.
        body=message.body.partition(title)[2] if title else message.body,
        footers=message.footers,
    )


def _same_request(groups: Iterable[list[Read]]) -> list[list[Read]]:
    """Join the groups of one pull request: a merge and its commits, or several commits with its number."""
    joined: list[list[Read]] = []
    places: dict[str, int] = {}
    for group in groups:
        number = group[0].message.request
        place = places.get(number) if number and not _reverts(group[0].message) else None
        if place is None:
            if number:
                places[number] = len(joined)
            joined.append(group)
        else:
            joined[place] += group
    return joined


def _reverts(message: CommitMessage) -> bool:
    return message.description.casefold().startswith(("revert", "reapply")) or message.kind == "revert"


def _message(group: Sequence[Read]) -> CommitMessage:
    first = group[0].message
    if len(group) == 1:
        return first
    if not _tells(first):
        told = next((read.message for read in group[1:] if _tells(read.message)), first)
        first = replace(told, numbers=_once_each(told.numbers, first.numbers))
    breaking = any(read.message.breaking for read in group)
    notes = _once_each(*(read.message.breaking_notes for read in group))
    return replace(first, breaking=breaking, breaking_notes=notes) if breaking != first.breaking or notes else first


def _tells(message: CommitMessage) -> bool:
    """Return whether a title describes a change. The name of a branch does not."""
    words = message.description.split()
    named = len(words) >= _WORDS_OF_A_TITLE or (bool(words) and words[0].casefold() in VERBS)
    return bool(message.kind or named) and not EMPTY.search(message.description)


def _asked(
    message: CommitMessage,
    group: Sequence[Read],
    requests: Mapping[int, PullRequest],
    merged: Mapping[str, PullRequest],
) -> PullRequest | None:
    """Return the description of a group's pull request, by number or by merged commit."""
    if not requests:
        return None
    by_number = requests.get(int(message.request)) if message.request else None
    return by_number or next((merged[sha] for read in group if (sha := read.commit.id.casefold()) in merged), None)


def _entitled(message: CommitMessage, request: PullRequest) -> CommitMessage:
    """Return the message with the pull request's title and text. A revert keeps its words, which name commits."""
    number = str(request.number)
    numbers = (*(each for each in message.numbers if each != number), number)
    titled = parse(request.title)
    if _reverts(message) or not _tells(titled):
        return replace(message, numbers=numbers)
    notes = _once_each(message.breaking_notes, parse(f"{request.title}\n\n{request.body}").breaking_notes)
    return replace(
        titled,
        numbers=numbers,
        breaking=titled.breaking or message.breaking or bool(notes),
        breaking_notes=notes,
        body=request.body or message.body,
        footers=message.footers,
    )


def _entry(message: CommitMessage, group: Sequence[Read], request: PullRequest | None = None) -> Entry:
    if request is not None:
        message = _entitled(message, request)
    commits = [read.commit for read in group]
    # A merge lists the files of its branch. A commit without a list among others adds nothing.
    known = [each for each in commits if each.added or each.modified or each.removed] if len(commits) > 1 else commits
    seen = touched(known or commits)
    numbers = message.numbers
    if len(group) > 1 or seen.numbers or request is not None:
        own = numbers[-1:]
        several = _once_each(seen.numbers, *(read.message.numbers for read in group))
        numbers = (*(number for number in several if number not in own), *own)
    return Entry(message=message, commits=tuple(group), touched=seen, numbers=numbers, request=request)


def _once_each(*texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain(*texts)))


def _once(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Join entries with equal texts, and show each number in one entry only."""
    same: dict[tuple[str, str, str], Entry] = {}
    for entry in entries:
        message = entry.message
        key = (message.kind, (message.scope or "").casefold(), message.description.casefold())
        first = same.setdefault(key, entry)
        if first is not entry:
            breaking = first.message if first.message.breaking else message
            same[key] = replace(
                first,
                message=replace(first.message, breaking=breaking.breaking, breaking_notes=breaking.breaking_notes),
                commits=(*first.commits, *entry.commits),
                numbers=_once_each(first.numbers, entry.numbers),
            )
    told = {entry.message.request for entry in same.values()}
    kept: list[Entry] = []
    for entry in same.values():
        own, shown = entry.message.request, entry
        if any(number != own and number in told for number in entry.numbers):
            numbers = tuple(number for number in entry.numbers if number == own or number not in told)
            shown = replace(entry, numbers=numbers)
        told.update(shown.numbers)
        kept.append(shown)
    return tuple(kept)
