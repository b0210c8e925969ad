"""Commits into entries: one entry for each pull request, without duplicates and undone changes."""

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Final, final

from msgspec import Struct
from msgspec.structs import replace

from contentsvc_core.content.changelog.merges import MERGE_BEGINNINGS, Group, Read, by_request, files_of
from contentsvc_core.content.changelog.paths import PathClass, Touched, touched
from contentsvc_core.content.changelog.patterns import EMPTY, REFERENCE_ALONE
from contentsvc_core.content.changelog.read import CommitMessage, parse
from contentsvc_core.content.changelog.reverts import surviving
from contentsvc_core.content.changelog.words import VERBS, words_in
from contentsvc_core.events.normalized import Push

if TYPE_CHECKING:
    from contentsvc_core.content.pull_requests import PullRequest
    from contentsvc_core.content.sections import Section

_WORDS_OF_A_TITLE: Final = 3
#: Words that a text about the same change may lack, and the fewest others that identify it.
_MAY_LACK: Final = frozenset({"a", "an", "at", "by", "fix", "fixed", "fixes", "for", "in", "of", "on", "the"})
_WORDS_OF_A_CHANGE: Final = 2
#: The earlier changes that a change is compared with.
_LOOK_BACK: Final = 64
#: The fewest words of a branch's commit that its pull request repeats in other words, and words that it must not lack.
_WORDS_ALIKE: Final = 6
_CONTRASTING: Final = frozenset({"but", "except", "instead", "least", "most", "no", "non", "off", "unless", "without"})
#: More changes of the same files are not compared in pairs.
_COMPARED: Final = 8
_FRAGMENT: Final = frozenset({PathClass.FRAGMENT})
_MARKS_OF_CODE: Final = dict.fromkeys(map(ord, "`'"))


@final
class Entry(Struct, frozen=True, kw_only=True, gc=False):
    """One change: a commit, or the commits of one pull request."""

    message: CommitMessage
    reads: Group
    touched: Touched
    numbers: tuple[str, ...]
    request: "PullRequest | None" = None


def combine(pushes: Iterable[Push], requests: "Mapping[int, PullRequest] | None" = None) -> tuple[Entry, ...]:
    """Return the entries of some pushes, in the order of arrival; ``requests`` are the pull requests that were read.

    Commits that came before, merges without changes of their own, and reverts with their targets are left out.
    """
    requests = requests or {}
    seen: set[str] = set()
    groups: list[Group] = []
    merges: list[Read] = []
    for push in pushes:
        new: list[Read] = []
        merging = False
        for commit in push.commits:
            sha = commit.id.casefold()
            if commit.distinct and (not sha or sha not in seen):
                seen.add(sha)
                message = parse(commit.message)
                merging = merging or message.subject.startswith(MERGE_BEGINNINGS)
                new.append(Read(commit, message))
        if merging:
            of_requests, bare = by_request(new)
            groups += of_requests
            merges += bare
        else:
            groups += [(read,) for read in new]
    groups = _same_request(groups)
    messages = [_message(group) for group in groups]
    merged: dict[str, PullRequest] = {}
    if requests:
        known = {message.request for message in messages}
        merged = {
            request.merged_sha.casefold(): request
            for request in requests.values()
            if request.merged_sha and str(request.number) not in known
        }
    entries: list[Entry] = []
    for index in surviving([group[0].commit.id for group in groups], messages):
        message, group = messages[index], groups[index]
        entries.append(_entry(message, group, _request_of(message, group, requests, merged) if requests else None))
    entries = _with_fragments(entries)
    if not groups:
        entries = [_entry(merge.message, (merge,)) for merge in merges]
    return _once(entries)


def _with_fragments(entries: list[Entry]) -> list[Entry]:
    """Join the commits of one news fragment, and a fragment with the pull request that it is named after."""
    alone = [index for index, entry in enumerate(entries) if entry.touched.classes == _FRAGMENT]
    retained = dict(enumerate(entries))
    indexes = {entry.message.request: index for index, entry in retained.items() if index not in alone} if alone else {}
    targets: dict[int, int] = {}
    for index in alone:
        targets.update((index, indexes[each]) for each in reversed(entries[index].touched.numbers) if each in indexes)
    firsts: dict[tuple[Section, tuple[str, ...]], int] = {}
    for index, entry in enumerate(entries):
        if entry.touched.source and entry.touched.announced and entry.touched.numbers:
            first = firsts.setdefault((entry.touched.announced, entry.touched.numbers), index)
            if first != index and not (entry.message.request or entry.message.breaking):
                targets[index] = first
    for index, at in sorted(targets.items()):
        reads = retained[at].reads + retained.pop(index).reads
        retained[at] = replace(retained[at], reads=reads, touched=touched([read.commit for read in reads]))
    return [*retained.values()]


