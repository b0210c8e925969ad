"""The durable engine for several nodes: DBOS stores the results of finished steps.

The ledger has the runs, their executors and their results. A DBOS workflow has its run's id, and continues on any node
where it stopped. DBOS is a singleton: a process has one such engine at a time.
"""

import asyncio
import contextlib
import logging
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Final, final

from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer, SetWorkflowID

from contentsvc_adapters.engine.dbos_limits import (
    engine_options,
    faults_named,
    give_up_in_outages,
    quieten,
    why_not,
    write_ahead,
    writing,
)
from contentsvc_adapters.engine.dbos_steps import PATIENCE_S, TAKEN, DbosSteps, Performance, perform_run
from contentsvc_adapters.offload import in_thread
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.ports import Clock, RunLedger, Workflow
from contentsvc_core.timestamps import iso_ms
from contentsvc_core.workflows.runs import WorkflowRun

#: The version of the workflow's code, which DBOS records: it resumes a run only under the same version. Names and order
#: of steps may change without a new version, since runs find results by name.
_EPOCH: Final = "1"
_NAME: Final = "contentsvc"
#: The maximum number of connections of a process to DBOS's database.
_POOL_SIZE: Final = 8
#: The interval at which a node polls for runs to resume, in seconds.
_QUEUE_POLL_S: Final = 0.2
#: The time within which a new workflow must begin, in seconds; else DBOS knew it before.
_BEGIN_S: Final = 2.0
_END_S: Final = 2.0
#: The time for which DBOS keeps workflows; the step results of ended runs are not needed any more.
_RETENTION: Final = timedelta(days=1)
_LONG_RETENTION: Final = timedelta(days=30)
_ENDED: Final = ["SUCCESS", "ERROR"]
_SWEEP_EVERY_S: Final = 3600.0
_SWEEP_BATCH: Final = 500


