"""PostgreSQL: an upgrade of the schema runs on request, in one process at a time, and atomically."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from functools import partial
from pathlib import Path

import pytest
from older_schema import REFUSED, check_upgrades_at_once, database_at, killed_upgrade
from sqlalchemy import Connection, text
from sqlalchemy.engine import make_url
from tests import postgres

from contentsvc_adapters.sql import HEAD, Database, make_ready, revision, upgrade
from contentsvc_adapters.sql.dialects import postgresql as dialect
from contentsvc_adapters.sql.dialects import postgresql_session
from contentsvc_core.errors import SchemaMismatch, StoreUnavailable

pytestmark = pytest.mark.slow("migrates databases of PostgreSQL while others wait")

_LOCK_ID = dialect._LOCK_ID  # pyright: ignore[reportPrivateUsage]  # all versions share it
_TABLES = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
_COLUMNS = """
    SELECT table_name, column_name, data_type, is_nullable, collation_name, column_default
    FROM information_schema.columns WHERE table_schema = 'public'
"""
_INDEXES = "SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public'"
_CONSTRAINTS = """
    SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid)
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace
"""
_TRIGGERS = "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal"
_FUNCTIONS = "SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
_OPTIONS = "SELECT relname, reloptions FROM pg_class WHERE relnamespace = 'public'::regnamespace"

_WAITING_FOR_LONG = """
    SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND clock_timestamp() - query_start > '600 ms'
