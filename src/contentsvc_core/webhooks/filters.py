"""The filters of events (specification 6.1, 6.2)."""

from typing import assert_never

from contentsvc_core.events.normalized import RELEASE_ACTIONS, Push, Release
from contentsvc_core.text import one_line
from contentsvc_core.webhooks.providers.native import Reading

#: The maximum length of a foreign name in a reason, in characters.
_SHOWN = 100


def why_filtered(reading: Reading) -> str | None:
    """Return the reason why an event is filtered out; ``None``: the event is processed."""
    event = reading.event
    match event:
        case Push():
            # The whole ref: the tag refs/tags/main is not the branch main, and branch names contain slashes.
            if event.ref != f"refs/heads/{reading.default_branch}":
                default = one_line(reading.default_branch or "", _SHOWN)
                return f"{one_line(event.ref, _SHOWN)} is not the default branch ({default})"
            return None if event.commits else "the push contains no commits"
        case Release():
            if event.action not in RELEASE_ACTIONS:
                return f"the action '{event.action}' is not processed"
            return "the release is a draft" if event.draft else None
        case _:
            assert_never(event)
