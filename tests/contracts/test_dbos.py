"""The DBOS engine under outages, its database file, and its retention."""

import asyncio
import contextlib
import sqlite3
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from contract_values import RotatingSealer, tenant
from engine_processes import Process, Script, run_of, started, until, until_status
from tests import postgres

from contentsvc_adapters.engine.dbos import DbosExecution, migrate_engine
from contentsvc_adapters.engine.dbos_on_demand import DbosOnDemand
from contentsvc_adapters.engine.dbos_steps import TAKEN, DbosSteps, Performance
from contentsvc_adapters.memory import MemoryStores, memory_stores
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.ports import RunLedger, RunStateStore
from contentsvc_core.testing import START, ManualClock
from contentsvc_core.workflows.runs import RunStatus, WorkflowRun

pytestmark = pytest.mark.slow("stops the engine's database")


def engine_url(server: postgres.PrivateServer) -> str:
    return server.url.replace("+asyncpg", "")


async def launched(
    server: postgres.PrivateServer, stores: MemoryStores, clock: ManualClock, script: Script, executor: str
) -> Process:
    """Launch a worker whose engine has its tables on a server."""
    url = engine_url(server)
    await asyncio.to_thread(migrate_engine, url)

    def engine(ledger: RunLedger, _memory: RunStateStore) -> DbosExecution:
        return DbosExecution(url, ledger, clock, executor=executor, migrates=False)

    return await Process(stores, engine, clock, workflow=script).launch()


async def test_while_the_engines_database_is_away_runs_wait_and_a_stop_is_no_longer() -> None:
    """The ledger is there, the engine's tables are not: the worst of both."""
    stores, clock = memory_stores(RotatingSealer()), ManualClock(START + timedelta(hours=1))
    acme = await tenant(stores, "acme", triggers=1)
    script = Script(stores.ledger, clock, "one", "two")
    script.gates["one"] = asyncio.Event()
    with postgres.PrivateServer() as server:
        process = await launched(server, stores, clock, script, "dbos_outage")
        (id_,) = await started(acme)
        await asyncio.wait_for(script.reached["one"].wait(), 60)
        before = {thread for thread in threading.enumerate() if not thread.daemon}

        await asyncio.to_thread(server.stop)
        script.gates["one"].set()
        await until(lambda: _is(bool(process.faults)), "the step could not be kept")
        assert {str(fault) for fault in process.faults} <= {
            "the engine could not keep a step: OperationalError",
            "the engine could not begin the run: OperationalError",
        }
        run = await until_status(acme, id_, RunStatus.PENDING)
        # It was not the run's fault.
        assert (run.attempts, run.kills, script.failures) == (0, 0, [])
        await asyncio.to_thread(server.start)

        async def ended() -> bool:
            # The first attempts may still find connections that are dead.
            clock.advance(timedelta(seconds=5))
            await process.looks(1)
            return (await run_of(acme, id_)).status is RunStatus.SKIPPED

        await until(ended, f"it ends: {script.failures}")
        assert script.done.count("two") == 1

        script.gates["two"] = asyncio.Event()
        await started(acme, first=1)
        await until(lambda: _is(script.begun >= 3), "another run is under way")
        await asyncio.to_thread(server.stop)
        async with asyncio.timeout(60):
            await process.close(within_s=1)
        lingering = {thread for thread in threading.enumerate() if not thread.daemon} - before
        for thread in lingering:
            await asyncio.to_thread(thread.join, 60)
        assert not [thread for thread in lingering if thread.is_alive()]


async def _is(what: bool) -> bool:
    return what


async def test_an_unusable_file_fails_at_once(tmp_path: Path) -> None:
    ledger = memory_stores(RotatingSealer()).ledger
    nowhere = f"sqlite:///{tmp_path / 'nowhere' / 'engine.db'}"
    with pytest.raises(StoreUnavailable, match="the engine cannot use its tables"):
        await DbosExecution(nowhere, ledger, ManualClock(), executor="dbos_nowhere", migrates=True).open()


async def test_a_file_of_the_engines_keeps_changes_apart(tmp_path: Path) -> None:
    file = tmp_path / "engine.db"
    ledger = memory_stores(RotatingSealer()).ledger
    execution = DbosExecution(f"sqlite:///{file}", ledger, ManualClock(), executor="dbos_wal", migrates=True)
    await execution.open()
    await execution.close()
    with contextlib.closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


async def test_old_records_of_workflows_are_swept(tmp_path: Path) -> None:
    stores, clock = memory_stores(RotatingSealer()), ManualClock(START + timedelta(hours=1))
    acme = await tenant(stores, "acme", triggers=1)
    wall = ManualClock(datetime.now(UTC))
    execution = DbosExecution(f"sqlite:///{tmp_path / 'engine.db'}", stores.ledger, wall, executor="e", migrates=True)
    script = Script(stores.ledger, clock, "one")
    process = await Process(stores, lambda _ledger, _memory: execution, clock, workflow=script).launch()
    (id_,) = await started(acme)
    await until_status(acme, id_, RunStatus.SKIPPED)
    await until(lambda: _is(not process.worker.at_work), "DBOS has noted it")

    assert await execution.sweep() == 0
    wall.advance(timedelta(days=1, minutes=1))
    assert await execution.sweep() == 1
    assert await execution.sweep() == 0
    await process.close()


