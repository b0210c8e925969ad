"""The scheduler: fires the schedules whose time has come."""

from collections.abc import Callable
from typing import Final, final

from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.ports import Clock, Directory, IdSource, Schedules
from contentsvc_core.workflows.causes import sources_of
from contentsvc_core.workflows.schedules import DueSchedule, firing

#: How many due schedules are read at once.
AT_ONCE: Final = 100


@final
class Scheduler:
    """Fires due schedules; safe to call at any time, from any number of processes: each slot fires once."""

    def __init__(
        self,
        schedules: Schedules,
        directory: Directory,
        clock: Clock,
        ids: IdSource,
        *,
        on_fault: Callable[[Exception], None],
        at_once: int = AT_ONCE,
    ) -> None:
        """Take the ports.

        Args:
            schedules: What is to fire.
            directory: What is connected, as it is when a schedule fires.
            clock: The time.
            ids: Makes the ids of runs.
            on_fault: Is told why a schedule could not fire: the others do, and it is tried again.
            at_once: How many due schedules are read at once.
        """
        self._schedules = schedules
        self._directory = directory
        self._clock = clock
        self._ids = ids
        self._on_fault = on_fault
        self._at_once = at_once

    async def turn(self) -> int:
        """Fire every schedule that is due, each once; give how many runs were started here.

        Raises:
            StoreUnavailable: Try again later; what was due is due still.
        """
        started = 0
        last: DueSchedule | None = None
        while True:
            # Behind the last one, and not from the beginning: those that cannot fire stay where they are.
            due = await self._schedules.due(self._clock.now(), limit=self._at_once, after=last)
            for each in due:
                try:
                    started += await self._fire(each)
                except StoreUnavailable:
                    raise
                except Exception as exc:  # noqa: BLE001  # one that nobody can read must not hold up the others
                    self._on_fault(exc)
            if len(due) < self._at_once:
                return started
            last = due[-1]

    async def _fire(self, due: DueSchedule) -> bool:
        schedule = await self._schedules.schedule(due.organization_id, due.id)
        if schedule is None:
            return False
        connected = sources_of(await self._directory.integrations(schedule.organization_id))
        sources = [source for source in connected if source.repository_id in schedule.repository_ids]
        fired = firing(schedule, self._clock.now(), sources=sources, run_id=self._ids.mint(""))
        # Whoever else looks at the same moment has read the same time, and one of us moves it on.
        return fired is not None and await self._schedules.fire(fired)
