"""The inline engine over the real memory store; the same rows that a killed process leaves."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any, cast

import pytest
from tests.usecases.conftest import World
from tests.usecases.test_perform import FailingWriter, performer_with, pushed

from contentsvc_adapters.engine.inline import InlineEngine
from contentsvc_core import Brief, Draft, RunStatus, WorkflowRun
from contentsvc_core.ports import RunLedger
from contentsvc_core.usecases.perform import Performer
from contentsvc_core.workflows.runs import MAX_KILLS, SUSPECT_KILLS


async def until(condition: Callable[[], Awaitable[bool]], *, within_s: float = 10.0) -> None:
    async with asyncio.timeout(within_s):
        while not await condition():
            await asyncio.sleep(0.01)  # the engine tells nobody; the rows do


async def statuses(world: World) -> set[RunStatus]:
    return {run.status for run in await world.stores.ledger.runs(world.organization.id)}


@pytest.fixture
async def engines(world: World) -> AsyncGenerator[Callable[[Performer], InlineEngine]]:
    made: list[InlineEngine] = []
    faults: list[Exception] = []

    def make(performer: Performer) -> InlineEngine:
        engine = InlineEngine(world.stores.ledger, performer, world.clock, on_fault=faults.append, poll_s=0.02)
        made.append(engine)
        return engine

    yield make
    for engine in made:
        await engine.close(within_s=1)
    assert faults == []


async def test_what_was_pending_before_the_start_is_done(
    world: World, engines: Callable[[Performer], InlineEngine]
) -> None:
    for number in range(50):
        await pushed(world, f"d-{number}", f"feat: lamp {number}")

    await engines(world.performer).launch()

    async def done() -> bool:
        return await statuses(world) == {RunStatus.COMPLETED}

    await until(done)
    assert len(await world.stores.posts.posts(world.organization.id)) == 50


async def test_what_a_killed_process_was_doing_is_done_again_and_written_once(
    world: World, engines: Callable[[Performer], InlineEngine]
) -> None:
    await pushed(world, "d-1", "feat: lamp")
    await world.stores.ledger.take(await world.stores.ledger.pending(world.clock.now(), limit=1))
    assert await statuses(world) == {RunStatus.RUNNING}

    await engines(world.performer).launch()

    async def done() -> bool:
        return await statuses(world) == {RunStatus.COMPLETED}

    await until(done)
    (run,) = await world.stores.ledger.runs(world.organization.id)
    # The attempt that its process did not live through does not count.
    assert (run.attempts, run.kills) == (1, 1)
    assert len(await world.stores.posts.posts(world.organization.id)) == 1


async def test_a_run_that_kills_its_process_each_time_is_given_up(
    world: World, engines: Callable[[Performer], InlineEngine]
) -> None:
    await pushed(world, "d-1", "feat: lamp")
    for _ in range(MAX_KILLS):
        await world.stores.ledger.take(await world.stores.ledger.pending(world.clock.now(), limit=1))
        await world.stores.ledger.recover("killed")

    await engines(world.performer).launch()
    (run,) = await world.stores.ledger.runs(world.organization.id)

    assert (run.status, run.error) == (RunStatus.FAILED, "killed")


async def test_a_failing_run_does_not_stop_the_others(
    world: World, engines: Callable[[Performer], InlineEngine]
) -> None:
    await pushed(world, "d-1", "feat: lamp")
    await pushed(world, "d-2", "feat: lamp")

    await engines(performer_with(world, FailingWriter(times=1))).launch()

    async def done() -> bool:
        return await statuses(world) == {RunStatus.COMPLETED, RunStatus.PENDING}

    await until(done)


class SlowWriter:
    name = "slow"

    def __init__(self) -> None:
        self.writing = asyncio.Event()
        self.may_end = asyncio.Event()

    async def write(self, brief: Brief) -> Draft | None:
        self.writing.set()
        await self.may_end.wait()
        return Draft(title=brief.repository, markdown="done\n")


async def test_a_stop_waits_for_what_is_being_done(world: World, engines: Callable[[Performer], InlineEngine]) -> None:
    writer = SlowWriter()
    engine = engines(performer_with(world, writer))
    await pushed(world, "d-1", "feat: lamp")
    await engine.launch()
    await asyncio.wait_for(writer.writing.wait(), 10)

    closing = asyncio.create_task(engine.close(within_s=10))
    writer.may_end.set()
    await closing

    assert await statuses(world) == {RunStatus.COMPLETED}
    assert not engine.is_running


async def test_a_stop_waits_no_longer_than_it_may_and_the_next_start_does_the_rest(
    world: World, engines: Callable[[Performer], InlineEngine]
) -> None:
    writer = SlowWriter()
    engine = engines(performer_with(world, writer))
    await pushed(world, "d-1", "feat: lamp")
    await engine.launch()
    await asyncio.wait_for(writer.writing.wait(), 10)

    await engine.close(within_s=0)
    # Given back, as if it had not been taken.
    (run,) = await world.stores.ledger.runs(world.organization.id)
    assert (run.status, run.attempts, run.kills) == (RunStatus.PENDING, 0, 0)
    await engines(world.performer).launch()

    async def done() -> bool:
        return await statuses(world) == {RunStatus.COMPLETED}

    await until(done)
    assert len(await world.stores.posts.posts(world.organization.id)) == 1


async def test_suspects_are_done_one_after_the_other(
    world: World, engines: Callable[[Performer], InlineEngine]
) -> None:
    for number in range(6):
        await pushed(world, f"d-{number}", f"feat: lamp {number}")
    for _ in range(SUSPECT_KILLS):
        await world.stores.ledger.take(await world.stores.ledger.pending(world.clock.now(), limit=9))
        await world.stores.ledger.recover("killed")
        for id_ in await world.stores.ledger.pending(world.clock.now(), limit=9):
            await world.stores.ledger.take([id_])
        await world.stores.ledger.recover("killed")

    await engines(world.performer).launch()

    async def done() -> bool:
        return await statuses(world) == {RunStatus.COMPLETED}

    await until(done)


class CancelledWriter(SlowWriter):
    """Lets a cancellation out that nobody here asked for, as HTTP clients do at their time limits."""

    async def write(self, brief: Brief) -> Draft | None:
        if not self.may_end.is_set():
            self.may_end.set()
            raise asyncio.CancelledError
        return await super().write(brief)


async def test_a_writer_that_cancels_itself_is_tried_again(
    world: World, engines: Callable[[Performer], InlineEngine]
) -> None:
    await pushed(world, "d-1", "feat: lamp")
    await engines(performer_with(world, CancelledWriter())).launch()

    async def failed_once() -> bool:
        (run,) = await world.stores.ledger.runs(world.organization.id)
        return (run.status, run.error) == (RunStatus.PENDING, "RuntimeError: the writer was cancelled")

    await until(failed_once)
    world.clock.advance(timedelta(seconds=1))

    async def done() -> bool:
        return await statuses(world) == {RunStatus.COMPLETED}

    await until(done)


async def test_a_writer_that_hangs_holds_no_slot_for_ever(world: World) -> None:
    faults: list[Exception] = []
    performer = performer_with(world, SlowWriter())
    engine = InlineEngine(
        world.stores.ledger, performer, world.clock, on_fault=faults.append, poll_s=0.02, deadline_s=0.05
    )
    for number in range(20):
        await pushed(world, f"d-{number}", f"feat: lamp {number}")
    await engine.launch()

    async def all_gave_up() -> bool:
        runs = await world.stores.ledger.runs(world.organization.id)
        return {run.error for run in runs} == {"TimeoutError: the run took longer than 0.05 s"}

    await until(all_gave_up)
    await engine.close(within_s=1)
    assert faults == []


class SlowLedger:
    """The ledger, with one method that begins and then waits until it is let go on."""

    def __init__(self, ledger: RunLedger) -> None:
        self.ledger = ledger
        self.taking = asyncio.Event()
        self.may_take = asyncio.Event()
        self.asked = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.ledger, name)

    async def take(self, ids: Sequence[str]) -> Sequence[WorkflowRun]:
        self.asked += len(ids)
        self.taking.set()
        await self.may_take.wait()
        return await self.ledger.take(ids)


async def test_what_is_being_taken_when_a_stop_comes_is_given_back(world: World) -> None:
    ledger = SlowLedger(world.stores.ledger)
    faults: list[Exception] = []
    engine = InlineEngine(cast("RunLedger", ledger), world.performer, world.clock, on_fault=faults.append)
    await pushed(world, "d-1", "feat: lamp")
    await engine.launch()
    await asyncio.wait_for(ledger.taking.wait(), 10)

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
    engine = InlineEngine(cast("RunLedger", ledger), performer, world.clock, on_fault=lambda _: None)
    for number in range(40):
        await pushed(world, f"d-{number}", f"feat: lamp {number}")
    await engine.launch()
    await asyncio.wait_for(writer.writing.wait(), 10)
    begun = ledger.asked

    closing = asyncio.create_task(engine.close(within_s=10))
    await asyncio.sleep(0)
    writer.may_end.set()
    await closing

    assert ledger.asked == begun
    assert await statuses(world) == {RunStatus.COMPLETED, RunStatus.PENDING}
