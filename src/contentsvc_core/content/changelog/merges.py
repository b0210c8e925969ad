"""Merge commits of code hosts and merge robots: the pull request that they bring."""

import re
from typing import Final, final

from attrs import frozen

from contentsvc_core.content.changelog.read import Message

#: How code hosts and merge robots write a merge: where the title stands, and where the number.
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
#: How the subjects of all of them begin: nearly every other commit needs no look.
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

    #: ``""`` where the host does not say it.
    title: str
    number: str
    #: The account or branch that it came from, ``""`` where the host does not say it.
    source: str


def is_merge(message: Message) -> bool:
    """Whether a commit only brings others along."""
    return message.subject.startswith(MERGE_BEGINNINGS) and _MERGE.match(message.subject) is not None


def merge_of(message: Message) -> Merge | None:
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


def _whole_subject(message: Message) -> str:
    # The number of some merges stands at the end, where it was read off.
    return (
        message.subject
        if not message.numbers or "#" in message.subject or "PR " in message.subject
        else (f"{message.subject} (#{message.numbers[-1]})")
    )
