"""Reverts and their targets in a window."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, final

from msgspec import Struct

from contentsvc_core.content.changelog.read import CommitMessage, parse, without_numbers
from contentsvc_core.content.changelog.words import TYPES, VERBS, words_in
from contentsvc_core.content.sections import Section
from contentsvc_core.on_demand import late

_QUOTED: Final = late(r"(Revert|Reapply) [\"“](.+)[\"”]", re.IGNORECASE)
# git's own sentence, and the footer of the specification's example.
_REVERTED_SHA: Final = late(r"\bThis reverts commits? ([0-9a-f]{7,64})\b", re.IGNORECASE)
_SHA: Final = late(r"\b[0-9a-f]{7,64}\b", re.IGNORECASE)
# Numbers at the end of a subject, also of a quoted one: they do not identify the change.
_NUMBERS: Final = late(r"(?: ?\(#[0-9]{1,10}\))+(?=[\"”]|\Z)")
_TARGETS_LIMIT: Final = 64
#: The commits before the removal of an addition among which its changes are looked for.
_LOOK_BACK: Final = 256
#: Words that a text about the same thing may lack.
_SMALL: Final = frozenset({"a", "an", "and", "the"})

_Key = tuple[str, str, str]


@final
class Undoing(Struct, frozen=True, kw_only=True):
    #: Full or abbreviated, in lower case.
    shas: tuple[str, ...]
    message: CommitMessage
    #: Whether the words name the undone change. Otherwise they may describe the new one.
    quoted: bool
    description: str
    scope: str | None
    #: Whether the change comes back: a revert of a revert.
    again: bool
    #: The keys of the undone commit, the surest first.
    keys: tuple[_Key, ...]

    def is_alike(self, other: "Undoing") -> bool:
        return not {*self.shas, *self.keys}.isdisjoint({*other.shas, *other.keys})

    def undoes(self, sha: str, message: CommitMessage) -> bool:
        """Return whether a commit is the target: by hash, else by subject."""
        return sha.lower().startswith(self.shas) if self.shas else not filed_as(message).isdisjoint(self.keys)


def undoing(message: CommitMessage) -> Undoing | None:
    """Return the target of a revert (``Revert "…"``, ``Reapply "…"``, or the type ``revert``); else ``None``."""
    if not message.may_undo:
        return None
    if quoted := _QUOTED.fullmatch(message.subject):
        return _undoing(message, quoted[2], again=quoted[1].casefold() == "reapply", quoted=True)
    if message.kind == "revert":
        inner = message.description
        if quoted := _QUOTED.fullmatch(inner):
            inner = quoted[2]
        typed = bool(parse(inner).kind)
        marked = quoted is not None or typed or inner[:1] in '"“' or _REVERTED_SHA.search(message.body) is not None
        return _undoing(message, inner.strip('"“”'), again=False, quoted=marked)
    return None


def surviving(shas: Sequence[str], messages: Sequence[CommitMessage]) -> Iterable[int]:
    """Return the indexes of the messages that are not undone, oldest first; ``shas`` are their commits.

    A revert and its target both vanish, and a revert of a revert brings the target back. A revert stays if a target is
    outside the window. An addition and the later removal of the same thing vanish, too, with changes of it in between.
    """
    gone: set[int] = set()
    targets = _targets(shas, messages) if any(message.may_undo for message in messages) else {}
    # Newest first: an undone revert undoes nothing. One pass is enough for any chain of reverts.
    for index in sorted(targets, reverse=True):
        if index not in gone:
            undone, complete = targets[index]
            gone.update(undone, [index] if complete else [])
    gone |= _cancelled_additions(messages, gone)
    return [index for index in range(len(messages)) if index not in gone]


def _cancelled_additions(messages: Sequence[CommitMessage], gone: set[int]) -> set[int]:
    verbs = [VERBS.get(message.description.partition(" ")[0].casefold()) for message in messages]
    adding, removing = Section.ADDED, Section.REMOVED
    if removing not in verbs:
        return set()
    added: dict[frozenset[str], int] = {}
    cancelled: set[int] = set()
    for index, (message, verb) in enumerate(zip(messages, verbs, strict=True)):
        adds = verb is adding or (verb is None and TYPES.get(message.kind) is adding)
        if index in gone or message.breaking or not (adds or verb is removing):
            continue
        text = message.description if verb is None else message.description.partition(" ")[2]
        words = frozenset(words_in(text)) - _SMALL
        if adds and words:
            added[words] = index
        elif (target := added.get(words)) is not None and _may_be_one(message.scope, messages[target].scope):
            cancelled.update((added.pop(words), index))
            if len(words) > 1:
                between = range(max(target + 1, index - _LOOK_BACK), index)
                changing = (at for at in between if not messages[at].breaking)
                cancelled.update(at for at in changing if words.issubset(words_in(messages[at].description)))
    return cancelled


def _may_be_one(scope: str | None, other: str | None) -> bool:
    return not (scope and other) or scope.casefold() == other.casefold()


def _undoing(message: CommitMessage, inner: str, *, again: bool, quoted: bool) -> Undoing:
    subject, _ = without_numbers(inner)
    core, is_done = subject, again
    while match := _QUOTED.fullmatch(core):
        is_done ^= match[1].casefold() == "revert"
        core, _ = without_numbers(match[2])
    undone = parse(core)
    # git says `Reapply "x"` where it used to say `Revert "Revert "x""`.
    title = f'Revert "{subject}"' if again else subject
    keys: list[_Key] = [("subject", "", _NUMBERS.sub("", title))]
    if message.kind == "revert" and not undone.kind:
        keys.append(("scoped", message.scope, subject) if message.scope else ("described", "", subject))
    shas = _REVERTED_SHA.findall(message.body)
    if message.kind == "revert":
        for footer in message.footers:
            if footer.token.casefold() in {"refs", "reverts"}:
                shas += _SHA.findall(footer.value)
    return Undoing(
        shas=tuple(dict.fromkeys(sha.lower() for sha in shas))[:_TARGETS_LIMIT],
        message=undone,
        quoted=quoted,
        description=undone.description,
        scope=message.scope or undone.scope,
        again=is_done,
        keys=tuple(keys),
    )


def _targets(shas: Sequence[str], messages: Sequence[CommitMessage]) -> dict[int, tuple[list[int], bool]]:
    reverts = {index: revert for index, message in enumerate(messages) if (revert := undoing(message)) is not None}
    targets: dict[int, tuple[list[int], bool]] = {}
    if not reverts:
        return targets
    by_sha = sorted((sha.lower(), index) for index, sha in enumerate(shas))
    filed: defaultdict[_Key, list[int]] = defaultdict(list)
    undone: set[int] = set()
    for index in range(len(messages)):
        newly = [index]
        if (revert := reverts.get(index)) is not None:
            target_indexes = [at for sha in revert.shas if (at := _index_of(sha, by_sha, index)) is not None]
            complete = not target_indexes or len(target_indexes) == len(revert.shas)
            target_indexes = target_indexes or _by_subject(revert, filed, undone)
            if target_indexes:
                targets[index] = target_indexes, complete
                undone.update(target_indexes)
                # The targets of a reverted revert are back. The work is proportional to the targets that reverts name.
                back = [at for each in target_indexes if each in targets for at in targets[each][0] if at in undone]
                undone.difference_update(back)
                newly = [*dict.fromkeys(back), index]
        for each in newly:
            for key in filed_as(messages[each]):
                filed[key].append(each)
    return targets


def _index_of(sha: str, by_sha: Sequence[tuple[str, int]], before: int) -> int | None:
    at = bisect_left(by_sha, (sha, -1))
    matches = [index for known, index in by_sha[at : at + 2] if known.startswith(sha)]
    return matches[0] if len(matches) == 1 and matches[0] < before else None


def _by_subject(revert: Undoing, filed: Mapping[_Key, list[int]], undone: set[int]) -> list[int]:
    for key in revert.keys:
        indexes = filed.get(key, [])
        while indexes:
            if (last := indexes.pop()) not in undone:
                return [last]
    return []


def filed_as(message: CommitMessage) -> frozenset[_Key]:
    """Return the keys by which a revert may find a message."""
    subject, description = _NUMBERS.sub("", message.subject), message.description
    keys: list[_Key] = [("subject", "", subject), ("described", "", description)]
    return frozenset([*keys, ("scoped", message.scope, description)] if message.scope else keys)
