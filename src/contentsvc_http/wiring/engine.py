import asyncio
import contextlib
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import structlog

from contentsvc_adapters.writers.deterministic import DeterministicWriter
from contentsvc_core.application import Application
from contentsvc_core.usecases.perform import Performer
from contentsvc_core.usecases.pull_requests import PullRequestReader
from contentsvc_core.usecases.read_site import BrandReader
from contentsvc_core.workflows.runs import RunStatus
from contentsvc_http.faults import log_fault
from contentsvc_http.instrumentation import Instrumentation
from contentsvc_http.settings import Settings
from contentsvc_http.wiring.writers import open_writer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection

    from contentsvc_adapters.engine.dbos import DbosExecution
    from contentsvc_adapters.engine.execution import Execution
    from contentsvc_adapters.engine.worker import Worker
    from contentsvc_core.content.site_addresses import SiteHost
    from contentsvc_core.ports import SiteReader
    from contentsvc_core.ports.brands import NotRead, SitePage

#: The time for which a stop waits for current runs, in seconds.
_ENGINE_GRACE_S: Final = 2.0
_READER: Final = "contentsvc_adapters.sites.reader"
_LOG: Final = structlog.get_logger("contentsvc")


@contextlib.asynccontextmanager
async def open_engine(
    settings: Settings, app: Application, instrumentation: Instrumentation
) -> "AsyncGenerator[Worker]":
    """Perform runs; at the end, finish the runs in progress or give them back."""
    stores, clock, ids = app.stores, app.clock, app.ids
    # Imported here: a process that only receives deliveries does not need the engine.
    from contentsvc_adapters.engine.execution import WorkerConfig  # noqa: PLC0415
    from contentsvc_adapters.engine.membership import Membership  # noqa: PLC0415
    from contentsvc_adapters.engine.worker import Worker  # noqa: PLC0415

    def note(event: str, /, **details: object) -> None:
        # Runs that fail with their process cannot report it themselves.
        failed = details.get("failed")
        for _ in range(failed if isinstance(failed, int) else 0):
            instrumentation.ended(RunStatus.FAILED)
        _LOG.warning(event, **details)

    stack = contextlib.AsyncExitStack()
    writer = await stack.enter_async_context(open_writer(settings))
    worker = Worker(
        _execution(settings, app),
        instrumentation.workflow(
            Performer(
                ledger=stores.ledger,
                jobs=stores.jobs,
                briefs=app.briefs,
                directory=stores.directory,
                triggers=stores.triggers,
                schedules=stores.schedules,
                sites=BrandReader(
                    _ReaderOnDemand(app.site_hosts),
                    stores.brands,
                    ledger=stores.ledger,
                    jobs=stores.jobs,
                    clock=clock,
                    offload=asyncio.to_thread,
                ),
                pull_requests=PullRequestReader(stores.directory, app.code_host_service, clock),
                writer=writer,
                fallback=DeterministicWriter(),
                renderer=app.renderer,
                clock=clock,
                ids=ids,
                ended=instrumentation.ended,
            )
        ),
        Membership(stores.executors, ids, alone=settings.is_sqlite, engine=settings.engine_in_force),
        ledger=stores.ledger,
        clock=clock,
        on_fault=log_fault,
        on_note=note,
        pace=WorkerConfig(
            concurrency=settings.run_concurrency,
            per_organization=min(settings.run_concurrency_per_organization, settings.run_concurrency),
        ),
    )
    async with stack:
        await worker.launch()
        try:
            yield worker
        finally:
            await worker.close(within_s=_ENGINE_GRACE_S)


def _execution(settings: Settings, app: Application) -> "Execution":
    if settings.engine_in_force == "inline":
        from contentsvc_adapters.engine.inline import InlineExecution  # noqa: PLC0415  # as above

        return InlineExecution(app.stores.ledger, app.stores.run_state)
    from contentsvc_adapters.engine.dbos_on_demand import DbosOnDemand  # noqa: PLC0415  # as above

    executor = app.ids.new_id("dbos_")

    def create() -> "DbosExecution":
        from contentsvc_adapters.engine.dbos import DbosExecution  # noqa: PLC0415  # its import takes longer than the rest

        return DbosExecution(
            settings.engine_database_url,
            app.stores.ledger,
            app.clock,
            executor=executor,
            # With PostgreSQL, 'contentsvc migrate' has made its tables.
            migrates=settings.is_sqlite,
        )

    return DbosOnDemand(settings.engine_database_url, create, migrates=settings.is_sqlite)


class _ReaderOnDemand:
    """Loads the HTTP client with the first site: most processes read none."""

    def __init__(self, opened: "Collection[SiteHost]") -> None:
        self._opened = opened
        self._reader: SiteReader | None = None

    async def read(self, url: str) -> "SitePage | NotRead":
        if self._reader is None:
            # In a thread, so that deliveries do not wait for the import.
            module: Any = await asyncio.to_thread(import_module, _READER)
            self._reader = module.HttpSiteReader(opened=self._opened)
        assert self._reader is not None
        return await self._reader.read(url)
