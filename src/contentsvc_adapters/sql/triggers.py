from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from contentsvc_adapters.sql.store import SqlStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contentsvc_adapters.sql.trigger_statements import TriggerStatements
    from contentsvc_core.refusals import Refusal
    from contentsvc_core.workflows.schedules import DueSchedule, Firing
    from contentsvc_core.workflows.triggers import Trigger, TriggerChange


class SqlTriggers(SqlStore):
    @cached_property
    def _triggers(self) -> "TriggerStatements":
        from contentsvc_adapters.sql.trigger_statements import TriggerStatements  # noqa: PLC0415  # lists of organizations need none

        return TriggerStatements(self._database)

    async def add_trigger(
        self, trigger: "Trigger", *, checks_brand: bool = False, at_most: int | None = None
    ) -> "Trigger | Refusal":
        return await self._triggers.add(trigger, checks_brand=checks_brand, at_most=at_most)

    async def change_trigger(
        self, organization_id: str, trigger_id: str, change: "TriggerChange", *, checks_brand: bool = False
    ) -> "Trigger | Refusal":
        return await self._triggers.change(organization_id, trigger_id, change, checks_brand=checks_brand)

    async def remove_trigger(self, organization_id: str, trigger_id: str) -> bool:
        return await self._triggers.remove(organization_id, trigger_id)

    async def trigger(self, organization_id: str, trigger_id: str) -> "Trigger | None":
        return await self._triggers.trigger(organization_id, trigger_id)

    async def triggers(self, organization_id: str) -> "Sequence[Trigger]":
        return await self._triggers.triggers(organization_id)

    async def due_triggers(
        self, now: datetime, *, limit: int, after: "DueSchedule | None" = None
    ) -> "Sequence[DueSchedule]":
        return await self._triggers.due(now, limit=limit, after=after)

    async def fire_trigger(self, firing: "Firing") -> bool:
        return await self._triggers.fire(firing)
