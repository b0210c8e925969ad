"""Lists show summaries and read no event; payloads are bounded; runs of one event share it."""

import tracemalloc
from pathlib import Path

import pytest
from attrs import evolve
from contract_values import EXECUTOR, IDS, RotatingSealer, Tenant, later, push, release, take, tenant
from sqlalchemy import update
from tests import sqlite
from tests.refusals import accepted, existing

from contentsvc_adapters.sql import Database, SqlStores
from contentsvc_adapters.sql.schema.deliveries import events
from contentsvc_core.errors import UnreadableRow
from contentsvc_core.events.normalized import Event
from contentsvc_core.events.summaries import EventSummary
from contentsvc_core.journal import ListedEntry, LogEntry, LogQuery, listed_entry
from contentsvc_core.lists.pagination import PageRequest
from contentsvc_core.read_model import LogSearch
from contentsvc_core.webhooks.settlement import Settlement
from contentsvc_core.workflows.causes import Delivered
from contentsvc_core.workflows.runs import ListedRun, RunStatus, WorkflowRun, listed_run

#: More bytes than an event that lists read with each row.
_LARGE = 70_000


async def _settled(acme: Tenant, event: Event, hours: int = 0) -> Settlement:
    settling = await acme.processed(IDS.new_id("d-"), event, later(hours=hours))
    await acme.stores.deliveries.settle(settling)
    return settling


async def _lists(acme: Tenant, settling: Settlement) -> tuple[list[ListedEntry | None], list[ListedRun | None]]:
    """Return an entry and a run from each kind of list."""
    read_model, run_lists = acme.stores.read_model, acme.stores.run_lists
    newest = await read_model.newest_entries(acme.id)
    entries = [
        *await read_model.log(acme.id, LogSearch(), limit=9),
        *await read_model.log(acme.id, LogSearch(text="PROCESSED"), limit=9),
        await read_model.entry(acme.id, settling.log.id),
        newest[acme.integration.id],
    ]
    runs = [
        *await run_lists.runs(acme.id, limit=9),
        *await run_lists.runs(acme.id, statuses=[RunStatus.PENDING], limit=9),
        *await run_lists.runs_of(acme.id, settling.log.id),
        await run_lists.run(acme.id, settling.runs[0].id),
    ]
    return entries, runs


def _of(settling: Settlement, summary: EventSummary | None = None) -> tuple[ListedEntry, list[ListedRun]]:
    """Return the entry and the runs of a settlement as lists show them."""
    entry, runs = listed_entry(settling.log), [listed_run(run) for run in settling.runs]
    if summary is None:
        return entry, runs
    return evolve(entry, event=summary), [evolve(run, cause=evolve(run.cause, event=summary)) for run in runs]


def _database(acme: Tenant) -> Database | None:
    return acme.stores.database if isinstance(acme.stores, SqlStores) else None


async def _changed(acme: Tenant, **columns: str | None) -> None:
    """Change all stored events directly in the database."""
    if (database := _database(acme)) is not None:
        await database.write(lambda connection: connection.execute(update(events).values(columns)))


@pytest.mark.parametrize("event", [push("feat: lamp"), push("feat: " + "x" * _LARGE), release()])
async def test_lists_read_no_event(acme: Tenant, event: Event) -> None:
    settling = await _settled(acme, event)
    # Reading the event fails.
    await _changed(acme, data="no event")
    if _database(acme) is not None:
        with pytest.raises(UnreadableRow):
            await acme.stores.ledger.runs(acme.id)

    entries, runs = await _lists(acme, settling)

    entry, started = _of(settling)
    assert entries == [entry] * 4
    assert all(run in started for run in runs)
    assert len(runs) == 7


async def test_a_small_event_of_an_older_version_is_read_for_its_summary(acme: Tenant) -> None:
    settling = await _settled(acme, push("feat: lamp", "fix: door"))
    await _changed(acme, summary=None)

    entries, runs = await _lists(acme, settling)

    entry, started = _of(settling)
    assert entries == [entry] * 4
    assert all(run in started for run in runs)


async def test_a_large_event_of_an_older_version_is_listed_by_its_type_alone(acme: Tenant) -> None:
    settling = await _settled(acme, push("feat: " + "x" * _LARGE))
    # Of the same size, but no event: reading it fails.
    await _changed(acme, summary=None, data="no event" * _LARGE)

    entries, runs = await _lists(acme, settling)

    entry, started = _of(settling, None if _database(acme) is None else EventSummary(type="push"))
    assert entries == [entry] * 4
    assert all(run in started for run in runs)


