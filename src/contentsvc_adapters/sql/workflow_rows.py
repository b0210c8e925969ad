"""Rows of context records and of runs, which are beside the event that they refer to."""

from typing import Any

from contentsvc_adapters.sql import rows
from contentsvc_adapters.sql.row import read_row
from contentsvc_core.errors import UnreadableRow
from contentsvc_core.events.normalized import Event
from contentsvc_core.timestamps import to_ms
from contentsvc_core.workflows.causes import Delivered, Generation, ListedDelivery, SiteReading
from contentsvc_core.workflows.context import ContextRecord
from contentsvc_core.workflows.run_payloads import REQUESTED_KINDS, payload_from_json, payload_to_json
from contentsvc_core.workflows.runs import ListedRun, WorkflowRun


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


def _request(row: rows.AnyRow, data: str) -> Generation | SiteReading:
    try:
        return payload_from_json(row.type, data)
    except Exception as exc:
        message = f"the request of run {row.id} cannot be read: {type(exc).__name__}"
        raise UnreadableRow(message) from exc


def _match(row: rows.AnyRow) -> dict[str, Any]:
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


def context_record(row: rows.AnyRow) -> ContextRecord:
    return read_row(ContextRecord, row, event=rows.event_of(row.event_id, row.type, row.data))


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


def workflow_run(row: rows.AnyRow, event: Event | None) -> WorkflowRun:
    cause = _request(row, row.small_data) if event is None else Delivered(**_match(row), event=event)
    return read_row(WorkflowRun, row, cause=cause)


def listed_run(row: rows.AnyRow) -> ListedRun:
    if row.type in REQUESTED_KINDS:
        return read_row(ListedRun, row, cause=_request(row, row.small_data))
    return read_row(ListedRun, row, cause=ListedDelivery(**_match(row), event=rows.summary_of(row, row.type)))
