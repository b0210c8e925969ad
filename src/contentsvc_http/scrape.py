import asyncio
import os
import platform
from collections.abc import Awaitable, Callable, Generator
from importlib import import_module
from time import monotonic
from typing import Any, Final, Protocol, final

from prometheus_client.metrics import disable_created_metrics
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector, CollectorRegistry

from contentsvc_core.workflows.runs import RunStatus
from contentsvc_http.metrics import Metrics

#: Cache time of the database gauges, in seconds. Limits the queries of frequent scrapes.
_FRESH_S: Final = 2.0
#: Timeout of the database query of a scrape, in seconds. Prometheus waits 10 seconds for a scrape.
_WITHIN_S: Final = 1.0
_SAMPLE_EVERY_S: Final = 5.0


class RunBacklog(Protocol):
    @property
    def pending(self) -> int: ...

    @property
    def running(self) -> int: ...

    @property
    def oldest_due_s(self) -> float:
        """Age of the oldest due run, in seconds; 0 if no run is due."""
        ...


@final
class Scrape:
    """Collects the metrics of a scrape. Reads the database at most every two seconds, and works without it."""

    def __init__(
        self,
        version: Callable[[], str],
        backlog: Callable[[], Awaitable[RunBacklog]],
        connections: Callable[[], tuple[int, int]],
    ) -> None:
        """``backlog`` may raise any exception; ``connections`` returns the number in use, and the maximum."""
        # The creation times of counters are a third of the page, and no alert uses them.
        disable_created_metrics()
        shown = self._shown = CollectorRegistry()
        # The library's variable: each process writes its metrics into files, and every process can add them up.
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
        self._reading: asyncio.Task[RunBacklog | None] | None = None
        self._read_at = 0.0

    async def page(self, accept: str) -> tuple[bytes, str]:
        self.sample()
        self._database.backlog = await self._read_backlog()
        # In a thread: it imports an HTTP server of the standard library.
        exposition: Any = await asyncio.to_thread(import_module, "prometheus_client.exposition")
        encode, content_type = exposition.choose_encoder(accept)
        # In a thread, because with several processes the library reads files.
        return await asyncio.to_thread(encode, self._shown), content_type

    def sample(self) -> None:
        """Update the gauges of this process; with several processes, another process may serve the next scrape."""
        in_use, most = self._connections()
        self.metrics.connections.set(in_use)
        self.metrics.connections_max.set(most)
        self.metrics.sample()

    async def keep_sampling(self) -> None:
        while True:
            self.sample()
            await asyncio.sleep(_SAMPLE_EVERY_S)

    async def _read_backlog(self) -> RunBacklog | None:
        reading = self._reading
        if reading is None or (reading.done() and monotonic() - self._read_at >= _FRESH_S):
            # One query at a time: a database that hangs gets no second query.
            reading = self._reading = asyncio.create_task(self._answer(), name="backlog")
        answered, _ = await asyncio.wait({reading}, timeout=_WITHIN_S)
        return reading.result() if answered else None

    async def _answer(self) -> RunBacklog | None:
        try:
            return await self._backlog()
        except Exception:  # noqa: BLE001  # the page must work when the database fails
            return None
        finally:
            self._read_at = monotonic()


class _FromDatabase(Collector):
    """Gauges read from the database: the same in every process, so they are not added up."""

    def __init__(self, version: Callable[[], str]) -> None:
        self._version = version
        #: ``None``: the database is unavailable.
        self.backlog: RunBacklog | None = None

    def collect(self) -> Generator[Metric]:
        backlog = self.backlog
        build = GaugeMetricFamily("contentsvc_build_info", "Build information.", labels=("version", "python"))
        build.add_metric((self._version(), platform.python_version()), 1)
        yield build
        up = GaugeMetricFamily("contentsvc_store_up", "1 if the database is available, else 0.")
        up.add_metric((), backlog is not None)
        yield up
        if backlog is None:
            # Old values would look current.
            return
        runs = GaugeMetricFamily("contentsvc_runs", "Workflow runs that have not ended.", labels=("status",))
        runs.add_metric((RunStatus.PENDING.value,), backlog.pending)
        runs.add_metric((RunStatus.RUNNING.value,), backlog.running)
        yield runs
        age = GaugeMetricFamily("contentsvc_outbox_age_seconds", "Age of the oldest due run, in seconds.")
        age.add_metric((), backlog.oldest_due_s)
        yield age
