import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable

from contentsvc_adapters.pacing import Notifier, Pacer
from contentsvc_http.wiring.faults import log_fault


@contextlib.asynccontextmanager
async def every(
    turn: Callable[[], Awaitable[object]],
    name: str,
    *,
    every_s: float | Callable[[], float],
    after_fault_s: float,
    first_after_s: float,
    rarely_s: float | None = None,
    writes: Notifier | None = None,
) -> AsyncGenerator[None]:
    """Run ``turn`` periodically until the end of the block; a failed turn is logged, and the next one continues.

    ``turn`` returns whether there may be more. Pauses grow up to ``rarely_s``, and a write of this process ends them.
    ``first_after_s`` differs from loop to loop: first turns compile statements, and deliveries wait meanwhile.
    """
    shortest_s = 0.0 if callable(every_s) else every_s
    pacer = Pacer(shortest_s, shortest_s if rarely_s is None else rarely_s)
    if writes is not None:
        writes.listen(pacer.expect)

    async def turns() -> None:
        await asyncio.sleep(first_after_s)
        while True:
            pacer.begin()
            try:
                has_worked = bool(await turn())
            except Exception as exc:  # noqa: BLE001  # the next turn tries again
                log_fault(exc)
                await asyncio.sleep(after_fault_s)
            else:
                await (asyncio.sleep(every_s()) if callable(every_s) else pacer.wait(found=has_worked))

    task = asyncio.create_task(turns(), name=name)
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
