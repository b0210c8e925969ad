"""SQLite: several processes on one file, and a file that is locked."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import closing

import pytest
from attrs import evolve
from contract_values import Left, RotatingSealer, Tenant, take, tenant
from sqlalchemy import event
from sqlite_files import file_of

from contentsvc_adapters.sql import Database, SqlStores
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.organizations import Organization
from contentsvc_core.testing import START, switched
from contentsvc_core.webhooks.settlement import Settled

pytestmark = pytest.mark.slow("starts several processes")


@pytest.fixture
async def acme(database: Database) -> Tenant:
    return await tenant(SqlStores(database, RotatingSealer()))


@pytest.fixture
async def beside(database: Database, acme: Tenant) -> AsyncGenerator[SqlStores]:
    """The same file, opened again, as by an operator's command; it does not wait for locks."""
    stores = SqlStores(Database(f"sqlite:///{file_of(database)}", busy_timeout_ms=0), RotatingSealer())
    yield stores
    await stores.close()


async def test_two_processes_see_each_others_writes_at_once(acme: Tenant, beside: SqlStores) -> None:
    there = evolve(acme, stores=beside)
    settling = await acme.processed("d-1")
    assert await beside.triggers.change(acme.id, acme.triggers[0].id, switched(enabled=False))

    assert await acme.stores.deliveries.settle(settling) is Settled.STALE
    assert (await acme.hook()).triggers == acme.triggers[1:]
    assert await acme.stores.deliveries.settle(await acme.processed("d-1")) is Settled.AS_DECIDED
    assert (await there.left()).counts == (1, 1, 1)
    assert await beside.deliveries.settle(await there.processed("d-1")) is Settled.ALREADY_CLAIMED
    assert (await acme.left()).counts == (1, 1, 2)


async def test_of_two_processes_one_takes_a_run(database: Database, acme: Tenant) -> None:
    other = SqlStores(Database(f"sqlite:///{file_of(database)}"), RotatingSealer())
    settling = [await acme.processed(f"d-{number}") for number in range(8)]
    for each in settling:
        await acme.stores.deliveries.settle(each)
    ids = [run.id for each in settling for run in each.runs]

    hands = await asyncio.gather(
        *(take(stores, ids, f"exe_{number}") for stores in (acme.stores, other) for number in range(4))
    )

    assert sorted(run.id for hand in hands for run in hand) == sorted(ids)
    await other.close()


async def test_of_two_processes_one_claims_a_delivery(database: Database, acme: Tenant) -> None:
    other = SqlStores(Database(f"sqlite:///{file_of(database)}"), RotatingSealer())
    copies = [await acme.processed("d-1") for _ in range(32)]

    answers = await asyncio.gather(
        *((acme.stores, other)[number % 2].deliveries.settle(copy) for number, copy in enumerate(copies))
    )

    assert answers.count(Settled.AS_DECIDED) == 1
    assert (await acme.left()).counts == (1, 2, 32)
    await other.close()


async def test_a_locked_file_is_unavailable_for_all_who_wait_and_then_available_again(
    database: Database, acme: Tenant, beside: SqlStores
) -> None:
    there = evolve(acme, stores=beside)
    settling = [await there.processed(f"d-{number}") for number in range(16)]
    statements = _asked(beside.database)
    with closing(sqlite3.connect(file_of(database), isolation_level=None)) as locking:
        locking.execute("BEGIN IMMEDIATE")

        answers = await asyncio.gather(*map(beside.deliveries.settle, settling), return_exceptions=True)
        # Readers are not affected.
        assert await there.left() == Left()

    assert all(type(answer) is StoreUnavailable and "locked" in str(answer) for answer in answers)
    # One timeout for all: a timeout for each, one after the other, would be a hang.
    assert statements == ["BEGIN IMMEDIATE"]
    assert [await beside.deliveries.settle(each) for each in settling] == [Settled.AS_DECIDED] * 16


async def test_so_is_it_for_all_other_writes_that_wait(database: Database, acme: Tenant) -> None:
    impatient = Database(f"sqlite:///{file_of(database)}", busy_timeout_ms=100)
    statements = _asked(impatient)
    triggers = SqlStores(impatient, RotatingSealer()).triggers
    with closing(sqlite3.connect(file_of(database), isolation_level=None)) as locking:
        locking.execute("BEGIN IMMEDIATE")

        disabling = [triggers.change(acme.id, each.id, switched(enabled=False)) for each in acme.triggers]
        answers = await asyncio.gather(*disabling, return_exceptions=True)

    assert [type(answer) for answer in answers] == [StoreUnavailable] * len(acme.triggers)
    assert statements == ["BEGIN IMMEDIATE"]
    assert await triggers.change(acme.id, acme.triggers[0].id, switched(enabled=False))
    await impatient.dispose()


def _asked(database: Database) -> list[str]:
    """Return a list that grows with the writer's statements."""
    statements: list[str] = []

    def traced(connection: sqlite3.Connection, *_: object) -> None:
        connection.set_trace_callback(statements.append)

    event.listen(database._writer.sync_engine, "checkout", traced)  # pyright: ignore[reportPrivateUsage]
    return statements


async def test_a_writer_waits_for_a_locked_file(acme: Tenant, database: Database) -> None:
    with closing(sqlite3.connect(file_of(database), isolation_level=None, check_same_thread=False)) as locking:
        locking.execute("BEGIN IMMEDIATE")
        waiting = asyncio.create_task(acme.stores.deliveries.settle(await acme.processed("d-1")))
        # A reader gets its answer while the writer waits: the event loop is not blocked.
        assert await acme.left() == Left()
        assert not waiting.done()
        locking.execute("COMMIT")

        assert await waiting is Settled.AS_DECIDED


async def test_a_new_organization_of_another_process_is_visible_at_once(acme: Tenant, beside: SqlStores) -> None:
    new = Organization(id="org_new", slug="new", name="New", created_at=START)
    assert await beside.directory.add_organization(new)

    assert await acme.stores.directory.organization("new") == new
