"""The triggers and schedules, and the runs that they start.

Each change locks the organization's row first, so that changes and firings of one organization are serialized.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final, Generic, TypeVar, final
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, Table, delete, exists, insert, select, tuple_, update

from contentsvc_adapters.sql import row as plain
from contentsvc_adapters.sql.automation_rows import read_row, row_of
from contentsvc_adapters.sql.configuration import lock_organization, raise_version
from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.row_loader import RowLoader
from contentsvc_adapters.sql.runs import start
from contentsvc_adapters.sql.schema.automation import brand_identities, schedules, triggers
from contentsvc_adapters.sql.schema.work import workflow_runs
from contentsvc_adapters.sql.store import SqlStore, is_own, of_organization, writing, writing_once
from contentsvc_core.content.brand import no_such_brand
from contentsvc_core.errors import Unstorable
from contentsvc_core.refusals import Refusal
from contentsvc_core.timestamps import to_ms
from contentsvc_core.workflows.automations import (
    DueAutomation,
    Firing,
    as_it_is,
    changed_automation,
    refuse_addition,
)
from contentsvc_core.workflows.removals import Removal, Removed
from contentsvc_core.workflows.schedules import Schedule
from contentsvc_core.workflows.triggers import Trigger

_Automation = TypeVar("_Automation", Trigger, Schedule)

_TABLES: Final[dict[type[Any], Table]] = {Trigger: triggers, Schedule: schedules}


@final
class SqlAutomations(SqlStore, Generic[_Automation]):
    def __init__(self, database: Database, kind: type[_Automation]) -> None:
        super().__init__(database)
        self._kind = kind
        self._table = _TABLES[kind]
        self._rows = RowLoader(database, select(self._table), self._table.c.id, partial(read_row, kind))

    @writing
    def add(
        self,
        connection: Connection,
        automation: _Automation,
        *,
        timed: Callable[[_Automation, ZoneInfo], _Automation | Refusal] = as_it_is,
        checks_brand: bool = False,
        at_most: int | None = None,
    ) -> _Automation | Refusal:
        owner = automation.organization_id
        zone = lock_organization(connection, owner)
        stored = connection.execute(select(self._table).where(self._table.c.id == automation.id)).first()
        if stored is not None:
            if stored.organization_id != owner:
                raise Unstorable.of_another(automation.id)
            return read_row(self._kind, stored)
        new = timed(automation, zone)
        if isinstance(new, Refusal):
            return new
        refused = refuse_addition(_all_of(connection, self._kind, owner), new, at_most=at_most)
        if refused is None and checks_brand:
            refused = _unknown_brand(connection, new)
        if refused is not None:
            return refused
        connection.execute(insert(self._table), row_of(new))
        self._raise_version(connection, owner)
        return new

    async def find(self, organization_id: str, automation_id: str) -> _Automation | None:
        return await self._rows.find(organization_id, automation_id)

    async def all_of(self, organization_id: str) -> Sequence[_Automation]:
        return await self._database.read(lambda connection: _all_of(connection, self._kind, organization_id))

    @writing
    def change(
        self,
        connection: Connection,
        organization_id: str,
        automation_id: str,
        change: Callable[[_Automation, ZoneInfo], _Automation | Refusal],
        *,
        checks_brand: bool = False,
    ) -> _Automation | Refusal:
        zone = lock_organization(connection, organization_id, may_miss=True)
        existing = _all_of(connection, self._kind, organization_id)
        changed = changed_automation(self._kind, existing, automation_id, lambda each: change(each, zone))
        if isinstance(changed, Refusal):
            return changed
        unknown = _unknown_brand(connection, changed) if checks_brand else None
        if unknown is not None:
            return unknown
        _put(connection, changed)
        self._raise_version(connection, organization_id)
        return changed

    @writing_once
    def remove(self, connection: Connection, organization_id: str, automation_id: str) -> bool:
        removing = delete(self._table).where(is_own(self._table, organization_id, automation_id))
        # Waits for a concurrent firing: its run exists afterwards, or never will.
        lock_organization(connection, organization_id, may_miss=True)
        if not connection.execute(removing).rowcount:
            return False
        self._raise_version(connection, organization_id)
        return True

    async def due(self, now: datetime, *, limit: int, after: DueAutomation | None = None) -> Sequence[DueAutomation]:
        """Read the due automations; each content separately, so that a faulty one does not hold up the others."""
        columns = self._table.c
        query = (
            select(columns.id, columns.organization_id, columns.due_at)
            .where(columns.due_at <= to_ms(now), columns.enabled)
            .order_by(columns.due_at, columns.id)
            .limit(limit)
        )
        if after is not None:
            query = query.where(tuple_(columns.due_at, columns.id) > (to_ms(after.due_at), after.id))
        return await self._database.values(query, partial(plain.read_row, DueAutomation))

    @writing
    def fire(self, connection: Connection, firing: Firing) -> bool:
        run = firing.run
        own = select(self._table).where(is_own(self._table, run.organization_id, firing.automation_id))
        zone = lock_organization(connection, run.organization_id, may_miss=True)
        row = connection.execute(own).first()
        stored = None if row is None else read_row(self._kind, row)
        if stored is None or zone != firing.zone or not stored.awaits(firing):
            # True if this firing has moved it before: then its run exists.
            return bool(connection.scalar(select(exists().where(workflow_runs.c.id == run.id))))
        _put(connection, stored.after(firing))
        start(connection, self._database.dialect, run)
        return True

    def _raise_version(self, connection: Connection, organization_id: str) -> None:
        if self._kind.decides:
            raise_version(connection, organization_id)


def move_automations(connection: Connection, organization_id: str, now: datetime, zone: ZoneInfo) -> None:
    """Store the next times of an organization's automations in another time zone; its row is locked."""
    for kind in _TABLES:
        for automation in _all_of(connection, kind, organization_id):
            _put(connection, automation.moved(now, zone))


def disable(connection: Connection, organization_id: str, rule: Removal) -> Removed:
    """Disable the automations that ``rule`` chooses. The transaction has locked the organization's row."""
    disabled = rule(_all_of(connection, Trigger, organization_id), _all_of(connection, Schedule, organization_id))
    for automation in (*disabled.triggers, *disabled.schedules):
        _put(connection, automation)
    return disabled.removed


def _all_of(connection: Connection, kind: type[_Automation], organization_id: str) -> list[_Automation]:
    return [read_row(kind, row) for row in connection.execute(of_organization(_TABLES[kind], organization_id))]


def _put(connection: Connection, automation: Trigger | Schedule) -> None:
    table = _TABLES[type(automation)]
    connection.execute(update(table).where(table.c.id == automation.id).values(row_of(automation)))


def _unknown_brand(connection: Connection, automation: Trigger | Schedule) -> Refusal | None:
    # Deletions of identities lock the organization's row as well: the answer holds until the transaction ends.
    brand_id = automation.brand_identity_id
    if brand_id is None:
        return None
    own = select(brand_identities.c.id).where(is_own(brand_identities, automation.organization_id, brand_id))
    return no_such_brand(brand_id) if connection.scalar(own) is None else None
