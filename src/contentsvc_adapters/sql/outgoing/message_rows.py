from typing import Any

import msgspec

from contentsvc_adapters.sql.row import AnyRow, json_of
from contentsvc_core.outgoing.endpoints import WebhookEndpoint
from contentsvc_core.outgoing.events import EventType
from contentsvc_core.outgoing.formats import EndpointFormat
from contentsvc_core.outgoing.messages import Message, MessageStatus
from contentsvc_core.timestamps import from_ms, to_ms


def endpoint_row(endpoint: WebhookEndpoint) -> dict[str, Any]:
    until = endpoint.previous_secret_until
    return {
        "id": endpoint.id,
        "organization_id": endpoint.organization_id,
        "url": endpoint.url,
        "description": endpoint.description,
        "format": endpoint.format.value,
        "event_types": json_of([kind.value for kind in endpoint.event_types]),
        "enabled": endpoint.enabled,
        "disabled_reason": endpoint.disabled_reason,
        "previous_until": None if until is None else to_ms(until),
        "failures": endpoint.failures,
        "created_at": to_ms(endpoint.created_at),
    }


def endpoint_of(row: AnyRow) -> WebhookEndpoint:
    return WebhookEndpoint(
        id=row.id,
        organization_id=row.organization_id,
        url=row.url,
        description=row.description,
        format=EndpointFormat(row.format),
        event_types=event_types_of(row.event_types),
        enabled=row.enabled,
        disabled_reason=row.disabled_reason,
        previous_secret_until=None if row.previous_until is None else from_ms(row.previous_until),
        failures=row.failures,
        created_at=from_ms(row.created_at),
    )


def event_types_of(text: str) -> list[EventType]:
    """Return the event types of a JSON text; unknown types of a newer version are left out."""
    by_name = {kind.value: kind for kind in EventType}
    return [by_name[name] for name in msgspec.json.decode(text) if name in by_name]


def message_row(message: Message) -> dict[str, Any]:
    return {
        "id": message.id,
        "organization_id": message.organization_id,
        "endpoint_id": message.endpoint_id,
        "type": message.type,
        "data": json_of(dict(message.data)),
        "occurred_at": None if message.occurred_at is None else to_ms(message.occurred_at),
        "status": message.status.value,
        "attempts": message.attempts,
        "takes": message.takes,
        "created_at": to_ms(message.created_at),
        "due_at": to_ms(message.due_at),
        "log_id": message.log_id,
        "logged_at": None if message.logged_at is None else to_ms(message.logged_at),
        "delivered_to": json_of(message.delivered_to) if message.delivered_to else None,
    }


def message_of(row: AnyRow) -> Message:
    return Message(
        id=row.id,
        organization_id=row.organization_id,
        endpoint_id=row.endpoint_id,
        type=row.type,
        data=msgspec.json.decode(row.data),
        occurred_at=None if row.occurred_at is None else from_ms(row.occurred_at),
        status=MessageStatus(row.status),
        attempts=row.attempts,
        takes=row.takes,
        created_at=from_ms(row.created_at),
        due_at=from_ms(row.due_at),
        log_id=row.log_id,
        logged_at=None if row.logged_at is None else from_ms(row.logged_at),
        delivered_to=() if row.delivered_to is None else msgspec.json.decode(row.delivered_to),
    )
