"""Guarantees of each engine: a run resumes after its last step, ends once, and does not affect other runs."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import ExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol, cast

import pytest
from attrs import frozen
from contract_values import IDS, RotatingSealer, Stores, Tenant, killed, push, tenant
from engine_processes import Process, Script, kills, run_of, started, until, until_status
from tests import postgres
from tests.contracts.conftest import FAMILIES, Opening
from tests.forwarding import Forwarding
from tests.model_server import model_server, silent_after, streamed
from tests.performing import performer_over

from contentsvc_adapters.engine.dbos import DbosExecution, migrate_engine
from contentsvc_adapters.engine.execution import Execution
from contentsvc_adapters.engine.inline import InlineExecution
from contentsvc_adapters.markup import SafeMarkdown
from contentsvc_adapters.memory import memory_stores
from contentsvc_adapters.sql import Database, SqlStores
from contentsvc_adapters.writers.chat import ModelEndpoint
from contentsvc_adapters.writers.openai_compatible import OpenAICompatibleWriter
from contentsvc_core import Brief, Draft, Performer
from contentsvc_core.ports import ContentWriter, RunLedger, RunStateStore, Steps, Workflow
from contentsvc_core.testing import START, ManualClock
from contentsvc_core.workflows.runs import MAX_KILLS, SUSPECT_KILLS, Due, RunStatus, WorkflowRun


@frozen(kw_only=True)
class Engine:
    stores: Stores
    #: The engine of another process on the same database.
    next: Callable[[RunLedger, RunStateStore], Execution]
    #: The same, after the engine has lost its data.
    amnesiac: Callable[[RunLedger, RunStateStore], Execution]


class _LosesResults(Forwarding):
    """A run memory that has lost its steps."""

    async def results(self, run: WorkflowRun) -> dict[str, str]:
        _ = run
        return {}


def _inline(ledger: RunLedger, memory: RunStateStore) -> Execution:
    return InlineExecution(ledger, memory)


def _inline_forgotten(ledger: RunLedger, memory: RunStateStore) -> Execution:
    return InlineExecution(ledger, cast("RunStateStore", _LosesResults(memory)))


def _dbos(url: str, *, migrates: bool) -> Callable[[RunLedger, RunStateStore], Execution]:
    def make(ledger: RunLedger, _memory: RunStateStore) -> Execution:
        return DbosExecution(url, ledger, ManualClock(), executor=f"dbos_{IDS.new_id('')}", migrates=migrates)

    return make


@asynccontextmanager
async def _dbos_on_sqlite(folder: Path) -> AsyncGenerator[Engine]:
    urls = [f"sqlite:///{folder / name}.db" for name in ("engine", "forgotten")]
    makers = [_dbos(url, migrates=True) for url in urls]
    yield Engine(stores=memory_stores(RotatingSealer()), next=makers[0], amnesiac=makers[1])


@asynccontextmanager
async def _dbos_on_postgresql(_folder: Path) -> AsyncGenerator[Engine]:
    with ExitStack() as forgotten, postgres.database(also=migrate_engine) as url:

        def makers(of: str) -> Callable[[RunLedger, RunStateStore], Execution]:
            return _dbos(of.replace("postgresql+asyncpg", "postgresql"), migrates=False)

        def amnesiac(ledger: RunLedger, memory: RunStateStore) -> Execution:
            # Created on demand: few tests use it, and a database is slow.
            return makers(forgotten.enter_context(postgres.database(also=migrate_engine)))(ledger, memory)

        stores = SqlStores(Database(url), RotatingSealer())
        yield Engine(stores=stores, next=makers(url), amnesiac=amnesiac)
        await stores.close()


_SLOW = pytest.mark.slow("launches an engine with threads and a database of its own for each test")
#: The engine uses its stores only through the ports, whose contracts run in the first tier.
_AGAIN = pytest.mark.slow("launches the same engine on one more database")
_ENGINES = (
    *(pytest.param(f"inline on {family}", marks=() if family == "memory" else _AGAIN) for family in FAMILIES),
    *(pytest.param(f"dbos on {family}", marks=_SLOW) for family in ("sqlite", "postgresql")),
)


@pytest.fixture(params=_ENGINES)
async def engine(request: pytest.FixtureRequest, tmp_path: Path, opened: Opening) -> AsyncGenerator[Engine]:
    match request.param.split(" on "):
        case ["inline", family]:
            async with opened(family) as stores:
                yield Engine(stores=stores, next=_inline, amnesiac=_inline_forgotten)
        case [_, "sqlite"]:
            async with _dbos_on_sqlite(tmp_path) as created:
                yield created
        case _:
            async with _dbos_on_postgresql(tmp_path) as created:
                yield created


@pytest.fixture
async def acme(engine: Engine) -> Tenant:
    """An organization with one trigger, so that a delivery starts one run."""
    return await tenant(engine.stores, "acme", triggers=1)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START + timedelta(hours=1))


class Launch(Protocol):
    async def __call__(
        self,
        workflow: Workflow | Callable[[RunLedger, RunStateStore], Workflow],
        *,
        execution: Callable[[RunLedger, RunStateStore], Execution] | None = None,
        alone: bool = True,
        **pace: float,
    ) -> Process: ...


@pytest.fixture
async def launch(engine: Engine, clock: ManualClock) -> AsyncGenerator[Launch]:
    created: list[Process] = []

    async def launched(
        workflow: Workflow | Callable[[RunLedger, RunStateStore], Workflow],
        *,
        execution: Callable[[RunLedger, RunStateStore], Execution] | None = None,
        alone: bool = True,
        **pace: float,
    ) -> Process:
        process = Process(engine.stores, execution or engine.next, clock, workflow=workflow, alone=alone, **pace)
        created.append(process)
        return await process.launch()

    yield launched
    for process in created:
        await process.close()


@pytest.fixture
def script(engine: Engine, clock: ManualClock) -> Script:
    return Script(engine.stores.ledger, clock, "one", "two", "three")


async def stopped_at(step: str, acme: Tenant, script: Script, launch: Launch) -> tuple[Process, str]:
    """Start a run; return its process and its id when the run waits in a step."""
    (id_,) = await started(acme)
    script.gates[step] = asyncio.Event()
    process = await launch(script)
    await asyncio.wait_for(script.reached[step].wait(), 30)
    return process, id_


async def test_a_run_is_performed_step_by_step_once(acme: Tenant, script: Script, launch: Launch) -> None:
    (id_,) = await started(acme)
    process = await launch(script)

    run = await until_status(acme, id_, RunStatus.SKIPPED)

    assert (run.error, run.attempts, run.kills) == ("one 1,two 1,three 1", 1, 0)
    assert (script.done, script.begun) == (["one", "two", "three"], 1)
    assert process.faults == []


async def test_to_start_a_run_again_is_no_harm(acme: Tenant, script: Script, launch: Launch) -> None:
    process, id_ = await stopped_at("two", acme, script, launch)

    again = [Due(id=id_, organization_id=acme.id)]
    assert await asyncio.gather(*(process.worker.start(again) for _ in range(5))) == [0] * 5
    script.gates["two"].set()

    await until_status(acme, id_, RunStatus.SKIPPED)
    assert (script.done, script.begun) == (["one", "two", "three"], 1)


async def test_a_killed_run_resumes_without_repeating_finished_steps(
    acme: Tenant, script: Script, launch: Launch
) -> None:
    process, id_ = await stopped_at("two", acme, script, launch)
    await process.kill()
    assert (await run_of(acme, id_)).status is RunStatus.RUNNING
    script.gates["two"].set()

    await launch(script)
    run = await until_status(acme, id_, RunStatus.SKIPPED)

    assert (run.error, run.attempts, run.kills) == ("one 1,two 1,three 1", 1, 1)
    assert script.done == ["one", "two", "three"]


async def test_after_a_kill_a_run_may_need_other_steps_than_before(
    acme: Tenant, script: Script, engine: Engine, launch: Launch, clock: ManualClock
) -> None:
    process, id_ = await stopped_at("three", acme, script, launch)
    await process.kill()

    other = Script(engine.stores.ledger, clock, "two", "four", "one")
    await launch(other)
    run = await until_status(acme, id_, RunStatus.SKIPPED)

    assert (run.error, other.done) == ("two 1,four 1,one 1", ["four"])


async def test_a_step_that_fails_is_done_again_later_and_the_finished_ones_are_not(
    acme: Tenant, script: Script, launch: Launch, clock: ManualClock
) -> None:
    (id_,) = await started(acme)
    script.fails["two"] = 2
    await launch(script)

    for failures in (1, 2):
        run = await until_status(acme, id_, RunStatus.PENDING)
        await until(lambda failures=failures: _is(len(script.failures) == failures), "it has failed")
        run = await until_status(acme, id_, RunStatus.PENDING)
        # Not before the run is due.
        assert (run.attempts, run.error, run.due_at) == (failures, "two failed", clock.now() + timedelta(seconds=5))
        clock.advance(timedelta(seconds=5))

    run = await until_status(acme, id_, RunStatus.SKIPPED)
    assert (run.error, run.attempts) == ("one 1,two 3,three 1", 3)
    assert script.done == ["one", "two", "two", "two", "three"]


async def _is(what: bool) -> bool:
    return what


class Caught:
    """A workflow with an alternative for a failed step."""

    def __init__(self, ledger: RunLedger) -> None:
        self._ledger = ledger

    async def perform(self, run: WorkflowRun, steps: Steps) -> None:
        async def failing() -> str:
            message = "no ink"
            raise RuntimeError(message)

        async def instead() -> str:
            return "instead"

        try:
            result = await steps.run("write", failing)
        except RuntimeError as exc:
            result = f"{exc}, {await steps.run('fall back', instead)}"
        await self._ledger.end(run, RunStatus.SKIPPED, result)

    async def failed(self, run: WorkflowRun, exc: Exception) -> None:
        await self._ledger.end(run, RunStatus.FAILED, repr(exc))


async def test_a_workflow_gets_the_exceptions_of_its_steps(acme: Tenant, engine: Engine, launch: Launch) -> None:
    (id_,) = await started(acme)
    await launch(Caught(engine.stores.ledger))
    assert (await until_status(acme, id_, RunStatus.SKIPPED)).error == "no ink, instead"


async def test_of_a_cancelled_run_the_step_under_way_is_the_last(
    acme: Tenant, engine: Engine, script: Script, launch: Launch
) -> None:
    process, id_ = await stopped_at("two", acme, script, launch)

    assert await engine.stores.ledger.cancel(acme.id, id_, "cancelled by an operator")
    script.gates["two"].set()

    await until(lambda: _is(not process.worker.at_work), "it is let go")
    run = await run_of(acme, id_)
    assert (run.status, run.error) == (RunStatus.CANCELLED, "cancelled by an operator")
    assert script.done == ["one", "two"]
    assert (script.failures, process.faults) == ([], [])


async def test_a_run_that_kills_its_process_each_time_is_parked_where_it_is_seen(
    acme: Tenant, script: Script, launch: Launch
) -> None:
    (poison,) = await started(acme)
    await kills(acme, poison, MAX_KILLS - 1)
    script.gates["one"] = asyncio.Event()
    process = await launch(script)
    await asyncio.wait_for(script.reached["one"].wait(), 30)
    await process.kill()

    await launch(script)
    run = await until_status(acme, poison, RunStatus.FAILED)

    assert (run.kills, run.error) == (MAX_KILLS, "the process ended while the run was running")


async def test_an_orderly_stop_costs_a_run_nothing(acme: Tenant, script: Script, launch: Launch) -> None:
    process, id_ = await stopped_at("two", acme, script, launch)

    await process.close()
    run = await run_of(acme, id_)
    assert (run.status, run.attempts, run.kills) == (RunStatus.PENDING, 0, 0)
    script.gates["two"].set()
    await launch(script)

    run = await until_status(acme, id_, RunStatus.SKIPPED)
    assert (run.attempts, run.kills, script.done) == (1, 0, ["one", "two", "three"])
    assert process.faults == []


async def test_a_stop_waits_for_the_current_step(acme: Tenant, script: Script, launch: Launch) -> None:
    process, id_ = await stopped_at("two", acme, script, launch)

    closing = asyncio.create_task(process.close(within_s=30))
    await until(lambda: _is(not process.worker.is_running), "the worker takes no more runs")
    script.gates["two"].set()
    await closing

    assert (await run_of(acme, id_)).status is RunStatus.SKIPPED
    assert not process.worker.is_running


class PaidWriter:
    """A writer that requests each draft in a step, and counts the requests."""

    name = "paid"
    costly = True

    def __init__(self) -> None:
        self.written = 0

    async def write(self, brief: Brief, steps: Steps) -> Draft:
        async def write() -> str:
            self.written += 1
            return f"{brief.repository} no. {self.written}"

        return Draft(title=await steps.run("draft", write), markdown="Draft\n")


class StoppedRenderer:
    """A renderer in which the process is killed."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()

    async def render(self, markdown: str) -> str:
        _ = markdown
        self.reached.set()
        await asyncio.Event().wait()
        return ""


