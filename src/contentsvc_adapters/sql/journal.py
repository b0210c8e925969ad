import asyncio
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Final, TypeAlias, final

from sqlalchemy import Connection, literal_column, select, tuple_

from contentsvc_adapters.sql import rows
from contentsvc_adapters.sql.counts import forget_empty, range_of
from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.entries import LOG, PAYLOADS, WHOLE, add_entry, find_entry, finishing, sized_entries
from contentsvc_adapters.sql.schema.deliveries import claims, events, log_entries
from contentsvc_adapters.sql.schema.directory import organizations
from contentsvc_adapters.sql.store import SqlStore, sweeping, writing
from contentsvc_core.errors import Unstorable
from contentsvc_core.events.normalized import Push, Release
from contentsvc_core.journal import Direction, LogEntry, LogQuery, LogStatus, left_out
from contentsvc_core.lists.pagination import PageRequest, Pagination
from contentsvc_core.refusals import Refusal
from contentsvc_core.timestamps import to_ms

_Found: TypeAlias = tuple[Sequence[rows.AnyRow], Mapping[str, rows.AnyRow]]

_NEWEST_FIRST: Final = (log_entries.c.created_at.desc(), log_entries.c.id.desc())


@final
class SqlJournal(SqlStore):
    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._sized = sized_entries(database.dialect)

    async def append(self, entry: LogEntry) -> None:
        await self._database.write(partial(self._append, entry))

    def _append(self, entry: LogEntry, connection: Connection) -> None:
        if connection.scalar(select(organizations.c.id).where(organizations.c.id == entry.organization_id)) is None:
            raise Unstorable.of_no_organization(entry.organization_id)
        if isinstance(entry.detail, Push | Release):
            event = self._database.dialect.insert(events).on_conflict_do_nothing(index_elements=["id"])
            connection.execute(event, rows.event_row(entry, entry.detail, of=None))
        add_entry(connection, self._database.dialect, entry)

    async def finish(self, entry: LogEntry) -> None:
        await self._database.change(finishing(entry))

    async def answered(
        self, organization_id: str, integration_id: str, delivery_ids: Collection[str], *, since: datetime
    ) -> set[str]:
        query = select(log_entries.c.reference_id).where(
            log_entries.c.organization_id == organization_id,
            log_entries.c.created_at >= to_ms(since),
            log_entries.c.integration_id == integration_id,
            log_entries.c.direction == Direction.INCOMING.value,
            log_entries.c.status == LogStatus.SUCCESS.value,
            log_entries.c.reference_id.is_not(None),
        )
        # Reads all answered deliveries: there may be more ids than a statement has parameters.
        ids = await self._database.read(lambda connection: connection.scalars(query.distinct()).all())
        return set(delivery_ids).intersection(ids)

    async def entries(self, organization_id: str, *, limit: int | None = None) -> Sequence[LogEntry]:
        own = WHOLE.where(log_entries.c.organization_id == organization_id)
        entry_rows = await self._database.read(
            lambda connection: connection.execute(own.order_by(*_NEWEST_FIRST).limit(limit)).all()
        )
        return await _entries(entry_rows, {row.id: row for row in entry_rows})

    async def page(
        self, organization_id: str, query: LogQuery, request: PageRequest, *, max_bytes: int
    ) -> tuple[Sequence[LogEntry], Pagination] | Refusal:
        """Count the entries and read one page in one snapshot: the sizes first, then the payloads that fit."""
        filters = {
            "integration_id": query.integration_ids,
            "status": [status.value for status in query.statuses],
        }
        within = range_of(query.since, query.until)

        def read(connection: Connection) -> tuple[_Found, Pagination] | Refusal:
            page = LOG.page(connection, self._sized, organization_id, filters, request, within=within)
            if isinstance(page, Refusal):
                return page
            found, pagination = page
            return (found, _payloads(connection, found, max_bytes)), pagination

        page = await self._database.read(read)
        if isinstance(page, Refusal):
            return page
        found, pagination = page
        return await _entries(*found), pagination

    async def entry(self, organization_id: str, log_id: str, *, max_bytes: int | None = None) -> LogEntry | None:
        def read(connection: Connection) -> _Found:
            row = find_entry(connection, WHOLE if max_bytes is None else self._sized, organization_id, log_id)
            if row is None:
                return [], {}
            if max_bytes is None:
                return [row], {row.id: row}
            return [row], _payloads(connection, [row], row.size) if row.size <= max_bytes else {}

        entries = await _entries(*await self._database.read(read))
        return entries[0] if entries else None

    @writing
    def sweep(self, connection: Connection, organization_id: str, *, before: datetime, limit: int) -> int:
        """Delete the oldest entries. Their events stay, because context records and runs refer to them."""
        sort_key = (log_entries.c.created_at, log_entries.c.id)
        old = (log_entries.c.organization_id == organization_id, log_entries.c.created_at < to_ms(before))
        oldest = select(*sort_key).where(*old).order_by(*sort_key).limit(limit)
        deleting = sweeping(self._database.dialect, log_entries, oldest).where(*old)
        forgetting = forget_empty(LOG, self._database.dialect, organization_id, to_ms(before))
        swept = connection.execute(deleting).rowcount
        if not swept:
            # No entry is left: the last call of a sweep deletes the empty counts.
            connection.execute(forgetting)
        return swept

    async def sweep_claims(self, *, before: datetime, limit: int) -> int:
        old = claims.c.claimed_at <= to_ms(before)
        # A literal: PostgreSQL plans a repeated statement for unknown parameters, and would scan the whole table.
        oldest = select(claims.c.key).where(old).order_by(claims.c.claimed_at).limit(literal_column(str(limit)))
        return await self._database.change(sweeping(self._database.dialect, claims, oldest))


def _payloads(connection: Connection, entry_rows: Sequence[rows.AnyRow], max_bytes: int) -> Mapping[str, rows.AnyRow]:
    without = left_out([row.size for row in entry_rows], max_bytes)
    chosen = [row for number, row in enumerate(entry_rows) if number not in without]
    if not chosen:
        return {}
    query = PAYLOADS.where(
        log_entries.c.organization_id == chosen[0].organization_id,
        tuple_(log_entries.c.created_at, log_entries.c.id).in_([(row.created_at, row.id) for row in chosen]),
    )
    return {row.id: row for row in connection.execute(query)}


async def _entries(entry_rows: Sequence[rows.AnyRow], payloads: Mapping[str, rows.AnyRow]) -> list[LogEntry]:
    return await asyncio.to_thread(lambda: [rows.log_entry(row, payloads.get(row.id)) for row in entry_rows])
