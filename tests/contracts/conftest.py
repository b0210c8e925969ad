"""Every adapter of the stores, one after the other: a store is added by a line in ``FAMILIES``."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path

import pytest
from contract_values import RotatingSealer, Stores, Tenant, tenant

from contentsvc_adapters.memory import memory_stores
from contentsvc_adapters.sql import Database, sql_stores, upgrade


async def _memory(_folder: Path) -> Stores:
    return memory_stores(RotatingSealer())


async def _sqlite(folder: Path) -> Stores:
    database = Database(f"sqlite:///{folder / 'store.db'}")
    await upgrade(database)
    return sql_stores(database, RotatingSealer())


FAMILIES: dict[str, Callable[[Path], Awaitable[Stores]]] = {"memory": _memory, "sqlite": _sqlite}


@pytest.fixture(params=FAMILIES)
async def stores(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Stores]:
    made = await FAMILIES[request.param](tmp_path)
    yield made
    await made.close()


@pytest.fixture
async def acme(stores: Stores) -> Tenant:
    return await tenant(stores)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Database]:
    """An empty SQLite database with the schema, for what only SQLite promises."""
    made = Database(f"sqlite:///{tmp_path / 'store.db'}")
    await upgrade(made)
    yield made
    await made.dispose()