async def test_a_run_without_steps_is_no_workflow(tmp_path: Path) -> None:
    stores, clock = memory_stores(RotatingSealer()), ManualClock(START + timedelta(hours=1))
    acme = await tenant(stores, "acme", triggers=1)
    url = f"sqlite:///{tmp_path / 'engine.db'}"
    execution = DbosExecution(url, stores.ledger, clock, executor="dbos_plain", migrates=True)
    process = await Process(
        stores, lambda _ledger, _memory: execution, clock, workflow=Script(stores.ledger, clock)
    ).launch()
    (id_,) = await started(acme)
    await until_status(acme, id_, RunStatus.SKIPPED)
    await until(lambda: _is(not process.worker.at_work), "it has ended")
    await process.close()

    with contextlib.closing(sqlite3.connect(tmp_path / "engine.db")) as connection:
        assert connection.execute("SELECT count(*) FROM workflow_status").fetchone() == (0,)


async def test_a_run_is_resumed_although_the_tables_were_created_again_meanwhile() -> None:
    stores, clock = memory_stores(RotatingSealer()), ManualClock(START + timedelta(hours=1))
    acme = await tenant(stores, "acme", triggers=1)
    script = Script(stores.ledger, clock, "one", "two")
    script.fails["two"] = 1
    with postgres.PrivateServer(durable=False) as server:
        process = await launched(server, stores, clock, script, "dbos_again")
        postgres.rows(engine_url(server), "DROP SCHEMA dbos CASCADE")
        await asyncio.to_thread(migrate_engine, engine_url(server))

        (id_,) = await started(acme)
        await until(lambda: _is(script.failures == ["two failed"]), "its second step fails")
        clock.advance(timedelta(seconds=5))

        await until_status(acme, id_, RunStatus.SKIPPED)
        assert script.done == ["one", "two", "two"]
        await process.close()


async def test_the_first_step_launches_dbos(tmp_path: Path) -> None:
    stores, clock = memory_stores(RotatingSealer()), ManualClock(START + timedelta(hours=1))
    acme = await tenant(stores, "acme", triggers=1)
    url = f"sqlite:///{tmp_path / 'engine.db'}"
    created: list[str] = []

    def create() -> DbosExecution:
        created.append(url)
        if len(created) == 1:
            message = "the engine cannot use its tables"
            raise StoreUnavailable(message)
        return DbosExecution(url, stores.ledger, clock, executor="dbos_late", migrates=False)

    execution = DbosOnDemand(url, create, migrates=False)
    with pytest.raises(StoreUnavailable, match="run 'contentsvc migrate'"):
        await execution.open()
    await asyncio.to_thread(migrate_engine, url)
    script = Script(stores.ledger, clock, "one")
    process = await Process(stores, lambda _ledger, _memory: execution, clock, workflow=script).launch()
    await execution.check()
    assert created == []

    (id_,) = await started(acme)
    await until(lambda: _is(bool(process.faults)), "the first launch fails")
    # The health check launches DBOS again.
    await execution.check()
    assert len(created) == 2

    async def ended() -> bool:
        clock.advance(timedelta(seconds=5))
        await process.looks(1)
        return (await run_of(acme, id_)).status is RunStatus.SKIPPED

    await until(ended, f"it ends: {script.failures}")
    assert script.done == ["one"]
    await process.close()


async def test_the_engine_writes_although_transactions_are_read_only_by_default() -> None:
    stores, clock = memory_stores(RotatingSealer()), ManualClock(START + timedelta(hours=1))
    acme = await tenant(stores, "acme", triggers=1)
    script = Script(stores.ledger, clock, "one")
    with postgres.PrivateServer(durable=False, settings=("default_transaction_read_only=on",)) as server:
        process = await launched(server, stores, clock, script, "dbos_writes")
        (id_,) = await started(acme)
        await until_status(acme, id_, RunStatus.SKIPPED)
        assert (process.faults, script.done) == ([], ["one"])
        await process.close()


async def test_a_run_that_this_process_has_taken_again_keeps_its_second_workflow() -> None:
    acme = await tenant(memory_stores(RotatingSealer()))
    run = await acme.taken()

    async def serve(performance: Performance) -> None:
        while (request := await performance.requests.get()) is not None:
            request.answer.set_result(await request.step())

    async def begin(_run: WorkflowRun, performance: Performance) -> None:
        performance.task = asyncio.create_task(serve(performance))

    async def step() -> str:
        return "done"

    first, second = (DbosSteps(run, acme.stores.ledger, begin) for _ in range(2))
    for steps in (first, second):
        assert await steps.run("one", step) == "done"
    own = TAKEN[run.id]
    await first.end(well=True)
    assert TAKEN.pop(run.id, None) is own
    TAKEN[run.id] = own
    await second.end(well=False)
    assert run.id not in TAKEN