async def test_the_whole_event_of_a_run_is_read_up_to_a_bound(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith")
    event = push("feat: " + "x" * _LARGE)
    run = (await _settled(acme, event)).runs[0]

    run_lists = acme.stores.run_lists
    assert await run_lists.event_of(acme.id, run.id, max_bytes=3 * _LARGE) == event
    assert await run_lists.event_of(acme.id, run.id, max_bytes=_LARGE) is None
    assert await run_lists.event_of(zenith.id, run.id, max_bytes=3 * _LARGE) is None


async def _page(acme: Tenant, request: PageRequest, max_bytes: int) -> list[LogEntry]:
    page = accepted(await acme.stores.journal.page(acme.id, LogQuery(), request, max_bytes=max_bytes))
    return list(page[0])


async def test_the_payloads_of_a_page_are_bounded_the_smallest_come_first(acme: Tenant) -> None:
    sizes = [5_000, 90_000, 60_000, 1]
    # An event has the last message twice.
    logs = [(await _settled(acme, push("x" * (size // 2)), hours=-hour)).log for hour, size in enumerate(sizes)]

    read = await _page(acme, PageRequest(limit=10), 70_000)

    assert [entry.detail for entry in read] == [logs[0].detail, None, logs[2].detail, logs[3].detail]
    assert [bool(entry.left_out) for entry in read] == [False, True, False, False]
    assert 90_000 < read[1].left_out < 91_000
    assert evolve(read[1], detail=logs[1].detail, left_out=0) == logs[1]
    # A page of one entry has its payload, regardless of its size.
    assert await _page(acme, PageRequest(limit=1, page=2), 1) == [logs[1]]
    assert [bool(entry.left_out) for entry in await _page(acme, PageRequest(limit=10), 1)] == [True, True, True, False]


async def test_a_payload_that_is_no_event_counts_too(acme: Tenant) -> None:
    log = (await _settled(acme, push())).log
    noted = evolve(log, id=IDS.new_id("log_"), detail={"text": "x" * _LARGE}, created_at=later(hours=1))
    await acme.stores.journal.append(noted)

    assert [entry.detail for entry in await _page(acme, PageRequest(limit=10), 5_000)] == [None, log.detail]
    assert await acme.stores.journal.entry(acme.id, noted.id) == noted
    bounded = existing(await acme.stores.journal.entry(acme.id, noted.id, max_bytes=5_000))
    assert bounded.left_out > _LARGE
    assert evolve(bounded, detail=noted.detail, left_out=0) == noted
    assert await acme.stores.journal.entry(acme.id, log.id, max_bytes=5_000) == log
    assert await acme.stores.journal.entry(acme.id, "log_unknown", max_bytes=5_000) is None


def _event(run: WorkflowRun) -> Event:
    assert isinstance(run.cause, Delivered)
    return run.cause.event


@pytest.mark.parametrize("size", [10, _LARGE])
async def test_runs_of_one_event_share_it(stores: SqlStores, size: int) -> None:
    acme = await tenant(stores, triggers=3)
    event = push("x" * size)
    first, second, third = [run.id for run in (await _settled(acme, event)).runs]
    other = (await _settled(acme, event, hours=1)).runs[0]

    taken = await take(stores, [first, second, other.id])
    # As long as one of them runs, later runs share the event, too.
    (later_taken,) = await stores.ledger.take([third], EXECUTOR)

    assert [_event(run) for run in taken] == [event] * 3
    assert _event(taken[0]) is _event(taken[1])
    assert _event(later_taken) is _event(taken[0])


async def test_a_large_event_that_cannot_be_read_fails_its_runs_and_no_others(acme: Tenant) -> None:
    if (database := _database(acme)) is None:
        return
    broken = await _settled(acme, push("x" * _LARGE))
    large = await _settled(acme, push("x" * _LARGE), hours=1)
    damage = update(events).where(events.c.id == broken.log.id).values(data="no event" * _LARGE)
    await database.write(lambda connection: connection.execute(damage))

    taken = await take(acme.stores, [run.id for run in (*broken.runs, *large.runs)])

    assert [run.id for run in taken] == [run.id for run in large.runs]
    failed = existing(await acme.stores.run_lists.run(acme.id, broken.runs[0].id))
    assert (failed.status, "cannot be read" in (failed.error or "")) == (RunStatus.FAILED, True)


async def test_the_memory_of_a_page_and_of_taking_runs_does_not_grow_with_their_number(tmp_path: Path) -> None:
    stores = SqlStores(Database(sqlite.migrated(tmp_path / "store.db")), RotatingSealer())
    acme, size = await tenant(stores, triggers=20), 1_000_000
    ids = [run.id for run in (await _settled(acme, push("x" * size))).runs]
    await stores.executors.join(EXECUTOR)

    # The first query also imports and compiles, which does not belong to a page.
    await stores.run_lists.runs(acme.id, limit=1)

    async def highest(number: int) -> int:
        tracemalloc.start()
        try:
            if number:
                assert len(await stores.ledger.take(ids[:number], EXECUTOR)) == number
            else:
                assert len(await stores.run_lists.runs(acme.id, limit=50)) == len(ids)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert await highest(0) < size // 2
    assert await highest(len(ids)) < 5 * size
    await stores.close()
