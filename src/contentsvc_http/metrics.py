"""Prometheus metrics: totals over all organizations, without labels that a client or tenant can choose.

Imported only if metrics are on: the import is slow, and it decides whether the numbers of several processes are added
up (``PROMETHEUS_MULTIPROC_DIR``).
"""

from collections.abc import Mapping
from datetime import datetime
from time import perf_counter
from typing import Any, Final, assert_never, final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from contentsvc_core.errors import ContentServiceError, StoreUnavailable
from contentsvc_core.outgoing.retries import Verdict
from contentsvc_core.ports import DeliveryStore, Steps, Workflow
from contentsvc_core.webhooks.delivery import Address, Delivery, Endpoint
from contentsvc_core.webhooks.outcomes import Duplicate, Fault, Filtered, Ignored, Outcome, Pong, Processed, Rejected
from contentsvc_core.webhooks.settlement import Settled, Settlement
from contentsvc_core.workflows.runs import RunStatus, WorkflowRun
from contentsvc_http.bounds import Cause
from contentsvc_http.webhooks import Receiving

#: Histogram buckets in seconds: from one commit on a fast disk to the timeout of code hosts.
_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_SIZES: Final = (1, 2, 4, 8, 16, 32, 64, 128)
_EVENTS: Final = frozenset({"push", "release", "ping"})
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
#: Label for any other value. Clients can invent values, and every label value is kept for ever.
_OTHER: Final = "other"


@final
class Metrics:
    """The metrics of this process."""

    def __init__(self, registry: CollectorRegistry) -> None:
        """Create the metrics in ``registry``."""
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
        for result in Verdict:
            self._sent.labels(result.name.lower())
        #: Settlements being written or waiting. Copied to the gauge by :meth:`sample`, not for each delivery.
        self.settling = 0
        # Caches: looking up a counter by its labels costs four times an increment.
        self._by_ending: dict[tuple[str, str, str, int], Counter] = {}
        self._by_request: dict[tuple[str, str, int], Counter] = {}

    def delivered(self, address: Address, outcome: str, event: str, status: int) -> None:
        """Count a delivery."""
        key = (address.provider, outcome, event if event in _EVENTS else _OTHER, status)
        counter = self._by_ending.get(key)
        if counter is None:
            provider, outcome, event, status = key
            counter = self._by_ending[key] = self._deliveries.labels(provider, event, outcome, str(status))
        counter.inc()

    def answered(self, scope: Mapping[str, Any], status: int) -> None:
        """Count a request; ``status`` 0 means no response."""
        method: str = scope["method"]
        # The framework stores the matched route. Unknown paths share one label.
        route: str = scope.get("path_template") or _OTHER
        key = (method if method in _METHODS else _OTHER, route, status)
        counter = self._by_request.get(key)
        if counter is None:
            counter = self._by_request[key] = self._requests.labels(key[0], route, str(status))
        counter.inc()

    def refused(self, cause: Cause, dropped: int) -> None:
        """Count a refused connection or dropped trailers of ``dropped`` bytes."""
        self._refused[cause].inc()
        if dropped:
            self._trailer_bytes.inc(dropped)

    def sample(self) -> None:
        """Update the gauge of settlements in progress."""
        self._settling.set(self.settling)

    def settled(self) -> list[tuple[float, float]]:
        """Return the histogram of settlement times: (upper bound in seconds, cumulative count), ascending."""
        samples = [sample for metric in self.settle_seconds.collect() for sample in metric.samples]
        counted = [(float(each.labels["le"]), each.value) for each in samples if each.name.endswith("_bucket")]
        return sorted(counted)

    def unavailable(self, operation: str) -> None:
        """Count a database failure."""
        self._unavailable.labels(operation).inc()

    def ended(self, status: RunStatus) -> None:
        """Count a run that ended."""
        self._ended.labels(status.value).inc()

    def sent(self, result: Verdict) -> None:
        """Count an attempt to send a webhook."""
        self._sent.labels(result.name.lower()).inc()


@final
class MeasuredReceiver:
    """Counts and times deliveries.

    A request that is refused before it becomes a delivery counts only as a request: a malformed address, or a body
    that exceeds its announced length.
    """

    def __init__(self, receiver: Receiving, metrics: Metrics) -> None:
        """Wrap ``receiver``."""
        self._receiver = receiver
        self._metrics = metrics

    async def preflight(self, delivery: Delivery) -> Rejected | None:
        """Check a delivery before its body is read."""
        try:
            refused = await self._receiver.preflight(delivery)
        except ContentServiceError as exc:
            self._fault(delivery, exc)
            raise
        if refused is not None:
            self._ended(delivery, refused)
        return refused

    async def refuse(self, delivery: Delivery, fault: Fault, error: str) -> None:
        """Log the refusal of a delivery whose body was not read completely."""
        await self._receiver.refuse(delivery, fault, error)

    async def receive(self, delivery: Delivery) -> Outcome:
        """Receive a delivery."""
        began = perf_counter()
        try:
            outcome = await self._receiver.receive(delivery)
        except ContentServiceError as exc:
            self._fault(delivery, exc)
            raise
        finally:
            self._metrics.receive_seconds.observe(perf_counter() - began)
        self._ended(delivery, outcome)
        return outcome

    def _ended(self, delivery: Delivery, outcome: Outcome) -> None:
        self._metrics.delivered(delivery.address, outcome_name(outcome), event_of(outcome), outcome.status)

    def _fault(self, delivery: Delivery, exc: ContentServiceError) -> None:
        away = isinstance(exc, StoreUnavailable)
        self._metrics.delivered(delivery.address, "unavailable" if away else "failed", _OTHER, 503 if away else 500)


@final
class MeasuredStore:
    """Times settlements, and counts database failures."""

    def __init__(self, store: DeliveryStore, metrics: Metrics) -> None:
        """Wrap ``store``."""
        self._store = store
        self._metrics = metrics

    async def endpoint(self, address: Address, now: datetime, *, recall: bool = False) -> Endpoint | None:
        """Return the endpoint at an address."""
        try:
            return await self._store.endpoint(address, now, recall=recall)
        except StoreUnavailable:
            self._metrics.unavailable("endpoint")
            raise

    async def settle(self, settlement: Settlement) -> Settled:
        """Store a settlement."""
        self._metrics.settling += 1
        began = perf_counter()
        try:
            return await self._store.settle(settlement)
        except StoreUnavailable:
            self._metrics.unavailable("settle")
            raise
        finally:
            self._metrics.settle_seconds.observe(perf_counter() - began)
            self._metrics.settling -= 1


@final
class MeasuredWorkflow:
    """Counts runs in progress."""

    def __init__(self, workflow: Workflow, metrics: Metrics) -> None:
        """Wrap ``workflow``."""
        self._workflow = workflow
        self._metrics = metrics

    async def perform(self, run: WorkflowRun, steps: Steps) -> None:
        """Perform a run."""
        with self._metrics.performing.track_inprogress():
            await self._workflow.perform(run, steps)

    async def failed(self, run: WorkflowRun, exc: Exception) -> None:
        """Schedule a retry of the run, or end it."""
        await self._workflow.failed(run, exc)


def outcome_name(outcome: Outcome) -> str:
    """Return the label value of an outcome."""
    return type(outcome).__name__.lower()


def event_of(outcome: Outcome) -> str:
    """Return the event type of an outcome, as the sender named it."""
    match outcome:
        case Processed() | Filtered():
            return outcome.event.type
        case Pong():
            return "ping"
        case Ignored() | Duplicate():
            return outcome.kind
        case Rejected():
            return outcome.kind or ""
        case _:
            assert_never(outcome)
