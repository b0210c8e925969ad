"""``contentsvc migrate --from``: a SQLite file moves to PostgreSQL."""

import asyncio
from collections.abc import Generator
from pathlib import Path
from typing import Any, Final

import pytest
from sqlalchemy import Connection, select
from tests import postgres, sqlite
from tests.api.furnished import furnish
from tests.api.world import SEALER, ApiWorld
from tests.drivers.commands import command, error, invoke

from contentsvc_adapters.sql import Database, SqlStores, serving_alone
from contentsvc_adapters.sql.copying import COPIED
from contentsvc_core.journal import LogQuery
from contentsvc_core.lists.pagination import PageRequest
from contentsvc_core.lists.terms import Term
from contentsvc_core.search.questions import ContextSearch

#: The text of the world's encryption key.
_KEY: Final = "a secret of at least 32 characters"


async def _filled(file: Path) -> str:
    """Fill a new file with one object of each kind for an organization; return the organization's id."""
    database = Database(sqlite.migrated(file))
    try:
        world = ApiWorld(stores=SqlStores(database, SEALER))
        caller = await world.caller("Acme")
        await furnish(world, caller)
        return caller.organization.id
    finally:
        await database.dispose()


async def _rows(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    def read(connection: Connection) -> dict[str, list[tuple[Any, ...]]]:
        return {
            table.name: sorted((tuple(row) for row in connection.execute(select(table))), key=repr) for table in COPIED
        }

    try:
        return await database.read(read)
    finally:
        await database.dispose()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "contentsvc.db"


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Generator[str]:
    monkeypatch.setenv("CONTENTSVC_SECRET_KEY", _KEY)
    monkeypatch.setenv("CONTENTSVC_ENGINE", "inline")
    with postgres.database(migrated=False) as created:
        monkeypatch.setenv("CONTENTSVC_DATABASE_URL", created)
        yield created


def test_a_file_is_copied_with_all_rows(file: Path, url: str) -> None:
    organization_id = asyncio.run(_filled(file))

    shown = command("migrate", "--from", str(file))

    before, after = asyncio.run(_rows(Database(f"sqlite+aiosqlite:///{file}"))), asyncio.run(_rows(Database(url)))
    assert after == before
    assert shown["copied"] == {table: len(rows) for table, rows in before.items()}
    asyncio.run(_works(url, organization_id))


async def _works(url: str, organization_id: str) -> None:
    """Check that counts, search and new numbers of the copy are right."""
    database = Database(url)
    stores = SqlStores(database, SEALER)
    page = await stores.journal.page(organization_id, LogQuery(), PageRequest(limit=1), max_bytes=1_000_000)
    assert isinstance(page, tuple)
    listed = await database.read(
        lambda connection: len(connection.exec_driver_sql("SELECT id FROM log_entries").fetchall())
    )
    assert page[1].total_items == listed
    hits = await stores.search.records(
        organization_id, ContextSearch(terms=(Term(words=("lens",)),)), limit=9, max_bytes=1_000_000
    )
    assert [record.delivery_id for record in hits.found] == ["d-3"]
    world = ApiWorld(stores=stores)
    await furnish(world, await world.caller("Other"))
    await stores.close()


def test_a_copy_is_refused_while_a_server_uses_the_file(file: Path, url: str) -> None:
    asyncio.run(_filled(file))
    with serving_alone(file):
        assert "stop that one first" in error("migrate", "--from", str(file))

    assert not any(asyncio.run(_rows(Database(url))).values())


def test_a_copy_into_a_database_with_rows_changes_nothing(file: Path, url: str) -> None:
    asyncio.run(_filled(file))
    assert invoke("migrate").exit_code == 0
    assert invoke("organization", "create", "Other").exit_code == 0
    before = asyncio.run(_rows(Database(url)))

    refused = error("migrate", "--from", str(file))

    assert refused == "the database is not empty: the table organizations has rows; copy into a new database"
    assert asyncio.run(_rows(Database(url))) == before


def test_a_key_that_does_not_open_the_secrets_of_the_file_is_refused(
    file: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(_filled(file))
    monkeypatch.setenv("CONTENTSVC_SECRET_KEY", "another secret of at least 32 characters")

    assert "CONTENTSVC_SECRET_KEY" in error("migrate", "--from", str(file))
    assert not any(asyncio.run(_rows(Database(url))).values())


def test_a_copy_into_a_file_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.touch()
    monkeypatch.setenv("CONTENTSVC_DATABASE_URL", f"sqlite+aiosqlite:///{file}.other")

    refused = error("migrate", "--from", str(file), code=2)

    assert refused == "--from copies into PostgreSQL: set CONTENTSVC_DATABASE_URL to postgresql+asyncpg://…"
    assert [path.name for path in file.parent.iterdir()] == [file.name]
