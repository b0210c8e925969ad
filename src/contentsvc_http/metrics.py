"""Prometheus metrics: totals over all organizations, without labels that a client or tenant can choose."""

from bisect import bisect_left
from collections import Counter as Counted
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, final, get_args

from prometheus_client.metrics import Counter, Gauge, Histogram
from prometheus_client.registry import CollectorRegistry

from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.outgoing.retries import AttemptResult
from contentsvc_core.ports import Steps, Workflow
from contentsvc_core.webhooks.outcomes import Outcome
from contentsvc_core.webhooks.providers import PROVIDERS
from contentsvc_core.workflows.runs import RunStatus, WorkflowRun
from contentsvc_http.bounds import Cause
from contentsvc_http.deliveries import Deliveries, DeliveryProgress
from contentsvc_http.webhooks import TEMPLATE

if TYPE_CHECKING:
    from contentsvc_core.outgoing.letters import MailResult

#: Histogram buckets in seconds: from one commit on a fast disk to the timeout of code hosts.
_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_SIZES: Final = (1, 2, 4, 8, 16, 32, 64, 128)
_EVENTS: Final = frozenset({"push", "release", "ping"})
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
#: The names of outcomes of mails, without the import of what renders mails.
_POSTINGS: Final = ("sent", "refused", "retry", "not_tried")
_NAMES: Final = {each: each.__name__.lower() for each in get_args(Outcome)}
#: Label for any other value. Clients can invent values, and every label value is kept for ever.
_OTHER: Final = "other"


class _Times(Histogram):
    def observe_all(self, amounts: Sequence[float]) -> None:
        """Observe several amounts. Each :meth:`observe` takes two locks."""
        # The library's values have no types.
        self._sum.inc(sum(amounts))  # pyright: ignore[reportUnknownMemberType]
        for index, number in Counted(bisect_left(_SECONDS, amount) for amount in amounts).items():
            self._buckets[index].inc(number)  # pyright: ignore[reportUnknownMemberType]