def _performer(
    stores: Stores, clock: ManualClock, writer: ContentWriter, renderer: object
) -> Callable[[RunLedger, RunStateStore], Workflow]:
    def make(ledger: RunLedger, _memory: RunStateStore) -> Performer:
        return performer_over(stores, clock, IDS, writer, renderer=cast("SafeMarkdown", renderer), ledger=ledger)

    return make


@pytest.mark.parametrize(("memory", "paid"), [("kept", 1), ("forgotten", 2)])
async def test_a_draft_is_paid_once_and_a_post_written_once(
    acme: Tenant, engine: Engine, launch: Launch, clock: ManualClock, memory: str, paid: int
) -> None:
    """Only an engine without its tables, as after a restored backup, requests a draft again."""
    (id_,) = await started(acme)
    writer, renderer = PaidWriter(), StoppedRenderer()
    process = await launch(_performer(engine.stores, clock, writer, renderer))
    await asyncio.wait_for(renderer.reached.wait(), 30)
    await process.kill()

    execution = engine.next if memory == "kept" else engine.amnesiac
    await launch(_performer(engine.stores, clock, writer, SafeMarkdown()), execution=execution)
    run = await until_status(acme, id_, RunStatus.COMPLETED)

    (post,) = await engine.stores.posts.posts(acme.id)
    assert (post.id, post.title, writer.written) == (run.post_id, f"acme/lighthouse no. {paid}", paid)


