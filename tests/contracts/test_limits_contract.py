"""``RateLimitStore``: one update of a bucket at a time, and no write without a change."""

import asyncio
import contextlib
import sqlite3
from datetime import datetime
from pathlib import Path

import pytest
from contract_values import RotatingSealer, Stores
from tests import postgres

from contentsvc_adapters.sql import Database, SqlStores
from contentsvc_core.access.rates import Bucket, Rate
from contentsvc_core.access.window import Verdict, Window, hit
from contentsvc_core.errors import UnreadableRow
from contentsvc_core.ports.access import Transition
from contentsvc_core.testing import START, check_rate_limits

RATE = Rate(method="POST", template="/v1/lamps", limit=5)
BUCKET = Bucket.of_key(RATE, "csk_0000000001")


def at(now: datetime, rate: Rate = RATE) -> Transition:
    return lambda window: hit(window, rate, now)


async def stored(stores: Stores, bucket: Bucket = BUCKET) -> Window:
    """Return a window without changing it."""
    windows: list[Window] = []

    def look(window: Window) -> tuple[Window, Verdict]:
        windows.append(window)
        return window, hit(window, RATE, START)[1]

    await stores.rate_limits.update(bucket, look)
    return windows[-1]


async def test_the_published_check_of_rate_limits_passes(stores: Stores) -> None:
    await check_rate_limits(stores.rate_limits)


async def test_a_transition_that_raises_changes_nothing(stores: Stores) -> None:
    def broken(window: Window) -> tuple[Window, Verdict]:
        raise LookupError(window)

    await stores.rate_limits.update(BUCKET, at(START))
    with pytest.raises(LookupError):
        await stores.rate_limits.update(BUCKET, broken)

    assert len((await stored(stores)).hits_ms) == 1


async def test_two_processes_of_a_postgresql_admit_the_limit_together(postgres_url: str) -> None:
    nodes = [SqlStores(Database(postgres_url), RotatingSealer()) for _ in range(2)]
    rate = Rate(method="POST", template="/v1/lamps", limit=30)
    bucket = Bucket.of_key(rate, "csk_0000000001")

    verdicts: list[Verdict] = []
    for _ in range(5):
        # As many requests as connections of the two pools, so none waits for a connection.
        updates = (nodes[number % 2].rate_limits.update(bucket, at(START, rate)) for number in range(20))
        verdicts += await asyncio.gather(*updates)
    for node in nodes:
        await node.close()

    assert sorted(verdict.remaining for verdict in verdicts if verdict.admitted) == list(range(30))


async def test_a_refusal_writes_nothing_into_a_postgresql_not_even_a_lock(
    postgresql: Database, postgres_url: str
) -> None:
    store = SqlStores(postgresql, RotatingSealer()).rate_limits
    for _ in range(RATE.limit):
        await store.update(BUCKET, at(START))
    # A lock would be stored in the row, as xmax.
    written = "SELECT ctid::text, xmin::text, xmax::text, hits FROM rate_windows"
    before = postgres.rows(postgres_url, written)

    assert not (await store.update(BUCKET, at(START))).admitted

    assert postgres.rows(postgres_url, written) == before
    assert len(before) == 1


async def test_a_refusal_writes_nothing_into_a_file(database: Database, tmp_path: Path) -> None:
    store = SqlStores(database, RotatingSealer()).rate_limits
    with contextlib.closing(sqlite3.connect(tmp_path / "store.db")) as other:

        def changes() -> int:
            return int(other.execute("PRAGMA data_version").fetchone()[0])

        before = changes()
        for _ in range(RATE.limit):
            await store.update(BUCKET, at(START))
        full = changes()
        assert full != before

        assert not (await store.update(BUCKET, at(START))).admitted
        assert changes() == full


async def test_an_unreadable_window_is_an_error_that_names_it(database: Database) -> None:
    store = SqlStores(database, RotatingSealer()).rate_limits
    await store.update(BUCKET, at(START))
    for broken in ("[2, 1]", '"soon"', "["):
        await database.write(
            lambda connection, text=broken: connection.exec_driver_sql("UPDATE rate_windows SET hits = ?", (text,))
        )

        with pytest.raises(UnreadableRow, match="POST /v1/lamps key csk_0000000001"):
            await store.update(BUCKET, at(START))
