"""Prometheus metrics: totals over all organizations, without labels that a client or tenant can choose."""

from collections import Counter as Counted
from collections.abc import Sequence
from typing import Final, assert_never, final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.outgoing.retries import AttemptResult
from contentsvc_core.ports import Steps, Workflow
from contentsvc_core.webhooks.outcomes import Duplicate, Filtered, Ignored, Outcome, Pong, Processed, Rejected
from contentsvc_core.workflows.runs import RunStatus, WorkflowRun
from contentsvc_http.bounds import Cause
from contentsvc_http.deliveries import Passage

#: Histogram buckets in seconds: from one commit on a fast disk to the timeout of code hosts.
_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_SIZES: Final = (1, 2, 4, 8, 16, 32, 64, 128)
_EVENTS: Final = frozenset({"push", "release", "ping"})
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
#: Label for any other value. Clients can invent values, and every label value is kept for ever.
_OTHER: Final = "other"


@final
class Metrics:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._deliveries = Counter(
            "contentsvc_deliveries",
            "Deliveries received, by provider, event, outcome and HTTP status.",
            ("provider", "event", "outcome", "status"),
            registry=registry,
        )
        self.receive_seconds: Final = Histogram(
            "contentsvc_receive_seconds",
            "Time from request body received to outcome, in seconds.",
            buckets=_SECONDS,
            registry=registry,
        )
        self.settle_seconds: Final = Histogram(
            "contentsvc_settle_seconds",
            "Time to commit a settlement to the database, in seconds.",
            buckets=_SECONDS,
            registry=registry,
        )
        self.settle_batch: Final = Histogram(
            "contentsvc_settle_batch_size", "Number of settlements in one commit.", buckets=_SIZES, registry=registry
        )
        # livesum: gauges of killed processes do not count.
        self._settling = Gauge(
            "contentsvc_settles_in_progress",
            "Settlements being written or waiting in the queue.",
            multiprocess_mode="livesum",
            registry=registry,
        )
        self.performing: Final = Gauge(
            "contentsvc_runs_in_progress",
            "Workflow runs in progress.",
            multiprocess_mode="livesum",
            registry=registry,
        )
        self.connections: Final = Gauge(
            "contentsvc_store_connections_in_use",
            "Database connections in use.",
            multiprocess_mode="livesum",
            registry=registry,
        )
        self.connections_max: Final = Gauge(
            "contentsvc_store_connections_max",
            "Maximum number of database connections.",
            multiprocess_mode="livesum",
            registry=registry,
        )
        self._unavailable = Counter(
            "contentsvc_store_unavailable",
            "Operations that failed because the database was unavailable.",
            ("operation",),
            registry=registry,
        )
        self._ended = Counter(
            "contentsvc_runs_ended", "Workflow runs ended, by status.", ("status",), registry=registry
        )
        self._sent = Counter(
            "contentsvc_webhook_attempts",
            "Attempts to send an outgoing webhook, by outcome.",
            ("outcome",),
            registry=registry,
        )
        self._requests = Counter(
            "contentsvc_http_requests",
            "HTTP requests, by method, route and status (0: no response).",
            ("method", "route", "status"),
            registry=registry,
        )
        refused = Counter(
            "contentsvc_http_refused",
            "Connections refused or closed, and trailers dropped, by cause.",
            ("cause",),
            registry=registry,
        )
        self._refused = {cause: refused.labels(cause.value) for cause in Cause}
        self._trailer_bytes = Counter("contentsvc_http_trailer_bytes", "Bytes of trailers dropped.", registry=registry)
        # Created at start: an alert does not see the increase of a counter that first appears with the value 1.
        for operation in ("endpoint", "settle"):
            self._unavailable.labels(operation)
        for status in (RunStatus.COMPLETED, RunStatus.SKIPPED, RunStatus.FAILED):
            self._ended.labels(status.value)
        for result in AttemptResult:
            self._sent.labels(result.name.lower())
        #: Settlements being written or waiting. Copied to the gauge by :meth:`sample`, not for each delivery.
        self._under_way = 0
        # Caches: looking up a counter by its labels costs four times an increment.
        self._by_ending: dict[tuple[str, str, str, int], Counter] = {}
        self._by_request: dict[tuple[str, str, int], Counter] = {}

    def ended(self, passages: Sequence[Passage]) -> None:
        """Count and time deliveries and their settlements; a malformed request counts only as a request."""
        counted = Counted[tuple[str, str, str, int]]()
        for passage in passages:
            counted[(passage.delivery.address.provider, *_ending(passage.end))] += 1
            if passage.steps is not None:
                self.receive_seconds.observe(passage.ended_s - passage.began_s)
            for settling in passage.settlings:
                self.settle_seconds.observe(settling.ended_s - settling.began_s)
                if isinstance(settling.answer, StoreUnavailable):
                    self.unavailable("settle")
        for key, number in counted.items():
            counter = self._by_ending.get(key)
            if counter is None:
                provider, outcome, event, status = key
                counter = self._by_ending[key] = self._deliveries.labels(provider, event, outcome, str(status))
            counter.inc(number)

    def settling(self, more: int) -> None:
        self._under_way += more

    def unread(self, exc: Exception) -> None:
        if isinstance(exc, StoreUnavailable):
            self.unavailable("endpoint")

    def answered(self, method: str, route: str | None, status: int) -> None:
        route = route or _OTHER
        key = (method if method in _METHODS else _OTHER, route, status)
        counter = self._by_request.get(key)
        if counter is None:
            counter = self._by_request[key] = self._requests.labels(key[0], route, str(status))
        counter.inc()

    def refused(self, cause: Cause, dropped: int) -> None:
        self._refused[cause].inc()
        if dropped:
            self._trailer_bytes.inc(dropped)

    def sample(self) -> None:
        self._settling.set(self._under_way)

    def unavailable(self, operation: str) -> None:
        self._unavailable.labels(operation).inc()

    def run_ended(self, status: RunStatus) -> None:
        self._ended.labels(status.value).inc()

    def sent(self, result: AttemptResult) -> None:
        self._sent.labels(result.name.lower()).inc()


@final
class MeasuredWorkflow:
    def __init__(self, workflow: Workflow, metrics: Metrics) -> None:
        self._workflow = workflow
        self._metrics = metrics

    async def perform(self, run: WorkflowRun, steps: Steps) -> None:
        with self._metrics.performing.track_inprogress():
            await self._workflow.perform(run, steps)

    async def failed(self, run: WorkflowRun, exc: Exception) -> None:
        await self._workflow.failed(run, exc)


def _ending(end: Outcome | Exception | None) -> tuple[str, str, int]:
    match end:
        case Processed() | Filtered():
            kind = end.event.type
        case Pong():
            kind = "ping"
        case Ignored() | Duplicate():
            kind = end.kind
        case Rejected():
            kind = end.kind or ""
        case StoreUnavailable():
            return "unavailable", _OTHER, 503
        case Exception() | None:
            return "failed", _OTHER, 500
        case _:
            assert_never(end)
    return type(end).__name__.lower(), kind if kind in _EVENTS else _OTHER, end.status
