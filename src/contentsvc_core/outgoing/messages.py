"""Messages: what one endpoint is told of one occurrence, and where the telling stands.

::

    pending ──attempt──▶ delivered   it was answered with 2xx
       ▲        ├──────▶ failed      after the last attempt, or since the endpoint is gone
       └────────┘        retried with growing pauses, over a day

Delivery is at least once: who stops between sending and noting it sends the message again, with the same id.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import Enum
from hashlib import blake2b
from types import MappingProxyType
from typing import Any, Final, final

import msgspec
from attrs import field, frozen

from contentsvc_core.journal import Direction, LogEntry, LogLine, LogStatus
from contentsvc_core.outgoing.events import TEST_TYPE, Occurrence
from contentsvc_core.timestamps import iso_ms

#: What log entries of messages have as their integration's kind.
INTEGRATION_TYPE: Final = "webhook"
#: Why messages have failed whose endpoint was deleted.
ENDPOINT_DELETED: Final = "the endpoint was deleted"
#: They are about no repository.
_NO_REPOSITORY: Final = 0


class MessageStatus(Enum):
    """Where a message stands."""

    #: Is to be sent, for the first time or again.
    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"


@final
@frozen(kw_only=True)
class Message:
    """What one endpoint is told."""

    #: The ``webhook-id``: the same for every attempt, and for replays.
    id: str
    organization_id: str
    endpoint_id: str
    #: One of :class:`~contentsvc_core.outgoing.events.EventType`, or that of a test.
    type: str
    data: Mapping[str, Any]
    #: ``None``: it counts from the moment in which it is first taken to be sent.
    occurred_at: datetime | None
    status: MessageStatus = MessageStatus.PENDING
    #: How often it was tried since it was last begun with.
    attempts: int = 0
    #: How often it was taken, whatever became of it. Who took it last is the only one who may say how it ended.
    takes: int = 0
    #: From when on it is kept as long as the log is.
    created_at: datetime
    #: A pending one is not taken before this.
    due_at: datetime
    #: Where its log entry is; ``None``: there is none yet.
    log_id: str | None = None
    logged_at: datetime | None = None


@final
@frozen(kw_only=True)
class Taken:
    """A message that is to be sent now, by whoever was given it."""

    message: Message
    url: str
    #: What it is signed with, the newest first; empty: none could be opened.
    secrets: tuple[str, ...] = field(converter=tuple, repr=False)
    #: The last attempt at its endpoint has failed.
    is_failing: bool = False


@final
@frozen(kw_only=True)
class DueMessage:
    """A message that may be taken."""

    id: str
    organization_id: str
    endpoint_id: str
    #: Its endpoint's last attempt has failed.
    is_failing: bool


#: No message is being sent, by organization.
NOTHING_SENT: Final[Mapping[str, int]] = MappingProxyType({})


def within_shares(
    due: Iterable[DueMessage], *, per_organization: int, sending: Mapping[str, int] = NOTHING_SENT
) -> list[DueMessage]:
    """Return the messages that their organizations have a place for, in the given order.

    Args:
        due: The messages that may be taken.
        per_organization: How many messages of one organization are sent at once.
        sending: How many messages are being sent already, by organization.
    """
    used = Counter(sending)
    found: list[DueMessage] = []
    for each in due:
        if used[each.organization_id] < per_organization:
            used[each.organization_id] += 1
            found.append(each)
    return found


@final
@frozen(kw_only=True)
class Attempted:
    """What became of an attempt, to be written as one."""

    taken: Taken
    status: MessageStatus
    #: When it is tried again, while it is pending.
    due_at: datetime
    #: As it is now: new with the first attempt, changed with later ones.
    log: LogEntry
    #: Why the endpoint is switched off; ``None``: it is not.
    disables: str | None = None
    #: Whether the endpoint took it: what it has failed at in a row is counted.
    succeeded: bool


def message_for(endpoint_id: str, occurrence: Occurrence) -> Message:
    """Give what an endpoint is told; its id is derived, so that the same told twice is one message."""
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
    """Give a message that says nothing but that it is a test."""
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


def payload(message: Message) -> dict[str, Any]:
    """Give what is sent: ``{type, timestamp, data}``, as the Standard Webhooks specification proposes."""
    at = message.created_at if message.occurred_at is None else message.occurred_at
    return {"type": message.type, "timestamp": iso_ms(at), "data": dict(message.data)}


def payload_bytes(message: Message) -> bytes:
    """Give the body, the same bytes for every attempt."""
    return msgspec.json.encode(payload(message))


def begun_log(taken: Taken, *, log_id: str, at: datetime) -> LogEntry:
    """Give a message's log entry as it is while nothing has come back: one for all of its attempts."""
    message = taken.message
    return LogEntry(
        id=message.log_id or log_id,
        organization_id=message.organization_id,
        integration_id=message.endpoint_id,
        repository_id=_NO_REPOSITORY,
        reference_id=message.id,
        title=f"Sent {message.type} webhook",
        integration_type=INTEGRATION_TYPE,
        direction=Direction.OUTGOING,
        status=LogStatus.PENDING,
        status_code=None,
        detail=payload(message),
        created_at=message.logged_at or at,
    )


def is_message_log(entry: LogLine) -> bool:
    """Tell whether an entry of the webhook log is a message's."""
    return entry.direction is Direction.OUTGOING and entry.integration_type == INTEGRATION_TYPE
