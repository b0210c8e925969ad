"""PostgreSQL: transactions that begin again, lost connections, and an unavailable server."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import count
from typing import Any

import pytest
from attrs import evolve
from contract_lanes import on_lanes
from contract_values import CHECKING, REFUSED, RotatingSealer, Tenant, a_post, a_trigger, ending, later, tenant
from sqlalchemy import Connection, text
from test_brands_contract import a_brand
from test_schedules_contract import a_schedule
from tests import postgres

from contentsvc_adapters.sql import HEAD, Database, SqlStores, revision, upgrade
from contentsvc_adapters.sql.dialects import Transactions, postgresql_session
from contentsvc_core.access.sessions import Session
from contentsvc_core.content.brand import BrandIdentity
from contentsvc_core.content.brand_changes import UNKNOWN_BRAND
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.webhooks.outcomes import Outcome
from contentsvc_core.webhooks.settlement import Settled
from contentsvc_core.workflows.removals import Removed
from contentsvc_core.workflows.runs import CANCELLED, Completion

pytestmark = pytest.mark.slow("stops and freezes a PostgreSQL of its own")

_OTHERS = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
_CUT = f"SELECT pg_terminate_backend(pid) {_OTHERS}"


@pytest.fixture
async def acme(postgresql: Database) -> Tenant:
    return await tenant(SqlStores(postgresql, RotatingSealer()))


def _beside(url: str, connection: Connection, turns: "count[int]") -> int:
    """Change a value that another transaction has read, before it writes: one of the two transactions must fail."""
    turn = next(turns)
    connection.execute(text("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"))
    connection.execute(text("SELECT name FROM organizations"))
    if turn < 3:
        postgres.rows(url, "UPDATE organizations SET name = name || '+'")
    connection.execute(text("UPDATE organizations SET name = name || '!'"))
    return turn


async def test_a_transaction_that_lost_a_conflict_is_retried(
    acme: Tenant, postgresql: Database, postgres_url: str
) -> None:
    turns = count(1)

    assert await postgresql.write(lambda connection: _beside(postgres_url, connection, turns)) == 3

    assert postgres.rows(postgres_url, "SELECT name FROM organizations") == [(f"{acme.organization.name}++!",)]


async def test_a_transaction_that_always_loses_fails(acme: Tenant, postgresql: Database, postgres_url: str) -> None:
    turns = count(-(10**6))

    with pytest.raises(StoreUnavailable, match="could not serialize access"):
        await postgresql.write(lambda connection: _beside(postgres_url, connection, turns))

    assert next(turns) == -(10**6) + 5
    assert postgres.rows(postgres_url, "SELECT name FROM organizations") == [(f"{acme.organization.name}+++++",)]


async def test_of_two_in_a_deadlock_both_get_through(acme: Tenant, postgresql: Database, postgres_url: str) -> None:
    await tenant(acme.stores, "zenith")
    turns = count(1)
    locked: set[str] = set()

    def lock(own: str, other: str, connection: Connection) -> None:
        is_first = next(turns) <= 2
        raising = text("UPDATE organizations SET retention_days = retention_days + 1 WHERE slug = :slug")
        connection.execute(raising, {"slug": own})
        locked.add(own)
        while is_first and len(locked) < 2:
            connection.execute(text("SELECT pg_sleep(0.01)"))
        connection.execute(raising, {"slug": other})

    await asyncio.gather(
        postgresql.write(partial(lock, "acme", "zenith")), postgresql.write(partial(lock, "zenith", "acme"))
    )

    assert next(turns) == 4
    assert postgres.rows(postgres_url, "SELECT retention_days FROM organizations") == [(32,), (32,)]


async def test_a_connection_that_is_cut_in_a_transaction_is_replaced(postgresql: Database, postgres_url: str) -> None:
    turns = count(1)

    def work(connection: Connection) -> int:
        turn = next(turns)
        connection.execute(text(f"INSERT INTO organizations VALUES ('org_{turn}', 'x', 'X', 30, 1, 0)"))  # noqa: S608
        if turn == 1:
            postgres.rows(postgres_url, _CUT)
        connection.execute(text("SELECT 1"))
        return turn

    assert await postgresql.write(work) == 2
    assert postgres.rows(postgres_url, "SELECT id FROM organizations") == [("org_2",)]


async def test_a_connection_that_is_cut_before_it_is_ever_used_is_replaced(
    postgresql: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect: Any = postgresql_session._CONNECT  # pyright: ignore[reportPrivateUsage]  # the driver's
    turns = count(1)

    async def cut(**arguments: object) -> object:
        connection = await connect(**arguments)
        if next(turns) % 3:
            connection.terminate()
        return connection

    monkeypatch.setattr(postgresql_session, "_CONNECT", cut)
    for transaction in (postgresql.read, postgresql.write):
        assert await transaction(lambda connection: connection.scalar(text("SELECT 1"))) == 1
    (row,) = await postgresql.execute(lambda fetch: fetch("SELECT 1 AS one", ()))
    assert row["one"] == 1
    assert next(turns) == 7


async def test_connections_cut_between_transactions_are_replaced(
    acme: Tenant, postgresql: Database, postgres_url: str
) -> None:
    nap = text("SELECT pg_sleep(0.1)")
    for _ in range(3):
        await asyncio.gather(*(postgresql.read(lambda connection: connection.execute(nap)) for _ in range(10)))
        cut = postgres.rows(postgres_url, _CUT)
        assert len(cut) == 10

        await asyncio.gather(
            *(acme.left() for _ in range(5)),
            *(postgresql.write(lambda connection: connection.execute(nap)) for _ in range(10)),
        )


async def test_a_table_that_is_changed_while_it_is_used_is_read_anew_on_a_new_connection(
    acme: Tenant, postgresql: Database, postgres_url: str
) -> None:
    def connection_id(connection: Connection) -> object:
        return connection.scalar(text("SELECT pg_backend_pid()"))

    known = await acme.stores.directory.organizations()
    before = await postgresql.read(connection_id)
    # The prepared statements of this connection are invalid now.
    postgres.rows(postgres_url, "ALTER TABLE organizations ALTER COLUMN retention_days TYPE bigint")

    assert await acme.stores.directory.organizations() == known
    assert await postgresql.read(connection_id) != before


def _cut_after_the_next_commit(connections: Transactions, url: str) -> "count[int]":
    """Lose the answer to one commit; return the counter of commits."""
    dialect = connections.sync_engine.dialect
    commit = dialect.do_commit
    cuts = count()

    def cut_after(dbapi_connection: Any) -> None:
        commit(dbapi_connection)
        if next(cuts) == 0:
            postgres.rows(url, _CUT)
            # The exception of a connection that breaks while the client waits for the answer.
            raise ConnectionResetError

    dialect.do_commit = cut_after
    return cuts


async def test_a_deletion_whose_commit_was_not_answered_still_returns_its_effects(
    acme: Tenant, postgresql: Database, postgres_url: str
) -> None:
    directory = acme.stores.directory
    cuts = _cut_after_the_next_commit(postgresql._writer, postgres_url)  # pyright: ignore[reportPrivateUsage]

    removed = await directory.remove_integration(acme.id, acme.integration.id)

    assert removed == Removed(disabled_events=acme.triggers, disabled_schedules=[])
    # The second attempt changed nothing.
    assert next(cuts) == 2
    assert await directory.integrations(acme.id) == []
    assert await directory.remove_integration(acme.id, acme.integration.id) is None


@pytest.mark.parametrize("outcome", [None, CHECKING[0], REFUSED], ids=ending)
async def test_a_connection_that_is_cut_right_after_the_commit_leaves_one_set_of_effects(
    acme: Tenant, postgresql: Database, postgres_url: str, outcome: Outcome | None
) -> None:
    settling = await (acme.processed("d") if outcome is None else acme.decided(outcome))
    sent = count()

    async def cut_after(fetch: Callable[[], Awaitable[Any]], _statement: str) -> Any:
        found = await fetch()
        if next(sent) == 0:
            postgres.rows(postgres_url, _CUT)
            raise ConnectionResetError
        return found

    on_lanes(postgresql, cut_after)

    assert await acme.stores.deliveries.settle(settling) is Settled.AS_DECIDED

    assert next(sent) == 2
    assert (await acme.left()).counts == ((1, 2, 1) if outcome is None else (0, 0, 1))


async def test_a_change_is_returned_though_the_answer_of_its_commit_was_lost(
    acme: Tenant, postgresql: Database
) -> None:
    stores = acme.stores
    brands = [await stores.brands.add(a_brand(acme.id, name)) for name in ("default", "other")]
    brand = brands[1]
    assert isinstance(brand, BrandIdentity)
    trigger = evolve(a_trigger(acme.id, 2), brand_identity_id=brand.id)
    assert await stores.triggers.add(trigger)
    schedules = [a_schedule(acme.id, brand_identity_id=each) for each in (brand.id, None)]
    for schedule in schedules:
        assert await stores.schedules.add(schedule)
    run, other, written, reported = [await acme.taken() for _ in range(4)]
    link = Session(digest="d", key_prefix="csk_1", created_at=later(), expires_at=later(hours=1))
    await stores.sessions.add(link)
    dialect = postgresql._writer.sync_engine.dialect  # pyright: ignore[reportPrivateUsage]
    commit = dialect.do_commit
    lost = 0

    def lose_every_other(dbapi_connection: Any) -> None:
        nonlocal lost
        commit(dbapi_connection)
        lost += 1
        if lost % 2:
            raise ConnectionResetError

    dialect.do_commit = lose_every_other

    removed = await stores.brands.remove(acme.id, brand.id)
    assert removed == Removed(disabled_schedules=schedules[:1], disabled_events=[trigger])
    assert lost == 2
    assert await stores.schedules.remove(acme.id, schedules[1].id)
    assert lost == 4
    created = await stores.brands.complete(run, a_brand(acme.id, "made"))
    assert lost == 6
    assert isinstance(created, BrandIdentity)
    assert not await stores.ledger.owns(run)
    assert await stores.ledger.cancel(acme.id, other.id, CANCELLED)
    # Including the commit of a read before it.
    assert lost == 10
    assert await stores.ledger.restart(acme.id, other.id, due_at=later())
    assert lost == 12
    assert await stores.sessions.remove(link.digest)
    assert lost == 14
    assert await stores.ledger.complete(written, a_post(acme.id), once="v1") is Completion.COMPLETED
    assert lost == 16
    completed = await stores.ledger.complete(reported, a_post(acme.id), once="v1", also=["v2"])
    assert completed is Completion.ALREADY_REPORTED
    assert lost == 18
    # A missing value stays missing.
    assert await stores.brands.remove(acme.id, brand.id) is UNKNOWN_BRAND
    assert not await stores.schedules.remove(acme.id, schedules[1].id)
    assert await stores.brands.complete(run, a_brand(acme.id, "again")) is None
    assert not await stores.ledger.restart(acme.id, other.id, due_at=later())
    assert not await stores.ledger.cancel(acme.id, run.id, CANCELLED)
    assert await stores.ledger.complete(written, a_post(acme.id), once=None) is Completion.GONE
    assert not await stores.sessions.remove(link.digest)


@pytest.mark.parametrize("by_socket", [False, True], ids=["tcp", "socket"])
async def test_a_hard_stopped_server_is_used_again_after_its_start(by_socket: bool) -> None:
    with postgres.PrivateServer() as server:
        database = Database(server.socket_url if by_socket else server.url)
        await upgrade(database)
        acme = await tenant(SqlStores(database, RotatingSealer()))
        settling = [await acme.processed(f"d-{number}") for number in range(120)]
        settle = acme.stores.deliveries.settle
        crowd = [asyncio.create_task(settle(each)) for each in settling[:100]]
        while not any(each.done() for each in crowd):
            await asyncio.sleep(0)
        await asyncio.to_thread(server.stop)
        # A slow stop may have answered all of these deliveries.
        crowd += [asyncio.create_task(settle(each)) for each in settling[100:]]
        began = time.monotonic()
        answers = await asyncio.gather(*crowd, return_exceptions=True)
        answered = [each for each, answer in zip(settling, answers, strict=True) if answer is Settled.AS_DECIDED]
        # Only deliveries without an answer: they may be sent again.
        assert len(answered) < len(answers)
        assert all(answer is Settled.AS_DECIDED or type(answer) is StoreUnavailable for answer in answers)
        for _ in range(3):
            with pytest.raises(StoreUnavailable, match="cannot be used"):
                await acme.hook()
        assert time.monotonic() - began < 60

        await asyncio.to_thread(server.start)

        kept = {entry.id for entry in await acme.stores.journal.entries(acme.id)}
        assert {each.log.id for each in answered} <= kept
        assert await asyncio.gather(*map(acme.stores.deliveries.settle, settling)) == [Settled.AS_DECIDED] * 120
        assert (await acme.left()).counts == (120, 240, 120)
        await database.dispose()


async def test_a_standby_is_refused_and_used_as_soon_as_it_is_a_primary() -> None:
    with postgres.PrivateServer(durable=False) as server:
        database = Database(server.url)
        await upgrade(database)
        acme = await tenant(SqlStores(database, RotatingSealer()))
        settle = partial(acme.stores.deliveries.settle, await acme.processed("d-1"))
        await asyncio.to_thread(server.stand_by)
        for using in (partial(revision, database), acme.hook, settle):
            with pytest.raises(StoreUnavailable, match=r"the server is a standby.*: name the primary"):
                await using()

        await asyncio.to_thread(server.promote)

        assert await settle() is Settled.AS_DECIDED
        await database.dispose()


async def test_of_several_servers_the_primary_is_used_whichever_it_is() -> None:
    with (
        postgres.PrivateServer(durable=False, settings=("synchronous_standby_names=*",)) as first,
        postgres.PrivateServer(durable=False, standby_of=first) as second,
    ):
        # The client tries the standby first.
        several = f"?host=127.0.0.1,127.0.0.1&port={second.port},{first.port}"
        database = Database(f"postgresql+asyncpg://postgres@/postgres{several}")
        await upgrade(database)
        acme = await tenant(SqlStores(database, RotatingSealer()))
        settle = partial(acme.stores.deliveries.settle, await acme.processed("d-1"))
        assert await settle() is Settled.AS_DECIDED

        await asyncio.to_thread(first.stop)
        with pytest.raises(StoreUnavailable, match=r"127\.0\.0\.1: the server is a standby.*; 127\.0\.0\.1: .*failed"):
            await revision(database)
        await asyncio.to_thread(second.promote)

        assert await settle() is Settled.AS_DECIDED
        assert (await acme.left()).counts == (1, 2, 1)
        await database.dispose()


async def test_a_server_that_does_not_answer_leaves_time_for_the_next_one() -> None:
    with postgres.PrivateServer(durable=False) as silent, postgres.PrivateServer(durable=False) as primary:
        database = Database(
            f"postgresql+asyncpg://postgres@/postgres?host=127.0.0.1,127.0.0.1&port={silent.port},{primary.port}"
        )
        await asyncio.to_thread(silent.pause)

        await upgrade(database)

        assert await revision(database) == HEAD
        await database.dispose()


async def test_a_proxy_without_a_server_behind_it_is_reported() -> None:
    async def close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Unread bytes would turn the end into a reset.
        await reader.read(1024)
        writer.close()

    async with await asyncio.start_server(close, "127.0.0.1", 0) as proxy:
        database = Database(f"postgresql+asyncpg://postgres@127.0.0.1:{proxy.sockets[0].getsockname()[1]}/postgres")
        with pytest.raises(StoreUnavailable, match="cannot be used: the server, or a proxy before it, closes the conn"):
            await revision(database)
        await database.dispose()
