"""The engine for one process: runs are tasks of its own event loop (port ``WorkflowStarter``).

It keeps nothing: the ledger's rows are all there is, so a process that was killed goes on from them at its next start.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, final

from contentsvc_core.ports import Clock, RunLedger
from contentsvc_core.usecases.perform import Performer
from contentsvc_core.usecases.relay import Relay
from contentsvc_core.workflows.runs import WorkflowRun

#: Nobody has to nudge: this often the ledger is looked at all the same, in seconds.
_POLL_S: Final = 0.5
#: How many runs are worked on at a time.
_CONCURRENCY: Final = 16
#: How long a free slot waits for more of them, in seconds.
_GATHER_S: Final = 0.02

#: How long a run may take, in seconds; then it has failed this time. A writer that hangs must not hold a slot for ever.
_DEADLINE_S: Final = 300.0

#: How long a task that was cancelled may take to clean up, in seconds.
_LAST_S: Final = 1.0

_UNSTORED: Final = "how the run ended could not be stored"
_KILLED: Final = "the process ended while the run was running"


@final
class InlineEngine:
    """Relays, starts and performs runs until it is stopped. There must be one for a store, not more."""

    def __init__(
        self,
        ledger: RunLedger,
        performer: Performer,
        clock: Clock,
        *,
        on_fault: Callable[[Exception], None],
        poll_s: float = _POLL_S,
        deadline_s: float = _DEADLINE_S,
    ) -> None:
        """Take the ports.

        Args:
            ledger: Where the runs are.
            performer: What performs them.
            clock: Tells which runs are due.
            on_fault: Told of every fault of the store's; work goes on when it is back.
            poll_s: How long to wait for a nudge, in seconds.
            deadline_s: How long a run may take, in seconds.
        """
        self._ledger = ledger
        self._performer = performer
        self._relay = Relay(ledger, self, clock)
        self._on_fault = on_fault
        self._poll_s = poll_s
        self._deadline_s = deadline_s
        self._nudged = asyncio.Event()
        self._slots = asyncio.Semaphore(_CONCURRENCY)
        self._loop: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        #: Whether what is left has to wait for something else to end: a suspect is taken alone.
        self._held_up = False
        self._closing = False

    def nudge(self) -> None:
        """Say that there may be work."""
        self._nudged.set()

    @property
    def is_running(self) -> bool:
        """Tell whether it takes work."""
        return self._loop is not None and not self._loop.done()

    async def launch(self) -> None:
        """Begin to take work, beginning with what a killed process left running."""
        self._loop = asyncio.create_task(self._relaying(), name="relay")

    async def close(self, *, within_s: float) -> None:
        """Take no more work, wait for what is being done, and give back what is not done by then."""
        self._closing = True
        self._nudged.set()
        deadline = asyncio.get_running_loop().time() + within_s
        if self._loop is not None:
            # First, so that nothing is begun behind the back of what follows.
            await _end({self._loop}, deadline)
        await _end(set(self._tasks), deadline)

    async def start(self, ids: Sequence[str]) -> None:
        """Take runs and work on them, a bounded number at a time."""
        waiting = list(ids)
        while waiting and not self._closing:
            free = await self._free_slots(len(waiting))
            if self._closing:
                return
            # Only as many are taken as are worked on now: a kill must not cost an attempt of those that wait.
            chunk, waiting = waiting[:free], waiting[free:]
            taking = asyncio.ensure_future(self._take(chunk))
            try:
                taken = await asyncio.shield(taking)
            except asyncio.CancelledError:
                # What is being taken is taken all the same; nobody will work on it.
                for run in await taking:
                    await self._ledger.give_back(run)
                raise
            if not taken:
                self._held_up = True
                return
            for run in taken:
                task = asyncio.create_task(self._perform(run), name=f"run {run.id}")
                self._tasks.add(task)
                task.add_done_callback(self._finished)

    async def _free_slots(self, wanted: int) -> int:
        """Wait for a free slot, and a moment longer for its neighbours: one transaction takes for all of them."""
        await self._slots.acquire()
        if wanted > 1 and self._tasks:
            await asyncio.sleep(_GATHER_S)
        free = 1
        while free < wanted and not self._slots.locked():
            await self._slots.acquire()
            free += 1
        return free

    async def _take(self, ids: Sequence[str]) -> Sequence[WorkflowRun]:
        taken = 0
        try:
            runs = await self._ledger.take(ids)
            taken = len(runs)
        finally:
            for _ in range(len(ids) - taken):
                self._slots.release()
        return runs

    async def _relaying(self) -> None:
        recovered = False
        while not self._closing:
            self._nudged.clear()
            self._held_up = more = False
            try:
                if not recovered:
                    await self._ledger.recover(_KILLED)
                    recovered = True
                more = await self._relay.turn()
            except Exception as exc:  # noqa: BLE001  # the relay must outlive whatever the store does
                self._on_fault(exc)
            if not self._closing and not (more and not self._held_up):
                await self._wait()

    async def _wait(self) -> None:
        try:
            await asyncio.wait_for(self._nudged.wait(), self._poll_s)
        except TimeoutError:
            return

    async def _perform(self, run: WorkflowRun) -> None:
        try:
            await self._end_of(run)
        except asyncio.CancelledError:
            # A stop: the run did nothing wrong, and the attempt does not count.
            await self._ledger.give_back(run)
            raise
        finally:
            self._slots.release()

    async def _end_of(self, run: WorkflowRun) -> None:
        """Perform a run, or see to it that it is tried again, whatever happens."""
        try:
            async with asyncio.timeout(self._deadline_s):
                await self._performer.perform(run)
        except TimeoutError:
            await self._fail(run, TimeoutError(f"the run took longer than {self._deadline_s:g} s"))
        except asyncio.CancelledError:
            if self._closing:
                raise
            # Nobody here cancelled it: something inside the writer did, as time limits and HTTP clients do.
            await self._fail(run, RuntimeError("the writer was cancelled"))
        except Exception as exc:  # noqa: BLE001  # how it ended could not be stored
            self._on_fault(exc)
            await self._insist(lambda: self._ledger.retry(run, due_at=run.due_at, error=_UNSTORED))

    async def _fail(self, run: WorkflowRun, exc: Exception) -> None:
        await self._insist(lambda: self._performer.failed(run, exc))

    async def _insist(self, store: Callable[[], Awaitable[None]]) -> None:
        """Store how a run stands as soon as the store is back."""
        while True:
            try:
                await store()
            except Exception as exc:  # noqa: BLE001  # as above
                self._on_fault(exc)
            else:
                return
            if self._closing:
                return
            await asyncio.sleep(self._poll_s)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if self._held_up:
            self._nudged.set()
        if not task.cancelled() and (exc := task.exception()) is not None and isinstance(exc, Exception):
            self._on_fault(exc)


async def _end(tasks: "set[asyncio.Task[None]]", deadline: float) -> None:
    """Wait for tasks until the deadline, by the loop's clock; cancel those that are late, and give them a moment."""
    if not tasks:
        return
    left = max(0.0, deadline - asyncio.get_running_loop().time())
    _done, late = await asyncio.wait(tasks, timeout=left)
    for task in late:
        task.cancel()
    if late:
        # Giving a run back may have to wait for a lock: what does not succeed by then is recovered at the next start.
        await asyncio.wait(late, timeout=_LAST_S)
