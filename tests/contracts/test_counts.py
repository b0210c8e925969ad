"""The counts of lists, which each write maintains."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any, Final

import pytest
from attrs import evolve, frozen
from contract_values import IDS, REFUSED, Tenant, a_post, later, take, tenant
from sqlalchemy import Connection, Integer, Table, cast, delete, func, insert, literal, select, update
from tests.builders import an_entry
from tests.contracts.conftest import Opening

from contentsvc_adapters.sql import Database, SqlStores, rows
from contentsvc_adapters.sql.counts import CountedRange, Listing, holding, joined
from contentsvc_adapters.sql.entries import LOG, add_entry
from contentsvc_adapters.sql.post_library import POSTS
from contentsvc_adapters.sql.schema.content import posts
from contentsvc_adapters.sql.schema.deliveries import log_entries
from contentsvc_core.content.posts import PostStatus
from contentsvc_core.errors import Unstorable
from contentsvc_core.journal import LogEntry, LogStatus

_HOUR: Final = 3_600_000


@frozen
class Counted:
    """A tenant, and its database."""

    database: Database
    stores: SqlStores
    acme: Tenant


@pytest.fixture(params=["sqlite", "postgresql"])
async def counted(request: pytest.FixtureRequest, opened: Opening) -> AsyncGenerator[Counted]:
    async with opened(request.param) as stores:
        assert isinstance(stores, SqlStores)
        yield Counted(stores.database, stores, await tenant(stores))


def _entry(organization_id: str, hours: int = 0) -> LogEntry:
    at = later(hours=hours)
    return an_entry(at, id=IDS.new_id("log_"), organization_id=organization_id, status=LogStatus.PENDING)


def _differences(listing: Listing) -> Callable[[Connection], object]:
    """Return the differences between counts and rows; the distribution over shards does not matter."""
    rows_, counts = listing.rows, listing.counts
    names = [column.name for column in counts.primary_key if column.name not in {"span", "starts_at", "shard"}]

    def differences(connection: Connection) -> object:
        query = select(*(counts.c[name] for name in names), counts.c.span, counts.c.starts_at)
        message = connection.execute(
            query.add_columns(cast(func.sum(counts.c.number), Integer))
            .group_by(*query.selected_columns)
            .having(func.sum(counts.c.number) != 0)
        )
        found: set[tuple[Any, ...]] = {tuple(row) for row in message}
        there: set[tuple[Any, ...]] = set()
        for span in listing.spans:
            starts_at = rows_.c.created_at - rows_.c.created_at % span
            key = [*(func.coalesce(rows_.c[name], "") for name in names), literal(span), starts_at]
            keys = select(*(each.label(f"c{number}") for number, each in enumerate(key))).subquery()
            counting = select(*keys.c, func.count()).group_by(*keys.c)
            there |= {tuple(row) for row in connection.execute(counting)}
        return found ^ there

    return differences


async def _agree(database: Database) -> bool:
    return not any([await database.read(_differences(listing)) for listing in (LOG, POSTS)])


async def _number(database: Database, table: Table) -> int:
    return await database.read(lambda connection: connection.scalar(select(func.count()).select_from(table))) or 0


@pytest.mark.slow("a short campaign over generated examples")
async def test_whatever_writes_the_counts_agree(counted: Counted) -> None:
    acme, stores, database = counted.acme, counted.stores, counted.database
    settling = [await acme.processed(f"d-{number % 9}", at=later(minutes=number * 7)) for number in range(18)]
    # Half of them are duplicates; stores with several writers write them concurrently.
    await asyncio.gather(*map(stores.deliveries.settle, settling))
    entries = [_entry(acme.id, hours) for hours in (0, 0, 1, 25, 99)]
    await asyncio.gather(*map(stores.journal.append, entries))
    # Repeated after an unknown outcome.
    await stores.journal.append(entries[0])
    assert await _agree(database)
    assert await _number(database, log_entries) == 18 + 5

    await asyncio.gather(*(stores.journal.finish(evolve(entry, status=LogStatus.FAILED)) for entry in entries))
    assert await _agree(database)

    runs = await take(stores, [run.id for each in settling[:9] for run in each.runs][:4])
    written = [a_post(acme.id, later(days=number * 20)) for number in range(4)]
    for run, post in zip(runs, written, strict=True):
        await stores.ledger.complete(run, post, once="told")
    # Only one delivery reports the count.
    assert await _number(database, posts) == 1
    changed = evolve(written[0], status=PostStatus.PUBLISHED, updated_at=later(days=1))
    assert await stores.posts.change(changed, unchanged_since=written[0].updated_at)
    assert await _agree(database)
    assert await stores.posts.remove(acme.id, written[0].id)

    assert await stores.journal.sweep(acme.id, before=later(hours=1), limit=5) == 5
    assert await _agree(database)


async def test_what_was_undone_is_not_counted(counted: Counted) -> None:
    with pytest.raises(Unstorable):
        await counted.stores.journal.append(_entry("org_unknown"))

    def undone(connection: Connection) -> None:
        connection.execute(insert(log_entries), rows.log_row(_entry(counted.acme.id)))
        message = "no"
        raise ValueError(message)

    with pytest.raises(ValueError, match="no"):
        await counted.database.write(undone)
    assert await _agree(counted.database)
    assert await _number(counted.database, LOG.counts) == 0


async def test_a_batch_is_counted_once(counted: Counted) -> None:
    acme = counted.acme
    zenith = await tenant(counted.stores, "zenith", repository_id=9)
    settling = [
        *[await acme.processed(f"d-{number % 3}", at=later(minutes=25 * number)) for number in range(7)],
        *[await zenith.decided(REFUSED, later(hours=hours)) for hours in (0, 0, 30)],
    ]
    await asyncio.gather(*map(counted.stores.deliveries.settle, settling))

    assert await _number(counted.database, log_entries) == 10
    assert await _agree(counted.database)


async def test_changes_that_know_nothing_of_counts_are_counted_too(counted: Counted) -> None:
    """A node of the previous version, and an operator. On SQLite, they add no entries."""
    entries = [_entry(counted.acme.id, hours) for hours in (0, 0, 30)]

    def write(connection: Connection) -> None:
        for entry in entries:
            if counted.database.dialect.is_sqlite:
                add_entry(connection, counted.database.dialect, entry)
            else:
                connection.execute(insert(log_entries), rows.log_row(entry))
        connection.execute(update(log_entries).values(status="failed", integration_id="int_2"))
        connection.execute(update(log_entries).values(created_at=log_entries.c.created_at + _HOUR))
        connection.execute(delete(log_entries).where(log_entries.c.id == entries[0].id))

    await counted.database.write(write)

    assert await _number(counted.database, log_entries) == 2
    assert await _agree(counted.database)


async def test_a_sweep_leaves_no_counts_of_what_is_no_more(counted: Counted) -> None:
    journal, acme = counted.stores.journal, counted.acme
    zenith = await tenant(counted.stores, "zenith")
    for entry in [_entry(acme.id, hours) for hours in (0, 0, 26, 50)] + [_entry(zenith.id)]:
        await journal.append(entry)

    assert await journal.sweep(acme.id, before=later(hours=50), limit=2) == 2
    assert await journal.sweep(acme.id, before=later(hours=50), limit=2) == 1
    assert await journal.sweep(acme.id, before=later(hours=50), limit=2) == 0

    assert await _agree(counted.database)
    # One day and one hour of each organization.
    query = select(LOG.counts.c.starts_at).where(LOG.counts.c.number != 0)
    found = await counted.database.read(lambda connection: connection.scalars(query).all())
    assert len(found) == 4
    assert await _number(counted.database, LOG.counts) == 4


def test_the_stretches_that_hold_a_page() -> None:
    stretches = [CountedRange(30, 40, 3), CountedRange(20, 30, 1), CountedRange(0, 10, 5)]

    assert holding(stretches, 0, 3) == (stretches[:1], 0)
    assert holding(stretches, 2, 2) == (stretches[:2], 2)
    assert holding(stretches, 3, 1) == (stretches[1:2], 0)
    assert holding(stretches, 8, 10) == (stretches[2:], 4)
    assert holding(stretches, 9, 1) == ([], 0)


def test_stretches_that_follow_upon_each_other_are_read_as_one() -> None:
    assert joined([CountedRange(30, 40, 3), CountedRange(20, 30, 1), CountedRange(0, 10, 5)]) == [
        CountedRange(20, 40, 4),
        CountedRange(0, 10, 5),
    ]
    assert joined([CountedRange(0, 10, 5), CountedRange(20, 30, 1), CountedRange(30, 40, 3)]) == [
        CountedRange(0, 10, 5),
        CountedRange(20, 40, 4),
    ]
