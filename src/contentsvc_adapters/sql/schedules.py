"""The schedules, and the runs that they start.

Each change of an organization's schedules locks the organization's row first, so that changes and firings are
serialized. The version in that row stays the same, because no decision on deliveries uses schedules.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import final
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, Table, Update, delete, exists, insert, select, tuple_, update

from contentsvc_adapters.sql.automation_rows import read_row, row_of, unknown_brand
from contentsvc_adapters.sql.configuration import lock_organization
from contentsvc_adapters.sql.dialects import Dialect
from contentsvc_adapters.sql.runs import start
from contentsvc_adapters.sql.schema.automation import schedules
from contentsvc_adapters.sql.schema.directory import organizations
from contentsvc_adapters.sql.schema.work import workflow_runs
from contentsvc_adapters.sql.store import SqlStore, is_own, of_organization
from contentsvc_core.errors import Unstorable
from contentsvc_core.refusals import Refusal
from contentsvc_core.timestamps import from_ms, to_ms
from contentsvc_core.workflows.runs import WorkflowRun
from contentsvc_core.workflows.schedules import (
    MAX_SCHEDULES,
    UNKNOWN_SCHEDULE,
    ZONE_CHANGED,
    DueSchedule,
    Firing,
    Schedule,
    moved,
    refuse_schedule,
)


@final
class SqlSchedules(SqlStore):
    async def add(
        self,
        schedule: Schedule,
        *,
        zone: ZoneInfo | None = None,
        checks_brand: bool = False,
        at_most: int = MAX_SCHEDULES,
    ) -> Schedule | Refusal:
        def add(connection: Connection) -> Schedule | Refusal:
            if zone not in {None, lock_organization(connection, schedule.organization_id)}:
                return ZONE_CHANGED
            stored = connection.execute(select(schedules).where(schedules.c.id == schedule.id)).first()
            if stored is not None:
                if read_row(Schedule, stored) != schedule:
                    message = f"'{schedule.id}' is the id of another one"
                    raise Unstorable(message)
                return schedule
            others = all_schedules(connection, schedule.organization_id)
            refused = refuse_schedule(others, schedule, at_most=at_most)
            if refused is not None:
                return refused
            unknown = unknown_brand(connection, schedule.organization_id, schedule.brand_identity_id)
            if checks_brand and unknown is not None:
                return unknown
            connection.execute(insert(schedules), row_of(schedule))
            return schedule

        return await self._database.write(add)

    async def schedule(self, organization_id: str, schedule_id: str) -> Schedule | None:
        return await self._database.read(lambda connection: _one(connection, organization_id, schedule_id))

    async def schedules(self, organization_id: str) -> Sequence[Schedule]:
        return await self._database.read(lambda connection: all_schedules(connection, organization_id))

    async def change(
        self,
        organization_id: str,
        schedule_id: str,
        change: Callable[[Schedule], Schedule],
        *,
        zone: ZoneInfo | None = None,
        checks_brand: bool = False,
    ) -> Schedule | Refusal:
        def run(connection: Connection) -> Schedule | Refusal:
            locked = lock_organization(connection, organization_id, may_miss=True)
            if locked is None:
                return UNKNOWN_SCHEDULE
            if zone not in {None, locked}:
                return ZONE_CHANGED
            stored = _one(connection, organization_id, schedule_id)
            if stored is None:
                return UNKNOWN_SCHEDULE
            changed = change(stored)
            refused = refuse_schedule(all_schedules(connection, organization_id), changed)
            if refused is not None:
                return refused
            unknown = unknown_brand(connection, organization_id, changed.brand_identity_id)
            if checks_brand and unknown is not None:
                return unknown
            put_schedule(connection, changed)
            return changed

        return await self._database.write(run)

    async def remove(self, organization_id: str, schedule_id: str) -> bool:
        own = is_own(schedules, organization_id, schedule_id)
        removed = False

        def remove(connection: Connection) -> bool:
            nonlocal removed
            # Waits for a concurrent firing: its run exists afterwards, or never will.
            lock_organization(connection, organization_id, may_miss=True)
            gone = connection.execute(delete(schedules).where(own)).rowcount > 0
            removed = removed or gone
            return removed

        return await self._database.write(remove)

    async def due(self, now: datetime, *, limit: int, after: DueSchedule | None = None) -> Sequence[DueSchedule]:
        """Read the due schedules; each content separately, so that a faulty one does not hold up the others."""
        return await self._database.read(partial(read_due, schedules, now, limit=limit, after=after))

    async def fire(self, firing: Firing) -> bool:
        run = firing.run
        zone = select(organizations.c.time_zone).where(organizations.c.id == run.organization_id).scalar_subquery()
        moving = (
            update(schedules)
            .where(
                is_own(schedules, run.organization_id, firing.schedule_id),
                schedules.c.enabled,
                schedules.c.due_at == to_ms(firing.due_at),
                zone == firing.zone.key,
            )
            .values(due_at=to_ms(firing.next_due_at), last_slot=to_ms(firing.slot))
        )
        return await self._database.write(partial(fire, self._database.dialect, moving, run))


def read_due(
    table: Table, now: datetime, connection: Connection, *, limit: int, after: DueSchedule | None
) -> list[DueSchedule]:
    query = (
        select(table.c.id, table.c.organization_id, table.c.due_at)
        .where(table.c.due_at <= to_ms(now), table.c.enabled)
        .order_by(table.c.due_at, table.c.id)
        .limit(limit)
    )
    if after is not None:
        query = query.where(tuple_(table.c.due_at, table.c.id) > (to_ms(after.due_at), after.id))
    return [
        DueSchedule(id=row.id, organization_id=row.organization_id, due_at=from_ms(row.due_at))
        for row in connection.execute(query)
    ]


def fire(dialect: Dialect, moving: Update, run: WorkflowRun, connection: Connection) -> bool:
    """Move a due schedule or trigger and start its run, if ``moving`` still applies."""
    if not lock_organization(connection, run.organization_id, may_miss=True):
        return False
    if not connection.execute(moving).rowcount:
        # True if this firing has moved it before: then its run exists.
        return bool(connection.scalar(select(exists().where(workflow_runs.c.id == run.id))))
    start(connection, dialect, run)
    return True


def all_schedules(connection: Connection, organization_id: str) -> list[Schedule]:
    return [read_row(Schedule, row) for row in connection.execute(of_organization(schedules, organization_id))]


def _one(connection: Connection, organization_id: str, schedule_id: str) -> Schedule | None:
    row = connection.execute(select(schedules).where(is_own(schedules, organization_id, schedule_id))).first()
    return None if row is None else read_row(Schedule, row)


def move_schedules(connection: Connection, organization_id: str, now: datetime, zone: ZoneInfo) -> None:
    """Store the slots of an organization's schedules in another time zone; the organization's row is locked."""
    for schedule in all_schedules(connection, organization_id):
        put_schedule(connection, moved(schedule, now, zone))


def put_schedule(connection: Connection, schedule: Schedule) -> None:
    connection.execute(update(schedules).where(schedules.c.id == schedule.id).values(row_of(schedule)))
