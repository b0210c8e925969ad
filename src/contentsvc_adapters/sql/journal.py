"""The webhook log, and the claims that have expired."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any, final

from sqlalchemy import Connection, Select, delete, select, tuple_

from contentsvc_adapters.sql import rows
from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.schema import claims, events, log_entries
from contentsvc_core.journal import LogEntry
from contentsvc_core.timestamps import to_ms
from contentsvc_core.webhooks.events import Push, Release


@final
class SqlJournal:
    """The journal."""

    def __init__(self, database: Database) -> None:
        """Take the database."""
        self._database = database

    async def append(self, entry: LogEntry) -> None:
        """Write an entry; one that stands already is left as it is."""
        await self._database.write(partial(self._append, entry))

    def _append(self, entry: LogEntry, connection: Connection) -> None:
        if isinstance(entry.detail, Push | Release):
            event = self._database.dialect.insert(events).on_conflict_do_nothing(index_elements=["id"])
            connection.execute(event, rows.event_row(entry, entry.detail, of=None))
        log = self._database.dialect.insert(log_entries)
        once = log.on_conflict_do_nothing(index_elements=["organization_id", "created_at", "id"])
        connection.execute(once, rows.log_row(entry))

    async def entries(self, organization_id: str, *, limit: int | None = None) -> Sequence[LogEntry]:
        """Read an organization's entries."""
        query = (
            select(log_entries, events.c.type.label("event_type"), events.c.data.label("event_data"))
            .outerjoin(events, events.c.id == log_entries.c.event_id)
            .where(log_entries.c.organization_id == organization_id)
            .order_by(log_entries.c.created_at.desc(), log_entries.c.id.desc())
            .limit(limit)
        )
        found = await self._database.read(lambda connection: connection.execute(query).all())
        return await asyncio.to_thread(lambda: [rows.log_entry(row) for row in found])

    async def sweep(self, organization_id: str, *, before: datetime, limit: int) -> int:
        """Delete the oldest entries. Their events stay: context records and runs tell of them."""
        place = (log_entries.c.created_at, log_entries.c.id)
        old = (log_entries.c.organization_id == organization_id, log_entries.c.created_at < to_ms(before))
        oldest = self._bounded(select(*place).where(*old).order_by(*place).limit(limit))
        sweeping = delete(log_entries).where(*old, tuple_(*place).in_(oldest))
        return await self._database.write(lambda connection: connection.execute(sweeping).rowcount)

    async def sweep_claims(self, *, before: datetime, limit: int) -> int:
        """Delete the oldest claims."""
        old = claims.c.claimed_at <= to_ms(before)
        oldest = self._bounded(select(claims.c.key).where(old).order_by(claims.c.claimed_at).limit(limit))
        sweeping = delete(claims).where(claims.c.key.in_(oldest))
        return await self._database.write(lambda connection: connection.execute(sweeping).rowcount)

    def _bounded(self, oldest: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
        """Give the rows that one sweep takes.

        They are locked: what another transaction is changing is passed over, and nobody waits for anybody in a circle.
        As a common table expression, the question is asked once, and its limit holds: a planner may ask a subquery
        again.
        """
        return select(self._database.dialect.locking(oldest).cte("oldest", nesting=True))
