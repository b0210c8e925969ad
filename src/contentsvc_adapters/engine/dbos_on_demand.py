"""DBOS on demand: imported and launched with the first step of a run. Most runs have none, and the import is slow."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final, final

from contentsvc_adapters.engine.dbos_tables import tables_version
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.ports import Workflow
from contentsvc_core.workflows.runs import WorkflowRun

if TYPE_CHECKING:
    from contentsvc_adapters.engine.dbos import DbosExecution
    from contentsvc_adapters.engine.dbos_steps import DbosSteps

_NO_TABLES: Final = "the engine's tables are not there: run 'contentsvc migrate'"


@final
class DbosOnDemand:
    def __init__(self, url: str, create: "Callable[[], DbosExecution]", *, migrates: bool) -> None:
        """``create`` imports DBOS; it is called in a thread, so that deliveries need not wait for it."""
        self._url = url
        self._create = create
        self._migrates = migrates
        self._launch: asyncio.Task[DbosExecution] | None = None

    async def open(self) -> None:
        if await asyncio.to_thread(tables_version, self._url) is None:
            if not self._migrates:
                raise StoreUnavailable(_NO_TABLES)
            await self.launched()

    async def perform(self, run: WorkflowRun, workflow: Workflow) -> None:
        steps = _Steps(run, self.launched)
        well = False
        try:
            await workflow.perform(run, steps)
            well = True
        finally:
            await steps.end(well=well)

    async def check(self) -> None:
        """Query DBOS's tables, or launch DBOS again after a failure."""
        # Before the first step there is nothing to check: DBOS uses the same server as the ledger.
        if self._launch is not None and self._launch.done():
            await (await self.launched()).check()

    async def close(self) -> None:
        launch = self._launch
        if launch is None:
            return
        launch.cancel()
        await asyncio.wait({launch})
        if not launch.cancelled() and launch.exception() is None:
            await launch.result().close()

    async def launched(self) -> "DbosExecution":
        launch = self._launch
        if launch is None or (launch.done() and (launch.cancelled() or launch.exception() is not None)):
            launch = self._launch = asyncio.create_task(self._open(), name="engine launch")
        # A run that is cancelled must not cancel the launch, which other runs wait for.
        return await asyncio.shield(launch)

    async def _open(self) -> "DbosExecution":
        engine = await asyncio.to_thread(self._create)
        await engine.open()
        return engine


class _Steps:
    def __init__(self, run: WorkflowRun, launched: "Callable[[], Awaitable[DbosExecution]]") -> None:
        self._run = run
        self._launched = launched
        self._steps: DbosSteps | None = None

    async def run(self, name: str, step: Callable[[], Awaitable[str]]) -> str:
        if self._steps is None:
            engine = await self._launched()
            self._steps = self._steps or engine.steps(self._run)
        return await self._steps.run(name, step)

    async def end(self, *, well: bool) -> None:
        if self._steps is not None:
            await self._steps.end(well=well)
