"""The page ``/metrics``: what was counted, and what the database says when it is asked."""

import asyncio
import os
import platform
from collections.abc import Awaitable, Callable, Generator
from time import monotonic
from typing import Any, Final, Protocol, final

from litestar import Request, Response, get
from litestar.handlers import HTTPRouteHandler
from prometheus_client import CollectorRegistry, ProcessCollector, disable_created_metrics
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from contentsvc_core.workflows.runs import RunStatus
from contentsvc_http.client_address import is_local
from contentsvc_http.errors import Refused
from contentsvc_http.metrics import Metrics

#: How long what the database said is shown again, in seconds.
_FRESH_S: Final = 2.0
#: How long a scrape waits for the database, in seconds: far less than scrapers wait for it.
_WITHIN_S: Final = 1.0
#: How often a process notes how it stands, in seconds.
_SAMPLE_EVERY_S: Final = 5.0
_NOT_LOCAL: Final = "Metrics are for clients on this machine; CONTENTSVC_METRICS=on opens them"


class Backlog(Protocol):
    """The runs that have not ended, in the database."""

    @property
    def pending(self) -> int:
        """Those that wait to be taken."""
        ...

    @property
    def running(self) -> int:
        """Those that were taken."""
        ...

    @property
    def oldest_due_s(self) -> float:
        """How long the one that waits longest has been due, in seconds; 0: none is due."""
        ...


@final
class Scrape:
    """Gathers what a scrape reads; the database is asked at most every other second, and may be away."""

    def __init__(
        self, version: str, backlog: Callable[[], Awaitable[Backlog]], connections: Callable[[], tuple[int, int]]
    ) -> None:
        """Make the metrics that it shows.

        Args:
            version: The version that runs.
            backlog: Asks the database; may raise anything when that is away.
            connections: Gives how many connections to the database are in use, and how many may be open.
        """
        # When a counter began: a third of the page, and nothing that anybody asks of it.
        disable_created_metrics()
        shown = self._shown = CollectorRegistry()
        # The library's own variable: with it, each process writes files into a folder, and any of them adds them up.
        several = "PROMETHEUS_MULTIPROC_DIR" in os.environ
        self.metrics: Final = Metrics(CollectorRegistry() if several else shown)
        self._database = _FromDatabase(version)
        shown.register(self._database)
        if several:
            MultiProcessCollector(shown)
        else:
            ProcessCollector(registry=shown)
        self._backlog = backlog
        self._connections = connections
        self._asking: asyncio.Task[Backlog | None] | None = None
        self._asked_at = 0.0

    async def page(self, accept: str) -> tuple[bytes, str]:
        """Give the page in the format that is accepted, and its content type."""
        self.sample()
        self._database.backlog = await self._ask()
        encode, content_type = choose_encoder(accept)
        # In a thread: for several processes, files are read.
        return await asyncio.to_thread(encode, self._shown), content_type

    def sample(self) -> None:
        """Note how this process stands: of several, another one may answer the next scrape."""
        in_use, most = self._connections()
        self.metrics.connections.set(in_use)
        self.metrics.connections_max.set(most)
        self.metrics.sample()

    async def keep_sampling(self) -> None:
        """Note it again and again, until it is cancelled."""
        while True:
            self.sample()
            await asyncio.sleep(_SAMPLE_EVERY_S)

    async def _ask(self) -> Backlog | None:
        asking = self._asking
        if asking is None or (asking.done() and monotonic() - self._asked_at >= _FRESH_S):
            # One question at a time: a database that hangs gets no second one.
            asking = self._asking = asyncio.create_task(self._answer(), name="backlog")
        answered, _ = await asyncio.wait({asking}, timeout=_WITHIN_S)
        return asking.result() if answered else None

    async def _answer(self) -> Backlog | None:
        try:
            return await self._backlog()
        except Exception:  # noqa: BLE001  # whatever it is: the page has to be there when something is wrong
            return None
        finally:
            self._asked_at = monotonic()


@final
class _FromDatabase(Collector):
    """What is the same for every process, so that nothing of it is added up."""

    def __init__(self, version: str) -> None:
        self._version = version
        #: ``None``: the database is away.
        self.backlog: Backlog | None = None

    def collect(self) -> Generator[Metric]:
        backlog = self.backlog
        build = GaugeMetricFamily("contentsvc_build_info", "What runs.", labels=("version", "python"))
        build.add_metric((self._version, platform.python_version()), 1)
        yield build
        up = GaugeMetricFamily("contentsvc_store_up", "Whether the database has answered.")
        up.add_metric((), backlog is not None)
        yield up
        if backlog is None:
            # What was so before is no answer now.
            return
        runs = GaugeMetricFamily("contentsvc_runs", "Runs that have not ended.", labels=("status",))
        runs.add_metric((RunStatus.PENDING.value,), backlog.pending)
        runs.add_metric((RunStatus.RUNNING.value,), backlog.running)
        yield runs
        age = GaugeMetricFamily("contentsvc_outbox_age_seconds", "How long the run that waits longest has been due.")
        age.add_metric((), backlog.oldest_due_s)
        yield age


def metrics_route(scrape: Scrape, *, local: bool) -> HTTPRouteHandler:
    """Give the route.

    Args:
        scrape: What gathers the page.
        local: Answer only clients on this machine that no proxy speaks for.
    """

    # Not in the OpenAPI document: it is the operator's, and no part of the interface that clients are promised.
    @get("/metrics", name="metrics", include_in_schema=False)
    async def metrics(request: Request[Any, Any, Any]) -> Response[bytes]:
        # Not every proxy says that it is one: the page holds nothing that is secret, and the documentation tells to
        # keep it out of the proxy.
        if local and not is_local(request.client and request.client.host, request.scope["headers"]):
            raise Refused(403, {"error": _NOT_LOCAL})
        page, content_type = await scrape.page(request.headers.get("Accept", ""))
        return Response(page, media_type=content_type)

    return metrics