"""


@pytest.fixture
def empty_url() -> Generator[str]:
    with postgres.database(migrated=False) as url:
        yield url


@pytest.fixture
async def empty(empty_url: str) -> AsyncGenerator[Database]:
    created = Database(empty_url)
    yield created
    await created.dispose()


async def test_an_empty_database_gets_its_schema_once(empty: Database) -> None:
    assert await revision(empty) is None
    assert await upgrade(empty)
    assert await revision(empty) == HEAD
    assert not await upgrade(empty)
    await make_ready(empty)


async def test_an_upgraded_database_is_like_a_new_one(empty: Database, tmp_path: Path) -> None:
    assert await upgrade(empty)
    async with database_at("0020", "postgresql", tmp_path) as older:
        assert await upgrade(older)
        for question in (_COLUMNS, _INDEXES, _CONSTRAINTS, _TRIGGERS, _FUNCTIONS, _OPTIONS):
            upgraded, created = [await each.read(partial(_sorted, question)) for each in (older, empty)]
            assert upgraded == created
            assert created


def _sorted(question: str, connection: Connection) -> list[str]:
    return sorted(str(tuple(row)) for row in connection.execute(text(question)))


async def test_a_node_does_not_upgrade_by_itself(empty: Database, empty_url: str) -> None:
    with pytest.raises(SchemaMismatch, match=rf"has no schema yet, and .* needs {HEAD}: run 'contentsvc migrate'"):
        await make_ready(empty)
    assert postgres.rows(empty_url, _TABLES) == []


@pytest.mark.parametrize("found", [None, "ae1027a6acf5", HEAD], ids=["unversioned", "versioned", "same_revision"])
async def test_a_database_of_another_application_is_refused(empty: Database, empty_url: str, found: str | None) -> None:
    postgres.rows(empty_url, "CREATE TABLE of_an_extension (id int)")
    postgres.rows(empty_url, "CREATE TABLE posts (lit int)")
    if found is not None:
        postgres.rows(empty_url, f"CREATE TABLE alembic_version AS SELECT '{found}' AS version_num")

    for work in (upgrade, make_ready, revision):
        with pytest.raises(SchemaMismatch, match=r"another application.*set CONTENTSVC_DATABASE_URL.*createdb --owner"):
            await work(empty)

    postgres.rows(empty_url, "DROP TABLE posts")
    postgres.rows(empty_url, "DROP TABLE IF EXISTS alembic_version")
    assert await upgrade(empty)


async def test_tables_of_a_schema_further_back_in_the_search_path_do_not_count(empty: Database, empty_url: str) -> None:
    postgres.rows(empty_url, "CREATE TABLE posts (lit int)")
    postgres.rows(empty_url, f"CREATE TABLE alembic_version AS SELECT '{HEAD}' AS version_num")
    name = make_url(empty_url).database
    postgres.rows(empty_url, "CREATE SCHEMA own")
    postgres.rows(empty_url, f'ALTER DATABASE "{name}" SET search_path TO own, public')

    assert await upgrade(empty)

    assert await revision(empty) == HEAD
    assert {table for (table,) in postgres.rows(empty_url, _TABLES)} == {"posts", "alembic_version"}


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
async def test_a_database_without_utf8_is_refused(empty_url: str, encoding: str) -> None:
    # Such a database would refuse each delivery with a character outside of its encoding.
    name = f"{empty_url.partition('?')[0].rpartition('/')[2]}_other"
    postgres.rows(empty_url, f"CREATE DATABASE {name} TEMPLATE template0 ENCODING '{encoding}' LOCALE 'C'")
    other = Database(empty_url.replace(name.removesuffix("_other"), name))
    try:
        for work in (upgrade, make_ready, revision):
            with pytest.raises(SchemaMismatch, match=rf"encoding {encoding}.*createdb --owner .* --encoding UTF8"):
                await work(other)
    finally:
        await other.dispose()
        postgres.rows(empty_url, f"DROP DATABASE {name} WITH (FORCE)")


async def test_a_node_refuses_an_older_schema(postgresql: Database, postgres_url: str) -> None:
    postgres.rows(postgres_url, "UPDATE alembic_version SET version_num = '0020'")

    with pytest.raises(SchemaMismatch, match=rf"at revision 0020, and .* needs {HEAD}: run 'contentsvc migrate'"):
        await make_ready(postgresql)
    assert await revision(postgresql) == "0020"


@pytest.mark.parametrize(("found", "message"), REFUSED)
async def test_another_schema_is_refused_by_nodes_and_by_upgrades(
    postgresql: Database, postgres_url: str, found: str, message: str
) -> None:
    postgres.rows(postgres_url, "UPDATE alembic_version SET version_num = %s", found)

    for refusing in (make_ready, upgrade):
        with pytest.raises(SchemaMismatch, match=rf"revision {found}, .*{message}"):
            await refusing(postgresql)

    assert await revision(postgresql) == found
    assert _locks(postgres_url) == 0


@pytest.mark.slow("starts several processes")
async def test_of_several_processes_one_upgrades_and_the_others_wait(empty: Database, empty_url: str) -> None:
    await check_upgrades_at_once(empty, empty_url)


async def test_in_one_process_it_is_no_different(empty: Database, empty_url: str) -> None:
    others = [Database(empty_url) for _ in range(6)]

    assert sorted(await asyncio.gather(*map(upgrade, others))) == [False] * 5 + [True]

    for other in others:
        await other.dispose()
    assert _locks(empty_url) == 0


async def test_waiting_for_an_upgrade_has_no_time_limit(
    empty: Database, empty_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in ("statement_timeout", "lock_timeout"):
        monkeypatch.setitem(postgresql_session.SESSION, limit, "300")
    first, held, done = Database(empty_url), asyncio.Event(), asyncio.Event()

    def slowly(connection: Connection) -> None:
        connection.execute(text("SELECT pg_sleep(0.4)"))
        asyncio.get_running_loop().call_soon(held.set)
        while not done.is_set():
            connection.execute(text("SELECT pg_sleep(0.02)"))

    working = asyncio.create_task(first.write_alone(slowly))
    await held.wait()
    upgrading = asyncio.create_task(upgrade(empty))
    # Longer than the usual limits of statements and locks.
    while not postgres.rows(empty_url, _WAITING_FOR_LONG):
        assert not upgrading.done()
        await asyncio.sleep(0.01)
    done.set()

    assert await upgrading
    await working
    # The next user of the connections has limits again.
    with pytest.raises(StoreUnavailable, match="statement timeout"):
        await empty.write(lambda connection: connection.execute(text("SELECT pg_sleep(60)")))
    await first.dispose()


@pytest.mark.slow("starts several processes")
@pytest.mark.parametrize("at", ["CREATE TABLE organizations", "CREATE TABLE posts", "INSERT INTO alembic_version"])
async def test_an_upgrade_that_is_killed_leaves_nothing_and_lets_the_next_one_in(
    empty: Database, empty_url: str, at: str
) -> None:
    assert await killed_upgrade(empty_url, at) == -9

    assert await revision(empty) is None
    assert postgres.rows(empty_url, _TABLES) == []
    assert await upgrade(empty)


def _locks(url: str) -> int:
    held = """
        SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
        WHERE datname = current_database() AND locktype = 'advisory' AND granted
        AND (classid::bigint << 32) + objid::bigint = %s
    """
    return postgres.rows(url, held, _LOCK_ID)[0][0]
