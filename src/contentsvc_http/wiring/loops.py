"""The periodic work of a process that performs runs: each loop lasts until the process stops."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Final

import structlog
from attrs import asdict
from sqlalchemy import select

from contentsvc_adapters.pacing import Notifier, Pacer
from contentsvc_adapters.sql import SqlStores
from contentsvc_adapters.sql.searching.indexing import TRIES, AbandonedDocument
from contentsvc_core.ports import Clock, IdSource
from contentsvc_core.timestamps import to_ms
from contentsvc_core.usecases.edit import Publisher
from contentsvc_core.usecases.expire import Sweeper
from contentsvc_core.usecases.schedule import Scheduler
from contentsvc_core.usecases.watch_integrations import IntegrationWatch
from contentsvc_http.faults import log_fault

#: The interval of indexing after a write of this process, and in an idle process, in seconds.
_INDEX_EVERY_S: Final = 2.0
_INDEX_RARELY_S: Final = 32.0
#: The number of documents per batch, and the pause after each, in seconds: ten times the batch.
_INDEXED_TOGETHER: Final = 32
_INDEX_PAUSE_S: Final = 0.25
#: The longest time between two reads of the schedules, in seconds: the system's clock may be set meanwhile.
_SCHEDULES_EVERY_S: Final = 15.0
#: A slot is a whole minute.
_SLOT_S: Final = 60.0
#: The interval of looking for failing integrations after a write of this process, and in an idle process, in seconds.
_ALERTS_EVERY_S: Final = 15.0
_ALERTS_RARELY_S: Final = 60.0
#: The interval of deleting expired data, in seconds.
_SWEEP_EVERY_S: Final = 3600.0
#: The pause after each batch, in seconds: a batch takes less, so most time is left for other work.
_SWEEP_PAUSE_S: Final = 0.05
#: The maximum lead of this process's clock over the database's, in seconds. SQLite has the clock of the process.
_AHEAD_S: Final = 60.0
_LOG: Final = structlog.get_logger("contentsvc")


@contextlib.asynccontextmanager
async def loops(
    stores: SqlStores, clock: Clock, ids: IdSource, writes: Notifier, *, notify: Callable[[], None]
) -> AsyncGenerator[None]:
    """Run all loops until the end of the block; ``notify`` is called after runs were stored."""
    stores.search.indexer.on_abandoned = log_abandoned
    stores.search.indexer.on_fault = log_fault
    watch = IntegrationWatch(stores.alerts, stores.directory, stores.read_model, clock, on_fault=log_fault)
    async with (
        _every(
            lambda: _in_batches(stores.search.catch_up, _INDEXED_TOGETHER, _INDEX_PAUSE_S),
            "search",
            every_s=_INDEX_EVERY_S,
            rarely_s=_INDEX_RARELY_S,
            after_fault_s=30.0,
            first_after_s=0.1,
            writes=writes,
        ),
        _every(
            _scheduling(stores, clock, ids, notify),
            "schedules",
            every_s=lambda: min(_SCHEDULES_EVERY_S, _SLOT_S - clock.now().timestamp() % _SLOT_S),
            after_fault_s=2.0,
            first_after_s=0.2,
        ),
        _every(
            watch.turn,
            "alerts",
            every_s=_ALERTS_EVERY_S,
            rarely_s=_ALERTS_RARELY_S,
            after_fault_s=60.0,
            first_after_s=0.4,
            writes=writes,
        ),
        _every(_sweeping(stores, clock), "sweep", every_s=_SWEEP_EVERY_S, after_fault_s=60.0, first_after_s=0.5),
    ):
        yield


@contextlib.asynccontextmanager
async def _every(
    turn: Callable[[], Awaitable[object]],
    name: str,
    *,
    every_s: float | Callable[[], float],
    after_fault_s: float,
    first_after_s: float,
    rarely_s: float | None = None,
    writes: Notifier | None = None,
) -> AsyncGenerator[None]:
    """Run ``turn`` periodically until the end of the block; a failed turn is logged, and the next one continues.

    ``turn`` returns whether there may be more. Pauses grow up to ``rarely_s``, and a write of this process ends them.
    ``first_after_s`` differs from loop to loop: first turns compile statements, and deliveries wait meanwhile.
    """
    shortest_s = 0.0 if callable(every_s) else every_s
    pacer = Pacer(shortest_s, shortest_s if rarely_s is None else rarely_s)
    if writes is not None:
        writes.listen(pacer.expect)

    async def turns() -> None:
        await asyncio.sleep(first_after_s)
        while True:
            pacer.begin()
            try:
                has_worked = bool(await turn())
            except Exception as exc:  # noqa: BLE001  # the next turn tries again
                log_fault(exc)
                await asyncio.sleep(after_fault_s)
            else:
                await (asyncio.sleep(every_s()) if callable(every_s) else pacer.wait(found=has_worked))

    task = asyncio.create_task(turns(), name=name)
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _in_batches(work: Callable[..., Awaitable[int]], size: int, pause_s: float) -> None:
    """Work until a batch is not full, with a pause after each."""
    done = size
    while done == size:
        done = await work(limit=size)
        await asyncio.sleep(pause_s)


def log_abandoned(document: AbandonedDocument) -> None:
    _LOG.error(
        "search document given up",
        organization_id=document.organization_id,
        kind=document.kind,
        document_id=document.document_id,
        tries=TRIES,
    )


def _scheduling(
    stores: SqlStores, clock: Clock, ids: IdSource, notify: Callable[[], None]
) -> Callable[[], Awaitable[None]]:
    """Return the turn that publishes due posts and fires due schedules."""
    scheduler = Scheduler(stores.schedules, stores.triggers, stores.directory, clock, ids, on_fault=log_fault)
    publisher = Publisher(stores.posts, clock, on_fault=log_fault)

    async def turn() -> None:
        # Schedules fire between the posts of a crowd, which take some milliseconds each.
        published = Publisher.AT_ONCE
        while published >= Publisher.AT_ONCE:
            if published := await publisher.turn():
                _LOG.info("scheduled posts published", posts=published)
            if started := await scheduler.turn():
                _LOG.info("schedules fired", runs=started)
                notify()

    return turn


def _sweeping(stores: SqlStores, clock: Clock) -> Callable[[], Awaitable[None]]:
    sweeper = Sweeper(stores, clock, pause=lambda: asyncio.sleep(_SWEEP_PAUSE_S), on_fault=log_fault)

    async def turn() -> None:
        database = stores.database
        database_ms = await database.read(lambda connection: connection.scalar(select(database.dialect.now_ms())))
        ahead_s = (to_ms(clock.now()) - (database_ms or 0)) / 1000
        if ahead_s > _AHEAD_S:
            # A wrong clock would delete the claims and the log of all nodes: deliveries would be processed twice.
            _LOG.warning("clock ahead of the database's: nothing expired is deleted", ahead_s=round(ahead_s))
            return
        _LOG.debug("swept", **asdict(await sweeper.sweep()))

    return turn
