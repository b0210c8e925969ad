"""The transactions of triggers. A module of its own: a command that lists organizations imports none of it."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import final
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, delete, insert, select, update

from contentsvc_adapters.sql.automation_rows import read_row, row_of, unknown_brand
from contentsvc_adapters.sql.configuration import change_configuration
from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.row_loader import RowLoader
from contentsvc_adapters.sql.schedules import fire, read_due
from contentsvc_adapters.sql.schema.automation import triggers
from contentsvc_adapters.sql.store import SqlStore, is_own, of_organization
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


@final
class TriggerStatements(SqlStore):
    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._rows = RowLoader(database, select(triggers), triggers.c.id)

    async def add(self, trigger: Trigger, *, checks_brand: bool, at_most: int | None) -> Trigger | Refusal:
        """Add a trigger; ``at_most`` is the maximum number of an organization's triggers, ``None`` the usual one."""
        number = MAX_TRIGGERS if at_most is None else at_most
        adding = partial(_add, trigger, checks_brand=checks_brand, at_most=number)
        try:
            await change_configuration(self._database, trigger.organization_id, adding)
        except _Refused as exc:
            return exc.refusal
        return trigger

    async def change(
        self, organization_id: str, trigger_id: str, changes: TriggerChange, *, checks_brand: bool
    ) -> Trigger | Refusal:
        answer: list[Trigger | Refusal] = []

        def run(connection: Connection) -> bool:
            changed = change_trigger(all_triggers(connection, organization_id), trigger_id, changes)
            answer[:] = [changed]
            if isinstance(changed, Refusal):
                return False
            unknown = unknown_brand(connection, organization_id, changed.brand_identity_id)
            if checks_brand and unknown is not None:
                answer[:] = [unknown]
                return False
            changing = update(triggers).where(is_own(triggers, organization_id, trigger_id))
            return connection.execute(changing.values(row_of(changed))).rowcount > 0

        await change_configuration(self._database, organization_id, run)
        return answer[0]

    async def remove(self, organization_id: str, trigger_id: str) -> bool:
        removing = delete(triggers).where(is_own(triggers, organization_id, trigger_id))
        removed = False

        def run(connection: Connection) -> bool:
            nonlocal removed
            gone = connection.execute(removing).rowcount > 0
            removed = removed or gone
            return gone

        await change_configuration(self._database, organization_id, run)
        return removed

    async def trigger(self, organization_id: str, trigger_id: str) -> Trigger | None:
        row = await self._rows.find(organization_id, trigger_id)
        return None if row is None else read_row(Trigger, row)

    async def triggers(self, organization_id: str) -> Sequence[Trigger]:
        return await self._database.read(lambda connection: all_triggers(connection, organization_id))

    async def due(self, now: datetime, *, limit: int, after: DueSchedule | None) -> Sequence[DueSchedule]:
        return await self._database.read(partial(read_due, triggers, now, limit=limit, after=after))

    async def fire(self, firing: Firing) -> bool:
        run = firing.run
        moved = (
            update(triggers)
            .where(
                is_own(triggers, run.organization_id, firing.schedule_id),
                triggers.c.enabled,
                triggers.c.due_at == to_ms(firing.due_at),
            )
            .values(due_at=to_ms(firing.next_due_at), since=to_ms(firing.slot))
        )
        return await self._database.write(partial(fire, self._database.dialect, moved, run))


def _add(trigger: Trigger, connection: Connection, *, checks_brand: bool, at_most: int) -> bool:
    stored = connection.execute(select(triggers).where(triggers.c.id == trigger.id)).first()
    if stored is not None:
        if read_row(Trigger, stored) != trigger:
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


def move_windows(connection: Connection, organization_id: str, now: datetime, zone: ZoneInfo) -> None:
    """Store the ends of an organization's windows in another time zone; the organization's row is locked."""
    for trigger in all_triggers(connection, organization_id):
        changing = update(triggers).where(is_own(triggers, organization_id, trigger.id))
        connection.execute(changing.values(row_of(moved_window(trigger, now, zone))))


def all_triggers(connection: Connection, organization_id: str) -> list[Trigger]:
    return [read_row(Trigger, row) for row in connection.execute(of_organization(triggers, organization_id))]
