"""What is counted and timed, for Prometheus: sums over everybody, and no label that a stranger or a tenant can choose.

Imported only where it is switched on: the library takes its time, and decides when it is imported whether several
processes are added up (``PROMETHEUS_MULTIPROC_DIR``).
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

#: From a lone commit on a fast disk to what a code host gives up on.
_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_SIZES: Final = (1, 2, 4, 8, 16, 32, 64, 128)
_EVENTS: Final = frozenset({"push", "release", "ping"})
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
#: Stands for whatever else is in a request: anybody may invent it, and every value is kept for ever.
_OTHER: Final = "other"


@final
class Metrics:
    """The counters of this process."""

    def __init__(self, registry: CollectorRegistry) -> None:
        """Begin to count, in ``registry``."""
        self._deliveries = Counter(
            "contentsvc_deliveries",
            "Deliveries, by how they ended.",
            ("provider", "event", "outcome", "status"),
            registry=registry,
        )
        self.receive_seconds: Final = Histogram(
            "contentsvc_receive_seconds",
            "From the last byte of a delivery to what it comes to.",
            buckets=_SECONDS,
            registry=registry,
        )
        self.settle_seconds: Final = Histogram(
            "contentsvc_settle_seconds", "Making a settlement durable.", buckets=_SECONDS, registry=registry
        )
        self.settle_batch: Final = Histogram(
            "contentsvc_settle_batch_size", "Settlements in a commit.", buckets=_SIZES, registry=registry
        )
        # The processes that live are added up: what a killed one was doing, it does no longer.
        self._settling = Gauge(
            "contentsvc_settles_in_progress",
            "Settlements that are being written or wait for their turn.",
            multiprocess_mode="livesum",
            registry=registry,
        )
        self.performing: Final = Gauge(
            "contentsvc_runs_in_progress", "Runs being performed.", multiprocess_mode="livesum", registry=registry
        )
        self.connections: Final = Gauge(
            "contentsvc_store_connections_in_use",
            "Database connections in use.",
            multiprocess_mode="livesum",
            registry=registry,
        )
        self.connections_max: Final = Gauge(
            "contentsvc_store_connections_max",
            "Database connections that may be open.",
            multiprocess_mode="livesum",
            registry=registry,
        )
        self._unavailable = Counter(
            "contentsvc_store_unavailable", "Times that the store did not answer.", ("operation",), registry=registry
        )
        self._ended = Counter("contentsvc_runs_ended", "Runs that ended.", ("status",), registry=registry)
        self._sent = Counter(
            "contentsvc_webhook_attempts",
            "Attempts to send a webhook.",
            ("outcome",),
            registry=registry,
        )
        self._requests = Counter(
            "contentsvc_http_requests", "Requests answered.", ("method", "route", "status"), registry=registry
        )
        refused = Counter(
            "contentsvc_http_refused",
            "Trailers that were dropped, and connections that were refused or ended, by cause.",
            ("cause",),
            registry=registry,
        )
        self._refused = {cause: refused.labels(cause.value) for cause in Cause}
        self._trailer_bytes = Counter(
            "contentsvc_http_trailer_bytes", "Bytes of trailers that were dropped.", registry=registry
        )
        # From the beginning: a counter that appears with its first increase has never increased, for an alert.
        for operation in ("endpoint", "settle"):
            self._unavailable.labels(operation)
        for status in (RunStatus.COMPLETED, RunStatus.SKIPPED, RunStatus.FAILED):
            self._ended.labels(status.value)
        for result in Verdict:
            self._sent.labels(result.name.lower())
        #: Settlements that are being written or wait: changed twice a delivery, and noted when it is asked for.
        self.settling = 0
        # To find the counter of some labels costs four times what counting does.
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
        """Count a request; its status is 0 when it got no answer."""
        method: str = scope["method"]
        # The framework notes which route it took; a path of no route is anybody's invention.
        route: str = scope.get("path_template") or _OTHER
        key = (method if method in _METHODS else _OTHER, route, status)
        counter = self._by_request.get(key)
        if counter is None:
            counter = self._by_request[key] = self._requests.labels(key[0], route, str(status))
        counter.inc()

    def refused(self, cause: Cause, dropped: int) -> None:
        """Count what a connection dropped or refused."""
        self._refused[cause].inc()
        if dropped:
            self._trailer_bytes.inc(dropped)

    def sample(self) -> None:
        """Note how many settlements are under way."""
        self._settling.set(self.settling)

    def settled(self) -> list[tuple[float, float]]:
        """Give how many settlements of this process took how long: bounds in seconds, ascending, the last infinite."""
        samples = [sample for metric in self.settle_seconds.collect() for sample in metric.samples]
        counted = [(float(each.labels["le"]), each.value) for each in samples if each.name.endswith("_bucket")]
        return sorted(counted)

    def unavailable(self, operation: str) -> None:
        """Count that the store did not answer."""
        self._unavailable.labels(operation).inc()

    def ended(self, status: RunStatus) -> None:
        """Count a run that ended."""
        self._ended.labels(status.value).inc()

    def sent(self, result: Verdict) -> None:
        """Count an attempt to send a webhook."""
        self._sent.labels(result.name.lower()).inc()


@final
class MeasuredReceiver:
    """Counts and times what a receiver receives.

    A delivery that is refused before there is one (an address that cannot be read, a body that outgrows its announced
    length while it is read) is among the requests alone.
    """

    def __init__(self, receiver: Receiving, metrics: Metrics) -> None:
        """Take the receiver."""
        self._receiver = receiver
        self._metrics = metrics

    async def preflight(self, delivery: Delivery) -> Rejected | None:
        """Refuse what can be refused before the body is read."""
        try:
            refused = await self._receiver.preflight(delivery)
        except ContentServiceError as exc:
            self._fault(delivery, exc)
            raise
        if refused is not None:
            self._ended(delivery, refused)
        return refused

    async def refuse(self, delivery: Delivery, fault: Fault, error: str) -> None:
        """Log that a delivery is refused whose body was not read whole."""
        await self._receiver.refuse(delivery, fault, error)

    async def receive(self, delivery: Delivery) -> Outcome:
        """Receive."""
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
    """Times the settlements of a store, and counts when it does not answer."""

    def __init__(self, store: DeliveryStore, metrics: Metrics) -> None:
        """Take the store."""
        self._store = store
        self._metrics = metrics

    async def endpoint(self, address: Address, now: datetime, *, recall: bool = False) -> Endpoint | None:
        """Give what is known at an address."""
        try:
            return await self._store.endpoint(address, now, recall=recall)
        except StoreUnavailable:
            self._metrics.unavailable("endpoint")
            raise

    async def settle(self, settlement: Settlement) -> Settled:
        """Settle."""
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
    """Counts runs while they are performed."""

    def __init__(self, workflow: Workflow, metrics: Metrics) -> None:
        """Take the workflow."""
        self._workflow = workflow
        self._metrics = metrics

    async def perform(self, run: WorkflowRun, steps: Steps) -> None:
        """Perform a run."""
        with self._metrics.performing.track_inprogress():
            await self._workflow.perform(run, steps)

    async def failed(self, run: WorkflowRun, exc: Exception) -> None:
        """Have a run tried again, or end it."""
        await self._workflow.failed(run, exc)


def outcome_name(outcome: Outcome) -> str:
    """Name an outcome in a label."""
    return type(outcome).__name__.lower()


def event_of(outcome: Outcome) -> str:
    """Give the kind of event that an outcome is of, as its sender called it."""
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
