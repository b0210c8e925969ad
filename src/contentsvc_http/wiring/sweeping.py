import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import Final

import structlog
from attrs import asdict
from sqlalchemy import select

from contentsvc_adapters.sql import SqlStores
from contentsvc_core.ports import Clock
from contentsvc_core.timestamps import to_ms
from contentsvc_core.usecases.expire import Sweeper
from contentsvc_http.wiring.faults import log_fault
from contentsvc_http.wiring.periodic import every

#: The interval of deleting expired data, in seconds.
_SWEEP_EVERY_S: Final = 3600.0
#: The pause before the next try after a failed sweep, in seconds.
_AGAIN_AFTER_S: Final = 60.0
#: The pause after each batch, in seconds: a batch takes less, so most time is left for other work.
_PAUSE_S: Final = 0.05
#: The maximum lead of this process's clock over the database's, in seconds.
_AHEAD_S: Final = 60.0
_LOG: Final = structlog.get_logger("contentsvc")


@contextlib.asynccontextmanager
async def sweeping(stores: SqlStores, clock: Clock) -> AsyncGenerator[None]:
    sweeper = Sweeper(stores, clock, pause=_pause, on_fault=log_fault)

    async def sweep() -> None:
        database = stores.database
        database_ms = await database.read(lambda connection: connection.scalar(select(database.dialect.now_ms())))
        ahead_s = (to_ms(clock.now()) - (database_ms or 0)) / 1000
        if ahead_s > _AHEAD_S:
            # A wrong clock would delete the claims and the log of all nodes: deliveries would be processed twice.
            _LOG.warning("clock ahead of the database's: nothing expired is deleted", ahead_s=round(ahead_s))
            return
        _LOG.debug("swept", **asdict(await sweeper.sweep()))

    async with every(sweep, "sweep", every_s=_SWEEP_EVERY_S, after_fault_s=_AGAIN_AFTER_S, first_after_s=0.5):
        yield


async def _pause() -> None:
    await asyncio.sleep(_PAUSE_S)
