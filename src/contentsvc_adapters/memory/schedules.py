from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import final
from zoneinfo import ZoneInfo

from attrs import evolve

from contentsvc_adapters.memory.state import MemoryStore, of_organization, own, refuse_another, refuse_unstorable
from contentsvc_core.refusals import Refusal
from contentsvc_core.workflows.schedules import (
    MAX_SCHEDULES,
    UNKNOWN_SCHEDULE,
    ZONE_CHANGED,
    DueSchedule,
    Firing,
    Schedule,
    refuse_schedule,
)
from contentsvc_core.workflows.triggers import Trigger


@final
class MemorySchedules(MemoryStore):
    async def add(
        self,
        schedule: Schedule,
        *,
        zone: ZoneInfo | None = None,
        checks_brand: bool = False,
        at_most: int = MAX_SCHEDULES,
    ) -> Schedule | Refusal:
        refuse_unstorable(schedule)
        self._state.refuse_stranger(schedule.organization_id)
        if zone not in {None, self._zone(schedule.organization_id)}:
            return ZONE_CHANGED
        if refuse_another(self._state.schedules, schedule):
            return schedule
        refused = refuse_schedule(await self.schedules(schedule.organization_id), schedule, at_most=at_most)
        if refused is not None:
            return refused
        unknown = self._state.unknown_brand(schedule.organization_id, schedule.brand_identity_id)
        if checks_brand and unknown is not None:
            return unknown
        self._state.schedules[schedule.id] = schedule
        return schedule

    async def schedule(self, organization_id: str, schedule_id: str) -> Schedule | None:
        return own(self._state.schedules, organization_id, schedule_id)

    async def schedules(self, organization_id: str) -> Sequence[Schedule]:
        return of_organization(self._state.schedules.values(), organization_id, newest_first=False)

    async def change(
        self,
        organization_id: str,
        schedule_id: str,
        change: Callable[[Schedule], Schedule],
        *,
        zone: ZoneInfo | None = None,
        checks_brand: bool = False,
    ) -> Schedule | Refusal:
        stored = await self.schedule(organization_id, schedule_id)
        if stored is None:
            return UNKNOWN_SCHEDULE
        if zone not in {None, self._zone(organization_id)}:
            return ZONE_CHANGED
        changed = change(stored)
        refuse_unstorable(changed)
        refused = refuse_schedule(await self.schedules(organization_id), changed)
        if refused is not None:
            return refused
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
        return due_among(self._state.schedules.values(), now, limit, after)

    async def fire(self, firing: Firing) -> bool:
        refuse_unstorable(firing)
        run = firing.run
        stored = await self.schedule(run.organization_id, firing.schedule_id)
        is_due = stored is not None and stored.due_at == firing.due_at
        if stored is None or not is_due or self._zone(run.organization_id) != firing.zone:
            # A retry after an unknown outcome: if the run exists, this firing has moved the schedule.
            return run.id in self._state.runs
        self._state.schedules[stored.id] = evolve(stored, due_at=firing.next_due_at, last_slot=firing.slot)
        self._state.put_run(run)
        return True

    def _zone(self, organization_id: str) -> ZoneInfo:
        return self._state.organizations[organization_id].time_zone


def due_among(
    values: Iterable[Schedule | Trigger], now: datetime, limit: int, after: DueSchedule | None
) -> list[DueSchedule]:
    waiting = sorted(
        (schedule.due_at, schedule.id, schedule.organization_id)
        for schedule in values
        if schedule.due_at is not None
        and schedule.due_at <= now
        and (after is None or (schedule.due_at, schedule.id) > (after.due_at, after.id))
    )
    return [
        DueSchedule(id=id_, organization_id=organization_id, due_at=due_at)
        for due_at, id_, organization_id in waiting[:limit]
    ]
