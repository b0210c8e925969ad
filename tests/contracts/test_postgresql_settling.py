"""PostgreSQL: batches of deliveries, by several lanes and processes."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from itertools import count
from typing import Any

import psycopg
import pytest
from attrs import evolve
from contract_lanes import on_lanes, until_they_wait
from contract_values import CHECKING, RotatingSealer, Tenant, tenant
from tests import postgres

from contentsvc_adapters.sql import Database, SqlStores
from contentsvc_adapters.sql.database import Fetch
from contentsvc_adapters.sql.settling.batch_writer import BatchItem
from contentsvc_adapters.sql.settling.postgresql import PostgresqlBatchWriter
from contentsvc_core.errors import StoreUnavailable, Unstorable
from contentsvc_core.timestamps import to_ms
from contentsvc_core.webhooks.settlement import Settled, Settlement

#: The tables, with the rows of a settlement.
_TABLES = ("claims", "events", "context_records", "workflow_runs", "log_entries")
_CUT = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


@pytest.fixture
async def acme(postgresql: Database) -> Tenant:
    return await tenant(SqlStores(postgresql, RotatingSealer()))


def _stored(url: str) -> dict[str, int]:
    return {table: postgres.rows(url, f"SELECT count(*) FROM {table}")[0][0] for table in _TABLES}  # noqa: S608


def _left_by(processed: int, *, log: int) -> dict[str, int]:
    """Return the rows of a number of processed deliveries, each with two triggers."""
    return dict(zip(_TABLES, (processed, processed, processed, 2 * processed, log), strict=True))


def _items(settlements: Sequence[Settlement]) -> list[BatchItem]:
    return [BatchItem(settlement=each) for each in settlements]


def _statements(database: Database) -> list[str]:
    """Return a list that grows with the statements of lanes."""
    executed: list[str] = []

    async def note(fetch: Callable[[], Awaitable[Any]], statement: str) -> Any:
        executed.append(statement)
        return await fetch()

    on_lanes(database, note)
    return executed


async def test_a_batch_is_one_statement_and_held_claims_add_one(acme: Tenant, postgresql: Database) -> None:
    settling = [await acme.processed(f"d-{number}") for number in range(32)]
    lane = PostgresqlBatchWriter(postgresql)
    executed = _statements(postgresql)

    assert await lane.write(_items(settling)) == [Settled.AS_DECIDED] * 32
    assert len(executed) == 1

    copies = [await acme.processed(f"d-{number}") for number in range(48)]
    assert await lane.write(_items(copies)) == [Settled.ALREADY_CLAIMED] * 32 + [Settled.AS_DECIDED] * 16
    assert len(executed) == 3
    assert (await acme.left()).counts == (48, 96, 80)


async def test_values_shared_by_a_batch_are_sent_once(acme: Tenant, postgresql: Database) -> None:
    sent: list[Sequence[Any]] = []

    async def settled(batch: Sequence[BatchItem]) -> Sequence[Settled]:
        async def kept(fetch: Fetch) -> Sequence[Settled]:
            async def noting(statement: str, arguments: Sequence[object]) -> Any:
                sent.append(arguments)
                return await fetch(statement, arguments)

            return await PostgresqlBatchWriter(postgresql).settled(batch, noting)

        return await postgresql.execute(kept)

    settling = _items([await acme.processed(f"d-{number}") for number in range(16)])
    settling += [BatchItem(settlement=(await acme.processed("d-1")), is_duplicate=True) for _ in range(2)]
    settling += _items([_of_another_version(await acme.processed("e-1"))])

    assert await settled(settling) == [Settled.AS_DECIDED] * 16 + [Settled.ALREADY_CLAIMED] * 2 + [Settled.STALE]

    (arguments,) = sent
    shared, *columns, _ = arguments
    # The pushes, the duplicates, and the settlements of another version.
    assert shared.count('"place"') == 3
    assert len(columns) <= 17
    assert {len(column) for column in columns} == {19, 2 * 17}


async def test_an_entry_that_was_a_duplicate_is_known_when_its_claim_is_swept(
    acme: Tenant, postgresql: Database, postgres_url: str
) -> None:
    """The claim does not show the copy: the log entry conflicts at its key, and is looked up."""
    lane = PostgresqlBatchWriter(postgresql)
    copies = [await acme.processed("d") for _ in range(2)]
    assert await lane.write(_items(copies[:1])) == [Settled.AS_DECIDED]
    assert await lane.write(_items(copies[1:])) == [Settled.ALREADY_CLAIMED]
    postgres.rows(postgres_url, "DELETE FROM claims")

    for copy, answer in zip(copies, (Settled.AS_DECIDED, Settled.ALREADY_CLAIMED), strict=True):
        assert await lane.write(_items([copy])) == [answer]
    assert await acme.stores.deliveries.settle(copies[1]) is Settled.ALREADY_CLAIMED

    assert _stored(postgres_url) == {**_left_by(1, log=2), "claims": 0}


async def test_a_batch_with_a_follower_writes_no_entry_and_the_next_one_does(acme: Tenant, postgres_url: str) -> None:
    database = Database(postgres_url)
    lane = PostgresqlBatchWriter(database)
    follower, stale = await acme.processed("d"), _of_another_version(await acme.processed("d"))

    answers = await lane.write([BatchItem(settlement=each, is_duplicate=True) for each in (follower, stale)])
    again = await lane.write([BatchItem(settlement=follower)])

    assert answers == [Settled.ALREADY_CLAIMED, Settled.STALE]
    assert again == [Settled.ALREADY_CLAIMED]
    assert await acme.stores.journal.entries(acme.id) == [follower.duplicate_log]
    assert _stored(postgres_url) == _left_by(0, log=1)
    await database.dispose()


@pytest.mark.parametrize("bad", ["surrogate", "nul", "number", "event"])
async def test_only_the_unstorable_settlements_are_refused(acme: Tenant, postgres_url: str, bad: str) -> None:
    settling = [await acme.processed(f"d-{number}") for number in range(64)]
    poisoned = settling[7::20]
    for each in poisoned:
        match bad:
            case "surrogate":
                spoiled = evolve(each, note="\ud800")
            case "nul":
                spoiled = evolve(each, note="\0")
            case "number":
                spoiled = evolve(each, outcome=evolve(each.outcome, repository_id=2**63))
            case _:
                spoiled = each
                postgres.rows(
                    postgres_url,
                    "INSERT INTO events VALUES (%s, %s, '', 0, NULL, NULL, 'push', '{}', 0)",
                    *(each.id, acme.id),
                )
        settling[settling.index(each)] = spoiled

    answers = await asyncio.gather(*map(acme.stores.deliveries.settle, settling), return_exceptions=True)

    refused = [number for number, answer in enumerate(answers) if isinstance(answer, Unstorable)]
    assert refused == [7, 27, 47]
    assert answers.count(Settled.AS_DECIDED) == 61
    assert (await acme.left()).counts == (61, 122, 61)
    assert postgres.rows(postgres_url, "SELECT count(*) FROM claims") == [(61,)]


async def test_lanes_wait_for_claims_in_one_order_for_any_order_of_batches(
    acme: Tenant, postgresql: Database, postgres_url: str
) -> None:
    forth = [await acme.processed(f"d-{number}") for number in range(3)]
    back = [await acme.processed(f"d-{number}") for number in reversed(range(3))]
    with closing(_connected(postgres_url)) as other:
        # Both have begun, and both wait here.
        other.execute("INSERT INTO claims VALUES (%s, 0, '')", [_key(forth[1])])
        writing = [asyncio.create_task(PostgresqlBatchWriter(postgresql).write(_items(each))) for each in (forth, back)]
        await until_they_wait(writing, postgres_url)
        other.rollback()

        answers = await asyncio.gather(*writing)

    assert {Settled.AS_DECIDED, Settled.ALREADY_CLAIMED} == {*answers[0], *answers[1]}
    assert all(one is not other for one, other in zip(answers[0], reversed(answers[1]), strict=True))
    await _expect_no_deadlock(postgresql, postgres_url)


async def _expect_no_deadlock(database: Database, url: str) -> None:
    # A connection reports its statistics to the server when it ends, at the latest.
    await database.dispose()
    query = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
    assert postgres.rows(url, query) == [(0,)]


@pytest.mark.parametrize("commits", [True, False])
async def test_a_batch_that_loses_a_claim_while_it_is_written_looks_again(
    acme: Tenant, postgresql: Database, postgres_url: str, commits: bool
) -> None:
    settling = [await acme.processed(f"d-{number}") for number in range(8)]
    with closing(_connected(postgres_url)) as other:
        other.execute(
            "INSERT INTO claims VALUES (%s, %s, %s)", (_key(settling[3]), to_ms(settling[3].at), "log_of_another")
        )
        writing = asyncio.create_task(PostgresqlBatchWriter(postgresql).write(_items(settling)))
        await until_they_wait([writing], postgres_url)
        (other.commit if commits else other.rollback)()

        answers = await writing

    assert [answer is Settled.ALREADY_CLAIMED for answer in answers] == [commits and n == 3 for n in range(8)]
    assert (await acme.left()).log.count("Duplicate push delivery") == commits
    assert (await acme.left()).counts == (8 - commits, 16 - 2 * commits, 8)


async def test_a_settlement_answered_during_its_second_write_keeps_its_answer(
    acme: Tenant, postgresql: Database, postgres_url: str
) -> None:
    """The first writer answers duplicate; the claim is swept meanwhile, and could be taken."""
    settling = await acme.processed("d")
    duplicate = settling.duplicate_log
    with closing(_connected(postgres_url)) as other:
        other.execute(
            "INSERT INTO log_entries (organization_id, created_at, id, integration_id, repository_id, title,"
            " integration_type, direction, status) VALUES (%s, %s, %s, %s, 1, %s, 'codehost', 'incoming', 'success')",
            (acme.id, to_ms(settling.log.created_at), duplicate.id, acme.integration.id, duplicate.title),
        )
        writing = asyncio.create_task(PostgresqlBatchWriter(postgresql).write(_items([settling])))
        await until_they_wait([writing], postgres_url)
        other.commit()

        assert await writing == [Settled.ALREADY_CLAIMED]

    assert _stored(postgres_url) == _left_by(0, log=1)


@pytest.mark.parametrize("lost", ["statement", "answer"])
async def test_a_batch_whose_connection_is_lost_is_written_once(
    acme: Tenant, postgresql: Database, postgres_url: str, lost: str
) -> None:
    settling = [await acme.processed(f"d-{number}") for number in range(8)]
    settling += [await acme.decided(outcome) for outcome in CHECKING]
    sent = _lose(postgresql, postgres_url, lost, times=2)

    assert await PostgresqlBatchWriter(postgresql).write(_items(settling)) == [Settled.AS_DECIDED] * 12

    assert next(sent) == 3
    assert _stored(postgres_url) == _left_by(8, log=12)


@pytest.mark.parametrize("lost", ["statement", "answer"])
async def test_a_batch_whose_connection_is_always_lost_is_unavailable_and_can_be_sent_again(
    acme: Tenant, postgresql: Database, postgres_url: str, lost: str
) -> None:
    settling = [await acme.processed(f"d-{number}") for number in range(8)]
    lane = PostgresqlBatchWriter(postgresql)
    sent = _lose(postgresql, postgres_url, lost, times=5)

    with pytest.raises(StoreUnavailable, match="cannot be used"):
        await lane.write(_items(settling))

    assert next(sent) == 5
    assert (await acme.left()).counts == ((0, 0, 0) if lost == "statement" else (8, 16, 8))
    assert await lane.write(_items(settling)) == [Settled.AS_DECIDED] * 8
    assert _stored(postgres_url) == _left_by(8, log=8)


async def test_a_plan_made_for_empty_tables_uses_the_indexes_when_they_are_full(
    acme: Tenant, postgresql: Database, postgres_url: str
) -> None:
    lane = PostgresqlBatchWriter(postgresql)
    await lane.write(_items([await acme.processed("d")]))
    filling = (
        "INSERT INTO claims SELECT uuid_send(gen_random_uuid()), 0, 'log' FROM generate_series(1, 5000)",
        "INSERT INTO organizations SELECT 'o' || n, 'o' || n, '', 30, 1, 0 FROM generate_series(1, 500) AS n",
        (
            "INSERT INTO log_entries SELECT (made.row).* FROM (SELECT jsonb_populate_record(log_entries, "
            "jsonb_build_object('id', 'log_' || n)) AS row FROM log_entries, generate_series(1, 5000) AS n) AS made"
        ),
        # The server counts the scans of these statements now, not some time after the end of the connection.
        "SELECT pg_stat_force_next_flush()",
    )
    with _connected(postgres_url) as connection:
        connection.autocommit = True
        for statement in filling:
            connection.execute(statement.encode())
    before = await _scans(postgresql)

    # New deliveries and copies: the log entries of the copies are looked up.
    for _ in range(2):
        await lane.write(_items([await acme.processed(f"d-{number}") for number in range(32)]))

    after = await _scans(postgresql)
    assert after.keys() >= {*_TABLES, "organizations"}
    assert {table: after[table][0] - before[table][0] for table in after} == dict.fromkeys(after, 0)
    for table, times in {"claims": 64, "log_entries": 64, "organizations": 3}.items():
        assert after[table][1] - before[table][1] >= times


async def test_the_connections_of_a_lane_are_durable_at_any_setting_of_the_database(
    postgresql: Database, postgres_url: str
) -> None:
    name = postgresql.dialect.explain(OSError()).split("'")[1]
    for setting in (
        "synchronous_commit = off",
        "default_transaction_isolation = serializable",
        "default_transaction_read_only = on",
    ):
        with psycopg.connect(postgres_url.replace("+asyncpg", "", 1), autocommit=True) as connection:
            connection.execute("SET default_transaction_read_only = off")
            connection.execute(f'ALTER DATABASE "{name}" SET {setting}'.encode())

    async def settings(fetch: Fetch) -> list[object]:
        names = ("transaction_isolation", "transaction_read_only", "synchronous_commit", "statement_timeout")
        return [(await fetch(f"SHOW {each}", ()))[0][each] for each in names]

    assert await postgresql.execute(settings) == ["read committed", "off", "on", "4s"]


def _lose(database: Database, url: str, what: str, *, times: int) -> "count[int]":
    """Lose some statements of lanes, or their answers; return the counter of statements."""
    sent = count()

    async def lose(fetch: Callable[[], Awaitable[Any]], _statement: str) -> Any:
        lost = next(sent) < times
        if lost and what == "statement":
            postgres.rows(url, _CUT)
        found = await fetch()
        if lost:
            postgres.rows(url, _CUT)
            # What a client sees whose connection breaks while it waits for the answer.
            raise ConnectionResetError
        return found

    on_lanes(database, lose)
    return sent


async def _scans(database: Database) -> dict[str, tuple[int, int]]:
    """Return the numbers of sequential and index scans of each table, over all connections that report them."""

    async def read(fetch: Fetch) -> dict[str, tuple[int, int]]:
        await fetch("SELECT pg_stat_force_next_flush()", ())
        found = await fetch("SELECT relname, seq_scan, idx_scan FROM pg_stat_user_tables", ())
        return {row["relname"]: (row["seq_scan"], row["idx_scan"] or 0) for row in found}

    return await database.execute(read)


def _connected(url: str) -> "psycopg.Connection[tuple[Any, ...]]":
    return psycopg.connect(url.replace("+asyncpg", "", 1))


def _key(settlement: Settlement) -> bytes:
    assert settlement.key is not None
    return settlement.key


def _of_another_version(settlement: Settlement) -> Settlement:
    return evolve(settlement, hook=evolve(settlement.hook, version=0))
