"""The background task of the scheduler."""

import contextlib
from collections.abc import AsyncGenerator, Callable
from typing import Final

import structlog

from contentsvc_core.usecases.schedule import Scheduler
from contentsvc_http.wiring.turns import turning

#: The interval of polling schedules, in seconds; a slot is a minute.
_LOOK_EVERY_S: Final = 2.0
_LOG: Final = structlog.get_logger("contentsvc")


@contextlib.asynccontextmanager
async def scheduling(scheduler: Scheduler, *, nudge: Callable[[], None]) -> AsyncGenerator[None]:
    """Fire due schedules; ``nudge`` is called after runs were stored."""

    async def look() -> None:
        started = await scheduler.turn()
        if started:
            _LOG.info("schedules fired", runs=started)
            nudge()

    async with turning(look, "schedules", every_s=_LOOK_EVERY_S, after_fault_s=_LOOK_EVERY_S):
        yield
