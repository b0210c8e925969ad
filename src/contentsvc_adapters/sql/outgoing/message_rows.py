from typing import Any, Final

import msgspec

from contentsvc_adapters.sql.row import AnyRow, json_of, optional_time, read_row, row_of
from contentsvc_adapters.sql.schema.outgoing import webhook_endpoints
from contentsvc_core.outgoing.endpoints import WebhookEndpoint
from contentsvc_core.outgoing.events import EventType
from contentsvc_core.outgoing.formats import EndpointFormat
from contentsvc_core.outgoing.messages import Message

#: Endpoints in a format of a newer version wait for it: an unreadable one would hold up all others.
KNOWN_FORMAT: Final = webhook_endpoints.c.format.in_([each.value for each in EndpointFormat])


def endpoint_row(endpoint: WebhookEndpoint) -> dict[str, Any]:
    row = row_of(endpoint, event_types=json_of([kind.value for kind in endpoint.event_types]))
    return {"previous_until": row.pop("previous_secret_until"), **row}


def endpoint_of(row: AnyRow) -> WebhookEndpoint:
    until = optional_time(row.previous_until)
    return read_row(WebhookEndpoint, row, event_types=event_types_of(row.event_types), previous_secret_until=until)


def event_types_of(text: str) -> list[EventType]:
    """Return the event types of a JSON text; unknown types of a newer version are left out."""
    by_name = {kind.value: kind for kind in EventType}
    return [by_name[name] for name in msgspec.json.decode(text) if name in by_name]


def message_row(message: Message) -> dict[str, Any]:
    delivered_to = json_of(message.delivered_to) if message.delivered_to else None
    return row_of(message, data=json_of(dict(message.data)), delivered_to=delivered_to)


def message_of(row: AnyRow) -> Message:
    delivered_to = () if row.delivered_to is None else msgspec.json.decode(row.delivered_to)
    return read_row(Message, row, data=msgspec.json.decode(row.data), delivered_to=delivered_to)
