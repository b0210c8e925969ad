"""The rows of one settlement, and the properties that a lane needs before it writes them."""

from collections.abc import Iterable
from typing import Any, Final, TypeAlias

from contentsvc_adapters.sql import rows
from contentsvc_adapters.sql.row import json_of
from contentsvc_core.errors import Unstorable
from contentsvc_core.events.normalized import Commit, Event, Push, Release
from contentsvc_core.webhooks.settlement import Claim, Settlement
from contentsvc_core.workflows.causes import Delivered

Row: TypeAlias = dict[str, Any]

#: The approximate size in characters of a settlement's rows without the sender's texts, and of each commit and run.
_ROWS: Final = 1024
_COMMIT: Final = 128
_RUN: Final = 256


def claim_key(settlement: Settlement) -> bytes | None:
    return None if settlement.claim is Claim.NONE or settlement.key is None else settlement.key.digest


def event_row(settlement: Settlement) -> Row | None:
    """Return the row of the event that the other rows refer to; ``None``: there is no event.

    Raises:
            Unstorable: The parts of the settlement belong to different events or deliveries.
    """
    log = settlement.log
    causes = [run.cause for run in settlement.runs if isinstance(run.cause, Delivered)]
    carriers = causes if settlement.context is None else [settlement.context, *causes]
    event = log.detail if isinstance(log.detail, Event) else None
    for carrier in carriers:
        if event is None:
            event = carrier.event
        # Nearly always the same object; a full comparison takes far longer.
        elif event is not carrier.event and event != carrier.event:
            message = "the parts of one settlement tell of different events"
            raise Unstorable(message)
        if carrier.delivery_id != log.reference_id:
            message = "the parts of one settlement tell of different deliveries"
            raise Unstorable(message)
    if event is None:
        return None
    return rows.event_row(log, event, of=carriers[0] if carriers else None, data=settlement.event_json)


def log_row(settlement: Settlement) -> Row:
    return rows.log_row(settlement.log)


def duplicate_row(settlement: Settlement) -> Row:
    return rows.log_row(settlement.duplicate_log)


def context_row(settlement: Settlement) -> Row | None:
    if settlement.context is None:
        return None
    return rows.context_row(settlement.context, event_id=settlement.log.id)


def run_rows(settlement: Settlement) -> list[Row]:
    return [rows.run_row(run, event_id=settlement.log.id) for run in settlement.runs]


def noted(contexts: Iterable[Row]) -> str:
    """Return the note for the search indexer: the custom ids of context records, by organization, as JSON."""
    documents: dict[str, list[str]] = {}
    for row in contexts:
        documents.setdefault(row["organization_id"], []).append(row["custom_id"])
    return json_of(documents)


def size_of(settlement: Settlement) -> int:
    """Return the approximate number of characters that a waiting settlement holds, without encoding it."""
    log = settlement.log
    size = _ROWS + _RUN * len(settlement.runs) + len(log.reason or "") + len(log.reference_id or "")
    if settlement.event_json is not None:
        return size + len(settlement.event_json)
    match log.detail:
        case Push() as push:
            size += len(push.ref) + sum(map(_commit_size, push.commits))
        case Release() as release:
            size += len(release.body or "") + len(release.name or "") + len(release.tag_name) + len(release.url)
        case _:
            pass
    return size


def _commit_size(commit: Commit) -> int:
    author = commit.author
    texts = len(commit.message) + len(commit.url) + len(commit.id) + len(commit.timestamp)
    paths = sum(map(len, commit.added)) + sum(map(len, commit.modified)) + sum(map(len, commit.removed))
    return _COMMIT + texts + paths + len(author.name) + len(author.email) + len(author.username or "")
