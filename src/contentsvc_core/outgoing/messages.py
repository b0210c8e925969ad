"""Messages: one event for one endpoint, and the state of its delivery.

::

    pending ──attempt──▶ delivered   the answer was 2xx
       ▲        ├──────▶ failed      after the last attempt, or because the endpoint was deleted
       └────────┘        retried with backoff, over a day

Delivery is at least once: a process that stops between sending and recording sends the message again, with the same id.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from enum import Enum
from hashlib import blake2b
from typing import Any, Final, final

import msgspec
from attrs import evolve, field, frozen

from contentsvc_core.journal import Direction, LogEntry, LogLine, LogStatus
from contentsvc_core.outgoing.events import TEST_TYPE, Occurrence
from contentsvc_core.outgoing.formats import EndpointFormat
from contentsvc_core.outgoing.recipients import CONFIRMATION_TYPE, Addressee
from contentsvc_core.timestamps import iso_ms

INTEGRATION_TYPE: Final = "webhook"
ENDPOINT_DELETED: Final = "the endpoint was deleted"
_NO_REPOSITORY: Final = 0


class MessageStatus(Enum):
    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"


@final
@frozen(kw_only=True)
class Message:
    """An event for one endpoint, and the state of its delivery."""

    #: The ``webhook-id``: the same for every attempt, and for replays.
    id: str
    organization_id: str
    endpoint_id: str
    #: A value of :class:`~contentsvc_core.outgoing.events.EventType`, :data:`~.events.TEST_TYPE` or
    #: :data:`~.recipients.CONFIRMATION_TYPE`.
    type: str
    data: Mapping[str, Any]
    #: The time of the event; ``None``: the time of the first lease counts.
    occurred_at: datetime | None
    status: MessageStatus = MessageStatus.PENDING
    #: The number of attempts with an outcome since the message was created or last resent; in a lease, also this one.
    attempts: int = 0
    #: The number of leases. Only the process with the last lease may record an outcome.
    takes: int = 0
    #: The beginning of the retention period, which is that of the log.
    created_at: datetime
    due_at: datetime
    #: The id of its log entry; ``None``: there is no entry yet.
    log_id: str | None = None
    logged_at: datetime | None = None
    #: The addresses that have the mail already: a repeated attempt leaves them out.
    delivered_to: tuple[str, ...] = field(converter=tuple[str, ...], default=())


@final
@frozen(kw_only=True)
class LeasedMessage:
    """A message that one process may send until its lease ends, with all that an attempt needs."""

    message: Message
    url: str
    format: EndpointFormat = EndpointFormat.STANDARD
    description: str = ""
    #: The secrets to sign with, the newest first; empty: no secret could be opened.
    secrets: tuple[str, ...] = field(converter=tuple[str, ...], repr=False)
    #: The addresses of the target that were ever asked, if the format is mail.
    addressees: tuple[Addressee, ...] = field(converter=tuple[Addressee, ...], default=(), repr=False)
    is_failing: bool = False


@final
@frozen(kw_only=True)
class DueMessage:
    """A pending message that may be leased now."""

    id: str
    organization_id: str
    endpoint_id: str
    is_failing: bool


@final
@frozen(kw_only=True)
class FreePlaces:
    """How many more messages a process can send now."""

    limit: int
    #: Of these, messages to endpoints whose last attempt failed: dead endpoints do not delay the others.
    failing: int
    #: Of these, messages to one endpoint.
    per_endpoint: int
    #: Of these, messages of one organization, less its count in ``sending``.
    per_organization: int
    #: The ids of endpoints that get no message now.
    without: Collection[str] = ()
    #: The number of messages that the process is sending, by organization.
    sending: Mapping[str, int] = field(factory=dict[str, int])


@final
@frozen(kw_only=True)
class Attempted:
    """The outcome of an attempt, written in one transaction."""

    taken: LeasedMessage
    status: MessageStatus
    due_at: datetime
    log: LogEntry
    disables: str | None = None
    #: The event that other endpoints receive if this attempt disables the endpoint.
    event: Occurrence | None = None
    #: Whether the endpoint works; ``None``: the outcome says nothing about the endpoint.
    succeeded: bool | None
    #: The addresses that have the mail now, earlier attempts included.
    delivered_to: tuple[str, ...] = field(converter=tuple[str, ...], default=())
    #: The endpoint accepts no message before this time; ``None``: it has named no time.
    busy_until: datetime | None = None
    at: datetime


def begun(message: Message) -> Message:
    """Return a message with the attempt that its lease begins. A process that is killed stores no outcome of it."""
    return evolve(message, attempts=message.attempts + 1)


def message_for(endpoint_id: str, occurrence: Occurrence) -> Message:
    """Return the message of an event for an endpoint. Its id is derived, so that a repeated event is one message."""
    key = f"{endpoint_id}\n{occurrence.type.value}\n{occurrence.key}"
    return Message(
        id=f"msg_{blake2b(key.encode(), digest_size=16).hexdigest()}",
        organization_id=occurrence.organization_id,
        endpoint_id=endpoint_id,
        type=occurrence.type.value,
        data=occurrence.data,
        occurred_at=occurrence.at,
        created_at=occurrence.since,
        due_at=occurrence.since,
    )


def message_for_test(endpoint_id: str, organization_id: str, message_id: str, at: datetime) -> Message:
    return Message(
        id=message_id,
        organization_id=organization_id,
        endpoint_id=endpoint_id,
        type=TEST_TYPE,
        data={"message": "This is a test: nothing has happened."},
        occurred_at=at,
        created_at=at,
        due_at=at,
    )


def message_for_confirmation(
    endpoint_id: str, organization_id: str, message_id: str, *, address: str, organization: str, at: datetime
) -> Message:
    """Return the message that asks an address; ``organization`` is the name that its owner reads."""
    return Message(
        id=message_id,
        organization_id=organization_id,
        endpoint_id=endpoint_id,
        type=CONFIRMATION_TYPE,
        data={"address": address, "organization": organization},
        occurred_at=at,
        created_at=at,
        due_at=at,
    )


def payload(message: Message) -> dict[str, Any]:
    """Return the payload: ``{type, timestamp, data}``, as the Standard Webhooks specification proposes."""
    at = message.created_at if message.occurred_at is None else message.occurred_at
    return {"type": message.type, "timestamp": iso_ms(at), "data": dict(message.data)}


def payload_bytes(message: Message) -> bytes:
    return msgspec.json.encode(payload(message))


def begun_log(taken: LeasedMessage, *, log_id: str, at: datetime) -> LogEntry:
    """Return a message's pending log entry, before any answer: one entry covers all attempts."""
    message = taken.message
    return LogEntry(
        id=message.log_id or log_id,
        organization_id=message.organization_id,
        integration_id=message.endpoint_id,
        repository_id=_NO_REPOSITORY,
        reference_id=message.id,
        title=f"Outgoing {message.type} message",
        integration_type=INTEGRATION_TYPE,
        direction=Direction.OUTGOING,
        status=LogStatus.PENDING,
        status_code=None,
        detail=payload(message),
        created_at=message.logged_at or at,
    )


def is_message_log(entry: LogLine) -> bool:
    return entry.direction is Direction.OUTGOING and entry.integration_type == INTEGRATION_TYPE