async def test_a_node_that_dies_during_the_repair_of_an_answer_leaves_the_answer_paid(
    acme: Tenant, engine: Engine, launch: Launch, clock: ManualClock
) -> None:
    settling = await acme.processed("d-1", push("chore: old news", "feat: a horn"))
    await engine.stores.deliveries.settle(settling)
    (id_,) = [run.id for run in settling.runs]
    good = json.dumps({"title": "Light", "markdown": "The lamp turns.\n"})
    async with model_server(streamed("no JSON"), silent_after(), streamed(good)) as server:
        writers = [OpenAICompatibleWriter(ModelEndpoint(base_url=server.url, model="lamp-1")) for _ in range(2)]
        process = await launch(_performer(engine.stores, clock, writers[0], SafeMarkdown()))
        await until(lambda: _is(len(server.requests) == 2), "the model is asked for a better answer")
        await process.kill()

        await launch(_performer(engine.stores, clock, writers[1], SafeMarkdown()))
        await until_status(acme, id_, RunStatus.COMPLETED)
        for writer in writers:
            await writer.aclose()

    first, repair, again = [request.message("user") for request in server.requests]
    assert repair == again != first
    (post,) = await engine.stores.posts.posts(acme.id)
    assert post.title == "Light"


async def test_a_run_that_the_engine_has_ended_and_the_ledger_has_not_is_done_again(
    acme: Tenant, script: Script, engine: Engine, launch: Launch, clock: ManualClock
) -> None:
    """As after a restored backup: the state of the ledger decides."""
    (id_,) = await started(acme)
    unkept = Script(cast("RunLedger", _Unending(engine.stores.ledger)), clock, "one")
    process = await launch(unkept)
    await until(lambda: _is(unkept.done == ["one"] and not process.worker.at_work), "the engine has ended it")
    await process.kill()
    assert (await run_of(acme, id_)).status is RunStatus.RUNNING

    await launch(script)
    run = await until_status(acme, id_, RunStatus.SKIPPED)

    assert (run.takes, run.kills) == (2, 1)
    assert script.done[-2:] == ["two", "three"]