@final
class Metrics:
    def __init__(self, registry: CollectorRegistry) -> None:
        def counter(name: str, about: str, labels: Sequence[str] = ()) -> Counter:
            return Counter(name, about, labels, registry=registry)

        def gauge(name: str, about: str) -> Gauge:
            # livesum: gauges of killed processes do not count.
            return Gauge(name, about, multiprocess_mode="livesum", registry=registry)

        def times(name: str, about: str) -> _Times:
            return _Times(name, about, buckets=_SECONDS, registry=registry)

        self._deliveries = counter(
            "contentsvc_deliveries",
            "Deliveries received, by provider, event, outcome and HTTP status.",
            ("provider", "event", "outcome", "status"),
        )
        self._receive_seconds = times(
            "contentsvc_receive_seconds", "Time from request body received to outcome, in seconds."
        )
        self._settle_seconds = times(
            "contentsvc_settle_seconds", "Time to commit a settlement to the database, in seconds."
        )
        self.settle_batch: Final = Histogram(
            "contentsvc_settle_batch_size", "Number of settlements in one commit.", buckets=_SIZES, registry=registry
        )
        self._settling = gauge("contentsvc_settles_in_progress", "Settlements being written or waiting in the queue.")
        self.performing: Final = gauge("contentsvc_runs_in_progress", "Workflow runs in progress.")
        self.connections: Final = gauge("contentsvc_store_connections_in_use", "Database connections in use.")
        self.connections_max: Final = gauge(
            "contentsvc_store_connections_max", "Maximum number of database connections."
        )
        self._unavailable = counter(
            "contentsvc_store_unavailable",
            "Operations that failed because the database was unavailable.",
            ("operation",),
        )
        self._ended = counter("contentsvc_runs_ended", "Workflow runs ended, by status.", ("status",))
        self._sent = counter(
            "contentsvc_webhook_attempts", "Attempts to send an outgoing webhook, by outcome.", ("outcome",)
        )
        self._posted = counter(
            "contentsvc_mail_attempts", "Attempts to send a mail to a subscriber, by outcome.", ("outcome",)
        )
        self._requests = counter(
            "contentsvc_http_requests",
            "HTTP requests, by method, route and status (0: no response).",
            ("method", "route", "status"),
        )
        refused = counter(
            "contentsvc_http_refused", "Connections refused or closed, and trailers dropped, by cause.", ("cause",)
        )
        self._refused = {cause: refused.labels(cause.value) for cause in Cause}
        self._trailer_bytes = counter("contentsvc_http_trailer_bytes", "Bytes of trailers dropped.")
        # Created at start: an alert does not see the increase of a counter that first appears with the value 1.
        for operation in ("endpoint", "settle"):
            self._unavailable.labels(operation)
        for status in (RunStatus.COMPLETED, RunStatus.SKIPPED, RunStatus.FAILED):
            self._ended.labels(status.value)
        for result in AttemptResult:
            self._sent.labels(result.name.lower())
        for posting in _POSTINGS:
            self._posted.labels(posting)
        for provider in PROVIDERS:
            for event in ("push", "release"):
                self._deliveries.labels(provider.slug, event, "processed", "200")
            self._deliveries.labels(provider.slug, _OTHER, "failed", "500")
        self._requests.labels("POST", TEMPLATE, "503")
        self._observed: Deliveries | None = None
        # Caches: looking up a counter by its labels costs four times an increment.
        self._by_ending: dict[tuple[str, str, str, int], Counter] = {}
        self._by_request: dict[tuple[str, str, int], Counter] = {}

    def observe(self, deliveries: Deliveries) -> None:
        self._observed = deliveries

    def ended(self, passages: Sequence[DeliveryProgress]) -> None:
        """Count and time deliveries and their settlements; a malformed request counts only as a request."""
        settlings = [each for passage in passages for each in passage.settlings]
        for each in settlings:
            if isinstance(each.answer, StoreUnavailable):
                self.unavailable("settle")
        self._settle_seconds.observe_all([each.ended_s - each.began_s for each in settlings])
        self._receive_seconds.observe_all([each.ended_s - each.began_s for each in passages if each.steps is not None])
        for key, number in Counted(map(_ending, passages)).items():
            counter = self._by_ending.get(key)
            if counter is None:
                counter = self._by_ending[key] = self._deliveries.labels(*map(str, key))
            counter.inc(number)

    def unread(self, exc: Exception) -> None:
        if isinstance(exc, StoreUnavailable):
            self.unavailable("endpoint")

    def answered(self, method: str, route: str | None, status: int, number: int) -> None:
        route = route or _OTHER
        key = (method if method in _METHODS else _OTHER, route, status)
        counter = self._by_request.get(key)
        if counter is None:
            counter = self._by_request[key] = self._requests.labels(key[0], route, str(status))
        counter.inc(number)

    def refused(self, cause: Cause, dropped: int) -> None:
        self._refused[cause].inc()
        if dropped:
            self._trailer_bytes.inc(dropped)

    def sample(self) -> None:
        if self._observed is not None:
            self._settling.set(self._observed.settling)

    def unavailable(self, operation: str) -> None:
        self._unavailable.labels(operation).inc()

    def run_ended(self, status: RunStatus) -> None:
        self._ended.labels(status.value).inc()

    def sent(self, result: AttemptResult) -> None:
        self._sent.labels(result.name.lower()).inc()

    def posted(self, posting: "MailResult") -> None:
        self._posted.labels(posting.name.lower()).inc()


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


def _ending(passage: DeliveryProgress) -> tuple[str, str, str, int]:
    provider, end = passage.delivery.address.provider, passage.end
    if isinstance(end, Exception) or end is None:
        outcome, status = ("unavailable", 503) if isinstance(end, StoreUnavailable) else ("failed", 500)
        return provider, _OTHER, outcome, status
    kind = end.kind
    return provider, kind if kind in _EVENTS else _OTHER, _NAMES[type(end)], end.status
