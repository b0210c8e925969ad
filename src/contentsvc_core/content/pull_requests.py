"""The pull requests that commits name, and their descriptions by the code host."""

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final, final

from attrs import field, frozen

from contentsvc_core.events.normalized import Event, Push
from contentsvc_core.text import one_line, storable

#: The maximum length of a title, in characters; code hosts limit it to 256.
_TITLE_LENGTH: Final = 256
#: In characters: enough for a summary and a note about a breaking change, not for a pasted log.
BODY_LENGTH: Final = 2000
#: The maximum length of a body that is read, in characters: GitHub's limit is 65,536.
_BODY_READ: Final = 65_536
#: The maximum number of labels of a pull request, and their length; GitHub's limits are 100 labels of 50 characters.
MAX_LABELS: Final = 20
_LABEL_LENGTH: Final = 50
_LOGIN_LENGTH: Final = 100
#: The largest number that the code hosts' APIs take: a signed 32-bit integer.
_MAX_NUMBER: Final = 2**31 - 1

_COMMENT: Final = ("<!--", "-->")
_HASH: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?", re.ASCII)
#: Where subjects name a pull request: ``text (#12)`` of squash merges, and the merge subjects of hosts and merge bots.
#: ``Merge pull request 'text' (#12) from …`` is of the first kind.
_NUMBER: Final = re.compile(
    r"\(#([0-9]{1,10})\)|\A(?:Merge|Merge pull request|Auto merge of) #([0-9]{1,10})\b", re.ASCII
)


@final
@frozen(kw_only=True)
class PullRequest:
    """A pull request, as the code host described it at the time of the run. All texts are untrusted."""

    number: int
    title: str
    #: Markdown without comments, cut after :data:`BODY_LENGTH` characters; may be empty.
    body: str = ""
    labels: tuple[str, ...] = field(converter=tuple[str, ...], factory=tuple)
    #: The account; ``NAME[bot]`` for a bot; ``None``: the account was deleted.
    author: str | None = None
    first_contribution: bool = False
    #: The commit of the merge on the branch; for a rebased pull request the last one. ``None``: not merged.
    merged_sha: str | None = None


@final
@frozen(kw_only=True)
class NamedPullRequests:
    """The pull requests of a repository to ask a code host about."""

    numbers: tuple[int, ...] = field(converter=tuple[int, ...], factory=tuple)
    #: Hashes of commits whose pull request is requested, newest first.
    commits: tuple[str, ...] = field(converter=tuple[str, ...], factory=tuple)

    def __len__(self) -> int:
        return len(self.numbers) + len(self.commits)

    def first(self, count: int) -> "NamedPullRequests":
        return NamedPullRequests(
            numbers=self.numbers[:count], commits=self.commits[: max(0, count - len(self.numbers))]
        )


def named_pull_requests(events: Sequence[Event], number: re.Pattern[str] | None = None) -> NamedPullRequests:
    """Return the pull requests that events, oldest first, name in their commits.

    A push without a number may be a rebased pull request: its head commit is included. ``number`` finds numbers in a
    message, at a code host whose subjects do not name them.
    """
    numbers: dict[int, None] = {}
    commits: dict[str, None] = {}
    for event in reversed(events):
        if not isinstance(event, Push) or not event.commits:
            continue
        in_messages = [each for commit in reversed(event.commits) for each in _numbers(commit.message, number)]
        numbers |= dict.fromkeys(in_messages)
        head = event.head_commit
        if not in_messages and head is not None and _HASH.fullmatch(head.id):
            commits[head.id] = None
    return NamedPullRequests(numbers=tuple(numbers), commits=tuple(commits))


def _numbers(message: str, number: re.Pattern[str] | None) -> list[int]:
    if number is not None:
        numbers = [int(text) for text in number.findall(message)]
    else:
        subject = message.partition("\n")[0]
        numbers = [int(text) for pair in _NUMBER.findall(subject) for text in pair if text]
    return [number for number in numbers if 0 < number <= _MAX_NUMBER]


def described_pull_request(
    number: int,
    *,
    title: str,
    body: str | None,
    labels: Iterable[str],
    author: str | None,
    first_contribution: bool = False,
    merged_sha: str | None,
) -> PullRequest | None:
    """Create a pull request from untrusted texts, each limited; ``None``: the title is empty or the number invalid."""
    line = one_line(title, _TITLE_LENGTH)
    if not line or not 0 < number <= _MAX_NUMBER:
        return None
    label_names = (one_line(label, _LABEL_LENGTH) for label in islice(labels, MAX_LABELS))
    return PullRequest(
        number=number,
        title=line,
        body=_prose(body or ""),
        labels=tuple(label for label in label_names if label),
        author=one_line(author or "", _LOGIN_LENGTH) or None,
        first_contribution=first_contribution,
        merged_sha=merged_sha if merged_sha and _HASH.fullmatch(merged_sha) else None,
    )


def _prose(body: str) -> str:
    rest = storable(body[:_BODY_READ])
    parts: list[str] = []
    opening, closing = _COMMENT
    while rest:
        text, begins, rest = rest.partition(opening)
        parts.append(text)
        rest = rest.partition(closing)[2] if begins else ""
    prose = "".join(parts).replace("\r\n", "\n").strip()
    return prose if len(prose) <= BODY_LENGTH else f"{prose[: BODY_LENGTH - 1].rstrip()}…"
