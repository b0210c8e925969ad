"""The outcomes of a delivery, a closed union, and their answers (specification 4.1, 7).

An outcome has its status code because the log stores the code (specification 2.3).
"""

from enum import Enum
from typing import Any, ClassVar, Final, assert_never, final

import msgspec
from msgspec import Struct

from contentsvc_core.events.normalized import Event
from contentsvc_core.events.wire import event_shape
from contentsvc_core.values import Value

_encode: Final = msgspec.json.Encoder().encode


@final
class Processed(Value, frozen=True, kw_only=True):
    """Accepted: its effects are stored."""

    status: ClassVar[int] = 200

    event: Event
    delivery_id: str
    repository_id: int
    #: ``owner/name``.
    repository: str
    #: Further events of the same delivery, each to be settled after this one, with a delivery id of its own.
    also: "tuple[Processed, ...]" = ()

    @property
    def kind(self) -> str:
        return self.event.type


@final
class Filtered(Value, frozen=True, kw_only=True):
    """Understood, and not worth processing."""

    status: ClassVar[int] = 200

    event: Event
    delivery_id: str
    reason: str

    @property
    def kind(self) -> str:
        return self.event.type


@final
class Ignored(Value, frozen=True, kw_only=True):
    """Of a kind that the service does not consume."""

    status: ClassVar[int] = 200

    #: The event header in printable form.
    kind: str
    delivery_id: str


@final
class Pong(Value, frozen=True, kw_only=True):
    """A ping, answered (specification 6.3)."""

    status: ClassVar[int] = 200
    kind: ClassVar[str] = "ping"

    delivery_id: str


@final
class Duplicate(Value, frozen=True, kw_only=True):
    """A delivery that was processed less than 24 hours ago."""

    status: ClassVar[int] = 200

    #: The event header of this copy in printable form.
    kind: str
    delivery_id: str


class Fault(Enum):
    """The reason of a refusal: its status, and the title of its log entry (``None``: no log entry)."""

    INVALID_PARAMETERS = (400, None)
    INTEGRATION_NOT_FOUND = (404, None)
    BODY_TOO_LARGE = (413, "Webhook body too large")
    ENCODED_BODY = (415, "Unsupported content encoding")
    BODY_LATE = (408, "Webhook body timed out")
    UNAVAILABLE = (503, "Service temporarily unavailable")
    FAILED = (500, "Webhook processing failed")
    INVALID_SIGNATURE = (401, "Invalid webhook signature")
    INTEGRATION_DISABLED = (403, "Integration is disabled")
    REPOSITORY_NOT_FOUND = (404, "Repository not found")
    REPOSITORY_MISMATCH = (403, "Repository mismatch")
    INVALID_HEADER = (400, "Missing webhook header")
    INVALID_PAYLOAD = (400, "Invalid webhook payload")

    def __init__(self, status: int, log_title: str | None) -> None:
        self.status = status
        self.log_title = log_title


@final
class Rejected(Value, frozen=True, kw_only=True):
    """Refused; at most a log entry was stored."""

    fault: Fault
    error: str
    #: The event header in printable form, if it occurs exactly once.
    kind: str | None = None
    delivery_id: str | None = None
    #: Refused because of its body, and the duplicate check comes before (specification 4.1, step 2 before 3).
    unless_duplicate: bool = False

    @property
    def status(self) -> int:
        return self.fault.status


Outcome = Processed | Filtered | Ignored | Pong | Duplicate | Rejected
"""A closed union: a new ending fails type checking in every driver until it is answered there."""


class _Event(Struct):
    type: str
    action: str
    data: object


class _Repository(Struct, rename="camel"):
    id: int
    full_name: str


class _Processed(Struct):
    event: str
    delivery: str
    processed: _Event
    repository: _Repository


class _Received(Struct, kw_only=True):
    received: bool = True
    message: str
    data: object


def answer(outcome: Outcome) -> dict[str, Any]:
    """Return the body of the answer (specification 4.1 and 7); its status is ``outcome.status``."""
    return msgspec.to_builtins(_body(outcome))


def answer_json(outcome: Outcome) -> bytes:
    return _encode(_body(outcome))


def _body(outcome: Outcome) -> _Received | dict[str, str]:
    match outcome:
        case Processed():
            event = outcome.event
            kind, action = event.type, event.action
            data: object = _Processed(
                kind,
                outcome.delivery_id,
                _Event(kind, action, event_shape(event)),
                _Repository(outcome.repository_id, outcome.repository),
            )
            return _Received(message=f"Processed {kind} event ({action})", data=data)
        case Filtered():
            kind, action = outcome.kind, outcome.event.action
            data = {"event": kind, "delivery": outcome.delivery_id, "action": action, "filtered": True}
            return _Received(message=f"Event '{kind}' with action '{action}' was filtered out", data=data)
        case Ignored():
            data = {"event": outcome.kind, "delivery": outcome.delivery_id, "ignored": True}
            return _Received(message=f"Event type '{outcome.kind}' is not supported", data=data)
        case Pong():
            data = {"event": outcome.kind, "delivery": outcome.delivery_id}
            return _Received(message="Pong! Webhook configured successfully", data=data)
        case Duplicate():
            data = {"event": outcome.kind, "delivery": outcome.delivery_id, "duplicate": True}
            return _Received(message="Webhook already processed (duplicate delivery)", data=data)
        case Rejected():
            return {"error": outcome.error}
        case _:
            assert_never(outcome)
