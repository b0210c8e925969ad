from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Final, Protocol, final

from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.ports import Clock, Directory, IdSource, Schedules
from contentsvc_core.usecases.zones import zone_of
from contentsvc_core.workflows.batches import batch_firing
from contentsvc_core.workflows.causes import sources_of
from contentsvc_core.workflows.schedules import DueSchedule, firing

BATCH_SIZE: Final = 100


class _Due(Protocol):
    async def __call__(
        self, now: datetime, /, *, limit: int, after: DueSchedule | None = None
    ) -> Sequence[DueSchedule]: ...


@final
class Scheduler:
    """Fires due schedules and triggers; safe to call at any time, from any number of processes: each fires once."""

    def __init__(
        self,
        schedules: Schedules,
        directory: Directory,
        clock: Clock,
        ids: IdSource,
        *,
        on_fault: Callable[[Exception], None],
        batch_size: int = BATCH_SIZE,
    ) -> None:
        """``on_fault`` is called with the fault of a schedule that could not fire: it is tried again."""
        self._schedules = schedules
        self._directory = directory
        self._clock = clock
        self._ids = ids
        self._on_fault = on_fault
        self._batch_size = batch_size

    async def turn(self) -> int:
        return await self._all(self._schedules.due, self._fire) + await self._all(
            self._directory.due_triggers, self._fire_trigger
        )

    async def _all(self, due_of: _Due, fire: Callable[[DueSchedule], Awaitable[bool]]) -> int:
        started = 0
        last: DueSchedule | None = None
        while True:
            # Starts after the last one: what cannot fire stays in the list.
            due = await due_of(self._clock.now(), limit=self._batch_size, after=last)
            for each in due:
                try:
                    started += await fire(each)
                except StoreUnavailable:
                    raise
                except Exception as exc:  # noqa: BLE001  # an unreadable schedule must not stop the others
                    self._on_fault(exc)
            if len(due) < self._batch_size:
                return started
            last = due[-1]

    async def _fire_trigger(self, due: DueSchedule) -> bool:
        trigger = await self._directory.trigger(due.organization_id, due.id)
        if trigger is None:
            return False
        sources = sources_of(await self._directory.integrations(trigger.organization_id))
        zone = await zone_of(self._directory, trigger.organization_id)
        fired = batch_firing(trigger, self._clock.now(), zone, sources=sources, run_id=self._ids.new_id(""))
        return fired is not None and await self._directory.fire_trigger(fired)

    async def _fire(self, due: DueSchedule) -> bool:
        schedule = await self._schedules.schedule(due.organization_id, due.id)
        if schedule is None:
            return False
        connected = sources_of(await self._directory.integrations(schedule.organization_id))
        sources = [source for source in connected if source.repository_id in schedule.repository_ids]
        organization = await self._directory.organization_of(schedule.organization_id)
        if organization is None:
            return False
        fired = firing(
            schedule, self._clock.now(), organization.time_zone, sources=sources, run_id=self._ids.new_id("")
        )
        return fired is not None and await self._schedules.fire(fired)
