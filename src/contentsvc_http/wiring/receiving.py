"""The stores and the receiver, which are opened first. Nothing here imports the framework (docs/decisions/0057)."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from functools import partial
from typing import TYPE_CHECKING, Final, final

from attrs import frozen

from contentsvc_adapters.clocks import SystemClock
from contentsvc_adapters.ids import RandomIds
from contentsvc_adapters.offload import SingleThreadExecutor, threads
from contentsvc_adapters.pacing import Notifier
from contentsvc_adapters.sql import HEAD, Database, SqlStores, check_writable, is_older, revision, serving_alone
from contentsvc_adapters.sql.dialects.dialect import OWN_TABLES
from contentsvc_core.errors import ContentServiceError, StoreUnavailable
from contentsvc_core.usecases.receive import Receiver
from contentsvc_core.webhooks.delivery import Delivery
from contentsvc_http.asgi import ASGIApp
from contentsvc_http.body_budget import BodyBudget
from contentsvc_http.client_address import Proxies
from contentsvc_http.deliveries import Deliveries
from contentsvc_http.instrumentation import Instrumentation, watching
from contentsvc_http.logs import Requests
from contentsvc_http.settings import Settings
from contentsvc_http.webhooks import Webhooks
from contentsvc_http.wiring.stores import open_stores

if TYPE_CHECKING:
    from contentsvc_adapters.sql.backlog import Backlog

_MIB: Final = 1024 * 1024


def _source(proxies: Proxies, delivery: Delivery) -> str | None:
    return None if delivery.peer is None else proxies.client(delivery.peer, delivery.headers)


async def _backlog(database: Database, clock: SystemClock) -> "Backlog":
    from contentsvc_adapters.sql.backlog import backlog  # noqa: PLC0415  # a scrape comes later

    return await backlog(database, clock.now())


@final
@frozen(kw_only=True)
class Reception:
    stores: SqlStores
    instrumentation: Instrumentation
    clock: SystemClock
    ids: RandomIds
    receiver: Deliveries
    #: Notifies the engine of this process of a new run, once the engine is open. Other processes poll.
    notifier: Notifier
    requests: Requests
    offload: SingleThreadExecutor
    budget: BodyBudget

    def before(self, application: ASGIApp) -> Webhooks:
        return Webhooks(self.receiver, application, offload=self.offload, budget=self.budget, requests=self.requests)

    async def why_not_ready(self) -> str | None:
        try:
            schema_revision = await revision(self.stores.database)
        except ContentServiceError as exc:
            return str(exc)
        if is_older(schema_revision):
            return f"the schema is at revision {schema_revision}, and this version needs {HEAD}"
        # A newer one is an upgrade under way: nodes of both versions serve until the last one is replaced.
        return None


@contextlib.asynccontextmanager
async def open_reception(settings: Settings) -> AsyncGenerator[Reception]:
    asyncio.get_running_loop().set_default_executor(threads())
    async with contextlib.AsyncExitStack() as stack:
        # First in, last out: no other process may recover the runs of a transaction that may still commit.
        if settings.is_sqlite:
            stack.enter_context(serving_alone(settings.database_file))
        stores = await stack.enter_async_context(open_stores(settings))
        if settings.is_sqlite:
            # Reading needs no such permission: the server would start, and refuse every delivery.
            check_writable(settings.database_file)
        else:
            from contentsvc_adapters.sql.condition import forbidden  # noqa: PLC0415  # a file has no roles

            if (missing := await forbidden(stores.database)) is not None:
                message = f"{missing}: {OWN_TABLES}"
                raise StoreUnavailable(message)
        clock = SystemClock()
        ids = RandomIds()
        # Around the engine, so that the ends of the last runs are counted.
        instrumentation = await stack.enter_async_context(
            watching(
                settings,
                backlog=lambda: _backlog(stores.database, clock),
                connections=stores.database.connections,
            )
        )
        if instrumentation.batch is not None:
            stores.queue.on_batch = instrumentation.batch
        offload = SingleThreadExecutor()
        stack.callback(offload.close)
        notifier = Notifier()
        receiver = Deliveries(
            Receiver(
                stores.deliveries,
                stores.journal,
                clock,
                ids,
                failed_rows_per_minute=settings.failed_log_rows_per_minute,
                notify=notifier.notify,
                offload=offload,
                source=partial(_source, Proxies.read(settings.trusted_proxies)),
            ),
            queue=stores.deliveries,
            observers=instrumentation.deliveries,
        )
        yield Reception(
            stores=stores,
            instrumentation=instrumentation,
            clock=clock,
            ids=ids,
            receiver=receiver,
            notifier=notifier,
            requests=Requests(instrumentation.answered),
            offload=offload,
            budget=BodyBudget(settings.max_large_bodies_mib * _MIB),
        )
