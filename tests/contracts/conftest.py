"""Runs each contract on every family of stores. A line in ``FAMILIES`` adds a family."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager, contextmanager, nullcontext
from pathlib import Path
from typing import TypeAlias, final

import pytest
from attrs import evolve, frozen
from contract_values import SHARED_CLOCK, RotatingSealer, Stores, Tenant, tenant
from older_schema import database_at
from sqlalchemy import BigInteger, ColumnElement, Engine, bindparam, event
from tests import postgres, sqlite
from tests.contracts.choose import LISTS, REPEATS, database_of, name_of

from contentsvc_adapters.memory import memory_stores
from contentsvc_adapters.sql import Database, SqlStores
from contentsvc_adapters.sql.dialects import Dialect
from contentsvc_adapters.sql.dialects.postgresql import Postgresql
from contentsvc_adapters.sql.dialects.sqlite import Sqlite
from contentsvc_core.testing import START
from contentsvc_core.timestamps import to_ms


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Move the contracts that repeat statements of their database to the second tier (decision 0062)."""
    first = {database: set(names.read_text("utf-8").splitlines()) for database, names in LISTS.items()}
    for item in items:
        database = database_of(item)
        if database is not None and name_of(item) not in first[database]:
            item.add_marker(pytest.mark.slow(REPEATS))


@final
@frozen
class _Open:
    """An open database, empty at the beginning of each test. Opening a database takes longer than most tests."""

    database: Database
    #: Deletes all rows.
    empty: Callable[[], None]

    async def finish(self, stores: SqlStores) -> bool:
        """Wait for a test's transactions, and empty the database; return `False` if the test has closed it."""
        if "queue" in vars(stores):
            await stores.queue.close(within_s=5)
        if self.database._closed:  # pyright: ignore[reportPrivateUsage]
            return False
        while running := self.database._running:  # pyright: ignore[reportPrivateUsage]
            await asyncio.wait(running)
        self.empty()
        return True


def _sqlite(folder: Path, stack: ExitStack) -> _Open:
    path = folder / "store.db"
    url = sqlite.migrated(path)
    return _Open(Database(url), stack.enter_context(sqlite.emptying(path)))


def _postgresql(_folder: Path, stack: ExitStack) -> _Open:
    url = stack.enter_context(postgres.database())
    return _Open(Database(url), stack.enter_context(postgres.emptying(url)))


FAMILIES: dict[str, Callable[[Path, ExitStack], _Open] | None] = {
    "memory": None,
    "sqlite": _sqlite,
    "postgresql": _postgresql,
}


@pytest.fixture(scope="session")
def resources() -> Generator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture(scope="session")
async def unused(resources: ExitStack) -> AsyncGenerator[dict[str, _Open]]:
    """Return the open databases that no test uses at this moment, by their family."""
    _ = resources
    databases: dict[str, _Open] = {}
    yield databases
    for each in databases.values():
        await each.database.dispose()


#: Opens the stores of a family, for one test.
Opening: TypeAlias = Callable[[str], AbstractAsyncContextManager[Stores]]


@pytest.fixture(scope="session")
def opened(tmp_path_factory: pytest.TempPathFactory, unused: dict[str, _Open], resources: ExitStack) -> Opening:
    @asynccontextmanager
    async def stores_of(family: str) -> AsyncGenerator[Stores]:
        open_ = FAMILIES[family]
        if open_ is None:
            in_memory = memory_stores(RotatingSealer())
            yield in_memory
            await in_memory.close()
            return
        used = unused.pop(family, None) or open_(tmp_path_factory.mktemp(family), resources)
        created = SqlStores(used.database, RotatingSealer())
        with _no_batches() if family == "postgresql" else nullcontext():
            yield created
            if await used.finish(created):
                unused[family] = used

    return stores_of


@pytest.fixture(params=FAMILIES)
async def stores(request: pytest.FixtureRequest, opened: Opening) -> AsyncGenerator[Stores]:
    async with opened(request.param) as created:
        yield created


@pytest.fixture(params=["sqlite", "postgresql"])
async def databases(request: pytest.FixtureRequest, opened: Opening) -> AsyncGenerator[SqlStores]:
    """The stores of each database, for guarantees that the memory stores do not need."""
    async with opened(request.param) as created:
        assert isinstance(created, SqlStores)
        yield created


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


@pytest.fixture
def shared_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the clock of all databases by ``SHARED_CLOCK``: leases end by it."""
    monkeypatch.setattr(SHARED_CLOCK, "at", START)
    at = bindparam("shared_now", callable_=lambda: to_ms(SHARED_CLOCK.at), type_=BigInteger)

    def now_ms(_dialect: Dialect) -> ColumnElement[int]:
        return at

    for dialect in (Postgresql, Sqlite):
        monkeypatch.setattr(dialect, "now_ms", now_ms)


@pytest.fixture
async def acme(stores: Stores) -> Tenant:
    return await tenant(stores)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Database]:
    """An empty SQLite database with the schema, for guarantees of SQLite alone."""
    created = Database(sqlite.migrated(tmp_path / "store.db"))
    yield created
    await created.dispose()


@pytest.fixture
async def older(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Database]:
    """A database at an earlier revision, which :func:`older_schema.since` names."""
    revision, kind = request.param
    async with database_at(revision, kind, tmp_path) as created:
        yield created


@pytest.fixture
def postgres_url() -> Generator[str]:
    """An empty PostgreSQL database with the schema."""
    with postgres.database() as url:
        yield url


@pytest.fixture
async def postgresql(postgres_url: str) -> AsyncGenerator[Database]:
    """The same database, opened, for guarantees of PostgreSQL alone."""
    created = Database(postgres_url)
    yield created
    await created.dispose()


@pytest.fixture
async def beside(postgres_url: str, acme: Tenant) -> AsyncGenerator[Tenant]:
    """The same tenant in the stores of another process with PostgreSQL."""
    stores = SqlStores(Database(postgres_url), RotatingSealer())
    yield evolve(acme, stores=stores)
    await stores.close()
