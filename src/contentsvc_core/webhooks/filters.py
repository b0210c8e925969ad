"""The filters of events (specification 6.1, 6.2)."""

from collections.abc import Collection
from typing import assert_never

from contentsvc_core.events.normalized import RELEASE_ACTIONS, Event, Push, Release
from contentsvc_core.text import one_line
from contentsvc_core.workflows.globs import Globs

_SHOWN = 100
#: Default branches "usually" (specification 6.1): for code hosts whose deliveries name none.
_USUAL = frozenset({"refs/heads/main", "refs/heads/master"})


def is_opened(push: Push, opened: Collection[Globs]) -> bool:
    """Check whether triggers ask for a push to another branch than the default one (docs/silent-points.md)."""
    if not opened or not push.commits or not push.ref.startswith("refs/heads/"):
        return False
    return any(branches.matches(push.branch) for branches in opened)


def why_filtered(event: Event, default_branch: str | None) -> str | None:
    """Return the reason why an event is filtered out; ``None``: the event is processed.

    ``default_branch`` ``None``: unknown, so that the usual names count.
    """
    match event:
        case Push():
            # The whole ref: the tag refs/tags/main is not the branch main, and branch names contain slashes.
            is_default = event.ref in _USUAL if default_branch is None else event.ref == f"refs/heads/{default_branch}"
            if not is_default:
                default = one_line("main or master" if default_branch is None else default_branch, _SHOWN)
                return f"{one_line(event.ref, _SHOWN)} is not the default branch ({default})"
            return None if event.commits else "the push contains no commits"
        case Release():
            if event.action not in RELEASE_ACTIONS:
                return f"the action '{event.action}' is not processed"
            return "the release is a draft" if event.draft else None
        case _:
            assert_never(event)