@final
class DbosExecution:
    def __init__(self, url: str, ledger: RunLedger, clock: Clock, *, executor: str, migrates: bool) -> None:
        """``url``: DBOS's database, as ``postgresql://`` or ``sqlite:///``. Its tables must exist unless ``migrates``.

        The name ``executor`` is unique to this process.
        """
        self._url = url
        self._ledger = ledger
        self._clock = clock
        self._executor = executor
        self._migrates = migrates
        #: A resumed run continues in the process that has taken it: so each process has a queue of its own.
        self._queue = f"resumed by {executor}"
        self._sweeping: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Launch DBOS inside the running loop, so that steps share the stores' connections.

        Raises:
            StoreUnavailable: Its database cannot be used, or lacks the tables.
        """
        quieten(logging.getLogger("dbos"))
        config = DBOSConfig(
            name=_NAME,
            system_database_url=self._url,
            sys_db_pool_size=_POOL_SIZE,
            db_engine_kwargs=engine_options(self._url),
            application_version=_EPOCH,
            executor_id=self._executor,
            # Its default is pickle; and its plain JSON cannot write exceptions.
            serializer=DBOSPortableJSONSerializer(),
            run_migrations=self._migrates,
            enable_otlp=False,
            # Nothing here waits for another process's notification.
            use_listen_notify=False,
            log_level="WARNING",
        )
        try:
            if self._url.startswith("sqlite"):
                write_ahead(self._url)
            instance = DBOS(config=config)
            DBOS.listen_queues([self._queue])
            DBOS.launch()
            give_up_in_outages(instance)
            await self._register_queue()
        except BaseException as exc:
            await self._destroy()
            if not isinstance(exc, Exception):
                raise
            raise StoreUnavailable(why_not(exc)) from exc
        self._sweeping = asyncio.create_task(self._sweep_for_ever(), name="engine sweep")

    def steps(self, run: WorkflowRun) -> DbosSteps:
        return DbosSteps(run, self._ledger, self._begin)

    async def perform(self, run: WorkflowRun, workflow: Workflow) -> None:
        steps = self.steps(run)
        well = False
        try:
            await workflow.perform(run, steps)
            well = True
        finally:
            await steps.end(well=well)

    async def check(self) -> None:
        """Query DBOS's tables, to detect connections that are dead but not closed."""
        with faults_named("the engine cannot reach its tables"):
            async with asyncio.timeout(PATIENCE_S):
                await DBOS.list_workflows_async(limit=1, load_input=False, load_output=False)

    async def _begin(self, run: WorkflowRun, performance: Performance) -> None:
        if run.takes > 1 or not await self._start(run.id, performance):
            workflows = await DBOS.list_workflows_async(workflow_ids=[run.id], load_input=False, load_output=False)
            if workflows and workflows[0].status in {"SUCCESS", "ERROR"}:
                # The workflow has ended, its run has not: the ledger was restored, or the run was restarted.
                await DBOS.delete_workflows_async([run.id])
                workflows = []
            if workflows:
                for step in await DBOS.list_workflow_steps_async(run.id):
                    performance.finished[step["function_name"]] = str(step["output"])
                # The tables may have been lost and created again, or be those of a standby that lacks the queue.
                await self._register_queue()
                await DBOS.resume_workflows_async([run.id], queue_name=self._queue)
            else:
                await self._start(run.id, performance)
            await performance.begun.wait()

    async def _register_queue(self) -> None:
        # Only this process uses the name. By default, DBOS also reads its table of versions, which may be empty.
        await DBOS.register_queue_async(self._queue, polling_interval_sec=_QUEUE_POLL_S, on_conflict="never_update")

    async def _start(self, run_id: str, performance: Performance) -> bool:
        with SetWorkflowID(run_id):
            await DBOS.start_workflow_async(perform_run, run_id)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(performance.begun.wait(), _BEGIN_S)
        return performance.begun.is_set()

    async def close(self) -> None:
        if self._sweeping is not None:
            self._sweeping.cancel()
            await asyncio.wait({self._sweeping})
        with contextlib.suppress(Exception):
            await asyncio.wait_for(DBOS.delete_queue_async(self._queue), 1.0)
        await self._destroy()

    async def _destroy(self) -> None:
        try:
            await asyncio.wait_for(in_thread(DBOS.destroy, name="engine's end"), _END_S)
        except Exception as exc:  # noqa: BLE001  # the process ends all the same
            logging.getLogger(__name__).warning("the engine could not be ended: %s", type(exc).__name__)
        # DBOS has replaced the loop's default executor by its own, and closes that one.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor())

    async def _sweep_for_ever(self) -> None:
        log = logging.getLogger(__name__)
        while True:
            try:
                while await self.sweep():
                    pass
            except Exception as exc:  # noqa: BLE001  # the next turn handles the rest
                log.warning("the engine's tables could not be swept: %s", type(exc).__name__)
            await asyncio.sleep(_SWEEP_EVERY_S)

    async def sweep(self) -> int:
        """Delete a batch of old workflows from DBOS; return their number. Unfinished ones are kept longer."""
        ids: list[str] = []
        for statuses, age in ((_ENDED, _RETENTION), (None, _LONG_RETENTION)):
            old = await DBOS.list_workflows_async(
                status=statuses,
                end_time=iso_ms(self._clock.now() - age),
                limit=_SWEEP_BATCH,
                load_input=False,
                load_output=False,
            )
            ids.extend(each.workflow_id for each in old if each.workflow_id not in TAKEN)
        if ids:
            await DBOS.delete_workflows_async(ids)
        return len(ids)


def migrate_engine(url: str) -> None:
    """Create or update DBOS's tables; raise :class:`StoreUnavailable` if the database cannot be used."""
    quieten(logging.getLogger("dbos"))
    try:
        DBOS.migrate(writing(url))
    except Exception as exc:
        raise StoreUnavailable(why_not(exc)) from exc
