from collections.abc import Sequence
from datetime import datetime
from functools import partial
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, Connection, delete, insert, select, update

from contentsvc_adapters.sql.brand_checks import unknown_brand
from contentsvc_adapters.sql.configuration import change_configuration
from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.directory_rows import read_row, row_of
from contentsvc_adapters.sql.row_loader import RowLoader
from contentsvc_adapters.sql.schedules import fire, read_due
from contentsvc_adapters.sql.schema import triggers
from contentsvc_core.errors import Unstorable
from contentsvc_core.refusals import Refusal
from contentsvc_core.timestamps import to_ms
from contentsvc_core.workflows.schedules import DueSchedule, Firing
from contentsvc_core.workflows.triggers import (
    MAX_TRIGGERS,
    Trigger,
    TriggerChange,
    change_trigger,
    moved_window,
    refuse_trigger,
)


class _Refused(Exception):
    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.reason)
        self.refusal = refusal


class SqlTriggers:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._triggers = RowLoader(database, select(triggers), triggers.c.id)

    async def add_trigger(
        self, trigger: Trigger, *, checks_brand: bool = False, at_most: int = MAX_TRIGGERS
    ) -> Trigger | Refusal:
        adding = partial(_add, trigger, checks_brand=checks_brand, at_most=at_most)
        try:
            await change_configuration(self._database, trigger.organization_id, adding)
        except _Refused as exc:
            return exc.refusal
        return trigger

    async def change_trigger(
        self, organization_id: str, trigger_id: str, change: TriggerChange, *, checks_brand: bool = False
    ) -> Trigger | Refusal:
        answer: list[Trigger | Refusal] = []

        def run(connection: Connection) -> bool:
            changed = change_trigger(all_triggers(connection, organization_id), trigger_id, change)
            answer[:] = [changed]
            if isinstance(changed, Refusal):
                return False
            unknown = unknown_brand(connection, organization_id, changed.brand_identity_id)
            if checks_brand and unknown is not None:
                answer[:] = [unknown]
                return False
            changing = update(triggers).where(_is(organization_id, trigger_id))
            return connection.execute(changing.values(row_of(changed))).rowcount > 0

        await change_configuration(self._database, organization_id, run)
        return answer[0]

    async def remove_trigger(self, organization_id: str, trigger_id: str) -> bool:
        removing = delete(triggers).where(_is(organization_id, trigger_id))
        removed = False

        def run(connection: Connection) -> bool:
            nonlocal removed
            gone = connection.execute(removing).rowcount > 0
            removed = removed or gone
            return gone

        await change_configuration(self._database, organization_id, run)
        return removed

    async def trigger(self, organization_id: str, trigger_id: str) -> Trigger | None:
        row = await self._triggers.find(organization_id, trigger_id)
        return None if row is None else read_row(Trigger, row)

    async def triggers(self, organization_id: str) -> Sequence[Trigger]:
        return await self._database.read(lambda connection: all_triggers(connection, organization_id))

    async def due_triggers(
        self, now: datetime, *, limit: int, after: DueSchedule | None = None
    ) -> Sequence[DueSchedule]:
        return await self._database.read(partial(read_due, triggers, now, limit=limit, after=after))

    async def fire_trigger(self, firing: Firing) -> bool:
        run = firing.run
        moved = (
            update(triggers)
            .where(
                _is(run.organization_id, firing.schedule_id),
                triggers.c.enabled,
                triggers.c.due_at == to_ms(firing.due_at),
            )
            .values(due_at=to_ms(firing.next_due_at), since=to_ms(firing.slot))
        )
        return await self._database.write(partial(fire, self._database.dialect, moved, run))


def move_windows(connection: Connection, organization_id: str, now: datetime, zone: ZoneInfo) -> None:
    """Store the ends of an organization's windows in another time zone; the organization's row is locked."""
    for trigger in all_triggers(connection, organization_id):
        changing = update(triggers).where(_is(organization_id, trigger.id))
        connection.execute(changing.values(row_of(moved_window(trigger, now, zone))))


def _is(organization_id: str, trigger_id: str) -> ColumnElement[bool]:
    return (triggers.c.organization_id == organization_id) & (triggers.c.id == trigger_id)


def _add(trigger: Trigger, connection: Connection, *, checks_brand: bool, at_most: int) -> bool:
    standing = connection.execute(select(triggers).where(triggers.c.id == trigger.id)).first()
    if standing is not None:
        if read_row(Trigger, standing) != trigger:
            message = f"'{trigger.id}' is the id of another one"
            raise Unstorable(message)
        return False
    refused = refuse_trigger(all_triggers(connection, trigger.organization_id), trigger, at_most=at_most)
    if refused is None and checks_brand:
        refused = unknown_brand(connection, trigger.organization_id, trigger.brand_identity_id)
    if refused is not None:
        raise _Refused(refused)
    connection.execute(insert(triggers), row_of(trigger))
    return True


def all_triggers(connection: Connection, organization_id: str) -> list[Trigger]:
    mine = select(triggers).where(triggers.c.organization_id == organization_id)
    return [read_row(Trigger, row) for row in connection.execute(mine.order_by(triggers.c.created_at, triggers.c.id))]
