"""The authors' own explanation of a change: one or two whole sentences of a commit's body, or nothing."""

from contentsvc_core.content.changelog.bodies import explanation
from contentsvc_core.content.changelog.select import Change

__all__ = ["excerpt", "explanation"]

#: How much of a message is read, and of how many commits.
_READ = 8_000
_COMMITS = 5


def excerpt(change: Change) -> str:
    """Return what a commit's body says beyond its subject: plain, in whole sentences; ``""``: nothing fit to print."""
    for commit in change.commits[:_COMMITS]:
        _, _, body = commit.message[:_READ].partition("\n")
        if found := explanation(body, said=change.text):
            return found
    return ""
