"""Every adapter of the stores, one after the other: a store is added by a line in ``FAMILIES``."""

from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from contract_values import RotatingSealer, Stores, Tenant, tenant
from sqlalchemy import Engine, event
from tests import postgres, sqlite

from contentsvc_adapters.memory import memory_stores
from contentsvc_adapters.sql import Database, sql_stores


@asynccontextmanager
async def _memory(_folder: Path) -> AsyncGenerator[Stores]:
    yield memory_stores(RotatingSealer())


@asynccontextmanager
async def _sqlite(folder: Path) -> AsyncGenerator[Stores]:
    yield sql_stores(Database(sqlite.migrated(folder / "store.db")), RotatingSealer())


@asynccontextmanager
async def _postgresql(_folder: Path) -> AsyncGenerator[Stores]:
    with postgres.emptied() as url, _no_batches():
        stores = sql_stores(Database(url), RotatingSealer())
        yield stores
        # Before the database is dropped; to close twice is no harm.
        await stores.close()


@contextmanager
def _no_batches() -> Generator[None]:
    """Fail if a statement is sent as a batch: after a timeout, the driver waits endlessly (asyncpg 0.32)."""
    batches: list[str] = []

    def hear(_cursor: object, statement: str, _parameters: object, _context: object) -> None:
        batches.append(statement)

    event.listen(Engine, "do_executemany", hear)
    try:
        yield
    finally:
        event.remove(Engine, "do_executemany", hear)
    assert batches == []


FAMILIES: dict[str, Callable[[Path], AbstractAsyncContextManager[Stores]]] = {
    "memory": _memory,
    "sqlite": _sqlite,
    "postgresql": _postgresql,
}


@pytest.fixture(params=FAMILIES)
async def stores(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Stores]:
    async with FAMILIES[request.param](tmp_path) as made:
        yield made
        await made.close()


@pytest.fixture
async def acme(stores: Stores) -> Tenant:
    return await tenant(stores)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Database]:
    """An empty SQLite database with the schema, for what only SQLite promises."""
    made = Database(sqlite.migrated(tmp_path / "store.db"))
    yield made
    await made.dispose()


@pytest.fixture
def postgres_url() -> Generator[str]:
    """An empty PostgreSQL database with the schema."""
    with postgres.database() as url:
        yield url


@pytest.fixture
async def postgresql(postgres_url: str) -> AsyncGenerator[Database]:
    """The same, opened: for what only PostgreSQL promises."""
    made = Database(postgres_url)
    yield made
    await made.dispose()
