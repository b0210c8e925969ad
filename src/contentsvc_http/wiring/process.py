import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

import attrs

from contentsvc_adapters.offload import SingleThreadExecutor, shares
from contentsvc_adapters.pacing import Notifier
from contentsvc_core.application import Application
from contentsvc_http.app import ClientServices, Services, create_application
from contentsvc_http.asgi import ASGIApp
from contentsvc_http.changelog.page_cache import RenderedPages
from contentsvc_http.changelog.reading import PublicReading
from contentsvc_http.client_address import Proxies
from contentsvc_http.dashboard.context import Dashboard
from contentsvc_http.deliveries import Receiving
from contentsvc_http.faults import log_fault
from contentsvc_http.rate_limiting import RateLimits
from contentsvc_http.roles import Role
from contentsvc_http.settings import Settings
from contentsvc_http.wiring.application import compose
from contentsvc_http.wiring.code_hosts import CodeHosts
from contentsvc_http.wiring.dispatching import dispatching
from contentsvc_http.wiring.engine import open_engine
from contentsvc_http.wiring.loops import loops
from contentsvc_http.wiring.mailing import mailing
from contentsvc_http.wiring.receiving import Reception

if TYPE_CHECKING:
    from contentsvc_adapters.engine.worker import Worker


@contextlib.asynccontextmanager
async def open_application(settings: Settings, role: Role, reception: Reception) -> AsyncGenerator[ASGIApp]:
    """Open the application behind the receiver, and the loops of the role; close both in the end."""
    stores = reception.stores
    async with contextlib.AsyncExitStack() as stack:
        app = compose(
            settings,
            stores,
            clock=reception.clock,
            ids=reception.ids,
            hosts=await stack.enter_async_context(contextlib.aclosing(CodeHosts(settings))),
            notify=reception.notifier.notify,
            shares=shares(connections=stores.database.dialect.readers),
        )
        engine: Worker | None = None

        async def why_not_ready() -> str | None:
            if engine is not None and not engine.is_running:
                return engine.inability or "the engine has stopped"
            # A heartbeat is a write: a database that only answers reads settles no deliveries.
            if engine is not None and engine.silence is not None:
                return engine.silence
            return await reception.why_not_ready()

        rendering = SingleThreadExecutor("public pages")
        stack.callback(rendering.close)

        def create() -> ASGIApp:
            app.load()
            for_clients = client_services(settings, app, reception.receiver, RenderedPages(rendering, app.shares.pages))
            services = Services(
                for_clients=for_clients if role.receives else None,
                why_not_ready=why_not_ready,
                for_operators=reception.instrumentation.routes(),
            )
            return create_application(services, reception.requests)

        # In a thread, and before the loops: deliveries are answered meanwhile, and compete with no run.
        application = await asyncio.to_thread(create)
        if role.works:
            engine = await stack.enter_async_context(_working(settings, app, reception))
        yield application


def client_services(settings: Settings, app: Application, receiver: Receiving, pages: RenderedPages) -> ClientServices:
    limits = RateLimits(app.limiter, app.authenticator, Proxies.read(settings.trusted_proxies))
    is_set = settings.base_url != attrs.fields(Settings).base_url.default
    return ClientServices(
        app=app,
        limits=limits,
        hosted=settings.hosted_client == "on",
        dashboard=Dashboard(app=app, limits=limits, receiver=receiver),
        public=PublicReading(
            app=app,
            limits=limits,
            pages=pages,
            base_url=settings.base_url if is_set else "",
            sends_mail=bool(settings.smtp_url),
        ),
        agents=settings.mcp == "on",
    )


@contextlib.asynccontextmanager
async def _working(settings: Settings, app: Application, reception: Reception) -> "AsyncGenerator[Worker]":
    stores, instrumentation, clock, ids = reception.stores, reception.instrumentation, reception.clock, reception.ids
    async with contextlib.AsyncExitStack() as stack:
        engine = await stack.enter_async_context(open_engine(settings, app, instrumentation))
        reception.notifier.listen(engine.notify)
        writes = Notifier()
        writes.listen(log_fault.note_write)
        stores.database.on_written = writes.notify
        await stack.enter_async_context(loops(stores, clock, ids, writes, notify=engine.notify))
        await stack.enter_async_context(dispatching(settings, stores, clock, ids, writes, on_sent=instrumentation.sent))
        await stack.enter_async_context(
            mailing(settings, stores, clock, ids, writes, on_posting=instrumentation.posted)
        )
        yield engine
