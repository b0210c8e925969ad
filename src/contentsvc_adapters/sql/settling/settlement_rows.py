"""The rows of one settlement, and the properties that a lane needs before it writes them."""

from collections.abc import Iterable
from typing import Any, Final, TypeAlias, assert_never

from contentsvc_adapters.sql import rows, workflow_rows
from contentsvc_adapters.sql.row import json_of
from contentsvc_core.events.normalized import Commit, Push, Release
from contentsvc_core.webhooks.outcomes import Processed
from contentsvc_core.webhooks.settlement import Settlement

Row: TypeAlias = dict[str, Any]

#: The approximate size in characters of a settlement's rows without the sender's texts, and of each commit and run.
_ROWS: Final = 1024
_COMMIT: Final = 128
_RUN: Final = 256


def event_row(settlement: Settlement) -> Row | None:
    """Return the row of the event that the other rows refer to; ``None``: there is no event."""
    outcome = settlement.outcome
    if not isinstance(outcome, Processed):
        return None
    return rows.event_row(settlement.log, outcome.event, of=settlement.context, data=settlement.event_json)


def log_row(settlement: Settlement) -> Row:
    return rows.log_row(settlement.log)


def duplicate_row(settlement: Settlement) -> Row:
    return rows.log_row(settlement.duplicate_log)


def context_row(settlement: Settlement) -> Row | None:
    context = settlement.context
    return None if context is None else workflow_rows.context_row(context, event_id=settlement.id)


def run_rows(settlement: Settlement) -> list[Row]:
    return [workflow_rows.run_row(run, event_id=settlement.id) for run in settlement.runs]


def noted(contexts: Iterable[Row]) -> str:
    """Return the note for the search indexer: the custom ids of context records, by organization, as JSON."""
    documents: dict[str, list[str]] = {}
    for row in contexts:
        documents.setdefault(row["organization_id"], []).append(row["custom_id"])
    return json_of(documents)


def size_of(settlement: Settlement) -> int:
    """Return the approximate number of characters that a waiting settlement holds, without encoding it."""
    outcome, size = settlement.outcome, _ROWS + len(settlement.note)
    if not isinstance(outcome, Processed):
        # Texts of refusals are cut.
        return size
    size += _RUN * len(settlement.started)
    if settlement.event_json is not None:
        return size + len(settlement.event_json)
    match outcome.event:
        case Push() as push:
            size += len(push.ref) + sum(map(_commit_size, push.commits))
        case Release() as release:
            size += len(release.body or "") + len(release.name or "") + len(release.tag_name) + len(release.url)
        case _:
            assert_never(outcome.event)
    return size


def _commit_size(commit: Commit) -> int:
    author = commit.author
    texts = len(commit.message) + len(commit.url) + len(commit.id) + len(commit.timestamp)
    paths = sum(map(len, commit.added)) + sum(map(len, commit.modified)) + sum(map(len, commit.removed))
    return _COMMIT + texts + paths + len(author.name) + len(author.email) + len(author.username or "")
