"""Guarantees of SQLite alone: durable connections, events stored once, sealed secrets, useful indexes."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from contract_values import IDS, SECRET, Left, RotatingSealer, Tenant, later, tenant
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlite_files import file_of
from tests.refusals import existing

from contentsvc_adapters.sql import HEAD, Database, SqlStores, revision, upgrade
from contentsvc_adapters.sql.dialects import checkpoints
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.outgoing.endpoints import WebhookEndpoint
from contentsvc_core.testing import START
from contentsvc_core.webhooks.settlement import Settled


@pytest.fixture
async def acme(database: Database) -> Tenant:
    return await tenant(SqlStores(database, RotatingSealer()))


def _pragmas(connection: Connection) -> dict[str, Any]:
    names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout", "query_only")
    return {name: connection.execute(text(f"PRAGMA {name}")).scalar() for name in names}


async def test_every_connection_is_durable_and_checks_references(database: Database) -> None:
    common = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 5000}

    assert await database.write(_pragmas) == {**common, "query_only": 0}
    # All readers, open at the same time.
    engine = AsyncEngine(database._reader.sync_engine)  # pyright: ignore[reportPrivateUsage]
    readers = [await engine.connect() for _ in range(4)]
    for reader in readers:
        assert await reader.run_sync(_pragmas) == {**common, "query_only": 1}
        await reader.close()


async def test_the_log_is_kept_small_by_another_thread(
    database: Database, acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "_ROWS", 100)
    settling = [await acme.processed(f"d-{number}") for number in range(120)]
    large = [evolve(each, note="x" * 20_000) for each in settling]
    executed: list[str] = []
    monkeypatch.setattr(
        checkpoints,
        "_checkpoint",
        partial(_noted_checkpoint, executed, checkpoints._checkpoint),  # pyright: ignore[reportPrivateUsage]
    )

    for each in large:
        assert await acme.stores.deliveries.settle(each) is Settled.AS_DECIDED

    assert "SQLite checkpoints" in executed
    assert file_of(database).with_name("store.db-wal").stat().st_size < 120 * 40_000


def _noted_checkpoint(
    executed: list[str],
    checkpoint: Callable[[sqlite3.Connection, str], None],
    connection: sqlite3.Connection,
    mode: str,
) -> None:
    executed.append(threading.current_thread().name)
    checkpoint(connection, mode)


async def test_a_reader_cannot_write(database: Database) -> None:
    with pytest.raises(StoreUnavailable, match="readonly"):
        await database.read(lambda connection: connection.execute(text("DELETE FROM claims")))


@pytest.mark.parametrize("is_replaced", [False, True])
async def test_nothing_is_settled_in_a_file_that_was_removed_or_replaced(
    database: Database, acme: Tenant, monkeypatch: pytest.MonkeyPatch, *, is_replaced: bool
) -> None:
    file = file_of(database)
    await acme.stores.deliveries.settle(await acme.processed("d-1"))
    away = file.rename(file.with_name("away"))
    if is_replaced:
        file.write_bytes(away.read_bytes())

    with pytest.raises(StoreUnavailable, match="was removed or replaced"):
        await acme.stores.deliveries.settle(await acme.processed("d-2"))
    with pytest.raises(StoreUnavailable, match="was removed or replaced"):
        await database.write(_pragmas)
    # Reads that need another connection must not create an empty file, not even if it is removed after the check.
    monkeypatch.setattr("contentsvc_adapters.sql.dialects.sqlite._OpenFile.check", _check_nothing)
    await asyncio.gather(*(database.read(_pragmas) for _ in range(20)), return_exceptions=True)
    assert file.exists() is is_replaced

    away.replace(file)
    assert await acme.stores.deliveries.settle(await acme.processed("d-2")) is Settled.AS_DECIDED


async def test_a_file_that_was_only_read_is_not_created_again(database: Database) -> None:
    file = file_of(database)
    # As a server before its first heartbeat: it has only read, and the first write opens another connection.
    reading = Database(f"sqlite+aiosqlite:///{file}")
    assert await revision(reading) == HEAD
    away = file.rename(file.with_name("away"))

    with pytest.raises(StoreUnavailable, match="was removed or replaced"):
        await reading.write(_pragmas)
    assert not file.exists()

    away.rename(file)
    await reading.write(_pragmas)
    await reading.dispose()


def _check_nothing(_: object) -> None:
    pass


async def test_an_event_is_stored_once(database: Database, acme: Tenant) -> None:
    await acme.stores.deliveries.settle(await acme.processed("d-1"))

    needle = await database.read(lambda connection: list(connection.execute(text("SELECT data FROM events"))))

    assert len(needle) == 1
    dumped = await database.read(partial(_dump, "feat: lamp"))
    # The summary has the beginning of the first line, for lists.
    assert dumped == ["events.data", "events.summary"]


def _dump(needle: str, connection: Connection) -> list[str]:
    """Return every column that contains a text."""
    tables = connection.scalars(text("SELECT name FROM sqlite_master WHERE type = 'table'")).all()
    found: list[str] = []
    for table in tables:
        for row in connection.execute(text(f"SELECT * FROM {table}")).mappings():  # noqa: S608  # our own tables
            found += [f"{table}.{name}" for name, value in row.items() if needle in str(value)]
    return found


async def test_a_secret_is_nowhere_in_clear(database: Database, acme: Tenant) -> None:
    # Also before the database is closed: the write-ahead log is a separate file.
    folder = file_of(database).parent
    raw = b"".join(path.read_bytes() for path in folder.iterdir())
    assert acme.integration.id.encode() in raw
    assert SECRET.encode() not in raw

    await database.dispose()
    raw = b"".join(path.read_bytes() for path in folder.iterdir())
    assert acme.integration.id.encode() in raw
    assert SECRET.encode() not in raw


async def test_an_unreadable_secret_is_replaced_by_a_rotation(database: Database, acme: Tenant) -> None:
    endpoint = WebhookEndpoint(
        id=IDS.new_id("whe_"), organization_id=acme.id, url="https://acme.example/hook", created_at=START
    )
    await acme.stores.endpoints.add(endpoint, "old")
    for broken in ("webhook_secrets SET sealed = 'x:y'", "webhook_endpoints SET sealed_secret = 'x:y'"):
        await database.write(lambda connection, broken=broken: connection.execute(text(f"UPDATE {broken}")))
    until = later(hours=1)

    assert await acme.stores.hooks.rotate_secret(acme.id, acme.integration.id, "new", at=START, overlap_until=until)
    assert await acme.stores.endpoints.rotate(acme.id, endpoint.id, "new", overlap_until=until) is not None

    hook = existing(await acme.stores.deliveries.configuration(acme.address, START))
    assert hook.secrets == ("new",)


async def test_an_unreadable_secret_is_counted_and_others_verify(database: Database, acme: Tenant) -> None:
    await database.write(lambda connection: connection.execute(text("UPDATE webhook_secrets SET sealed = 'x:y'")))
    await database.write(
        lambda connection: connection.execute(
            text("INSERT INTO webhook_secrets (integration_id, sealed, created_at) VALUES (:id, :sealed, 0)"),
            {"id": acme.integration.id, "sealed": RotatingSealer().seal("another")},
        )
    )

    hook = existing(await acme.stores.deliveries.configuration(acme.address, START))
    assert (hook.secrets, hook.unreadable) == (("another",), 1)

    # It is not cached: every read tries again.
    await database.write(
        lambda connection: connection.execute(text("DELETE FROM webhook_secrets WHERE sealed = 'x:y'"))
    )
    hook = existing(await acme.stores.deliveries.configuration(acme.address, START, allow_cached=True))
    assert hook.unreadable == 0


async def test_a_full_disk_is_unavailable_and_leaves_nothing(database: Database, acme: Tenant) -> None:
    def fill(connection: Connection) -> None:
        pages = connection.execute(text("PRAGMA page_count")).scalar_one()
        connection.execute(text(f"PRAGMA max_page_count = {pages}"))

    await database.write(fill)
    settling = await acme.processed("d-1", None)
    huge = evolve(settling, note="x" * 100_000)

    with pytest.raises(StoreUnavailable, match=r"is full; free some space on its disk$"):
        await acme.stores.deliveries.settle(huge)

    assert await acme.left() == Left()
    await database.write(lambda connection: connection.execute(text("PRAGMA max_page_count = 1000000")))
    assert await acme.stores.deliveries.settle(huge) is Settled.AS_DECIDED


async def test_a_file_that_is_no_database_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_text("Dear diary, " * 1000)
    database = Database(f"sqlite:///{tmp_path / 'notes.db'}")

    with pytest.raises(StoreUnavailable, match=r"notes\.db' cannot be used: .*; .* restore the backup"):
        await upgrade(database)

    await database.dispose()
    assert (tmp_path / "notes.db").read_text().startswith("Dear diary")


async def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'missing' / 'store.db'}")

    with pytest.raises(StoreUnavailable, match=r"missing/store\.db.*folder does not exist"):
        await upgrade(database)

    await database.dispose()
    assert not list(tmp_path.iterdir())  # noqa: ASYNC240  # a test may wait for the disk


async def test_a_folder_in_place_of_the_file_is_named(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}")

    with pytest.raises(StoreUnavailable, match="it is a folder; name a file"):
        await upgrade(database)

    await database.dispose()


@pytest.mark.parametrize(
    "url", ["sqlite://", "sqlite:///:memory:", "sqlite:///x.db?mode=ro", "mysql://u:hush@host/db", "contentsvc.db"]
)
def test_another_url_is_refused_in_a_sentence(url: str) -> None:
    with pytest.raises(ValueError, match="sqlite:///") as refusal:
        Database(url)

    assert "hush" not in str(refusal.value)


async def test_what_is_under_way_is_finished_before_the_database_closes(database: Database, acme: Tenant) -> None:
    settling = [await acme.processed(f"d-{number}") for number in range(8)]
    crowd: list[asyncio.Task[object]] = [asyncio.create_task(acme.stores.deliveries.settle(each)) for each in settling]
    noted = [evolve(each.log, id=f"{each.log.id}-noted", detail=None) for each in settling]
    crowd += [asyncio.create_task(acme.stores.journal.append(entry)) for entry in noted]
    await asyncio.sleep(0)
    for leaving in crowd:
        leaving.cancel()

    await acme.stores.close()

    await asyncio.gather(*crowd, return_exceptions=True)
    with closing(sqlite3.connect(file_of(database))) as file:
        assert file.execute("SELECT count(*) FROM log_entries").fetchone() == (16,)
    assert not file_of(database).with_name("store.db-wal").exists()
    with pytest.raises(StoreUnavailable, match="closed"):
        await acme.left()


@pytest.mark.parametrize("by_whom", ["driver", "loop"])
async def test_a_transaction_that_is_cut_off_is_no_cancellation_of_who_asked(database: Database, by_whom: str) -> None:
    def cut(_connection: Connection) -> None:
        raise asyncio.CancelledError

    asking = asyncio.create_task(database.write(cut))
    if by_whom == "loop":
        await asyncio.sleep(0)
        asking.cancel()

    with pytest.raises(StoreUnavailable if by_whom == "driver" else asyncio.CancelledError):
        await asking


async def test_an_errors_text_discloses_no_data_of_the_tenant(database: Database, acme: Tenant) -> None:
    settling = await acme.processed("d-1")
    with pytest.raises(Exception, match="refuses") as refusal:
        await acme.stores.deliveries.settle(evolve(settling, started=settling.started[:1] * 2))

    assert acme.triggers[0].id not in f"{refusal.value} {refusal.value.__cause__}"
