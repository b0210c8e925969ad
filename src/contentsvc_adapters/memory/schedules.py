"""The memory store of schedules."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import final

from attrs import evolve

from contentsvc_adapters.memory.state import State, of_organization, refuse_unstorable
from contentsvc_core.errors import Unstorable
from contentsvc_core.refusals import Refusal, too_many
from contentsvc_core.workflows.schedules import (
    DUPLICATE_SCHEDULE,
    MAX_SCHEDULES,
    UNKNOWN_SCHEDULE,
    DueSchedule,
    Firing,
    Schedule,
)


@final
class MemorySchedules:
    def __init__(self, state: State) -> None:
        self._state = state

    async def add(
        self, schedule: Schedule, *, checks_brand: bool = False, at_most: int = MAX_SCHEDULES
    ) -> Schedule | Refusal:
        refuse_unstorable(schedule)
        self._state.refuse_stranger(schedule.organization_id)
        if self._is_duplicate(schedule):
            return DUPLICATE_SCHEDULE
        standing = self._state.schedules.get(schedule.id)
        if standing is not None:
            if standing != schedule:
                message = f"'{schedule.id}' is the id of another one"
                raise Unstorable(message)
            return schedule
        if len(await self.schedules(schedule.organization_id)) >= at_most:
            return too_many("schedules", at_most)
        unknown = self._state.unknown_brand(schedule.organization_id, schedule.brand_identity_id)
        if checks_brand and unknown is not None:
            return unknown
        self._state.schedules[schedule.id] = schedule
        return schedule

    async def schedule(self, organization_id: str, schedule_id: str) -> Schedule | None:
        found = self._state.schedules.get(schedule_id)
        return found if found is not None and found.organization_id == organization_id else None

    async def schedules(self, organization_id: str) -> Sequence[Schedule]:
        return of_organization(self._state.schedules.values(), organization_id, newest_first=False)

    async def change(
        self,
        organization_id: str,
        schedule_id: str,
        change: Callable[[Schedule], Schedule],
        *,
        checks_brand: bool = False,
    ) -> Schedule | Refusal:
        standing = await self.schedule(organization_id, schedule_id)
        if standing is None:
            return UNKNOWN_SCHEDULE
        changed = change(standing)
        refuse_unstorable(changed)
        if self._is_duplicate(changed):
            return DUPLICATE_SCHEDULE
        unknown = self._state.unknown_brand(organization_id, changed.brand_identity_id)
        if checks_brand and unknown is not None:
            return unknown
        self._state.schedules[schedule_id] = changed
        return changed

    async def remove(self, organization_id: str, schedule_id: str) -> bool:
        if await self.schedule(organization_id, schedule_id) is None:
            return False
        del self._state.schedules[schedule_id]
        return True

    async def due(self, now: datetime, *, limit: int, after: DueSchedule | None = None) -> Sequence[DueSchedule]:
        waiting = sorted(
            (each.due_at, each.id, each.organization_id)
            for each in self._state.schedules.values()
            if each.due_at is not None
            and each.due_at <= now
            and (after is None or (each.due_at, each.id) > (after.due_at, after.id))
        )
        return [
            DueSchedule(id=id_, organization_id=organization_id, due_at=due_at)
            for due_at, id_, organization_id in waiting[:limit]
        ]

    async def fire(self, firing: Firing) -> bool:
        refuse_unstorable(firing)
        run = firing.run
        standing = await self.schedule(run.organization_id, firing.schedule_id)
        if standing is None or standing.due_at != firing.due_at:
            # A retry after an unknown outcome: if the run exists, this firing has moved the schedule.
            return run.id in self._state.runs
        self._state.schedules[standing.id] = evolve(standing, due_at=firing.next_due_at, last_slot=firing.slot)
        self._state.put_run(run)
        return True

    def _is_duplicate(self, schedule: Schedule) -> bool:
        return any(
            each.id != schedule.id and each.does_the_same_as(schedule) for each in self._state.schedules.values()
        )
