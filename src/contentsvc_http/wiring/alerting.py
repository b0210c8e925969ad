import contextlib
from collections.abc import AsyncGenerator
from typing import Final

from contentsvc_adapters.pacing import Notifier
from contentsvc_core.ports import Clock, Stores
from contentsvc_core.usecases.watch_integrations import IntegrationWatch
from contentsvc_http.wiring.periodic import every

#: The interval of looking at the log after a write of this process, and in an idle process, in seconds.
_LOOK_EVERY_S: Final = 15.0
_RARELY_S: Final = 60.0


@contextlib.asynccontextmanager
async def alerting(stores: Stores, clock: Clock, writes: Notifier) -> AsyncGenerator[None]:
    watch = IntegrationWatch(stores.alerts, stores.directory, stores.read_model, clock)
    async with every(
        watch.turn,
        "alerts",
        every_s=_LOOK_EVERY_S,
        after_fault_s=_RARELY_S,
        first_after_s=0.4,
        rarely_s=_RARELY_S,
        writes=writes,
    ):
        yield
