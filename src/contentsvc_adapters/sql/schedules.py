"""The schedules, and the runs that they start.

Each change of an organization's schedules locks the organization's row first, so that changes and firings are
serialized. The version in that row stays the same, because no decision on deliveries uses schedules.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, final

import msgspec
from sqlalchemy import Connection, delete, exists, insert, select, tuple_, update

from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.directory_rows import style_column, style_of
from contentsvc_adapters.sql.row import AnyRow, json_of
from contentsvc_adapters.sql.runs import start
from contentsvc_adapters.sql.schema import organizations, schedules, workflow_runs
from contentsvc_adapters.sql.speakers import unknown_brand
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.windows import Lookback
from contentsvc_core.errors import Unstorable
from contentsvc_core.refusals import Refusal, too_many
from contentsvc_core.timestamps import from_ms, to_ms
from contentsvc_core.workflows.schedules import (
    DUPLICATE_SCHEDULE,
    MAX_SCHEDULES,
    UNKNOWN_SCHEDULE,
    DueSchedule,
    Firing,
    Schedule,
)
from contentsvc_core.workflows.slots import cron_body, cron_of


@final
class SqlSchedules:
    """The schedules."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(
        self, schedule: Schedule, *, checks_brand: bool = False, at_most: int = MAX_SCHEDULES
    ) -> Schedule | Refusal:
        def add(connection: Connection) -> Schedule | Refusal:
            _lock(connection, schedule.organization_id)
            others = [each for each in all_schedules(connection, schedule.organization_id) if each.id != schedule.id]
            if _is_among(others, schedule):
                return DUPLICATE_SCHEDULE
            standing = connection.execute(select(schedules).where(schedules.c.id == schedule.id)).first()
            if standing is not None:
                if _schedule(standing) != schedule:
                    message = f"'{schedule.id}' is the id of another one"
                    raise Unstorable(message)
                # The same schedule again, after an unknown outcome.
                return schedule
            if len(others) >= at_most:
                return too_many("schedules", at_most)
            unknown = unknown_brand(connection, schedule.organization_id, schedule.brand_identity_id)
            if checks_brand and unknown is not None:
                return unknown
            connection.execute(insert(schedules), _row(schedule))
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
        checks_brand: bool = False,
    ) -> Schedule | Refusal:
        def run(connection: Connection) -> Schedule | Refusal:
            if not _lock(connection, organization_id, may_miss=True):
                return UNKNOWN_SCHEDULE
            standing = _one(connection, organization_id, schedule_id)
            if standing is None:
                return UNKNOWN_SCHEDULE
            changed = change(standing)
            if _is_among(all_schedules(connection, organization_id), changed):
                return DUPLICATE_SCHEDULE
            unknown = unknown_brand(connection, organization_id, changed.brand_identity_id)
            if checks_brand and unknown is not None:
                return unknown
            put_schedule(connection, changed)
            return changed

        return await self._database.write(run)

    async def remove(self, organization_id: str, schedule_id: str) -> bool:
        mine = (schedules.c.organization_id == organization_id) & (schedules.c.id == schedule_id)
        removed = False

        def remove(connection: Connection) -> bool:
            nonlocal removed
            # Waits for a concurrent firing: its run exists afterwards, or never will.
            _lock(connection, organization_id, may_miss=True)
            gone = connection.execute(delete(schedules).where(mine)).rowcount > 0
            # If the transaction runs again after an unknown outcome, the schedule may be deleted already.
            removed = removed or gone
            return removed

        return await self._database.write(remove)

    async def due(self, now: datetime, *, limit: int, after: DueSchedule | None = None) -> Sequence[DueSchedule]:
        """Read the due schedules.

        Each one's content is read separately, so that a faulty one does not hold up the others.
        """
        query = (
            select(schedules.c.id, schedules.c.organization_id, schedules.c.due_at)
            .where(schedules.c.due_at <= to_ms(now), schedules.c.enabled)
            .order_by(schedules.c.due_at, schedules.c.id)
            .limit(limit)
        )
        if after is not None:
            query = query.where(tuple_(schedules.c.due_at, schedules.c.id) > (to_ms(after.due_at), after.id))
        found = await self._database.read(lambda connection: connection.execute(query).all())
        return [
            DueSchedule(id=row.id, organization_id=row.organization_id, due_at=from_ms(row.due_at)) for row in found
        ]

    async def fire(self, firing: Firing) -> bool:
        """Store a run and move its schedule to the next slot; the condition on the due time decides which one fires."""
        run = firing.run
        moved = (
            update(schedules)
            .where(
                schedules.c.id == firing.schedule_id,
                schedules.c.organization_id == run.organization_id,
                schedules.c.enabled,
                schedules.c.due_at == to_ms(firing.due_at),
            )
            .values(due_at=to_ms(firing.next_due_at), last_slot=to_ms(firing.slot))
        )

        def fire(connection: Connection) -> bool:
            if not _lock(connection, run.organization_id, may_miss=True):
                return False
            if not connection.execute(moved).rowcount:
                # True if this firing has moved the schedule before: then its run exists.
                return bool(connection.scalar(select(exists().where(workflow_runs.c.id == run.id))))
            start(connection, self._database.dialect, run)
            return True

        return await self._database.write(fire)


