from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from tests import sqlite
from tests.api.world import ApiWorld, Caller

from contentsvc_adapters.sql import Database


@pytest.fixture
def world() -> ApiWorld:
    return ApiWorld()


@pytest.fixture
async def acme(world: ApiWorld) -> Caller:
    return await world.caller()


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Database]:
    created = Database(sqlite.migrated(tmp_path / "store.db"))
    yield created
    await created.dispose()