def _same_request(groups: Iterable[Group]) -> list[Group]:
    joined: list[Group] = []
    indexes: dict[str, int] = {}
    for group in groups:
        message = group[0].message
        if message.numbers:
            index = indexes.setdefault(message.request, len(joined))
            if index < len(joined):
                if not _reverts(message):
                    joined[index] += group
                    continue
                indexes[message.request] = len(joined)
        joined.append(group)
    return joined


def _reverts(message: CommitMessage) -> bool:
    return message.description.casefold().startswith(("revert", "reapply")) or message.kind == "revert"


def _message(group: Group) -> CommitMessage:
    first = group[0].message
    if len(group) == 1:
        return first
    if not _is_descriptive(first):
        message = next((read.message for read in group if _is_descriptive(read.message)), first)
        first = replace(message, numbers=_once_each(message.numbers, first.numbers))
    breaking = any(read.message.breaking for read in group)
    notes = _once_each(*(read.message.breaking_notes for read in group))
    return replace(first, breaking=breaking, breaking_notes=notes) if breaking != first.breaking or notes else first


def _is_descriptive(message: CommitMessage) -> bool:
    words = message.description.split()
    is_title = len(words) >= _WORDS_OF_A_TITLE or (bool(words) and words[0].casefold() in VERBS)
    is_empty = EMPTY.search(message.description) or REFERENCE_ALONE.fullmatch(message.description)
    return bool(message.kind or is_title) and not is_empty


def _request_of(
    message: CommitMessage,
    group: Group,
    requests: "Mapping[int, PullRequest]",
    merged: "Mapping[str, PullRequest]",
) -> "PullRequest | None":
    by_number = requests.get(int(message.request)) if message.request else None
    return by_number or next((merged[sha] for read in group if (sha := read.commit.id.casefold()) in merged), None)


def _with_request_title(message: CommitMessage, request: "PullRequest") -> CommitMessage:
    number = str(request.number)
    numbers = (*(each for each in message.numbers if each != number), number)
    titled = parse(request.title)
    if _reverts(message) or not _is_descriptive(titled):
        return replace(message, numbers=numbers)
    notes = _once_each(message.breaking_notes, parse(f"{request.title}\n\n{request.body}").breaking_notes)
    return replace(
        titled,
        numbers=numbers,
        breaking=titled.breaking or message.breaking or bool(notes),
        breaking_notes=notes,
        body=request.body or message.body,
    )


def _entry(message: CommitMessage, group: Group, request: "PullRequest | None" = None) -> Entry:
    if request is not None:
        message = _with_request_title(message, request)
    commits = [read.commit for read in group]
    # A merge lists the files of its branch. A commit without a list among others adds nothing.
    if len(commits) > 1:
        commits = [each for each in commits if each.added or each.modified or each.removed]
    seen = touched(commits)
    numbers = message.numbers
    if len(group) > 1 or seen.numbers or request is not None:
        own = numbers[-1:]
        several = _once_each(seen.numbers, *(read.message.numbers for read in group))
        numbers = (*(number for number in several if number not in own), *own)
    return Entry(message=message, reads=group, touched=seen, numbers=numbers, request=request)


def _once_each(*texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain(*texts)))


