"""The steps of runs, kept by DBOS: a workflow has its run's id, and is told from outside what to do.

A run's body needs no workflow: it may be begun again at any time. So DBOS is asked for one when the body comes to its
first step, and a run without steps costs nothing but what the ledger writes.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, final

from attrs import define, field, frozen
from dbos import DBOS

from contentsvc_adapters.engine.dbos_limits import faults_named
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.ports import RunLedger
from contentsvc_core.workflows.runs import RunGone, WorkflowRun

#: How long DBOS may take to answer, in seconds: a little more than its own limits.
PATIENCE_S: Final = 12.0


@final
@frozen(kw_only=True)
class _Asked:
    """A step that a body asks its workflow for."""

    name: str
    step: Callable[[], Awaitable[str]]
    answer: "asyncio.Future[str]"


def _queue() -> "asyncio.Queue[_Asked | None]":
    return asyncio.Queue()


@final
@define
class Performance:
    """A run that was taken in this process, and has steps: DBOS keeps nothing of others."""

    asked: "asyncio.Queue[_Asked | None]" = field(factory=_queue)
    begun: asyncio.Event = field(factory=asyncio.Event)
    task: "asyncio.Task[object] | None" = None


#: By the run's id. DBOS calls functions by their names, in whatever context.
TAKEN: Final[dict[str, Performance]] = {}


@DBOS.workflow(name="perform_run")
async def perform_run(run_id: str) -> str:
    """Do the steps that a body asks for, until that has ended; a body that fails cancels it.

    So it stays unfinished, to be resumed with what it has kept: an error would be an outcome, and for good.
    """
    performance = TAKEN.get(run_id)
    if performance is None or performance.begun.is_set():
        # Another copy is at work, or nobody: no outcome, either.
        raise asyncio.CancelledError
    performance.task = asyncio.current_task()
    performance.begun.set()
    while (asked := await performance.asked.get()) is not None:
        await _do(asked)
    return "ended"


async def _do(asked: _Asked) -> None:
    """Do a step unless it is finished, and answer with what it has given or raised."""
    raised: Exception | asyncio.CancelledError | None = None

    async def guarded() -> str:
        nonlocal raised
        try:
            return await asked.step()
        except (Exception, asyncio.CancelledError) as exc:
            raised = exc
            # An error would be kept as the step's result, and given again for ever.
            raise asyncio.CancelledError from exc

    task = asyncio.current_task()
    assert task is not None
    try:
        with faults_named("the engine could not keep a step"):
            result = await DBOS.run_step_async({"name": asked.name}, guarded)
    except asyncio.CancelledError:
        if task.cancelling() or raised is None:
            raise
        _refuse(asked, raised)
    except StoreUnavailable as exc:
        _refuse(asked, exc)
    else:
        if not asked.answer.done():
            asked.answer.set_result(result)


def _refuse(asked: _Asked, exc: BaseException) -> None:
    if isinstance(exc, asyncio.CancelledError):
        # By the step itself, as time limits and HTTP clients do.
        asked.answer.cancel()
    elif not asked.answer.done():
        asked.answer.set_exception(exc)


@final
class Steps:
    """Steps of a run. Its workflow begins with the first one: most runs have none, and are rows of the ledger alone."""

    def __init__(
        self, run: WorkflowRun, ledger: RunLedger, begin: Callable[[WorkflowRun, Performance], Awaitable[None]]
    ) -> None:
        """Take what begins the workflow: it returns once that waits for steps, or raises."""
        self._run = run
        self._ledger = ledger
        self._begin = begin
        self._performance: Performance | None = None

    async def run(self, name: str, step: Callable[[], Awaitable[str]]) -> str:
        """Do a step unless it is finished."""
        if not await self._ledger.stands(self._run):
            raise RunGone
        if self._performance is None:
            self._performance = TAKEN[self._run.id] = Performance()
            with faults_named("the engine could not begin the run"):
                async with asyncio.timeout(PATIENCE_S):
                    await self._begin(self._run, self._performance)
        workflow = self._performance.task
        if workflow is None:
            message = "the engine could not begin the run"
            raise StoreUnavailable(message)
        asked = _Asked(name=name, step=step, answer=asyncio.get_running_loop().create_future())
        self._performance.asked.put_nowait(asked)
        await asyncio.wait({asked.answer, workflow}, return_when=asyncio.FIRST_COMPLETED)
        if not asked.answer.done():
            # DBOS itself ended it: its tables are away, or another process has resumed the workflow.
            exc = None if workflow.cancelled() else workflow.exception()
            message = f"the engine ended the run: {type(exc).__name__}"
            raise StoreUnavailable(message) from exc
        return await asked.answer

    async def end(self, *, well: bool) -> None:
        """End the workflow, if one was begun; else than well, it can be resumed."""
        performance = self._performance
        if performance is None:
            return
        try:
            if performance.task is not None:
                if well:
                    performance.asked.put_nowait(None)
                else:
                    performance.task.cancel()
                await asyncio.wait({performance.task})
        finally:
            # Taken again by this very process, the run has another one by now.
            if TAKEN.get(self._run.id) is performance:
                del TAKEN[self._run.id]