class _Unending(Forwarding):
    """A ledger that reports the end of a run without storing it."""

    async def end(self, *_: object) -> None:
        return


async def test_the_runs_of_a_silent_process_are_taken_over(
    acme: Tenant, script: Script, launch: Launch, engine: Engine
) -> None:
    (id_,) = await started(acme)
    script.gates["two"] = asyncio.Event()
    first = await launch(script, alone=False)
    await asyncio.wait_for(script.reached["two"].wait(), 30)
    await first.kill()
    beats = await engine.stores.executors.heartbeat("nobody")
    assert len(beats) == 1
    script.gates["two"].set()

    await launch(script, alone=False)
    run = await until_status(acme, id_, RunStatus.SKIPPED)

    assert (run.kills, script.done) == (1, ["one", "two", "three"])
    assert not beats.keys() & (await engine.stores.executors.heartbeat("nobody")).keys()


async def test_a_process_that_was_given_up_lets_go_and_comes_back_under_another_name(
    acme: Tenant, script: Script, launch: Launch, engine: Engine
) -> None:
    (id_,) = await started(acme)
    script.gates["two"] = asyncio.Event()
    process = await launch(script, alone=False)
    await asyncio.wait_for(script.reached["two"].wait(), 30)
    name = (await run_of(acme, id_)).executor

    async def gone() -> bool:
        await killed(engine.stores)
        return name not in await engine.stores.executors.heartbeat("nobody")

    await until(gone, "it was given up")

    async def back() -> bool:
        run = await run_of(acme, id_)
        return run.status is RunStatus.RUNNING and run.executor != name

    await until(back, "it has taken the run anew")
    script.gates["two"].set()

    run = await until_status(acme, id_, RunStatus.SKIPPED)
    assert (run.kills, script.done) == (1, ["one", "two", "three"])
    assert process.worker.is_running


