from typing import TYPE_CHECKING, Any, Final

import msgspec

from contentsvc_adapters.sql.row import AnyRow, json_of, read_row
from contentsvc_core.errors import UnreadableRow
from contentsvc_core.events.normalized import Event
from contentsvc_core.events.summaries import EventSummary, summary_from_json, summary_to_json
from contentsvc_core.events.wire import event_from_json, event_to_json
from contentsvc_core.journal import ListedEntry, LogEntry, ResultingPost
from contentsvc_core.received import Received, received_from_json, received_to_json
from contentsvc_core.timestamps import to_ms

if TYPE_CHECKING:
    from contentsvc_core.workflows.causes import Delivered
    from contentsvc_core.workflows.context import ContextRecord

#: Between the id and the title of a post in one column; ids have no spaces. Without an id: why a run wrote no post.
POST_SEPARATOR: Final = " "


def event_row(
    log: LogEntry, event: Event, *, of: "ContextRecord | Delivered | None", data: str | None = None
) -> dict[str, Any]:
    """Return the row of an event that came with ``log``; ``data``: the event in JSON, if it is encoded already."""
    return {
        "id": log.id,
        "organization_id": log.organization_id,
        "provider": log.integration_type if of is None else of.provider,
        "repository_id": log.repository_id if of is None else of.repository_id,
        "repository": None if of is None else of.repository,
        "delivery_id": log.reference_id if of is None else of.delivery_id,
        "type": event.type,
        "data": event_to_json(event) if data is None else data,
        "created_at": to_ms(log.created_at),
        "summary": summary_to_json(event),
    }


def log_row(entry: LogEntry) -> dict[str, Any]:
    has_event = isinstance(entry.detail, Event)
    return {
        "organization_id": entry.organization_id,
        "created_at": to_ms(entry.created_at),
        "id": entry.id,
        "integration_id": entry.integration_id,
        "repository_id": entry.repository_id,
        "reference_id": entry.reference_id,
        "title": entry.title,
        "integration_type": entry.integration_type,
        "direction": entry.direction.value,
        "status": entry.status.value,
        "status_code": entry.status_code,
        "error_message": entry.error_message,
        "event_id": entry.id if has_event else None,
        "payload": None if has_event or entry.detail is None else json_of(entry.payload),
        "reason": entry.reason,
        "received": None if entry.received is None else received_to_json(entry.received),
    }


def log_entry(row: AnyRow, stored: AnyRow | None) -> LogEntry:
    """Return the log entry of a row with its ``payload`` or ``event_data``; ``stored`` is ``None``: it is left out."""
    detail: Event | dict[str, Any] | None = None
    if stored is not None and stored.event_data is not None:
        detail = event_of(row.event_id, row.event_type, stored.event_data)
    elif stored is not None and stored.payload is not None:
        detail = msgspec.json.decode(stored.payload)
    left_out = row.size if stored is None else 0
    return read_row(LogEntry, row, received=_received(row), detail=detail, left_out=left_out)


def listed_entry(row: AnyRow) -> ListedEntry:
    event = None if row.event_id is None else summary_of(row, row.event_type)
    id_, _, text = (row.post or "").partition(POST_SEPARATOR)
    post = ResultingPost(id_, text) if id_ else None
    return read_row(
        ListedEntry, row, received=_received(row), event=event, post=post, no_post=None if id_ else text or None
    )


def _received(row: AnyRow) -> Received | None:
    return None if row.received is None else received_from_json(row.received)


def event_of(id_: str, kind: str, data: str | bytes) -> Event:
    try:
        return event_from_json(kind, data)
    except Exception as exc:
        # Any exception: the stored data does not have the format of this code.
        message = f"the stored event {id_} cannot be read: {type(exc).__name__}"
        raise UnreadableRow(message) from exc


def summary_of(row: AnyRow, kind: str) -> EventSummary:
    if row.summary is not None:
        return summary_from_json(kind, row.summary)
    if row.small_data is not None:
        return EventSummary.of(event_of(row.event_id, kind, row.small_data))
    return EventSummary(type=kind)