def _lock(connection: Connection, organization_id: str, *, may_miss: bool = False) -> bool:
    """Lock out other changes of an organization until the transaction ends; False: it does not exist.

    Raises:
        Unstorable: The organization does not exist, and ``may_miss`` is false.
    """
    # Written with its own value: a SELECT would not lock out other writers, and the version must stay the same.
    standing = update(organizations).where(organizations.c.id == organization_id)
    locked = connection.execute(standing.values(version=organizations.c.version)).rowcount > 0
    if not locked and not may_miss:
        message = f"there is no organization '{organization_id}'"
        raise Unstorable(message)
    return locked


def all_schedules(connection: Connection, organization_id: str) -> list[Schedule]:
    """Read an organization's schedules, oldest first."""
    query = (
        select(schedules)
        .where(schedules.c.organization_id == organization_id)
        .order_by(schedules.c.created_at, schedules.c.id)
    )
    return [_schedule(row) for row in connection.execute(query)]


def _one(connection: Connection, organization_id: str, schedule_id: str) -> Schedule | None:
    query = select(schedules).where(schedules.c.organization_id == organization_id, schedules.c.id == schedule_id)
    found = connection.execute(query).first()
    return None if found is None else _schedule(found)


def _is_among(standing: Sequence[Schedule], schedule: Schedule) -> bool:
    """Return whether another schedule does the same.

    Compared in Python: schedules are few, and the core has the rule.
    """
    return any(each.id != schedule.id and each.does_the_same_as(schedule) for each in standing)


def put_schedule(connection: Connection, schedule: Schedule) -> None:
    """Store a changed schedule."""
    connection.execute(update(schedules).where(schedules.c.id == schedule.id).values(_row(schedule)))


def _row(schedule: Schedule) -> dict[str, Any]:
    return {
        "id": schedule.id,
        "organization_id": schedule.organization_id,
        "name": schedule.name,
        "enabled": schedule.enabled,
        "cron": json_of(cron_body(schedule.cron)),
        "repository_ids": json_of(schedule.repository_ids),
        "output_type": schedule.output_type.value,
        "brand_identity_id": schedule.brand_identity_id,
        "auto_publish": schedule.auto_publish,
        "house_style": style_column(schedule.house_style),
        "lookback": schedule.lookback.value,
        "created_at": to_ms(schedule.created_at),
        "updated_at": to_ms(schedule.updated_at),
        "due_at": None if schedule.due_at is None else to_ms(schedule.due_at),
        "last_slot": None if schedule.last_slot is None else to_ms(schedule.last_slot),
    }


def _schedule(row: AnyRow) -> Schedule:
    return Schedule(
        id=row.id,
        organization_id=row.organization_id,
        name=row.name,
        cron=cron_of(msgspec.json.decode(row.cron)),
        repository_ids=msgspec.json.decode(row.repository_ids),
        output_type=ContentType(row.output_type),
        brand_identity_id=row.brand_identity_id,
        enabled=row.enabled,
        auto_publish=row.auto_publish,
        house_style=style_of(row.house_style),
        lookback=Lookback(row.lookback),
        created_at=from_ms(row.created_at),
        updated_at=from_ms(row.updated_at),
        due_at=None if row.due_at is None else from_ms(row.due_at),
        last_slot=None if row.last_slot is None else from_ms(row.last_slot),
    )
