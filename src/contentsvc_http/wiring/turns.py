"""Periodic background tasks."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable

from contentsvc_http.wiring.faults import log_fault


@contextlib.asynccontextmanager
async def turning(
    turn: Callable[[], Awaitable[None]], name: str, *, every_s: float, after_fault_s: float
) -> AsyncGenerator[None]:
    """Run ``turn`` periodically until the end of the block; a failed turn is logged, and the next one continues.

    ``every_s`` is the pause after a turn, ``after_fault_s`` that after a failed one, in seconds.
    """

    async def turns() -> None:
        while True:
            wait_s = every_s
            try:
                await turn()
            except Exception as exc:  # noqa: BLE001  # whatever it is, there is a next turn
                log_fault(exc)
                wait_s = after_fault_s
            await asyncio.sleep(wait_s)

    task = asyncio.create_task(turns(), name=name)
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
