"""The webhook log (specification 2.3): entries, retention, and the budget for logged failures."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, Final, Literal, TypedDict, final
from zoneinfo import ZoneInfo

from attrs import asdict, evolve

from contentsvc_core.events.normalized import Event, Push, Release
from contentsvc_core.events.summaries import EventSummary
from contentsvc_core.events.wire import event_body
from contentsvc_core.identifiers import is_own_id
from contentsvc_core.lists.pagination import how_many_fit
from contentsvc_core.lists.parameters import all_read, bad_query, choices, listed, read_time
from contentsvc_core.received import Received
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.text import one_line
from contentsvc_core.timestamps import is_within, iso_ms
from contentsvc_core.values import Value
from contentsvc_core.zones import DEFAULT_ZONE

UNKNOWN_LOG: Final = Refusal(RefusalKind.NOT_FOUND, "Webhook log not found")
_MINUTE: Final = timedelta(minutes=1)
#: The most rows of a repository in a minute that have facts: they explain a fault, and a flood needs no more.
DESCRIBED: Final = 8
#: The number of rows whose place the facts take: facts have at most 1 KiB, and a row at least 256 bytes.
FACTS_COST: Final = 4
_PAYLOAD: Final = frozenset({"detail", "left_out"})


class LogStatus(Enum):
    """The result that a log entry reports."""

    SUCCESS = "success"
    FAILED = "failed"
    PENDING = "pending"


class Direction(Enum):
    """The direction of a webhook: received or sent."""

    INCOMING = "incoming"
    OUTGOING = "outgoing"


class LogOutcome(Enum):
    """The outcome of a delivery."""

    PROCESSED = "processed"
    FILTERED = "filtered"
    IGNORED = "ignored"
    DUPLICATE = "duplicate"
    PING = "ping"
    REFUSED = "refused"


#: How the titles of successful deliveries begin, by outcome; a refused one has the status ``failed``.
TITLES: Final[Mapping[LogOutcome, str]] = {
    LogOutcome.PROCESSED: "Processed ",
    LogOutcome.FILTERED: "Filtered ",
    LogOutcome.IGNORED: "Ignored ",
    LogOutcome.DUPLICATE: "Duplicate ",
    LogOutcome.PING: "Webhook ping ",
}


class LogLine(Value, frozen=True, kw_only=True):
    """One line of an organization's webhook log, without its payload."""

    #: ``log_`` and a UUIDv7.
    id: str
    organization_id: str
    integration_id: str
    repository_id: int
    reference_id: str | None
    title: str
    integration_type: str
    direction: Direction = Direction.INCOMING
    status: LogStatus
    status_code: int | None
    error_message: str | None = None
    #: Why the outcome came about, for operators; not part of the specified shape.
    reason: str | None = None
    #: The facts of a refused delivery, if they were stored; not part of the specified shape.
    received: Received | None = None
    created_at: datetime

    @property
    def outcome(self) -> LogOutcome | None:
        """Return the outcome of the delivery; ``None``: the entry is a call or a message of the service."""
        if self.direction is Direction.OUTGOING:
            return None
        if self.status is LogStatus.FAILED:
            return LogOutcome.REFUSED
        return next((each for each, start in TITLES.items() if self.title.startswith(start)), None)


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
class ResultingPost(Value, frozen=True):
    id: str
    title: str


@final
class ListedEntry(LogLine, frozen=True, kw_only=True):
    """The list form of an entry, with a summary in place of the payload."""

    #: The event of a processed delivery; ``None``: the entry has no event.
    event: EventSummary | None = None
    #: The first post of the delivery's runs; ``None``: the runs wrote no post, or it was deleted.
    post: ResultingPost | None = None
    #: Why the first run without a post wrote none, or has not yet; ``None``: there is a post, or no such run.
    no_post: str | None = None


def listed_entry(entry: LogEntry, post: ResultingPost | None = None, no_post: str | None = None) -> ListedEntry:
    parts = asdict(entry, recurse=False, filter=lambda attribute, _: attribute.name not in _PAYLOAD)
    event = EventSummary.of(entry.detail) if isinstance(entry.detail, Event) else None
    return ListedEntry(**parts, event=event, post=post, no_post=no_post)


def left_out(sizes: Sequence[int], budget: int) -> set[int]:
    """Return the positions of the payloads that do not fit into ``budget`` bytes together; one payload always fits.

    The smallest ones fit first: one large payload must not displace all others of a page.
    """
    smallest_first = sorted((position for position, size in enumerate(sizes) if size), key=sizes.__getitem__)
    return set(smallest_first[how_many_fit((sizes[position] for position in smallest_first), budget) :])