def _once(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    same: dict[tuple[str, str], Entry] = {}
    for entry in entries:
        message = entry.message
        # With marks of code, a part of the code before a colon is read as text.
        text = f"{message.scope}: {message.description}" if message.scope else message.description
        text = text.casefold()
        if "`" in text or "'" in text:
            text = text.translate(_MARKS_OF_CODE)
        key = (message.kind, text)
        first = same.setdefault(key, entry)
        if first is not entry:
            same[key] = _joined(first, entry)
    once = _without_file_duplicates([*same.values()])
    reported = {entry.message.numbers[-1] for entry in once if entry.message.numbers}
    unique: list[Entry] = []
    owned: set[str] = set()
    for entry in once:
        own = entry.message.numbers[-1:]
        if own and own[0] in owned:
            # A revert may bear the number of the undone change.
            own = ()
        owned.update(own)
        if entry.numbers != own:
            numbers = tuple(number for number in entry.numbers if number in own or number not in reported)
            reported.update(numbers)
            unique.append(replace(entry, numbers=numbers))
        else:
            unique.append(entry)
    return tuple(unique)


def _without_file_duplicates(entries: Sequence[Entry]) -> list[Entry]:
    """Join a commit with the change of the same files that says the same: a merge may have a title of its own."""
    by_files: dict[frozenset[str], list[int]] = {}
    for index, entry in enumerate(entries):
        files = files_of(entry.reads[0].commit)
        if len(entry.reads) > 1:
            files = files.union(*(files_of(read.commit) for read in entry.reads))
        by_files.setdefault(files, []).append(index)
    by_files.pop(frozenset(), None)
    retained = dict(enumerate(entries))
    for indexes in by_files.values():
        if len(indexes) > 1:
            _deduplicate(retained, indexes)
    return [*retained.values()]


def _deduplicate(retained: dict[int, Entry], indexes: Iterable[int]) -> None:
    words = {index: own for index in indexes if len(own := _words_of(retained[index].message)) >= _WORDS_OF_A_CHANGE}
    # A change without a number is filed by one word: any change that says the same has it.
    firsts = {index: min(own) for index, own in words.items() if not retained[index].message.numbers}
    filed: dict[str, list[int]] = {first: [] for first in firsts.values()}
    compared = frozenset(filed)
    recent: deque[int] = deque([0], maxlen=_LOOK_BACK)
    in_pairs = len(words) <= _COMPARED
    for index, own in words.items():
        message, is_numbered = retained[index].message, index not in firsts
        shared = own & compared if is_numbered else (firsts[index],)
        duplicates: list[int] = []
        for word in shared:
            near = filed[word]
            if near and near[-1] >= recent[0]:
                for at in near[bisect_left(near, recent[0]) :]:
                    other = words[at]
                    # Two pull requests are two changes. One may say more than its commit.
                    if at not in firsts:
                        is_same = not is_numbered and own <= other
                    else:
                        is_same = other <= own if is_numbered else other == own
                    if is_same and _may_be_of_one_kind(retained[at].message, message):
                        duplicates.append(at)
        if duplicates := duplicates or (_similar_entries(index, words, firsts, retained) if in_pairs else []):
            at = min(duplicates)
            retained[at] = _joined(retained[at], retained.pop(index))
            if not is_numbered:
                continue
            filed[firsts.pop(at)].remove(at)
            words[at] = own
        else:
            at = index
            recent.append(at)
        for word in shared:
            insort(filed[word], at)


def _similar_entries(
    index: int, words: Mapping[int, frozenset[str]], firsts: Mapping[int, str], retained: Mapping[int, Entry]
) -> list[int]:
    """Return the earlier commits that a pull request repeats in other words, or the pull request that repeats one."""
    if not 0 < len(firsts) < len(words):
        return []
    return [
        at
        for at, other in words.items()
        if at < index
        and at in retained
        and (at in firsts) is not (index in firsts)
        and _are_similar(words[index], other)
        and _may_be_of_one_kind(retained[at].message, retained[index].message)
    ]


def _are_similar(one: frozenset[str], other: frozenset[str]) -> bool:
    """Check that texts differ in few words, and in none that turns the meaning: no verb, number or negation."""
    shared = one & other
    if len(shared) < _WORDS_ALIKE or 4 * len(shared) < 3 * min(len(one), len(other)):
        return False
    return not any(word in VERBS or word in _CONTRASTING or not word.isalpha() for word in one ^ other)


def _words_of(message: CommitMessage) -> frozenset[str]:
    return frozenset(words_in(message.description)) - _MAY_LACK


def _may_be_of_one_kind(one: CommitMessage, other: CommitMessage) -> bool:
    return not one.kind or not other.kind or one.kind == other.kind


def _joined(first: Entry, entry: Entry) -> Entry:
    message = entry.message
    breaking = first.message if first.message.breaking else message
    # The words with a number are a pull request's.
    best, other = first.message, message
    if message.numbers and not first.message.numbers:
        best, other = other, best
    if other.scope and not best.scope:
        best = replace(best, scope=other.scope, description=other.description)
    return replace(
        first,
        message=replace(
            best,
            kind=best.kind or other.kind,
            sign=best.sign or other.sign,
            breaking=breaking.breaking,
            breaking_notes=breaking.breaking_notes,
        ),
        reads=(*first.reads, *entry.reads),
        numbers=_once_each(first.numbers, entry.numbers),
    )
