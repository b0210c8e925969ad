import re
from datetime import datetime
from typing import Final, Self, TypedDict, final

import msgspec
from msgspec import Struct

from contentsvc_core.events.normalized import Event, EventType, Push
from contentsvc_core.events.wire import event_data
from contentsvc_core.on_demand import late
from contentsvc_core.timestamps import iso_ms
from contentsvc_core.values import Value
from contentsvc_core.workflows.causes import Cause, Delivered, source_type

_CUSTOM_ID: Final = late(r"[a-z0-9-]{1,64}:[0-9]{1,19}:[!-~]{1,255}", re.ASCII)


@final
class ContextRecord(Value, frozen=True, kw_only=True):
    """One processed push or release, kept as text for AI agents; there is one for each custom id of an organization."""

    #: A UUIDv7 in the order of arrival: it orders records of the same millisecond.
    id: str
    organization_id: str
    provider: str
    repository_id: int
    #: ``owner/name`` at the time of the event.
    repository: str
    delivery_id: str
    event: Event
    created_at: datetime

    @property
    def custom_id(self) -> str:
        return custom_id(self.provider, self.repository_id, self.delivery_id)

    @property
    def metadata(self) -> "MetadataBody":
        return {"source": source_type(self.provider), "eventType": self.event.type, "repository": self.repository}

    @property
    def content(self) -> str:
        event = self.event
        data = {
            "eventType": event.type,
            "repository": self.repository,
            "action": event.action,
            "data": event_data(event),
        }
        headline = f"{self.provider.capitalize()} {event.type} event for {self.repository} ({event.action})."
        return f"{headline}\n\nData:\n{msgspec.json.encode(data).decode()}"


def custom_id(provider: str, repository_id: int, delivery_id: str) -> str:
    return f"{provider}:{repository_id}:{delivery_id}"


def push_id(cause: Cause) -> str | None:
    """Return the custom id of the record of the push that started a run; ``None``: something else started the run."""
    if not isinstance(cause, Delivered) or not isinstance(cause.event, Push):
        return None
    return custom_id(cause.provider, cause.repository_id, cause.delivery_id)


def is_custom_id(text: str) -> bool:
    return _CUSTOM_ID.fullmatch(text) is not None


class MetadataBody(TypedDict):
    """The source of a context record."""

    source: str
    eventType: EventType
    repository: str


@final
class RecordBody(Struct, frozen=True, kw_only=True, rename="camel"):
    """A stored context record (specification 2.5)."""

    custom_id: str
    content: str
    metadata: MetadataBody
    created_at: str

    @classmethod
    def of(cls, record: ContextRecord) -> Self:
        return cls(
            custom_id=record.custom_id,
            content=record.content,
            metadata=record.metadata,
            created_at=iso_ms(record.created_at),
        )
