import asyncio
import contextlib
from collections.abc import AsyncGenerator

from contentsvc_adapters.offload import SingleThreadExecutor, shares
from contentsvc_adapters.pacing import Notifier
from contentsvc_core.usecases.edit import Publisher
from contentsvc_core.usecases.schedule import Scheduler
from contentsvc_http.app import Services, create_application
from contentsvc_http.asgi import ASGIApp
from contentsvc_http.changelog.kept import RenderedPages
from contentsvc_http.roles import Role
from contentsvc_http.settings import Settings
from contentsvc_http.wiring.addressing import addressing
from contentsvc_http.wiring.alerting import alerting
from contentsvc_http.wiring.application import compose
from contentsvc_http.wiring.code_hosts import open_code_hosts
from contentsvc_http.wiring.dispatching import dispatching
from contentsvc_http.wiring.engine import open_engine
from contentsvc_http.wiring.faults import log_fault
from contentsvc_http.wiring.front import front_of
from contentsvc_http.wiring.mailing import mailing
from contentsvc_http.wiring.receiving import Reception
from contentsvc_http.wiring.scheduling import scheduling
from contentsvc_http.wiring.searching import log_abandoned, searching
from contentsvc_http.wiring.sweeping import sweeping


@contextlib.asynccontextmanager
async def open_application(settings: Settings, role: Role, reception: Reception) -> AsyncGenerator[ASGIApp]:
    """Open the application behind the receiver, and the loops of the role; close both in the end."""
    async with open_services(settings, role, reception) as services:
        # In a thread: deliveries are answered meanwhile.
        yield await asyncio.to_thread(create_application, services, reception.requests)


@contextlib.asynccontextmanager
async def open_services(settings: Settings, role: Role, reception: Reception) -> AsyncGenerator[Services]:
    stores, instrumentation, clock, ids = reception.stores, reception.instrumentation, reception.clock, reception.ids
    async with contextlib.AsyncExitStack() as stack:
        stores.search.indexer.on_abandoned = log_abandoned
        hosts = await stack.enter_async_context(open_code_hosts(settings))
        app = compose(
            settings,
            stores,
            clock=clock,
            ids=ids,
            hosts=hosts,
            notify=reception.notify,
            shares=shares(connections=stores.database.dialect.readers),
        )
        await asyncio.to_thread(app.load)
        engine = await stack.enter_async_context(open_engine(settings, app, instrumentation)) if role.works else None
        if engine is not None:
            reception.notify.to = engine.notify
            writes = Notifier()
            stores.database.on_written = writes.notify
            await stack.enter_async_context(sweeping(stores, clock))
            await stack.enter_async_context(searching(stores.search, writes))
            await stack.enter_async_context(addressing(stores.changelogs))
            await stack.enter_async_context(alerting(stores, clock, writes))
            await stack.enter_async_context(
                dispatching(settings, stores, clock, ids, writes, on_sent=instrumentation.sent)
            )
            await stack.enter_async_context(mailing(settings, stores, clock, ids, writes))
            scheduler = Scheduler(stores.schedules, stores.directory, clock, ids, on_fault=log_fault)
            publisher = Publisher(stores.posts, clock, on_fault=log_fault)
            await stack.enter_async_context(scheduling(scheduler, publisher, clock, notify=engine.notify))

        async def why_not_ready() -> str | None:
            if engine is not None and not engine.is_running:
                return "the engine has stopped"
            return await reception.why_not_ready()

        rendering = SingleThreadExecutor("public pages")
        stack.callback(rendering.close)
        front = front_of(settings, app, reception.receiver, RenderedPages(rendering))
        yield Services(
            front=front if role.receives else None,
            why_not_ready=why_not_ready,
            for_operators=instrumentation.routes(),
        )