class _HeadBody(TypedDict):
    id: str
    referenceId: str | None
    title: str
    integrationType: str
    direction: Literal["incoming", "outgoing"]
    status: Literal["success", "failed", "pending"]
    statusCode: int | None
    errorMessage: str | None


@final
class LogBody(_HeadBody):
    """An entry of the webhook log (specification 2.3)."""

    payload: dict[str, Any] | None
    createdAt: str


@final
class LogLineBody(_HeadBody):
    createdAt: str


def log_body(entry: LogEntry) -> LogBody:
    """Return the ten fields of a log entry, in the order of the specification (2.3)."""
    return {**_head_body(entry), "payload": entry.payload, "createdAt": iso_ms(entry.created_at)}


def line_body(entry: LogLine) -> LogLineBody:
    return {**_head_body(entry), "createdAt": iso_ms(entry.created_at)}


def _head_body(entry: LogLine) -> _HeadBody:
    return {
        "id": entry.id,
        "referenceId": entry.reference_id,
        "title": entry.title,
        "integrationType": entry.integration_type,
        "direction": entry.direction.value,
        "status": entry.status.value,
        "statusCode": entry.status_code,
        "errorMessage": entry.error_message,
    }


@final
class LogQuery(Value, frozen=True, kw_only=True):
    """A filter of log entries."""

    integration_ids: tuple[str, ...] = ()
    statuses: tuple[LogStatus, ...] = ()
    #: Only entries from ``since`` on and before ``until``; ``None``: no limit.
    since: datetime | None = None
    until: datetime | None = None

    def finds(self, entry: LogLine) -> bool:
        return (
            (not self.integration_ids or entry.integration_id in self.integration_ids)
            and (not self.statuses or entry.status in self.statuses)
            and is_within(entry.created_at, self.since, self.until)
        )


def read_log_query(parameters: Mapping[str, str], zone: ZoneInfo = DEFAULT_ZONE) -> LogQuery | Refusal:
    """Read the comma lists ``integrationId`` and ``status``, and the times ``since`` and ``until``; empty: no filter.

    An unknown integration is valid, since entries outlive integrations. Times without an offset are those of ``zone``.
    """
    integration_ids = listed(parameters.get("integrationId", ""))
    for id_ in integration_ids:
        if not is_own_id(id_):
            return bad_query("integrationId", f"'{one_line(id_, 64)}' is unknown")
    statuses = choices("status", parameters.get("status", ""), LogStatus)
    return all_read(
        LogQuery,
        integration_ids=integration_ids,
        statuses=statuses,
        since=read_time("since", parameters.get("since", ""), zone),
        until=read_time("until", parameters.get("until", ""), zone),
    )


def retention_cutoff(retention_days: int, now: datetime) -> datetime:
    """Return the time before which an organization's entries are swept, by its current plan."""
    return now - timedelta(days=retention_days)


@final
class FailureBudget(Value, frozen=True, kw_only=True):
    """Counts one repository's logged failures of the current minute, to bound the rows that a flood writes."""

    #: Rows a minute.
    limit: int
    #: Rows of the minute that have the facts of their deliveries.
    described: int = 0
    #: The beginning of the minute; ``None``: there was no failure.
    since: datetime | None = None
    written: int = 0
    #: Failures that were not logged, and that no row has reported yet.
    left_out: int = 0

    def spend(self, now: datetime) -> "tuple[FailureBudget, bool]":
        """Request one row; return the new budget, and whether the row may be written."""
        # A clock that was stepped back begins a new minute, too: else the budget could stay spent for hours.
        fresh = self.since is None or not timedelta() <= now - self.since < _MINUTE
        budget = evolve(self, since=now, written=0, described=0) if fresh else self
        if budget.written < self.limit:
            return evolve(budget, written=budget.written + 1), True
        return evolve(budget, left_out=budget.left_out + 1), False

    def describe(self) -> "FailureBudget | None":
        """Return the budget after the row that was granted last gets facts; ``None``: facts are not stored."""
        written = self.written + FACTS_COST
        if self.described >= DESCRIBED or written > self.limit:
            return None
        return evolve(self, written=written, described=self.described + 1)

    def reported(self, count: int) -> "FailureBudget":
        """Return the budget after a row has reported ``count`` omitted failures; a negative count adds omitted ones."""
        return evolve(self, left_out=self.left_out - count)
