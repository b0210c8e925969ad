"""The stores and the receiver, which are opened first. Nothing here imports the framework (docs/decisions/0057)."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from typing import Final, final

from attrs import define, frozen

from contentsvc_adapters.aside import OneAtATime, threads
from contentsvc_adapters.clocks import SystemClock
from contentsvc_adapters.ids import RandomIds
from contentsvc_adapters.sql import HEAD, SqlStores, is_older, revision, serving_alone
from contentsvc_adapters.sql.backlog import backlog, connections
from contentsvc_core.errors import ContentServiceError
from contentsvc_core.usecases.receive import Receiver
from contentsvc_http.asgi import ASGIApp
from contentsvc_http.deliveries import Deliveries
from contentsvc_http.intake import Intake
from contentsvc_http.logs import Requests
from contentsvc_http.settings import Settings
from contentsvc_http.watching import Watch, watching
from contentsvc_http.webhooks import Webhooks
from contentsvc_http.wiring.stores import open_stores

_MIB: Final = 1024 * 1024


def _nothing() -> None:
    pass


@final
@define
class Nudge:
    """Notifies the engine of this process of a new run, once the engine is open. Other processes poll."""

    to: Callable[[], None] = _nothing

    def __call__(self) -> None:
        """Notify the engine."""
        self.to()


@final
@frozen(kw_only=True)
class Reception:
    """The open stores and the receiver."""

    stores: SqlStores
    watch: Watch
    clock: SystemClock
    ids: RandomIds
    receiver: Deliveries
    nudge: Nudge
    requests: Requests
    aside: OneAtATime
    intake: Intake

    def before(self, application: ASGIApp) -> Webhooks:
        """Return the ASGI application that receives deliveries and passes all other requests to ``application``."""
        return Webhooks(self.receiver, application, aside=self.aside, intake=self.intake, requests=self.requests)

    async def why_not_ready(self) -> str | None:
        """Return the reason why deliveries cannot be settled now, or ``None``."""
        try:
            found = await revision(self.stores.database)
        except ContentServiceError as exc:
            return str(exc)
        if is_older(found):
            return f"the schema is at revision {found}, and this version needs {HEAD}"
        # A newer one is an upgrade under way: nodes of both versions serve until the last one is replaced.
        return None


@contextlib.asynccontextmanager
async def open_reception(settings: Settings) -> AsyncGenerator[Reception]:
    """Open the stores and the receiver, and close them in the end."""
    asyncio.get_running_loop().set_default_executor(threads())
    async with contextlib.AsyncExitStack() as stack:
        # First in, last out: while a transaction of this process may still commit, no other process may recover its
        # runs.
        if settings.is_sqlite:
            stack.enter_context(serving_alone(settings.database_file))
        stores = await stack.enter_async_context(open_stores(settings))
        clock = SystemClock()
        ids = RandomIds()
        # Around the engine, so that the ends of the last runs are counted.
        watch = await stack.enter_async_context(
            watching(
                settings,
                backlog=lambda: backlog(stores.database, clock.now()),
                connections=lambda: connections(stores.database),
            )
        )
        if watch.batch is not None:
            stores.queue.on_batch = watch.batch
        aside = OneAtATime()
        stack.callback(aside.close)
        nudge = Nudge()
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
        yield Reception(
            stores=stores,
            watch=watch,
            clock=clock,
            ids=ids,
            receiver=receiver,
            nudge=nudge,
            requests=Requests(watch.answered),
            aside=aside,
            intake=Intake(settings.max_large_bodies_mib * _MIB),
        )
