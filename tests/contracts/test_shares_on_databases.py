"""Shares over real databases: heavy work of one organization leaves places and connections for others."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import psycopg
import pytest
from attrs import frozen
from sqlalchemy import Connection, text
from tests import postgres, sqlite
from tests.api.world import SEALER, ApiWorld

from contentsvc_adapters.offload import HEAVY_CONCURRENCY, HEAVY_WAITING, LISTS_CONCURRENCY, PER_ORGANIZATION
from contentsvc_adapters.sql import Database, SqlStores
from contentsvc_core.ports import Share

if TYPE_CHECKING:
    from collections.abc import Generator

_LOCK = 17


@frozen
class Held:
    """A service on a database, and transactions that hold their connection until the test ends them."""

    world: ApiWorld
    database: Database
    #: Runs a transaction that reads and waits.
    read: Callable[[], Awaitable[None]]
    release: Callable[[], None]

    async def hold(self, share: Share, organization_id: str, *, times: int) -> list[asyncio.Task[None]]:
        """Occupy places, each with a connection, and wait until all are occupied."""
        pool = self._pool
        before = pool.checkedout()
        calls = [asyncio.create_task(share(organization_id, self.read)) for _ in range(times)]
        while pool.checkedout() < before + times:
            await asyncio.sleep(0.005)
        return calls

    @property
    def _pool(self) -> Any:
        return self.database._reader.sync_engine.pool  # pyright: ignore[reportPrivateUsage]


@asynccontextmanager
async def _sqlite(folder: Path) -> AsyncGenerator[Held]:
    database = Database(sqlite.migrated(folder / "store.db"))
    released = threading.Event()

    def wait(connection: Connection) -> None:
        driver = cast("Any", connection.connection.dbapi_connection)
        driver.create_function("wait_for_the_test", 0, released.wait)
        connection.execute(text("SELECT wait_for_the_test()"))

    async def read() -> None:
        await database.read(wait)

    yield Held(ApiWorld(stores=SqlStores(database, SEALER)), database, read, released.set)
    released.set()
    await database.dispose()


@asynccontextmanager
async def _postgresql(_folder: Path) -> AsyncGenerator[Held]:
    with postgres.emptied() as url, _locked(url) as unlock:
        database = Database(url)

        def wait(connection: Connection) -> None:
            # The test may take longer than the service's lock timeout.
            for limit in ("lock_timeout", "statement_timeout"):
                connection.execute(text(f"SELECT set_config('{limit}', '0', true)"))
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))

        async def read() -> None:
            await database.read(wait)

        yield Held(ApiWorld(stores=SqlStores(database, SEALER)), database, read, unlock)
        unlock()
        await database.dispose()


@contextmanager
def _locked(url: str) -> "Generator[Callable[[], None]]":
    with psycopg.connect(url.replace("+asyncpg", ""), autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", [_LOCK])

        def unlock() -> None:
            connection.execute("SELECT pg_advisory_unlock_all()")

        yield unlock


@pytest.fixture(params=[_sqlite, _postgresql], ids=["sqlite", "postgresql"])
async def held(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Held]:
    async with request.param(tmp_path) as created:
        yield created


@pytest.mark.slow("runs crowds of concurrent deliveries")
async def test_while_one_organization_holds_all_its_places_the_other_ones_requests_end(held: Held) -> None:
    world = held.world
    acme, other = await world.caller("Acme"), await world.caller("Other")
    await other.push("d-1", "feat: a lamp")
    shares = world.shares
    calls = await held.hold(shares.heavy, acme.organization.id, times=PER_ORGANIZATION)
    calls += await held.hold(shares.lists, acme.organization.id, times=PER_ORGANIZATION)
    waiting = [
        asyncio.create_task(acme("GET", path))
        for path in ("/v1/context", "/v1/webhook-logs?limit=100", "/v1/posts?limit=100", "/v1/changelogs/acme/exposure")
        for _ in range(6)
    ]

    # With a place or a connection of Acme, each of these would wait until the test ends.
    assert (await other("GET", "/v1/webhook-logs?limit=1")).json()["pagination"]["totalItems"] == 1
    assert len((await other("GET", "/v1/context?query=lamp")).json()["context"]) == 1
    for path in ("/v1/posts", "/v1/schedules", "/v1/integrations"):
        assert (await other("GET", path)).status_code == 200
    await other.push("d-2", "feat: a second lamp")
    assert not any(each.done() for each in (*calls, *waiting))

    held.release()
    assert {answer.status_code for answer in await asyncio.gather(*waiting)} == {200}
    await asyncio.gather(*calls)


async def test_while_all_places_are_held_keys_open_and_deliveries_are_received(held: Held) -> None:
    world = held.world
    acme = await world.caller("Acme")
    shares = world.shares
    calls: list[asyncio.Task[None]] = []
    for share, concurrency in ((shares.heavy, HEAVY_CONCURRENCY), (shares.lists, LISTS_CONCURRENCY)):
        for number in range(concurrency):
            calls += await held.hold(share, f"org_{number}", times=1)
    waiting = asyncio.create_task(acme("GET", "/v1/webhook-logs"))

    await acme.push("d-1", "feat: a lamp")
    assert (await acme("GET", "/v1/schedules")).status_code == 200
    assert (await world.send("GET", "/v1/posts", headers={"Authorization": "Bearer no"})).status_code == 401
    assert not waiting.done()

    held.release()
    assert (await waiting).status_code == 200
    await asyncio.gather(*calls)


async def test_a_full_queue_answers_503_and_is_open_again_when_the_work_ends(held: Held) -> None:
    world = held.world
    acme = await world.caller("Acme")
    calls = await held.hold(world.shares.heavy, acme.organization.id, times=PER_ORGANIZATION)
    waiting = [asyncio.create_task(world.shares.heavy(acme.organization.id, held.read)) for _ in range(HEAVY_WAITING)]
    await asyncio.sleep(0)

    refused = await acme("GET", "/v1/context")

    assert refused.status_code == 503
    assert refused.headers["Retry-After"] == "1"
    assert refused.json() == {"error": "Too many requests at once: try again"}
    held.release()
    await asyncio.gather(*calls, *waiting)
    assert (await acme("GET", "/v1/context")).status_code == 200
