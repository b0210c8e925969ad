"""Guarantees of PostgreSQL alone: snapshots, limits, messages without secrets, and closed connections."""

import asyncio
import time
import traceback
from functools import partial

import pytest
from attrs import evolve
from contract_values import RotatingSealer, tenant
from sqlalchemy import Connection, text
from sqlalchemy.util import await_only
from tests import postgres

from contentsvc_adapters.sql import Database, SqlStores
from contentsvc_adapters.sql.dialects import postgresql_session
from contentsvc_core.errors import ContentServiceError, StoreUnavailable, Unstorable

_ORGANIZATION = "INSERT INTO organizations VALUES (%s, %s, 'Beside', 30, 1, 0)"
_OPEN = """
    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'contentsvc'
"""
_COUNT = text("SELECT count(*) FROM organizations")


def _add_beside(url: str, name: str) -> None:
    postgres.rows(url, _ORGANIZATION, f"org_{name}", name)


def _count_twice(url: str, name: str, connection: Connection) -> tuple[object, object]:
    before = connection.scalar(_COUNT)
    _add_beside(url, name)
    return before, connection.scalar(_COUNT)


async def test_a_read_sees_one_snapshot_and_a_write_sees_new_commits(postgresql: Database, postgres_url: str) -> None:
    assert await postgresql.read(partial(_count_twice, postgres_url, "one")) == (0, 0)
    assert await postgresql.write(partial(_count_twice, postgres_url, "two")) == (1, 2)
    assert await postgresql.read(lambda connection: connection.scalar(_COUNT)) == 2


async def test_a_reader_cannot_write_and_its_connection_can_afterwards(postgresql: Database) -> None:
    with pytest.raises(StoreUnavailable, match="read-only"):
        await postgresql.read(lambda connection: connection.execute(text("DELETE FROM claims")))

    await postgresql.write(lambda connection: connection.execute(text("DELETE FROM claims")))


async def test_every_connection_is_durable_and_limited_at_any_setting_of_the_database(
    postgresql: Database, postgres_url: str
) -> None:
    name = postgresql.dialect.explain(OSError()).split("'")[1]
    for setting in (
        "synchronous_commit = off",
        "statement_timeout = 0",
        "default_transaction_isolation = serializable",
        "default_transaction_read_only = on",
    ):
        postgres.rows(postgres_url, f'ALTER DATABASE "{name}" SET {setting}')

    def settings(connection: Connection) -> list[object]:
        return [
            connection.execute(text(f"SHOW {setting}")).scalar()
            for setting in (
                *("transaction_isolation", "transaction_read_only", "synchronous_commit", "statement_timeout"),
                *("lock_timeout", "idle_in_transaction_session_timeout", "transaction_timeout"),
            )
        ]

    limits = ["on", "4s", "3s", "10s", "10s"]
    for _ in range(2):
        assert await postgresql.write(settings) == ["read committed", "off", *limits]
        assert await postgresql.read(settings) == ["repeatable read", "on", *limits]


def _hold(held: asyncio.Event, done: asyncio.Event, connection: Connection) -> None:
    """Keep the transaction open until the test releases it."""
    connection.execute(text("SELECT 1"))
    asyncio.get_running_loop().call_soon(held.set)
    while not done.is_set():
        connection.execute(text("SELECT pg_sleep(0.02)"))


async def test_a_statement_that_takes_too_long_is_ended_and_so_is_waiting_for_a_lock(
    postgresql: Database, postgres_url: str
) -> None:
    _add_beside(postgres_url, "one")
    beside = Database(postgres_url)
    held, done = asyncio.Event(), asyncio.Event()

    def hold(connection: Connection) -> None:
        connection.execute(text("UPDATE organizations SET name = 'held'"))
        _hold(held, done, connection)

    holding = asyncio.create_task(beside.write(hold))
    await held.wait()

    slept, waited = await asyncio.gather(
        postgresql.read(lambda connection: connection.execute(text("SELECT pg_sleep(60)"))),
        postgresql.write(lambda connection: connection.execute(text("UPDATE organizations SET name = 'mine'"))),
        return_exceptions=True,
    )

    assert isinstance(slept, StoreUnavailable)
    assert "statement timeout" in str(slept)
    assert isinstance(waited, StoreUnavailable)
    assert "lock timeout" in str(waited)
    done.set()
    await holding
    await beside.dispose()
    assert postgres.rows(postgres_url, "SELECT name FROM organizations") == [("held",)]


