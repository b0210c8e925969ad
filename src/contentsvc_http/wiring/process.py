"""The parts of a process, by its role."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Final

from attrs import evolve

from contentsvc_adapters.aside import OneAtATime, shares, threads
from contentsvc_adapters.clocks import SystemClock
from contentsvc_adapters.ids import RandomIds
from contentsvc_adapters.pacing import Notifier
from contentsvc_adapters.sql import HEAD, is_older, revision, serving_alone
from contentsvc_adapters.sql.backlog import backlog, connections
from contentsvc_core.errors import ContentServiceError
from contentsvc_core.usecases.receive import Receiver
from contentsvc_core.usecases.schedule import Scheduler
from contentsvc_http.app import Services
from contentsvc_http.changelog.kept import RenderedPages
from contentsvc_http.deliveries import Deliveries
from contentsvc_http.roles import Role
from contentsvc_http.settings import Settings
from contentsvc_http.watching import watching
from contentsvc_http.wiring.addressing import addressing
from contentsvc_http.wiring.application import compose
from contentsvc_http.wiring.code_hosts import open_code_hosts
from contentsvc_http.wiring.dispatching import dispatching
from contentsvc_http.wiring.engine import open_engine
from contentsvc_http.wiring.faults import log_fault
from contentsvc_http.wiring.front import front_of
from contentsvc_http.wiring.mailing import mailing
from contentsvc_http.wiring.scheduling import scheduling
from contentsvc_http.wiring.searching import log_given_up, searching
from contentsvc_http.wiring.stores import open_stores
from contentsvc_http.wiring.sweeping import sweeping

if TYPE_CHECKING:
    from contentsvc_adapters.engine.worker import Worker

_MIB: Final = 1024 * 1024


@contextlib.asynccontextmanager
async def open_services(settings: Settings, role: Role) -> AsyncGenerator[Services]:
    """Open the parts of a role; close them in order: first the work, then the store."""
    asyncio.get_running_loop().set_default_executor(threads())
    async with contextlib.AsyncExitStack() as stack:
        # Closed last: while a transaction of this process may still commit, no other process may recover its runs.
        if settings.is_sqlite:
            stack.enter_context(serving_alone(settings.database_file))
        stores = await stack.enter_async_context(open_stores(settings))
        stores.search.looker.on_given_up = log_given_up
        clock = SystemClock()
        ids = RandomIds()
        # Opened before the engine, so that the last runs are counted.
        watch = await stack.enter_async_context(
            watching(
                settings,
                backlog=lambda: backlog(stores.database, clock.now()),
                connections=lambda: connections(stores.database),
            )
        )
        hosts = await stack.enter_async_context(open_code_hosts(settings))
        engine: Worker | None = None

        def nudge() -> None:
            # Without an engine in this process, other processes find the run by polling.
            if engine is not None:
                engine.nudge()

        app = compose(
            settings,
            stores,
            clock=clock,
            ids=ids,
            hosts=hosts,
            nudge=nudge,
            shares=shares(connections=stores.database.dialect.readers),
        )
        if role.works:
            engine = await stack.enter_async_context(open_engine(settings, app, watch))
            writes = Notifier()
            stores.database.on_written = writes.notify
            await stack.enter_async_context(sweeping(stores, clock))
            await stack.enter_async_context(searching(stores.search, writes))
            await stack.enter_async_context(addressing(stores.changelogs))
            await stack.enter_async_context(dispatching(settings, stores, clock, ids, writes, on_sent=watch.sent))
            await stack.enter_async_context(mailing(settings, stores, clock, ids, writes))
            scheduler = Scheduler(stores.schedules, stores.directory, clock, ids, on_fault=log_fault)
            await stack.enter_async_context(scheduling(scheduler, clock, nudge=nudge))

        async def why_not_ready() -> str | None:
            if engine is not None and not engine.is_running:
                return "the engine has stopped"
            try:
                found = await revision(stores.database)
            except ContentServiceError as exc:
                return str(exc)
            if is_older(found):
                return f"the schema is at revision {found}, and this version needs {HEAD}"
            # A newer schema is an upgrade in progress: nodes of both versions serve until the last one is replaced.
            return None

        if watch.batch is not None:
            stores.queue.on_batch = watch.batch
        aside = OneAtATime()
        stack.callback(aside.close)
        rendering = OneAtATime("public pages")
        stack.callback(rendering.close)
        receiver = Deliveries(
            Receiver(
                stores.deliveries,
                stores.journal,
                clock,
                ids,
                failed_rows_per_minute=settings.failed_log_rows_per_minute,
                nudge=nudge,
                aside=aside,
            ),
            queue=stores.deliveries,
            observers=watch.deliveries,
        )
        app.load()
        front = evolve(
            front_of(settings, app, receiver, RenderedPages(rendering), settled=watch.settled),
            aside=aside,
            room=settings.max_large_bodies_mib * _MIB,
        )
        yield Services(
            front=front if role.receives else None,
            why_not_ready=why_not_ready,
            for_operators=watch.routes,
            answered=watch.answered,
            counting=watch.counting,
        )
