"""The engine of one process: step results are stored in the service's own tables, and runs are tasks of the loop."""

from collections.abc import Awaitable, Callable, Mapping
from typing import final

from contentsvc_core.ports import RunLedger, RunStateStore, Workflow
from contentsvc_core.workflows.runs import RunLost, WorkflowRun


@final
class InlineExecution:
    """Performs runs in the process that took them; needs only the stores."""

    def __init__(self, ledger: RunLedger, memory: RunStateStore) -> None:
        self._ledger = ledger
        self._memory = memory

    async def open(self) -> None:
        pass

    async def perform(self, run: WorkflowRun, workflow: Workflow) -> None:
        await workflow.perform(run, _Steps(run, self._ledger, self._memory))

    async def check(self) -> None:
        pass

    async def close(self) -> None:
        pass


class _Steps:
    def __init__(self, run: WorkflowRun, ledger: RunLedger, memory: RunStateStore) -> None:
        self._run = run
        self._ledger = ledger
        self._memory = memory
        #: Read at the first step: most runs have none.
        self._results: Mapping[str, str] | None = None

    async def run(self, name: str, step: Callable[[], Awaitable[str]]) -> str:
        if self._results is None:
            self._results = await self._memory.results(self._run)
        if not await self._ledger.owns(self._run):
            raise RunLost
        if name in self._results:
            return self._results[name]
        result = await step()
        await self._memory.save(self._run, name, result)
        return result