async def test_a_client_that_stalls_after_a_prepare_loses_its_locks(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other limits do not apply: the server is idle in a transaction."""
    monkeypatch.setattr(postgresql_session, "_TRANSACTION", "SET transaction_timeout = 700")
    _add_beside(postgres_url, "one")
    beside, database = Database(postgres_url), Database(postgres_url)
    held, ended = asyncio.Event(), asyncio.Event()

    def hold(connection: Connection) -> None:
        connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 300"))
        connection.execute(text("SET LOCAL statement_timeout = 300"))
        connection.execute(text("UPDATE organizations SET name = 'held'"))
        # As the driver begins each statement that is new to a connection, but without its end.
        await_only(connection.connection.driver_connection.prepare("SELECT 1"))  # pyright: ignore[reportOptionalMemberAccess]
        held.set()
        await_only(ended.wait())
        connection.execute(text("SELECT 1"))

    holding = asyncio.create_task(beside.write(hold))
    await held.wait()
    try:
        await database.write(lambda connection: connection.execute(text("UPDATE organizations SET name = 'mine'")))
        assert postgres.rows(postgres_url, "SELECT name FROM organizations") == [("mine",)]
    finally:
        ended.set()

    # The transaction lost its connection before its end, and begins again on another one.
    await holding
    assert postgres.rows(postgres_url, "SELECT name FROM organizations") == [("held",)]
    await beside.dispose()
    await database.dispose()


async def test_an_older_server_is_not_sent_unknown_settings(
    postgresql: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql_session, "_KNOWS_TRANSACTION_TIMEOUT", (99,))

    def limits(connection: Connection) -> tuple[object, object]:
        shown = connection.execute(text("SHOW transaction_timeout")).scalar()
        return shown, connection.execute(text("SHOW statement_timeout")).scalar()

    assert await postgresql.write(limits) == ("0", "4s")


async def test_a_busy_pool_fails_after_a_short_wait(postgres_url: str) -> None:
    database = Database(postgres_url, pool_size=1)
    held, done = asyncio.Event(), asyncio.Event()
    busy = asyncio.create_task(database.write(partial(_hold, held, done)))
    await held.wait()

    with pytest.raises(StoreUnavailable, match=r"no connection .* became free in time"):
        await database.read(lambda connection: connection.scalar(_COUNT))

    done.set()
    await busy
    assert await database.read(lambda connection: connection.scalar(_COUNT)) == 0
    await database.dispose()


@pytest.mark.slow("starts a PostgreSQL of its own")
async def test_a_server_that_stops_answering_is_unavailable_within_seconds() -> None:
    with postgres.PrivateServer(durable=False) as server:
        warm, cold = Database(server.url), Database(server.url)
        one = text("SELECT 1")
        assert await warm.read(lambda connection: connection.scalar(one)) == 1
        server.pause()
        began = time.monotonic()

        answers = await asyncio.gather(
            warm.read(lambda connection: connection.scalar(one)),
            warm.write(lambda connection: connection.scalar(one)),
            cold.read(lambda connection: connection.scalar(one)),
            return_exceptions=True,
        )

        assert [type(answer) for answer in answers] == [StoreUnavailable] * 3
        assert time.monotonic() - began < 20
        server.resume()
        assert await warm.read(lambda connection: connection.scalar(one)) == 1
        assert await cold.write(lambda connection: connection.scalar(one)) == 1
        await warm.dispose()
        await cold.dispose()


async def test_nothing_is_left_open_once_the_database_is_closed(postgres_url: str) -> None:
    database = Database(postgres_url, pool_size=5)
    await asyncio.gather(
        *(database.read(lambda connection: connection.execute(text("SELECT pg_sleep(0.1)"))) for _ in range(12))
    )
    assert postgres.rows(postgres_url, _OPEN) == [(5,)]
    held, done = asyncio.Event(), asyncio.Event()
    abandoned = asyncio.create_task(database.write(partial(_hold, held, done)))
    await held.wait()
    abandoned.cancel()
    disposing = asyncio.create_task(database.dispose())
    done.set()
    await disposing

    deadline = time.monotonic() + 60
    while postgres.rows(postgres_url, _OPEN) != [(0,)]:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)
    with pytest.raises(StoreUnavailable, match="closed"):
        await database.read(lambda connection: connection.scalar(_COUNT))


async def test_a_transaction_ends_though_its_caller_is_cancelled(postgresql: Database, postgres_url: str) -> None:
    held, done = asyncio.Event(), asyncio.Event()

    def slowly(connection: Connection) -> None:
        _hold(held, done, connection)
        connection.execute(text("INSERT INTO organizations VALUES ('org_x', 'x', 'X', 30, 1, 0)"))

    leaving = asyncio.create_task(postgresql.write(slowly))
    await held.wait()
    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)
    done.set()
    assert leaving.cancelled()

    await postgresql.dispose()

    assert postgres.rows(postgres_url, "SELECT slug FROM organizations") == [("x",)]


@pytest.mark.parametrize(
    ("state", "message"),
    [
        # The server's words name a file, which differs for each table.
        ("53100", "the disk of its server is full"),
        ("53300", "words; raise max_connections of the server, or lower CONTENTSVC_DATABASE_POOL_SIZE"),
        # The words of a connection pooler.
        ("08P01", "words; a connection pooler cannot be used: name the server itself in CONTENTSVC_DATABASE_URL"),
        ("42P05", "words; a connection pooler cannot be used: name the server itself in CONTENTSVC_DATABASE_URL"),
    ],
)
async def test_an_error_of_the_environment_says_what_to_do(postgresql: Database, state: str, message: str) -> None:
    raising = f"DO $$ BEGIN RAISE EXCEPTION 'words' USING ERRCODE = '{state}'; END $$"

    with pytest.raises(StoreUnavailable, match=rf"cannot be used: {message}$"):
        await postgresql.write(lambda connection: connection.execute(text(raising)))


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (
            "postgresql+asyncpg://ada:hunter2@127.0.0.1:1/contents",
            "'contents' at 127.0.0.1 port 1 cannot be used: .*; see that PostgreSQL runs there",
        ),
        ("postgresql://ada:hunter2@/contents?host=/nowhere&sslmode=disable", "'contents' at /nowhere cannot be used"),
    ],
)
async def test_a_database_that_cannot_be_reached_is_named_without_a_secret(url: str, message: str) -> None:
    database = Database(url)

    with pytest.raises(StoreUnavailable, match=message) as refusal:
        await database.write(lambda connection: connection.scalar(_COUNT))

    await database.dispose()
    text = "".join(traceback.format_exception(refusal.value)) + repr(database.dialect)
    assert "hunter2" not in text
    assert "cannot be used" in text


@pytest.mark.slow("starts a PostgreSQL of its own")
async def test_a_refused_login_and_a_missing_database_are_named() -> None:
    with postgres.PrivateServer(durable=False) as server:
        for url, message in (
            (
                f"{server.url.rpartition('/')[0]}/elsewhere",
                "the database 'elsewhere' at 127.0.0.1 port [0-9]+ does not exist",
            ),
            (server.url.replace("//postgres", "//ada:hunter2"), 'role "ada" does not exist'),
            (server.socket_url.replace("//postgres", "//ada:hunter2"), 'role "ada" does not exist'),
        ):
            database = Database(url)
            with pytest.raises(StoreUnavailable, match=message) as refusal:
                await database.read(lambda connection: connection.scalar(_COUNT))
            await database.dispose()
            assert "hunter2" not in "".join(traceback.format_exception(refusal.value))


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:hush@host",
        "postgresql+psycopg://u:hush@host/db",
        "postgresql://u:hush@host/db?hush=1",
        "postgresql://u:hush@host/db?host=a&host=b",
        "postgresql://u:hush@/db?host=a&port=hush",
        "postgresql://u:hush@host:hush/db",
    ],
)
def test_a_url_that_cannot_be_used_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ValueError, match=r"postgresql\+asyncpg|may be host, port") as refusal:
        Database(url)

    assert "hush" not in str(refusal.value)


async def test_the_text_of_an_error_has_no_data_of_the_tenant(postgresql: Database) -> None:
    acme = await tenant(SqlStores(postgresql, RotatingSealer()))
    settling = await acme.processed("d-1")
    twice = evolve(settling, started=settling.started[:1] * 2)
    with pytest.raises(Unstorable, match="refuses the value: duplicate key") as known:
        await acme.stores.deliveries.settle(twice)
    odd = evolve(settling, note="private \ud800")
    with pytest.raises(Unstorable, match=r"cannot hold the value: .*surrogates") as odd_one:
        await acme.stores.deliveries.settle(odd)

    assert settling.runs[0].id not in "".join(traceback.format_exception(known.value))
    assert "private" not in "".join(traceback.format_exception(odd_one.value))


async def test_an_invalid_statement_is_an_internal_error(postgresql: Database) -> None:
    with pytest.raises(ContentServiceError, match='relation "nothing" does not exist') as fault:
        await postgresql.read(lambda connection: connection.execute(text("SELECT * FROM nothing")))

    assert not isinstance(fault.value, StoreUnavailable | Unstorable)
