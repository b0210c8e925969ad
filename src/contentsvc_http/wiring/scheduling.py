"""The scheduler's turns."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from typing import Final

import structlog

from contentsvc_core.usecases.schedule import Scheduler
from contentsvc_http.wiring.faults import log_fault

#: How often schedules are looked at, in seconds; a slot is a minute.
_LOOK_EVERY_S: Final = 2.0
_LOG: Final = structlog.get_logger("contentsvc")


@contextlib.asynccontextmanager
async def scheduling(scheduler: Scheduler, *, nudge: Callable[[], None]) -> AsyncGenerator[None]:
    """Fire due schedules; ``nudge`` is called after runs were stored."""
    looking = asyncio.create_task(_look(scheduler, nudge), name="schedules")
    try:
        yield
    finally:
        looking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await looking


async def _look(scheduler: Scheduler, nudge: Callable[[], None]) -> None:
    while True:
        try:
            started = await scheduler.turn()
            if started:
                _LOG.info("schedules fired", runs=started)
                nudge()
        except Exception as exc:  # noqa: BLE001  # the next turn finds what this one left
            log_fault(exc)
        await asyncio.sleep(_LOOK_EVERY_S)
