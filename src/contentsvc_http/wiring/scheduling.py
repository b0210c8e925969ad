import contextlib
from collections.abc import AsyncGenerator, Callable
from typing import Final

import structlog

from contentsvc_core.ports import Clock
from contentsvc_core.usecases.edit import Publisher
from contentsvc_core.usecases.schedule import Scheduler
from contentsvc_http.wiring.periodic import every

#: The longest time between two reads of the schedules, in seconds: the system's clock may be set meanwhile.
_LOOK_EVERY_S: Final = 15.0
#: The wait after a read that failed, in seconds.
_AGAIN_AFTER_S: Final = 2.0
#: A slot is a whole minute.
_SLOT_S: Final = 60.0
_LOG: Final = structlog.get_logger("contentsvc")


@contextlib.asynccontextmanager
async def scheduling(
    scheduler: Scheduler, publisher: Publisher, clock: Clock, *, notify: Callable[[], None]
) -> AsyncGenerator[None]:
    """Publish due posts and fire due schedules as their slots begin; ``notify`` is called after runs were stored."""

    async def turn() -> None:
        published = await publisher.turn()
        if published:
            _LOG.info("scheduled posts published", posts=published)
        started = await scheduler.turn()
        if started:
            _LOG.info("schedules fired", runs=started)
            notify()

    def until_the_next() -> float:
        return min(_LOOK_EVERY_S, _SLOT_S - clock.now().timestamp() % _SLOT_S)

    async with every(turn, "schedules", every_s=until_the_next, after_fault_s=_AGAIN_AFTER_S, first_after_s=0.2):
        yield
