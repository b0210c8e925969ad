"""The polls of an idle process: they bypass SQLAlchemy, and wake no polling loop."""

import asyncio

import pytest
from contract_values import later
from tests.endpoints import PLACES
from tests.statements import statements

from contentsvc_adapters.sql import SqlStores
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.workflows.runs import Recovered


async def test_a_poll_that_finds_nothing_bypasses_sqlalchemy_and_wakes_no_loop(databases: SqlStores) -> None:
    await databases.executors.join("exe_1")
    await asyncio.sleep(0)
    written: list[bool] = []
    databases.database.on_written = lambda: written.append(True)

    with statements() as executed:
        assert await databases.executors.heartbeat("exe_1") == {"exe_1": 1}
        assert await databases.executors.running("exe_1") == []
        assert await databases.executors.recover("killed", lost={}) == Recovered()
        assert await databases.ledger.pending(later(), limit=1, per_organization=1) == ()
        assert await databases.outbox.due(later(), PLACES) == ()
    await asyncio.sleep(0)

    assert executed == []
    assert written == []


async def test_a_closed_database_is_not_polled(databases: SqlStores) -> None:
    await databases.close()

    with pytest.raises(StoreUnavailable, match="the database was closed"):
        await databases.executors.heartbeat("exe_1")
