"""Merge commits, and the commits of the pull requests that they bring."""

import re
from collections.abc import Sequence
from typing import Final, final

from msgspec import Struct
from msgspec.structs import replace

from contentsvc_core.content.changelog.read import CommitMessage, parse
from contentsvc_core.content.changelog.words import TYPES
from contentsvc_core.events.normalized import Commit
from contentsvc_core.on_demand import late

#: The earlier commits without a merge that a merge is compared with, to find those of its branch.
_LOOK_BACK: Final = 64

_MERGES: Final = tuple(
    late(pattern, re.IGNORECASE)
    for pattern in (
        r"Merge pull request '(?P<title>.+)' \(#(?P<number>\d{1,10})\) from .*",
        r"Merge pull request #(?P<number>\d{1,10})(?:: (?P<title>\S.*)| (?:from|in) \S+.*|\b.*)",
        r"(?:Merged? PR|Merge) #?(?P<number>\d{1,10}): (?P<title>\S.*)",
        r"Merged in \S+ \(pull request #(?P<number>\d{1,10})\)",
        r"(?:Auto merge|Rollup merge|Unrolled build|Merge) (?:of |for )?#(?P<number>\d{1,10})\b.*",
        r"Merge branch '[^']*'(?: of \S+)? into '?[^']*'?",
        r"Merge [\w.-]+/[\w./-]+ into \S+",
        r"Pull request #(?P<number>\d{1,10}): (?P<title>\S.*)",
    )
)
MERGE_BEGINNINGS: Final = ("Merge", "merge", "Auto merge", "Rollup merge", "Unrolled build", "Pull request #")
#: The branch of a merged pull request.
_BRANCH: Final = late(r"Merge pull request \S+ from [^\s/]+/(?P<branch>\S+)")
_BETWEEN_WORDS: Final = late(r"[\s_-]+")
_GITLAB_NUMBER: Final = late(r"^See merge request \S*?!([0-9]{1,10})[ \t]*$", re.MULTILINE)
#: A merge, whether it names a pull request or not.
MERGE: Final = late(
    r"Merge (?:remote-tracking |remote )?(?:branch|branches|tag|tags|commit|commits) (?:['\"]|\S+ (?:into|of) \S+\Z)"
    r"|Merge (?:pull request|PR)\b(?! from GHSA-)|Merged in \S+ \(pull request|Merged? PR #?\d"
    r"|(?:Auto merge|Rollup merge) of #|Merge [\"\u201c]|Merge #\d"
    r"|Merge (?:branch |remote |upstream |latest )?[\w./-]+ (?:in)?to [\w./-]+\Z"
    r"|Merge (?:upstream|master|main|develop|trunk|origin)(?:/\w+)?\Z"
)


def merge_of(message: CommitMessage) -> tuple[str, str] | None:
    """Return title and number of the pull request that a merge commit brings; ``None`` for any other commit."""
    if not message.subject.startswith(MERGE_BEGINNINGS):
        return None
    cut = message.numbers and "#" not in message.subject and "PR " not in message.subject
    subject = f"{message.subject} (#{message.numbers[-1]})" if cut else message.subject
    match = next(filter(None, (pattern.fullmatch(subject) for pattern in _MERGES)), None)
    fields: dict[str, str | None] = match.groupdict() if match else {}
    gitlab = _GITLAB_NUMBER.search(message.body) if match else None
    number = fields.get("number") or (gitlab[1] if gitlab else None)
    if number is None:
        return None
    lines = (line.strip() for line in message.body.split("\n", 8)[:8])
    title = fields.get("title") or next(filter(None, lines), "")
    title = re.sub(rf"\A#?{number}: (.*?)(?: r=\S+.*)?\Z", r"\1", title)
    if "/" in title and (branch := _BRANCH.match(message.subject)):
        title = _without_owner(title, branch["branch"])
    trailer = _GITLAB_NUMBER.match(title) or title.startswith(("Co-authored-by", "Signed-off-by"))
    return "" if trailer else title, number


def _without_owner(title: str, branch: str) -> str:
    """Return the title that a code host makes of a branch's name, without its folder: ``Ada/horn twice``."""
    as_branch = _BETWEEN_WORDS.sub("-", title).casefold()
    owner, _, rest = title.partition("/")
    made = as_branch == _BETWEEN_WORDS.sub("-", branch).casefold() and owner.casefold() not in TYPES
    return f"{rest[:1].upper()}{rest[1:]}" if made and rest else title


@final
class Read(Struct, frozen=True, gc=False):
    commit: Commit
    message: CommitMessage


#: The commits of one change: the leading one first, then the others, oldest first.
Group = tuple[Read, ...]


def by_request(new: Sequence[Read]) -> tuple[list[Group], list[Read]]:
    """Group the commits of one push by pull request; return the groups, and the merges that bring none.

    The wire form has no parents. A merge brings the commits before it that no merge has brought, as far as their files
    are among its own. Where no files are known, a merge that ends a push brings the whole push, and others nothing.
    """
    merges = [merge_of(read.message) for read in new]
    alone = len(merges) - merges.count(None) == 1 and merges[-1] is not None
    groups: list[Group | None] = []
    waiting: list[int] = []
    bare: list[Read] = []
    for read, merge in zip(new, merges, strict=True):
        if merge is None:
            if MERGE.match(read.message.subject):
                bare.append(read)
            else:
                waiting.append(len(groups))
                groups.append((read,))
            continue
        title, number = merge
        titled = replace(read, message=_titled(read.message, title, number))
        before = waiting if alone else waiting[-_LOOK_BACK:]
        brought = _brought(read, number, [(index, groups[index]) for index in before], alone=alone)
        waiting = [index for index in waiting if index not in brought]
        branch = [each for index in sorted(brought) for each in groups[index] or ()]
        if not branch and (not title or (waiting and not files_of(read.commit))):
            bare.append(titled if title else read)
            continue
        for index in brought:
            groups[index] = None
        groups.append((titled, *branch) if title else (*branch[:1], titled, *branch[1:]))
    return [group for group in groups if group is not None], bare


def _brought(merge: Read, number: str, waiting: Sequence[tuple[int, Group | None]], *, alone: bool) -> set[int]:
    files = files_of(merge.commit)
    brought: set[int] = set()
    for index, group in waiting:
        for read in group or ():
            own = files_of(read.commit)
            first_line = read.commit.message.partition("\n")[0].rstrip()
            # A commit with another pull request's number came with that one.
            foreign = read.message.request != number and first_line.endswith(f"(#{read.message.request})")
            if not foreign and (own <= files if own and files else alone):
                brought.add(index)
    return brought


def files_of(commit: Commit) -> frozenset[str]:
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
        source=message.source,
    )
