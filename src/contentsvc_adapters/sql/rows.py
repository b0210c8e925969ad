from typing import Any, Final

import msgspec

from contentsvc_adapters.sql.row import AnyRow, json_of
from contentsvc_core.errors import UnreadableRow
from contentsvc_core.events.normalized import Event
from contentsvc_core.events.summaries import EventSummary, summary_from_json, summary_to_json
from contentsvc_core.events.wire import event_from_json, event_to_json
from contentsvc_core.journal import Direction, ListedEntry, LogEntry, LogStatus, ResultingPost
from contentsvc_core.received import received_from_json, received_to_json
from contentsvc_core.timestamps import from_ms, to_ms
from contentsvc_core.workflows.causes import Delivered, Generation, ListedDelivery, SiteReading
from contentsvc_core.workflows.context import ContextRecord
from contentsvc_core.workflows.run_payloads import REQUESTED_KINDS, payload_from_json, payload_to_json
from contentsvc_core.workflows.runs import ListedRun, RunStatus, WorkflowRun

#: Between the id and the title of a post in one column; ids have no spaces.
POST_SEPARATOR: Final = " "


def event_row(
    log: LogEntry, event: Event, *, of: ContextRecord | Delivered | None, data: str | None = None
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
    return LogEntry(**_line(row), detail=detail, left_out=row.size if stored is None else 0)


def listed_entry(row: AnyRow) -> ListedEntry:
    event = None if row.event_id is None else _summary(row, row.event_type)
    post = None if row.post is None else ResultingPost(*row.post.split(POST_SEPARATOR, 1))
    return ListedEntry(**_line(row), event=event, post=post)


def _line(row: AnyRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "organization_id": row.organization_id,
        "integration_id": row.integration_id,
        "repository_id": row.repository_id,
        "reference_id": row.reference_id,
        "title": row.title,
        "integration_type": row.integration_type,
        "direction": Direction(row.direction),
        "status": LogStatus(row.status),
        "status_code": row.status_code,
        "error_message": row.error_message,
        "reason": row.reason,
        "received": None if row.received is None else received_from_json(row.received),
        "created_at": from_ms(row.created_at),
    }


def event_of(id_: str, kind: str, data: str | bytes) -> Event:
    try:
        return event_from_json(kind, data)
    except Exception as exc:
        # Any exception: the stored data does not have the format of this code.
        message = f"the stored event {id_} cannot be read: {type(exc).__name__}"
        raise UnreadableRow(message) from exc


def _summary(row: AnyRow, kind: str) -> EventSummary:
    if row.summary is not None:
        return summary_from_json(kind, row.summary)
    if row.small_data is not None:
        return EventSummary.of(event_of(row.event_id, kind, row.small_data))
    return EventSummary(type=kind)


def request_row(run: WorkflowRun, request: Generation | SiteReading) -> dict[str, Any]:
    """Return the row that replaces an event if no delivery started the run; it has the run's id."""
    return {
        "id": run.id,
        "organization_id": run.organization_id,
        "provider": "",
        "repository_id": 0,
        "repository": None,
        "delivery_id": None,
        "type": request.kind,
        "data": payload_to_json(request),
        "created_at": to_ms(run.created_at),
        "summary": None,
    }


def _request(row: AnyRow, data: str) -> Generation | SiteReading:
    try:
        return payload_from_json(row.type, data)
    except Exception as exc:
        message = f"the request of run {row.id} cannot be read: {type(exc).__name__}"
        raise UnreadableRow(message) from exc


def _match(row: AnyRow) -> dict[str, Any]:
    return {
        "trigger_id": row.trigger_id,
        "provider": row.provider,
        "repository_id": row.repository_id,
        "repository": row.repository,
        "delivery_id": row.delivery_id,
        "replayed": row.replayed,
    }


def context_row(record: ContextRecord, *, event_id: str) -> dict[str, Any]:
    return {
        "organization_id": record.organization_id,
        "custom_id": record.custom_id,
        "id": record.id,
        "provider": record.provider,
        "repository_id": record.repository_id,
        "event_id": event_id,
        "created_at": to_ms(record.created_at),
    }


def context_record(row: AnyRow) -> ContextRecord:
    return ContextRecord(
        id=row.id,
        organization_id=row.organization_id,
        provider=row.provider,
        repository_id=row.repository_id,
        repository=row.repository,
        delivery_id=row.delivery_id,
        event=event_of(row.event_id, row.type, row.data),
        created_at=from_ms(row.created_at),
    )


def run_row(run: WorkflowRun, *, event_id: str) -> dict[str, Any]:
    return {
        "id": run.id,
        "organization_id": run.organization_id,
        "trigger_id": run.cause.started_by,
        "event_id": event_id,
        "replayed": isinstance(run.cause, Delivered) and run.cause.replayed,
        "status": run.status.value,
        "attempts": run.attempts,
        "kills": run.kills,
        "takes": run.takes,
        "executor": run.executor,
        "error": run.error,
        "post_id": run.post_id,
        "created_at": to_ms(run.created_at),
        "due_at": to_ms(run.due_at),
    }


def workflow_run(row: AnyRow, event: Event | None) -> WorkflowRun:
    cause = _request(row, row.small_data) if event is None else Delivered(**_match(row), event=event)
    return WorkflowRun(**_state(row), cause=cause)


def listed_run(row: AnyRow) -> ListedRun:
    if row.type in REQUESTED_KINDS:
        return ListedRun(**_state(row), cause=_request(row, row.small_data))
    return ListedRun(**_state(row), cause=ListedDelivery(**_match(row), event=_summary(row, row.type)))


def _state(row: AnyRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "organization_id": row.organization_id,
        "status": RunStatus(row.status),
        "attempts": row.attempts,
        "kills": row.kills,
        "takes": row.takes,
        "executor": row.executor,
        "error": row.error,
        "post_id": row.post_id,
        "created_at": from_ms(row.created_at),
        "due_at": from_ms(row.due_at),
    }
