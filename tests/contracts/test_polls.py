"""The polls of an idle process: they bypass SQLAlchemy, and wake no polling loop."""

import asyncio
from collections.abc import AsyncGenerator

import pytest
from contract_values import later
from tests.contracts.conftest import Opening
from tests.statements import statements

from contentsvc_adapters.sql import SqlStores
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.workflows.runs import Recovered


@pytest.fixture(params=["sqlite", "postgresql"])
async def polled(request: pytest.FixtureRequest, opened: Opening) -> AsyncGenerator[SqlStores]:
    async with opened(request.param) as created:
        assert isinstance(created, SqlStores)
        yield created


async def test_a_poll_that_finds_nothing_bypasses_sqlalchemy_and_wakes_no_loop(polled: SqlStores) -> None:
    await polled.executors.join("exe_1")
    await asyncio.sleep(0)
    written: list[bool] = []
    polled.database.on_written = lambda: written.append(True)

    with statements() as executed:
        assert await polled.executors.heartbeat("exe_1") == {"exe_1": 1}
        assert await polled.executors.running("exe_1") == []
        assert await polled.executors.recover("killed", lost={}) == Recovered()
        assert await polled.ledger.pending(later(), limit=1, per_organization=1) == ()
        assert await polled.outbox.due(later(), limit=1, failing=1, per_endpoint=1, per_organization=1) == ()
    await asyncio.sleep(0)

    assert executed == []
    assert written == []


async def test_a_closed_database_is_not_polled(polled: SqlStores) -> None:
    await polled.close()

    with pytest.raises(StoreUnavailable, match="the database was closed"):
        await polled.executors.heartbeat("exe_1")
