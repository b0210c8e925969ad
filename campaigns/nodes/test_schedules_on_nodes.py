"""Schedules that became due while no server ran, and servers that start again: each fires once."""

import asyncio
import contextlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest
from campaigns.nodes.cluster import unreadable
from tests import postgres
from tests.server_process import REPOSITORY, REPOSITORY_ID, SECRET_KEY, Installation, ServerProcess, until

from contentsvc_adapters.ids import RandomIds
from contentsvc_adapters.sealing import FernetSealer
from contentsvc_adapters.sql import Database, SqlStores, upgrade
from contentsvc_core import Connection, ContentType, Operator, Organization, Processed, Receiver
from contentsvc_core.testing import ManualClock, address, push_body, signed
from contentsvc_core.workflows.schedules import Schedule
from contentsvc_core.workflows.slots import Cron, Frequency, latest_slot
from contentsvc_core.zones import DEFAULT_ZONE

pytestmark = pytest.mark.slow("starts several nodes")

#: The time without a server, long enough that each daily schedule has missed some slots.
_AGO: Final = timedelta(days=5)
_RUNS: Final = "SELECT trigger_id, status, error FROM workflow_runs"
_POSTS: Final = "SELECT status FROM posts"
_DUE: Final = "SELECT due_at, last_slot FROM schedules"


async def _leave_schedules(url: str, count: int) -> set[str]:
    """Store a push of five days ago, and daily schedules that have been due ever since; return their ids."""
    database = Database(url)
    if database.dialect.upgrades_itself:
        await upgrade(database)
    stores = SqlStores(database, FernetSealer(SECRET_KEY))
    clock, ids = ManualClock(datetime.now(UTC) - _AGO), RandomIds()
    operator = Operator(stores.directory, stores.keys, clock, ids)
    organization = await operator.create_organization("Acme")
    assert isinstance(organization, Organization)
    connection = await operator.connect(
        organization, full_name=REPOSITORY, repository_id=REPOSITORY_ID, provider="codehost", branch=None
    )
    assert isinstance(connection, Connection)
    at = address("codehost", organization.id, connection.integration.id, REPOSITORY_ID)
    delivery = signed(push_body("feat: a lamp", repository_id=REPOSITORY_ID), at=at, secret=connection.secret)
    assert isinstance(await Receiver(stores.deliveries, stores.journal, clock, ids).receive(delivery), Processed)
    schedules = [_schedule(organization.id, ids, clock.now(), minute) for minute in range(count)]
    for schedule in schedules:
        assert await stores.schedules.add(schedule)
    await stores.close()
    return {schedule.id for schedule in schedules}


def _schedule(organization_id: str, ids: RandomIds, then: datetime, minute: int) -> Schedule:
    # Half a day from now: no slot comes in the middle of the test.
    cron = Cron(frequency=Frequency.DAILY, hour=(then.hour + 12) % 24, minute=minute)
    return Schedule(
        id=ids.new_id("sch_"),
        organization_id=organization_id,
        name=f"at {minute}",
        cron=cron,
        repository_ids=(REPOSITORY_ID,),
        output_type=ContentType.CHANGELOG,
        created_at=then,
        updated_at=then,
        due_at=latest_slot(cron, then, DEFAULT_ZONE),
    )


def _written(installation: Installation, count: int) -> Callable[[], bool]:
    return lambda: len(installation.rows(_POSTS)) >= count and installation.unended_runs() == 0


def _each_fired_once(installation: Installation, ids: set[str], before: datetime) -> None:
    runs = installation.rows(_RUNS)
    assert {row["trigger_id"] for row in runs} == ids
    assert [(row["status"], row["error"]) for row in runs] == [("completed", None)] * len(ids)
    assert len(installation.rows(_POSTS)) == len(ids)
    day_ms = 24 * 60 * 60 * 1000
    for row in installation.rows(_DUE):
        # Only for the latest slot; the next slot is in the future.
        assert row["due_at"] - row["last_slot"] == day_ms
        assert row["due_at"] > before.timestamp() * 1000


def test_slots_missed_by_all_nodes_fire_once_on_any_node(tmp_path: Path) -> None:
    count = 20
    with postgres.database() as url, contextlib.ExitStack() as stack:
        ids = asyncio.run(_leave_schedules(url, count))
        # The engine does not affect the firing, and this engine starts fast.
        installation = Installation(tmp_path, database_url=url, engine="inline")
        before = datetime.now(UTC)
        nodes = [stack.enter_context(ServerProcess(installation, name=f"node-{number}")) for number in range(3)]
        for node in nodes:
            node.start()
        for node in nodes:
            # Each node has read the due schedules by then, or reads them concurrently.
            node.until_ready()
        until(_written(installation, count), "every schedule has its post")

        _each_fired_once(installation, ids, before)
        for node in nodes:
            node.terminate()
            assert node.exit_code(within_s=15) == 0
            assert unreadable(node.log()) == []


def test_a_slot_that_passed_while_the_server_was_down_fires_once_when_it_is_back(tmp_path: Path) -> None:
    installation = Installation(tmp_path, secret_key=SECRET_KEY)
    ids = asyncio.run(_leave_schedules(f"sqlite:///{installation.database}", 1))
    before = datetime.now(UTC)
    with ServerProcess(installation) as server:
        server.start()
        until(_written(installation, 1), "the schedule has its post")

    _each_fired_once(installation, ids, before)