class _LostAnswer(Forwarding):
    """A ledger whose first answer to ``take`` is lost."""

    lost = False

    async def take(self, ids: list[str], executor: str) -> Any:
        taken = await self.real.take(ids, executor)
        if self.lost:
            return taken
        self.lost = bool(taken)
        return []


async def test_a_run_is_performed_though_the_answer_of_its_take_was_lost(
    acme: Tenant, script: Script, engine: Engine, clock: ManualClock
) -> None:
    (id_,) = await started(acme)
    stores = engine.stores
    lossy = _Ports(ledger=_LostAnswer(stores.ledger), executors=stores.executors, run_state=stores.run_state)
    process = Process(cast("Stores", lossy), engine.next, clock, workflow=script)
    await process.launch()

    run = await until_status(acme, id_, RunStatus.SKIPPED)
    await process.close()

    assert (run.takes, run.attempts, run.kills) == (2, 1, 0)


@frozen(kw_only=True)
class _Ports:
    ledger: object
    executors: object
    run_state: object


async def test_one_organizations_slow_runs_leave_capacity_for_another(
    acme: Tenant, engine: Engine, script: Script, launch: Launch
) -> None:
    other = await tenant(engine.stores, "other", triggers=1)
    slow = await started(acme, 12)
    script.gates["one"] = asyncio.Event()
    process = await launch(script, concurrency=6, per_organization=4)
    await until(lambda: _is(process.worker.at_work == 4), "as many as one organization may have")
    await process.looks()
    assert process.worker.at_work == 4

    (quick,) = await started(other)
    await until(lambda: _is(process.worker.at_work == 5), "another one's turn has come")
    assert (await run_of(other, quick)).status is RunStatus.RUNNING
    script.gates["one"].set()

    for id_ in (*slow, quick):
        await until_status(other if id_ == quick else acme, id_, RunStatus.SKIPPED)
    assert script.begun == 13


