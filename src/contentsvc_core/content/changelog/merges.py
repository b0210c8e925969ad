"""Merge commits, and the pull requests that they bring."""

import re
from typing import Final

from contentsvc_core.content.changelog.read import CommitMessage
from contentsvc_core.on_demand import late

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
    )
)
MERGE_BEGINNINGS: Final = ("Merge", "merge", "Auto merge", "Rollup merge", "Unrolled build")
_GITLAB_NUMBER: Final = late(r"^See merge request \S*?!([0-9]{1,10})[ \t]*$", re.MULTILINE)
#: A merge, whether it names a pull request or not.
MERGE: Final = late(
    r"Merge (?:remote-tracking |remote )?(?:branch|branches|tag|tags|commit|commits) (?:['\"]|\S+ (?:into|of) \S+\Z)"
    r"|Merge (?:pull request|PR)\b|Merged in \S+ \(pull request|Merged? PR #?\d|(?:Auto merge|Rollup merge) of #"
    r"|Merge [\"\u201c]|Merge #\d|Merge (?:branch |remote |upstream |latest )?[\w./-]+ (?:in)?to [\w./-]+\Z"
    r"|Merge (?:upstream|master|main|develop|trunk|origin)(?:/\w+)?\Z"
)


def merge_of(message: CommitMessage) -> tuple[str, str] | None:
    """Return title and number of the pull request that a merge commit brings; ``None`` for any other commit."""
    if not message.subject.startswith(MERGE_BEGINNINGS):
        return None
    cut = message.numbers and "#" not in message.subject and "PR " not in message.subject
    subject = f"{message.subject} (#{message.numbers[-1]})" if cut else message.subject
    match = next(filter(None, (pattern.fullmatch(subject) for pattern in _MERGES)), None)
    said: dict[str, str | None] = match.groupdict() if match else {}
    gitlab = _GITLAB_NUMBER.search(message.body) if match else None
    number = said.get("number") or (gitlab[1] if gitlab else None)
    if number is None:
        return None
    lines = (line.strip() for line in message.body.split("\n", 8)[:8])
    title = said.get("title") or next(filter(None, lines), "")
    title = re.sub(rf"\A#?{number}: (.*?)(?: r=\S+.*)?\Z", r"\1", title)
    trailer = _GITLAB_NUMBER.match(title) or title.startswith(("Co-authored-by", "Signed-off-by"))
    return "" if trailer else title, number
