"""The worker: takes runs from the ledger and performs them, in every process with an engine."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Final, final

from attrs import field, frozen

from contentsvc_adapters.engine.execution import EventSink, Execution, WorkerConfig
from contentsvc_adapters.engine.membership import Membership
from contentsvc_adapters.pacing import Pacer
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.ports import Clock, RunLedger, Workflow
from contentsvc_core.text import one_line
from contentsvc_core.workflows.runs import Due, RunLost, WorkflowRun, retry_delay

#: The time for which a free place waits for further ones, in seconds: one transaction takes runs for all of them.
_GATHER_S: Final = 0.005
#: A query of the ledger that takes longer than this is followed by a pause of the same length, in seconds.
_LONG_S: Final = 0.05
#: The longest interval of polling the ledger, as a multiple of the shortest.
_RARELY: Final = 4
#: The number of heartbeats between two searches for orphaned runs: taken by this process, but not in progress.
_ORPHANS_EVERY: Final = 5
_MIXED: Final = "other nodes use another engine: set the same CONTENTSVC_ENGINE on all nodes"
#: The time limit for the cleanup of a cancelled task, in seconds.
_LAST_S: Final = 1.0
_REASON_LENGTH: Final = 200


@final
class Worker:
    def __init__(
        self,
        execution: Execution,
        workflow: Workflow,
        membership: Membership,
        *,
        ledger: RunLedger,
        clock: Clock,
        on_fault: Callable[[Exception], None],
        on_note: EventSink,
        pace: WorkerConfig,
    ) -> None:
        """Create the worker. ``on_fault`` gets faults of the store; ``on_note`` removed executors and failed runs."""
        self._execution = execution
        self._ledger = ledger
        self._on_fault = on_fault
        self._note = on_note
        self._pace = pace
        self._stopping = asyncio.Event()
        self._attempts = Attempts(
            execution, workflow, ledger, self._pace, on_fault=on_fault, on_note=on_note, stopping=self._stopping
        )
        self._membership = membership
        self._clock = clock
        self._pacer = Pacer(self._pace.poll_s, _RARELY * self._pace.poll_s)
        self._loops: set[asyncio.Task[None]] = set()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._busy: Counter[str] = Counter()
        #: The runs that the ledger listed last as running in this process, without a task here: id and take.
        self._orphans: set[tuple[str, int]] = set()
        self._beats = 0
        self._other_engines = frozenset[str]()
        #: Whether due runs may wait for a free place: the end of a run then wakes the worker.
        self._held_up = False
        #: Why the engine takes no runs; ``None``: its last check passed.
        self.inability: str | None = None
        #: Why the last heartbeat failed; ``None``: it was stored.
        self.silence: str | None = None

    @property
    def is_running(self) -> bool:
        return self.inability is None and bool(self._loops) and not any(loop.done() for loop in self._loops)

    @property
    def at_work(self) -> int:
        return len(self._tasks)

    def notify(self) -> None:
        self._pacer.wake()

    async def launch(self) -> None:
        await self._execution.open()
        self._loops = {
            asyncio.create_task(self._watching(), name="executor"),
            asyncio.create_task(self._starting(), name="start runs"),
            asyncio.create_task(self._checking(), name="engine check"),
        }

    async def close(self, *, within_s: float) -> None:
        self._stopping.set()
        self.notify()
        deadline = asyncio.get_running_loop().time() + within_s
        await _end(self._loops, deadline)
        await _end(set(self._tasks.values()), deadline)
        try:
            async with asyncio.timeout(_LAST_S):
                await self._membership.leave()
        except TimeoutError:
            self._on_fault(StoreUnavailable("this process could not be unregistered in time"))
        except Exception as exc:  # noqa: BLE001  # as above
            self._on_fault(exc)
        await self._execution.close()

    def _capacity(self) -> tuple[int, Collection[str]]:
        if self.inability is not None:
            return 0, ()
        full = [id_ for id_, number in self._busy.items() if number >= self._pace.per_organization]
        return self._pace.concurrency - len(self._tasks), full

    async def _start_due(self) -> bool:
        free, full = self._capacity()
        due = await self._ledger.pending(
            self._clock.now(), limit=free, per_organization=self._pace.per_organization, without=full
        )
        return bool(due) and await self.start(due) > 0

    async def start(self, due: Sequence[Due]) -> int:
        executor = self._membership.name
        chosen = self._fitting(due)
        self._held_up = True
        if executor is None or not chosen or self._stopping.is_set():
            return 0
        taking = asyncio.ensure_future(self._ledger.take(chosen, executor))
        try:
            taken = await asyncio.shield(taking)
        except asyncio.CancelledError:
            # The take completes in spite of the cancellation: requeue its runs.
            for run in await taking:
                await self._ledger.requeue(run)
            raise
        for run in taken:
            self._busy[run.organization_id] += 1
            task = asyncio.create_task(self._attempts.attempt(run), name=f"run {run.id}")
            self._tasks[run.id] = task
            task.add_done_callback(lambda task, run=run: self._finished(run, task))
        self._held_up = len(taken) < len(due)
        return len(taken)

    def _fitting(self, due: Sequence[Due]) -> list[str]:
        busy = self._busy.copy()
        chosen: list[str] = []
        for run in due:
            busy[run.organization_id] += 1
            # A run with a task here was just requeued: it is taken once the task has ended.
            if busy[run.organization_id] <= self._pace.per_organization and run.id not in self._tasks:
                chosen.append(run.id)
        return chosen

    async def _starting(self) -> None:
        while not self._stopping.is_set():
            self._pacer.begin()
            self._held_up = more = False
            began = asyncio.get_running_loop().time()
            try:
                if self._membership.name is not None:
                    more = await self._start_due()
            except Exception as exc:  # noqa: BLE001  # the loop must outlive every fault of the store
                self._on_fault(exc)
            took = asyncio.get_running_loop().time() - began
            if took > _LONG_S:
                # With many organizations and nodes, polling alone must not keep the database busy.
                await _within(self._stopping.wait(), min(took, self._pace.poll_s))
            free, full = self._capacity()
            if more and free:
                continue
            self._held_up = self._held_up or not free or bool(full)
            if await self._pacer.wait(found=self._held_up or bool(self._tasks)) and self._tasks:
                # More runs may be about to end: one transaction takes runs for all free places.
                await asyncio.sleep(_GATHER_S)

    async def _watching(self) -> None:
        while not self._stopping.is_set():
            try:
                await self._take_turn()
            except Exception as exc:  # noqa: BLE001  # as above
                self.silence = str(exc) if isinstance(exc, StoreUnavailable) else "the engine sends no heartbeats"
                self._on_fault(exc)
            else:
                self.silence = None
            await _within(self._stopping.wait(), self._pace.heartbeat_s)

    async def _checking(self) -> None:
        while not self._stopping.is_set():
            try:
                await self._execution.check()
            except Exception as exc:  # noqa: BLE001  # as above
                is_known = isinstance(exc, StoreUnavailable)
                reason = str(exc) if is_known else f"the engine cannot be checked: {type(exc).__name__}"
                if self.inability is None:
                    self._note("engine unavailable: taking no runs", reason=reason)
                    if not is_known:
                        self._on_fault(exc)
                self.inability = reason
            else:
                if self.inability is not None:
                    self._note("engine available again")
                    self.inability = None
                    self.notify()
            await _within(self._stopping.wait(), self._pace.check_s)

    async def _take_turn(self) -> None:
        was_registered = self._membership.name is not None
        turn = await self._membership.heartbeat()
        if further := turn.other_engines - self._other_engines:
            self._note(_MIXED, other=sorted(further))
            self._other_engines |= further
        if not was_registered or turn.recovered.pending:
            self.notify()
        if turn.lost or turn.recovered.pending or turn.recovered.failed:
            recovered = turn.recovered
            event = "runs taken over" if recovered.pending or recovered.failed else "executor gone, without runs"
            self._note(event, given_up=turn.lost, pending=recovered.pending, failed=recovered.failed)
        if turn.given_up:
            self._note("given up by others: it was silent for too long", runs=len(self._tasks))
            # Other executors own the runs: the ledger would refuse all further writes.
            for task in self._tasks.values():
                task.cancel()
            return
        # An orphaned run is requeued when two searches have found it; the second follows with the next heartbeat.
        if self._orphans or self._beats % _ORPHANS_EVERY == 0:
            await self._reconcile()
        self._beats += 1

    async def _reconcile(self) -> None:
        running = await self._membership.running()
        orphans = {(run.id, run.takes): run for run in running if run.id not in self._tasks}
        # Only runs seen twice in a row: a run that is being taken at this moment is not lost.
        for key in self._orphans & orphans.keys():
            await self._ledger.requeue(orphans[key])
        self._orphans = set(orphans)

    def _finished(self, run: WorkflowRun, task: asyncio.Task[None]) -> None:
        del self._tasks[run.id]
        self._busy[run.organization_id] -= 1
        if not self._busy[run.organization_id]:
            del self._busy[run.organization_id]
        if self._held_up:
            self.notify()
        if not task.cancelled() and (exc := task.exception()) is not None and isinstance(exc, Exception):
            self._on_fault(exc)


async def _within(something: Awaitable[object], seconds: float) -> bool:
    try:
        await asyncio.wait_for(something, seconds)
    except TimeoutError:
        return False
    return True


async def _end(tasks: "set[asyncio.Task[None]]", deadline: float) -> None:
    if not tasks:
        return
    remaining = max(0.0, deadline - asyncio.get_running_loop().time())
    _done, late = await asyncio.wait(tasks, timeout=remaining)
    for task in late:
        task.cancel()
    if late:
        # Requeuing a run may wait for a lock; runs that are not requeued in time are recovered later.
        await asyncio.wait(late, timeout=_LAST_S)


@final
@frozen(eq=False, repr=False)
class Attempts:
    """Attempts at runs, each from its take to its end. The ledger stores the result of every attempt."""

    _execution: Execution
    _workflow: Workflow
    _ledger: RunLedger
    _pace: WorkerConfig
    _on_fault: Callable[[Exception], None] = field(kw_only=True, alias="on_fault")
    _note: EventSink = field(kw_only=True, alias="on_note")
    _stopping: asyncio.Event = field(kw_only=True, alias="stopping")

    async def attempt(self, run: WorkflowRun) -> None:
        try:
            await self._attempt(run)
        except asyncio.CancelledError:
            # A stop: the run did nothing wrong, and the attempt does not count.
            await self._ledger.requeue(run)
            raise

    async def _attempt(self, run: WorkflowRun) -> None:
        task = asyncio.current_task()
        assert task is not None
        cancelling = task.cancelling()
        deadline = asyncio.timeout(self._pace.deadline_s)
        try:
            async with deadline:
                await self._execution.perform(run, self._workflow)
        except RunLost:
            return
        except StoreUnavailable as exc:
            # Not the run's fault, and not counted as an attempt; the pause gives the store time to recover.
            self._on_fault(exc)
            await asyncio.sleep(self._pace.pause_s)
            await self._insist(lambda: self._ledger.requeue(run))
        except TimeoutError as exc:
            # A writer may have a time limit of its own.
            late = TimeoutError(f"the run took longer than {self._pace.deadline_s:g} s")
            await self._fail(run, late if deadline.expired() else exc)
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
