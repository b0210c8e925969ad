"""The steps of runs, stored by DBOS in a workflow that begins with the first step and has its run's id."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, final

from attrs import define, field, frozen
from dbos import DBOS

from contentsvc_adapters.engine.dbos_limits import faults_named
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.ports import RunLedger
from contentsvc_core.workflows.runs import RunLost, WorkflowRun

#: The time limit for DBOS's answers, in seconds: a little more than its own timeouts.
PATIENCE_S: Final = 12.0


@frozen(kw_only=True)
class _StepRequest:
    name: str
    step: Callable[[], Awaitable[str]]
    answer: "asyncio.Future[str]"


def _queue() -> "asyncio.Queue[_StepRequest | None]":
    return asyncio.Queue()


@final
@define
class Performance:
    #: The results of the steps that earlier attempts have finished, by name, in the order of DBOS's records.
    finished: dict[str, str] = field(factory=dict[str, str])
    requests: "asyncio.Queue[_StepRequest | None]" = field(factory=_queue)
    begun: asyncio.Event = field(factory=asyncio.Event)
    task: "asyncio.Task[object] | None" = None


#: By the run's id. DBOS calls functions by their names, in any context.
TAKEN: Final[dict[str, Performance]] = {}


@DBOS.workflow(name="perform_run")
async def perform_run(run_id: str) -> str:
    """Run the steps that a run sends, until the run ends; a run that fails cancels the workflow.

    A cancelled workflow stays unfinished, and is resumed with its stored results. An error would be a final outcome.
    """
    performance = TAKEN.get(run_id)
    if performance is None or performance.begun.is_set():
        # Another call runs the steps, or the run is not in this process: leave the workflow without an outcome.
        raise asyncio.CancelledError
    performance.task = asyncio.current_task()
    # DBOS finds results by position and refuses another name there. A resumed run may need other steps than before, for
    # example after an integration lost its token. So the records are replayed first, whether they are needed or not.
    for name, result in performance.finished.items():
        await DBOS.run_step_async({"name": name}, partial(_recorded, result))
    performance.begun.set()
    while (request := await performance.requests.get()) is not None:
        await _do(request)
    return "ended"


async def _recorded(result: str) -> str:
    return result


async def _do(request: _StepRequest) -> None:
    raised: Exception | asyncio.CancelledError | None = None

    async def guarded() -> str:
        nonlocal raised
        try:
            return await request.step()
        except (Exception, asyncio.CancelledError) as exc:
            raised = exc
            # DBOS would store an error as the step's result, and return it at every retry.
            raise asyncio.CancelledError from exc

    task = asyncio.current_task()
    assert task is not None
    try:
        with faults_named("the engine could not keep a step"):
            result = await DBOS.run_step_async({"name": request.name}, guarded)
    except asyncio.CancelledError:
        if task.cancelling() or raised is None:
            raise
        _refuse(request, raised)
    except StoreUnavailable as exc:
        _refuse(request, exc)
    else:
        if not request.answer.done():
            request.answer.set_result(result)


def _refuse(request: _StepRequest, exc: BaseException) -> None:
    if isinstance(exc, asyncio.CancelledError):
        # The step cancelled itself, as time limits and HTTP clients do.
        request.answer.cancel()
    elif not request.answer.done():
        request.answer.set_exception(exc)


@final
class DbosSteps:
    def __init__(
        self, run: WorkflowRun, ledger: RunLedger, begin: Callable[[WorkflowRun, Performance], Awaitable[None]]
    ) -> None:
        self._run = run
        self._ledger = ledger
        self._begin = begin
        self._performance: Performance | None = None

    async def run(self, name: str, step: Callable[[], Awaitable[str]]) -> str:
        if not await self._ledger.owns(self._run):
            raise RunLost
        if self._performance is None:
            self._performance = TAKEN[self._run.id] = Performance()
            with faults_named("the engine could not begin the run"):
                async with asyncio.timeout(PATIENCE_S):
                    await self._begin(self._run, self._performance)
        workflow = self._performance.task
        if workflow is None:
            message = "the engine could not begin the run"
            raise StoreUnavailable(message)
        if name in self._performance.finished:
            return self._performance.finished[name]
        request = _StepRequest(name=name, step=step, answer=asyncio.get_running_loop().create_future())
        self._performance.requests.put_nowait(request)
        await asyncio.wait({request.answer, workflow}, return_when=asyncio.FIRST_COMPLETED)
        if not request.answer.done():
            # DBOS ended it: its tables are unavailable, or another process has resumed the workflow.
            exc = None if workflow.cancelled() else workflow.exception()
            message = f"the engine ended the run: {type(exc).__name__}"
            raise StoreUnavailable(message) from exc
        return await request.answer

    async def end(self, *, well: bool) -> None:
        """End the workflow, if it was begun; unless ``well``, it can be resumed."""
        performance = self._performance
        if performance is None:
            return
        try:
            if performance.task is not None:
                if well:
                    performance.requests.put_nowait(None)
                else:
                    performance.task.cancel()
                await asyncio.wait({performance.task})
        finally:
            # If this process has taken the run again, another performance is registered.
            if TAKEN.get(self._run.id) is performance:
                del TAKEN[self._run.id]
