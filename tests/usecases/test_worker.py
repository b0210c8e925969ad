"""The worker over the memory store with the inline engine, also with the rows of a killed process."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from datetime import timedelta
from typing import cast
from unittest.mock import Mock

import pytest
from attrs import field, frozen
from tests.forwarding import Forwarding
from tests.usecases.conftest import World
from tests.usecases.test_perform import performer_with, pushed, taken

from contentsvc_adapters.engine.execution import Execution, WorkerConfig
from contentsvc_adapters.engine.inline import InlineExecution
from contentsvc_adapters.engine.membership import Membership
from contentsvc_adapters.engine.worker import Worker
from contentsvc_core import Brief, Draft, RunStatus, WorkflowRun
from contentsvc_core.ports import RunLedger, Steps, Workflow
from contentsvc_core.usecases.perform import Performer


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    # No time limit but that of pytest: a busy machine is not a fault.
    while not await condition():
        await asyncio.sleep(0.01)  # the engine sends no event: poll the rows


async def statuses(world: World) -> set[RunStatus]:
    return {run.status for run in await world.stores.ledger.runs(world.organization.id)}


async def until_completed(world: World) -> None:
    async def done() -> bool:
        return await statuses(world) == {RunStatus.COMPLETED}

    await until(done)


class FailingChecks:
    """An engine whose first checks raise an unexpected exception."""

    def __init__(self, times: int) -> None:
        self._left = times

    async def open(self) -> None:
        pass

    async def perform(self, run: WorkflowRun, workflow: Workflow) -> None:
        raise NotImplementedError

    async def check(self) -> None:
        self._left -= 1
        if self._left >= 0:
            message = "can't start new thread"
            raise RuntimeError(message)

    async def close(self) -> None:
        pass


def worker_of(
    world: World,
    performer: Performer,
    on_fault: Callable[[Exception], None],
    ledger: object = None,
    deadline_s: float = 300,
    on_note: Callable[..., None] | None = None,
    *,
    execution: Execution | None = None,
) -> Worker:
    return Worker(
        execution or InlineExecution(world.stores.ledger, world.stores.run_state),
        performer,
        Membership(world.stores.executors, world.ids, alone=True),
        ledger=cast("RunLedger", ledger or world.stores.ledger),
        clock=world.clock,
        on_fault=on_fault,
        on_note=on_note or Mock(),
        pace=WorkerConfig(poll_s=0.02, heartbeat_s=0.05, check_s=0.05, deadline_s=deadline_s),
    )


async def test_a_check_of_the_engine_that_raises_anything_is_made_again(world: World) -> None:
    """An example is a system without a free thread."""
    note, faults = Mock(), list[Exception]()
    engine = worker_of(world, world.performer, faults.append, on_note=note, execution=FailingChecks(2))
    await engine.launch()

    async def is_unable() -> bool:
        return engine.inability is not None

    async def is_able() -> bool:
        return engine.inability is None

    await until(is_unable)
    assert engine.inability == "the engine cannot be checked: RuntimeError"
    await until(is_able)
    assert engine.is_running
    await engine.close(within_s=1)
    assert [call.args[0] for call in note.call_args_list] == [
        "engine unavailable: taking no runs",
        "engine available again",
    ]
    # Once: the note has no traceback.
    assert [str(each) for each in faults] == ["can't start new thread"]


async def killed(world: World) -> None:
    """Recover the runs of a killed process, as the next process does."""
    await world.stores.executors.recover("killed", lost=await world.stores.executors.heartbeat("nobody"))


@pytest.fixture
async def engines(world: World) -> AsyncGenerator[Callable[[Performer], Worker]]:
    created: list[Worker] = []
    faults: list[Exception] = []

    def make(performer: Performer) -> Worker:
        engine = worker_of(world, performer, faults.append)
        created.append(engine)
        return engine

    yield make
    for engine in created:
        await engine.close(within_s=1)
    assert faults == []


async def test_the_runs_of_a_killed_process_are_performed_again_and_written_once(
    world: World, engines: Callable[[Performer], Worker]
) -> None:
    await pushed(world, "d-1", "feat: lamp")
    await taken(world)
    assert await statuses(world) == {RunStatus.RUNNING}

    await engines(world.performer).launch()

    await until_completed(world)
    (run,) = await world.stores.ledger.runs(world.organization.id)
    # The attempt of the killed process does not count.
    assert (run.attempts, run.kills) == (1, 1)
    assert len(await world.stores.posts.posts(world.organization.id)) == 1


@pytest.mark.parametrize(("pushes", "event"), [(0, "executor gone, without runs"), (1, "runs taken over")])
async def test_a_dead_executor_is_noted_with_the_number_of_its_runs(world: World, pushes: int, event: str) -> None:
    for number in range(pushes):
        await pushed(world, f"d-{number}", "feat: lamp")
    assert len(await taken(world)) == pushes
    note = Mock()
    faults: list[Exception] = []
    engine = worker_of(world, world.performer, faults.append, on_note=note)

    async def noted() -> bool:
        return note.called

    await engine.launch()
    await until(noted)
    await engine.close(within_s=1)

    note.assert_called_once_with(event, given_up=("exe_1",), pending=pushes, failed=0)
    assert faults == []


@frozen
class SlowWriter:
    # Members of a writer need not be writable.
    name: str = "slow"
    costly: bool = False
    writing: asyncio.Event = field(factory=asyncio.Event)
    may_end: asyncio.Event = field(factory=asyncio.Event)

    async def write(self, brief: Brief, _steps: Steps) -> Draft:
        self.writing.set()
        await self.may_end.wait()
        return Draft(title=brief.repository, markdown="done\n")


async def test_a_stop_waits_no_longer_than_it_may_and_the_next_start_does_the_rest(
    world: World, engines: Callable[[Performer], Worker]
) -> None:
    writer = SlowWriter()
    engine = engines(performer_with(world, writer))
    await pushed(world, "d-1", "feat: lamp")
    await engine.launch()
    await writer.writing.wait()

    await engine.close(within_s=0)
    # The run was returned, as if it had not been taken.
    (run,) = await world.stores.ledger.runs(world.organization.id)
    assert (run.status, run.attempts, run.kills) == (RunStatus.PENDING, 0, 0)
    await engines(world.performer).launch()

    await until_completed(world)
    assert len(await world.stores.posts.posts(world.organization.id)) == 1


@frozen
class CancelledWriter(SlowWriter):
    """Raises a cancellation that the worker did not request, or a timeout, as HTTP clients do at their time limits."""

    exc: BaseException = field(kw_only=True)

    async def write(self, brief: Brief, _steps: Steps) -> Draft:
        if not self.may_end.is_set():
            self.may_end.set()
            raise self.exc
        return await super().write(brief, _steps)


@pytest.mark.parametrize(
    ("exc", "error"),
    [
        (asyncio.CancelledError(), "RuntimeError: the writer was cancelled"),
        (TimeoutError("no answer in 2 s"), "TimeoutError: no answer in 2 s"),
    ],
)
async def test_a_writer_that_cancels_itself_is_tried_again(
    world: World, engines: Callable[[Performer], Worker], exc: BaseException, error: str
) -> None:
    await pushed(world, "d-1", "feat: lamp")
    await engines(performer_with(world, CancelledWriter(exc=exc))).launch()

    async def failed_once() -> bool:
        (run,) = await world.stores.ledger.runs(world.organization.id)
        return (run.status, run.error) == (RunStatus.PENDING, error)

    await until(failed_once)
    world.clock.advance(timedelta(seconds=1))

    await until_completed(world)


async def test_a_writer_that_hangs_holds_no_slot_for_ever(world: World) -> None:
    faults: list[Exception] = []
    performer = performer_with(world, SlowWriter())
    engine = worker_of(world, performer, faults.append, deadline_s=0.05)
    for number in range(20):
        await pushed(world, f"d-{number}", f"feat: lamp {number}")
    await engine.launch()

    async def all_gave_up() -> bool:
        runs = await world.stores.ledger.runs(world.organization.id)
        return {run.error for run in runs} == {"TimeoutError: the run took longer than 0.05 s"}

    await until(all_gave_up)
    await engine.close(within_s=1)
    assert faults == []
    assert WorkerConfig().deadline_s == 5 * 60


class SlowLedger(Forwarding):
    """A ledger with one method that waits until a test releases it."""

    def __init__(self, ledger: RunLedger) -> None:
        super().__init__(ledger)
        self.taking = asyncio.Event()
        self.may_take = asyncio.Event()
        self.calls = 0

    async def take(self, ids: Sequence[str], executor: str) -> Sequence[WorkflowRun]:
        self.calls += len(ids)
        self.taking.set()
        await self.may_take.wait()
        return await self.real.take(ids, executor)


async def test_runs_taken_during_a_stop_are_given_back(world: World) -> None:
    ledger = SlowLedger(world.stores.ledger)
    faults: list[Exception] = []
    engine = worker_of(world, world.performer, faults.append, ledger)
    await pushed(world, "d-1", "feat: lamp")
    await engine.launch()
    await ledger.taking.wait()

    closing = asyncio.create_task(engine.close(within_s=0))
    asyncio.get_running_loop().call_later(0.1, ledger.may_take.set)
    await closing

    (run,) = await world.stores.ledger.runs(world.organization.id)
    assert (run.status, run.attempts, run.kills) == (RunStatus.PENDING, 0, 0)
    assert faults == []


async def test_nothing_is_begun_after_a_stop_has_begun(world: World) -> None:
    writer = SlowWriter()
    ledger = SlowLedger(world.stores.ledger)
    ledger.may_take.set()
    performer = performer_with(world, writer)
    engine = worker_of(world, performer, lambda _: None, ledger)
    for number in range(40):
        await pushed(world, f"d-{number}", f"feat: lamp {number}")
    await engine.launch()
    await writer.writing.wait()
    begun = ledger.calls

    closing = asyncio.create_task(engine.close(within_s=10))
    await asyncio.sleep(0)
    writer.may_end.set()
    await closing

    assert ledger.calls == begun
    assert await statuses(world) == {RunStatus.COMPLETED, RunStatus.PENDING}
