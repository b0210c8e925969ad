"""One attempt at a run, from its take to its end. The result of every attempt is stored in the ledger."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, final

from contentsvc_adapters.engine.execution import EventSink, Execution, WorkerConfig
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.ports import RunLedger, Workflow
from contentsvc_core.text import one_line
from contentsvc_core.workflows.runs import RunGone, WorkflowRun, retry_delay

_REASON_LENGTH: Final = 200


@final
class Attempts:
    def __init__(
        self,
        execution: Execution,
        workflow: Workflow,
        ledger: RunLedger,
        pace: WorkerConfig,
        *,
        on_fault: Callable[[Exception], None],
        on_note: EventSink,
        stopping: asyncio.Event,
    ) -> None:
        self._execution = execution
        self._workflow = workflow
        self._ledger = ledger
        self._pace = pace
        self._on_fault = on_fault
        self._note = on_note
        self._stopping = stopping

    async def attempt(self, run: WorkflowRun) -> None:
        try:
            await self._attempt(run)
        except asyncio.CancelledError:
            # A stop: the run did nothing wrong, and the attempt does not count.
            await self._ledger.give_back(run)
            raise

    async def _attempt(self, run: WorkflowRun) -> None:
        task = asyncio.current_task()
        assert task is not None
        cancelling = task.cancelling()
        try:
            async with asyncio.timeout(self._pace.deadline_s):
                await self._execution.perform(run, self._workflow)
        except RunGone:
            return
        except StoreUnavailable as exc:
            # Not the run's fault, and not counted as an attempt; the pause gives the store time to recover.
            self._on_fault(exc)
            await asyncio.sleep(self._pace.pause_s)
            await self._insist(lambda: self._ledger.give_back(run))
        except TimeoutError:
            await self._fail(run, TimeoutError(f"the run took longer than {self._pace.deadline_s:g} s"))
        except asyncio.CancelledError:
            if task.cancelling() > cancelling:
                raise
            # The worker did not cancel the task: code inside the writer did, as timeouts and HTTP clients do.
            await self._fail(run, RuntimeError("the writer was cancelled"))
        except Exception as exc:  # noqa: BLE001  # every exception is recorded in the run
            await self._fail(run, exc)

    async def _fail(self, run: WorkflowRun, exc: Exception) -> None:
        event = "run failed" if retry_delay(run.attempts) is None else "run failed this time"
        reason = one_line(f"{type(exc).__name__}: {exc}", _REASON_LENGTH)
        self._note(event, run=run.id, organization=run.organization_id, attempt=run.attempts, reason=reason)
        await self._insist(lambda: self._workflow.failed(run, exc))

    async def _insist(self, store: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                await store()
            except Exception as exc:  # noqa: BLE001  # as above
                self._on_fault(exc)
            else:
                return
            if self._stopping.is_set():
                return
            await asyncio.sleep(self._pace.poll_s)
