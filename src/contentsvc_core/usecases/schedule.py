"""The scheduler: fires due schedules."""

from collections.abc import Callable
from typing import Final, final

from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.ports import Clock, Directory, IdSource, Schedules
from contentsvc_core.workflows.causes import sources_of
from contentsvc_core.workflows.schedules import DueSchedule, firing

#: The number of due schedules in one read.
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
        """Create the scheduler over the ports.

        ``on_fault`` is called with the fault of a schedule that could not fire: other schedules fire, and this one is
        tried again. ``at_once`` is the number of due schedules in one read.
        """
        self._schedules = schedules
        self._directory = directory
        self._clock = clock
        self._ids = ids
        self._on_fault = on_fault
        self._at_once = at_once

    async def turn(self) -> int:
        """Fire every schedule that is due, each once; return the number of runs started here.

        Raises:
            StoreUnavailable: Try again later; due schedules stay due.
        """
        started = 0
        last: DueSchedule | None = None
        while True:
            # Starts after the last one: schedules that cannot fire stay in the list.
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
        # Concurrent processes may read the same due time, but only one of them fires the schedule.
        return fired is not None and await self._schedules.fire(fired)
