"""Database faults while deliveries are received: temporary ones, and permanent ones."""

import contextlib
import sqlite3
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import psycopg
import pytest
from contract_values import IDS, SECRET, RotatingSealer, Tenant, tenant
from sqlalchemy import text
from sqlite_files import file_of
from tests import postgres, sqlite

from contentsvc_adapters.clocks import SystemClock
from contentsvc_adapters.sql import Database, SqlStores
from contentsvc_core import Duplicate, Processed, Receiver, ReceivingFailed, StoreUnavailable
from contentsvc_core.testing import push_body, signed
from contentsvc_core.webhooks.delivery import Delivery


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[str]:
    if request.param == "sqlite":
        yield sqlite.migrated(tmp_path / "store.db")
    else:
        with postgres.database() as created:
            yield created


@pytest.fixture
async def stores(url: str) -> AsyncGenerator[SqlStores]:
    created = SqlStores(Database(url, busy_timeout_ms=50), RotatingSealer())
    yield created
    await created.close()


@pytest.fixture
async def acme(stores: SqlStores) -> Tenant:
    return await tenant(stores)


@pytest.fixture
def receiver(stores: SqlStores) -> Receiver:
    return Receiver(stores.deliveries, stores.journal, SystemClock(), IDS)


def push(acme: Tenant) -> Delivery:
    body = push_body("feat: x", repository_id=acme.repository.id)
    return signed(body, at=acme.address, secret=SECRET, delivery_id="d-1")


async def rename(stores: SqlStores, table: str, name: str) -> None:
    await stores.database.write(lambda connection: connection.execute(text(f"ALTER TABLE {table} RENAME TO {name}")))


async def statuses(stores: SqlStores, acme: Tenant) -> list[int | None]:
    return [entry.status_code for entry in await stores.journal.entries(acme.id)]


@pytest.mark.parametrize(
    ("table", "logged"),
    [("context_records", [500]), ("log_entries", []), ("triggers", [])],
    ids=["effects", "log", "configuration"],
)
async def test_a_missing_table_is_a_fault_of_the_service_and_after_the_repair_the_redelivery_is_processed(
    stores: SqlStores, acme: Tenant, receiver: Receiver, table: str, logged: list[int]
) -> None:
    await rename(stores, table, "renamed_away")

    for _ in range(2):
        with pytest.raises(ReceivingFailed, match="Internal server error processing webhook"):
            await receiver.receive(push(acme))

    await rename(stores, "renamed_away", table)
    assert await statuses(stores, acme) == logged * 2
    # The id is not claimed, and the connections still work.
    assert isinstance(await receiver.receive(push(acme)), Processed)
    assert isinstance(await receiver.receive(push(acme)), Duplicate)
    assert (await acme.left()).counts[:2] == (1, 2)


@contextlib.contextmanager
def locked(stores: SqlStores, url: str) -> Generator[None]:
    """Lock the rows that a settlement writes, as another process does."""
    if url.startswith("sqlite"):
        with contextlib.closing(sqlite3.connect(file_of(stores.database), isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            yield
            other.execute("ROLLBACK")
    else:
        with psycopg.connect(url.replace("+asyncpg", "", 1)) as connection:
            connection.execute("LOCK TABLE context_records, log_entries IN SHARE MODE")
            yield
            connection.rollback()


async def test_a_lock_is_waited_for_by_the_sender_and_the_redelivery_is_processed(
    stores: SqlStores, acme: Tenant, receiver: Receiver, url: str
) -> None:
    with locked(stores, url), pytest.raises(StoreUnavailable):
        await receiver.receive(push(acme))

    assert isinstance(await receiver.receive(push(acme)), Processed)
    (entry,) = await stores.journal.entries(acme.id)
    assert entry.reason == "2 workflow runs started; 1 earlier failure was not logged"
