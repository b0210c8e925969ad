from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from contentsvc_adapters.sql.store import SqlStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contentsvc_adapters.sql.row_loader import RowLoader
    from contentsvc_core.refusals import Refusal
    from contentsvc_core.workflows.schedules import DueSchedule, Firing
    from contentsvc_core.workflows.triggers import Trigger, TriggerChange


class SqlTriggers(SqlStore):
    @cached_property
    def _triggers(self) -> "RowLoader":
        from contentsvc_adapters.sql.trigger_statements import trigger_rows  # noqa: PLC0415  # see that module

        return trigger_rows(self._database)

    async def add_trigger(
        self, trigger: "Trigger", *, checks_brand: bool = False, at_most: int | None = None
    ) -> "Trigger | Refusal":
        from contentsvc_adapters.sql.trigger_statements import add  # noqa: PLC0415  # see that module

        return await add(self._database, trigger, checks_brand=checks_brand, at_most=at_most)

    async def change_trigger(
        self, organization_id: str, trigger_id: str, change: "TriggerChange", *, checks_brand: bool = False
    ) -> "Trigger | Refusal":
        from contentsvc_adapters.sql import trigger_statements  # noqa: PLC0415  # see that module

        return await trigger_statements.change(
            self._database, organization_id, trigger_id, change, checks_brand=checks_brand
        )

    async def remove_trigger(self, organization_id: str, trigger_id: str) -> bool:
        from contentsvc_adapters.sql.trigger_statements import remove  # noqa: PLC0415  # see that module

        return await remove(self._database, organization_id, trigger_id)

    async def trigger(self, organization_id: str, trigger_id: str) -> "Trigger | None":
        from contentsvc_adapters.sql.trigger_statements import read_trigger  # noqa: PLC0415  # see that module

        row = await self._triggers.find(organization_id, trigger_id)
        return None if row is None else read_trigger(row)

    async def triggers(self, organization_id: str) -> "Sequence[Trigger]":
        from contentsvc_adapters.sql.trigger_statements import all_triggers  # noqa: PLC0415  # see that module

        return await self._database.read(lambda connection: all_triggers(connection, organization_id))

    async def due_triggers(
        self, now: datetime, *, limit: int, after: "DueSchedule | None" = None
    ) -> "Sequence[DueSchedule]":
        from contentsvc_adapters.sql.trigger_statements import read_due_triggers  # noqa: PLC0415  # see that module

        return await read_due_triggers(self._database, now, limit=limit, after=after)

    async def fire_trigger(self, firing: "Firing") -> bool:
        from contentsvc_adapters.sql.trigger_statements import fire_trigger  # noqa: PLC0415  # see that module

        return await fire_trigger(self._database, firing)
