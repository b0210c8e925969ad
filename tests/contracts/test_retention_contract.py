"""Sweeps by plan, on every store: in batches, beside deliveries, interrupted, and with faults."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from attrs import evolve
from contract_values import IDS, RotatingSealer, Stores, Tenant, later, push, tenant
from sqlalchemy import insert, update
from tests.builders import an_entry

from contentsvc_adapters.sql import Database, SqlStores, rows
from contentsvc_adapters.sql.schema.deliveries import claims, log_entries
from contentsvc_adapters.sql.schema.directory import organizations
from contentsvc_core.journal import LogEntry
from contentsvc_core.testing import START, ManualClock
from contentsvc_core.timestamps import to_ms
from contentsvc_core.usecases.expire import Sweeper, SweepResult
from contentsvc_core.webhooks.settlement import Settled


class Interrupted(Exception):
    """An example is a stop of the process."""


def sweeper(stores: Stores, **how: Any) -> Sweeper:
    clock = ManualClock(START)
    return Sweeper(stores, clock, **how)


async def filled(acme: Tenant, number: int) -> list[LogEntry]:
    """Create a log of the last ``number`` days, with a claim each; oldest first."""
    entry = an_entry(organization_id=acme.id, integration_id=acme.integration.id)
    entries = [
        evolve(entry, id=IDS.new_id("log_"), created_at=START - timedelta(days=days)) for days in range(number, 0, -1)
    ]
    if not isinstance(acme.stores, SqlStores):
        for each in entries:
            await acme.stores.journal.append(each)
        return entries
    hook = await acme.hook()
    taken = [
        {"key": hook.claim_key(each.id), "claimed_at": to_ms(each.created_at), "log_id": each.id} for each in entries
    ]

    def write(connection: Any) -> None:
        connection.execute(insert(log_entries).values([rows.log_row(each) for each in entries]))
        connection.execute(insert(claims).values(taken))

    await acme.stores.database.write(write)
    return entries


async def test_a_sweep_goes_by_plan_in_batches_and_lets_deliveries_through(acme: Tenant) -> None:
    entries = await filled(acme, 30 + 430)
    pauses = 0
    settling = [await acme.processed(f"d-{number}") for number in range(5)]
    settled: list[Settled] = []

    async def deliver() -> None:
        settled.append(await acme.stores.deliveries.settle(settling[len(settled)]))

    async def pause() -> None:
        nonlocal pauses
        pauses += 1
        if len(settled) < len(settling):
            # A delivery in the middle of a sweep is settled before the next batch.
            await asyncio.wait_for(deliver(), 60)

    swept = await sweeper(acme.stores, pause=pause).sweep()

    sql = isinstance(acme.stores, SqlStores)
    assert swept == SweepResult(
        log_entries=430, claims=len(entries) if sql else 0, windows=0, secrets=0, sessions=0, messages=0
    )
    assert pauses >= 4
    assert settled == [Settled.AS_DECIDED] * min(pauses, 5)
    remaining = await acme.stores.journal.entries(acme.id)
    assert set(remaining) == {*entries[430:], *(each.log for each in settling[: len(settled)])}


async def test_a_sweep_that_is_cut_short_is_taken_up_by_the_next_one(acme: Tenant) -> None:
    entries = await filled(acme, 30 + 240)

    async def stop() -> None:
        raise Interrupted

    with pytest.raises(Interrupted):
        await sweeper(acme.stores, pause=stop).sweep()
    assert await acme.stores.journal.entries(acme.id) == entries[100:][::-1]
    assert (await sweeper(acme.stores).sweep()).log_entries == 140
    assert await acme.stores.journal.entries(acme.id) == entries[240:][::-1]


async def test_an_unreadable_organization_keeps_no_log_from_being_swept(database: Database) -> None:
    stores = SqlStores(database, RotatingSealer())
    acme, zenith = await tenant(stores), await tenant(stores, "zenith")
    # As after a restart with an older list of time zones, or with an earlier version.
    newer = update(organizations).where(organizations.c.id == acme.id)
    await database.change(newer.values(time_zone="Mars/Olympus", retention_days=90))
    for each in (acme, zenith):
        await filled(each, 100)

    assert (await sweeper(stores).sweep()).log_entries == 10 + 70


async def test_content_is_kept_however_old(acme: Tenant) -> None:
    long_ago = later(days=-400)
    settling = await acme.processed("d-1", push("feat: a lamp"), at=long_ago)
    await acme.stores.deliveries.settle(settling)
    before = await acme.left()

    assert (await sweeper(acme.stores).sweep()).log_entries == 1

    after = await acme.left()
    assert (after.contexts, after.runs, after.log) == (before.contexts, before.runs, ())
    assert len(after.contexts) == 1
    assert len(after.runs) == 2
