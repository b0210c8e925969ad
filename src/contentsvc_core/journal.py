"""The webhook log (specification 2.3): entries, retention, and the budget for logged failures."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, Final, final

from attrs import asdict, evolve, field, frozen

from contentsvc_core.events.normalized import Event, Push, Release
from contentsvc_core.events.summaries import EventSummary
from contentsvc_core.events.wire import event_body
from contentsvc_core.identifiers import is_own_id
from contentsvc_core.lists.parameters import bad_query, choices, listed
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.text import one_line
from contentsvc_core.timestamps import iso_ms
from contentsvc_core.values import Value
from contentsvc_core.workflows.context import how_many_fit

UNKNOWN_LOG: Final = Refusal(RefusalKind.NOT_FOUND, "Webhook log not found")
_MINUTE: Final = timedelta(minutes=1)
#: The fields of a whole entry that a listed entry lacks.
_PAYLOAD: Final = frozenset({"detail", "left_out"})


class LogStatus(Enum):
    """The result that a log entry reports."""

    SUCCESS = "success"
    FAILED = "failed"
    PENDING = "pending"


class Direction(Enum):
    """Whether the service received or sent the webhook."""

    INCOMING = "incoming"
    OUTGOING = "outgoing"


class LogLine(Value, frozen=True, kw_only=True):
    """One line of an organization's webhook log, without its payload."""

    #: ``log_`` and a UUIDv7.
    id: str
    organization_id: str
    integration_id: str
    repository_id: int
    #: The delivery id; ``None``: the delivery had none.
    reference_id: str | None
    title: str
    #: The provider's slug.
    integration_type: str
    direction: Direction = Direction.INCOMING
    status: LogStatus
    #: The HTTP status of the outcome.
    status_code: int | None
    error_message: str | None = None
    #: Why the outcome came about, for operators; not part of the specified shape.
    reason: str | None = None
    created_at: datetime


@final
class LogEntry(LogLine, frozen=True, kw_only=True):
    """One line of the log with its payload."""

    #: The source of the payload: the event of a processed delivery, the payload itself, or ``None``.
    detail: Event | Mapping[str, object] | None = None
    #: The size of a stored payload that was too large to read, in bytes; 0: ``detail`` is complete.
    left_out: int = 0

    @property
    def payload(self) -> dict[str, Any] | None:
        """Return the payload in its specified shape."""
        match self.detail:
            case None:
                return None
            case Push() | Release():
                body = event_body(self.detail)
                return {"event": body["type"], "action": body["action"], "data": body["data"]}
            case detail:
                return dict(detail)


@final
class ListedEntry(LogLine, frozen=True, kw_only=True):
    """The list form of an entry, with a summary in place of the payload."""

    #: The event of a processed delivery; ``None``: the entry has no event.
    event: EventSummary | None = None


def listed_entry(entry: LogEntry) -> ListedEntry:
    """Return the list form of an entry."""
    parts = asdict(entry, recurse=False, filter=lambda attribute, _: attribute.name not in _PAYLOAD)
    return ListedEntry(**parts, event=EventSummary.of(entry.detail) if isinstance(entry.detail, Event) else None)


def left_out(sizes: Sequence[int], room: int) -> set[int]:
    """Return the positions of the payloads that do not fit into ``room`` bytes together; one payload always fits.

    The smallest ones fit first: one large payload must not displace all others of a page. A size of 0 means no payload.
    """
    smallest_first = sorted((position for position, size in enumerate(sizes) if size), key=sizes.__getitem__)
    return set(smallest_first[how_many_fit((sizes[position] for position in smallest_first), room) :])


def log_body(entry: LogEntry) -> dict[str, Any]:
    """Return the ten fields of a log entry (specification 2.3)."""
    line = line_body(entry)
    # The fields keep the order of the specification.
    created_at = line.pop("createdAt")
    return {**line, "payload": entry.payload, "createdAt": created_at}


def line_body(entry: LogLine) -> dict[str, Any]:
    """Return the fields of a log entry without a payload."""
    return {
        "id": entry.id,
        "referenceId": entry.reference_id,
        "title": entry.title,
        "integrationType": entry.integration_type,
        "direction": entry.direction.value,
        "status": entry.status.value,
        "statusCode": entry.status_code,
        "errorMessage": entry.error_message,
        "createdAt": iso_ms(entry.created_at),
    }


@final
@frozen(kw_only=True)
class LogQuery:
    """A filter of log entries."""

    #: Only entries of these integrations, by id; removed integrations still have entries. Empty: all.
    integration_ids: tuple[str, ...] = field(converter=tuple, factory=tuple)
    #: Only entries with these statuses; empty: all.
    statuses: tuple[LogStatus, ...] = field(converter=tuple, factory=tuple)


def read_log_query(parameters: Mapping[str, str]) -> LogQuery | Refusal:
    """Read the comma lists ``integrationId`` and ``status``; an empty list means all.

    An unknown integration is valid, since entries outlive integrations. A text that cannot be an id is invalid.
    """
    statuses = choices("status", parameters.get("status", ""), LogStatus)
    if isinstance(statuses, Refusal):
        return statuses
    integration_ids = listed(parameters.get("integrationId", ""))
    for id_ in integration_ids:
        if not is_own_id(id_):
            return bad_query("integrationId", f"'{one_line(id_, 64)}' is unknown")
    return LogQuery(integration_ids=integration_ids, statuses=statuses)


def retention_cutoff(retention_days: int, now: datetime) -> datetime:
    """Return the time before which an organization's entries are swept, by its current plan."""
    return now - timedelta(days=retention_days)


@final
@frozen(kw_only=True)
class FailureBudget:
    """Counts one repository's logged failures of the current minute, to bound the rows that a flood writes."""

    #: Rows a minute.
    limit: int
    #: The beginning of the minute; ``None``: there was no failure.
    since: datetime | None = None
    written: int = 0
    #: Failures that were not logged, and that no row has counted yet.
    left_out: int = 0

    def spend(self, now: datetime) -> "tuple[FailureBudget, bool]":
        """Request one row; return the new budget, and whether the row may be written."""
        # A clock that was stepped back begins a new minute, too: else the budget could stay spent for hours.
        fresh = self.since is None or not timedelta() <= now - self.since < _MINUTE
        budget = evolve(self, since=now, written=0) if fresh else self
        if budget.written < self.limit:
            return evolve(budget, written=budget.written + 1), True
        return evolve(budget, left_out=budget.left_out + 1), False

    def told(self, count: int) -> "FailureBudget":
        """Return the budget after a row has counted ``count`` omitted failures."""
        return evolve(self, left_out=self.left_out - count)
