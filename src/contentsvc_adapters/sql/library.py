import asyncio
from collections.abc import Sequence
from typing import Any, Final, final

from sqlalchemy import ColumnElement, Connection, Integer, Select, and_, func, literal_column, select, tuple_

from contentsvc_adapters.sql import rows, workflow_rows
from contentsvc_adapters.sql.schema.deliveries import context_records, events
from contentsvc_adapters.sql.store import SqlStore
from contentsvc_core.content.windows import LookbackWindow
from contentsvc_core.lists.pagination import how_many_fit
from contentsvc_core.timestamps import to_ms
from contentsvc_core.workflows.context import ContextRecord

RECORDS: Final[Select[*tuple[Any, ...]]] = select(
    context_records, events.c.repository, events.c.delivery_id, events.c.type, events.c.data
).join(events, events.c.id == context_records.c.event_id)
_NEWEST_FIRST: Final = (context_records.c.created_at.desc(), context_records.c.id.desc())


@final
class SqlContextLibrary(SqlStore):
    async def record(self, organization_id: str, custom_id: str) -> ContextRecord | None:
        records = await self._read(
            RECORDS.where(
                context_records.c.organization_id == organization_id, context_records.c.custom_id == custom_id
            )
        )
        return records[0] if records else None

    async def repository(self, organization_id: str, custom_id: str) -> str | None:
        query = (
            select(events.c.repository)
            .join(context_records, events.c.id == context_records.c.event_id)
            .where(context_records.c.organization_id == organization_id, context_records.c.custom_id == custom_id)
        )
        return await self._database.read(lambda connection: connection.scalar(query))

    async def before(self, record: ContextRecord, *, limit: int, max_bytes: int) -> Sequence[ContextRecord]:
        own = (
            context_records.c.organization_id == record.organization_id,
            context_records.c.provider == record.provider,
            context_records.c.repository_id == record.repository_id,
            tuple_(context_records.c.created_at, context_records.c.id) < tuple_(to_ms(record.created_at), record.id),
        )
        return (await self._bounded(own, limit, max_bytes))[0]

    async def within(
        self,
        organization_id: str,
        *,
        provider: str,
        repository_id: int,
        window: LookbackWindow,
        limit: int,
        max_bytes: int,
    ) -> tuple[Sequence[ContextRecord], int]:
        own = (
            context_records.c.organization_id == organization_id,
            context_records.c.provider == provider,
            context_records.c.repository_id == repository_id,
            context_records.c.created_at >= to_ms(window.since),
            context_records.c.created_at < to_ms(window.until),
        )
        counting = select(func.count()).select_from(context_records).where(*own)
        return await self._bounded(own, limit, max_bytes, counting)

    async def _bounded(
        self,
        own: Sequence[ColumnElement[bool]],
        limit: int,
        max_bytes: int,
        counting: Select[int] | None = None,
    ) -> tuple[Sequence[ContextRecord], int]:
        sizes = (
            select(self._database.dialect.size_of(events.c.data))
            .select_from(context_records)
            .join(events, events.c.id == context_records.c.event_id)
            .where(*own)
            .order_by(*_NEWEST_FIRST)
            .limit(limit)
        )

        def read(connection: Connection) -> tuple[Sequence[rows.AnyRow], int]:
            fitting = how_many_fit(connection.scalars(sizes), max_bytes)
            record_rows = connection.execute(RECORDS.where(*own).order_by(*_NEWEST_FIRST).limit(fitting)).all()
            return record_rows, 0 if counting is None else (connection.scalar(counting) or 0) - len(record_rows)

        record_rows, remaining = await self._database.read(read)
        return await _records(record_rows), remaining

    async def records(self, organization_id: str, *, limit: int | None = None) -> Sequence[ContextRecord]:
        # No index has this order, which one command needs. The keys are read from the index of repositories.
        key = (context_records.c.organization_id, context_records.c.custom_id)
        own = select(*key).where(context_records.c.organization_id == organization_id)
        # A literal: for an unknown limit, PostgreSQL would scan all joined rows.
        at_most = None if limit is None else literal_column(str(limit), Integer)
        keys = own.order_by(*_NEWEST_FIRST).limit(at_most).subquery("keys")
        same = and_(*(column == keys.c[column.name] for column in key))
        return await self._read(RECORDS.join(keys, same).order_by(*_NEWEST_FIRST))

    async def _read(self, query: Select[*tuple[Any, ...]]) -> list[ContextRecord]:
        return await _records(await self._database.rows(query))


async def _records(record_rows: Sequence[rows.AnyRow]) -> list[ContextRecord]:
    # In a thread: a hundred records may hold two hundred thousand commits.
    return await asyncio.to_thread(lambda: [workflow_rows.context_record(row) for row in record_rows])