async def test_suspects_are_performed_one_at_a_time(acme: Tenant, script: Script, launch: Launch) -> None:
    ids = await started(acme, 3)
    for _ in range(SUSPECT_KILLS):
        for id_ in ids:
            await kills(acme, id_, 1)
    script.gates["one"] = asyncio.Event()
    process = await launch(script)
    await asyncio.wait_for(script.reached["one"].wait(), 30)
    await process.looks()
    assert process.worker.at_work == 1
    script.gates["one"].set()

    for id_ in ids:
        await until_status(acme, id_, RunStatus.SKIPPED)


async def test_a_run_that_takes_too_long_has_failed_this_time(
    acme: Tenant, script: Script, launch: Launch, clock: ManualClock
) -> None:
    (id_,) = await started(acme)
    script.gates["two"] = asyncio.Event()
    await launch(script, deadline_s=2.5)
    await until(lambda: _is(bool(script.failures)), "it was given up")
    run = await until_status(acme, id_, RunStatus.PENDING)
    assert run.error == "the run took longer than 2.5 s"
    script.gates["two"].set()

    async def skipped() -> bool:
        status = (await run_of(acme, id_)).status
        if status is RunStatus.PENDING:
            # On a busy machine, the next attempt may also be too slow.
            clock.advance(timedelta(seconds=5))
        return status is RunStatus.SKIPPED

    await until(skipped, "the run is skipped")
    assert script.done == ["one", "two", "three"]


@pytest.mark.slow("performs hundreds of runs")
async def test_of_more_runs_than_it_performs_at_once_each_is_done_once(
    acme: Tenant, script: Script, launch: Launch
) -> None:
    ids = await started(acme, 40)
    process = await launch(script)

    async def done() -> bool:
        runs = await acme.stores.ledger.runs(acme.id)
        return all(run.status is RunStatus.SKIPPED for run in runs)

    await until(done, "all are done")
    assert len(script.done) == 3 * len(ids)
    assert process.faults == []


async def test_a_worker_reports_why_its_heartbeats_fail(script: Script, launch: Launch) -> None:
    process = await launch(script)
    process.cut_off(away=True)
    await until(lambda: _is(process.worker.silence == "this process is dead"), "a heartbeat was refused")
    process.cut_off(away=False)
    await until(lambda: _is(process.worker.silence is None), "a heartbeat was stored")


async def test_a_store_that_is_away_for_a_while_costs_no_run_anything(
    acme: Tenant, script: Script, launch: Launch, clock: ManualClock
) -> None:
    ids = await started(acme, 5)
    script.gates["two"] = asyncio.Event()
    process = await launch(script)
    await until(lambda: _is(script.entered["two"] == 5), "all have kept the first step's result")
    process.cut_off(away=True)
    script.gates["two"].set()
    await process.is_refused(5)
    process.cut_off(away=False)

    async def ended() -> bool:
        # Interrupted runs wait for their next attempt.
        clock.advance(timedelta(seconds=5))
        await process.looks(1)
        return all([(await run_of(acme, id_)).status is RunStatus.SKIPPED for id_ in ids])

    await until(ended, f"all have ended: {script.failures}")
    assert {((run := await run_of(acme, id_)).attempts, run.kills) for id_ in ids} == {(1, 0)}
    assert script.failures == []
    assert script.done.count("one") == 5
