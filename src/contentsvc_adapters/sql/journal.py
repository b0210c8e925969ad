"""The webhook log, and the claims that have expired."""

from collections.abc import Collection, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final, final

from sqlalchemy import Connection, Select, delete, literal_column, select, tuple_, update

from contentsvc_adapters.sql import rows
from contentsvc_adapters.sql.counts import LOG, forget_empty
from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.entries import ENTRIES, entries_of
from contentsvc_adapters.sql.schema import claims, events, log_entries
from contentsvc_core.content.pagination import InvalidPage, PageRequest, Pagination
from contentsvc_core.identifiers import minted_ms
from contentsvc_core.journal import Direction, LogEntry, LogQuery, LogStatus
from contentsvc_core.timestamps import to_ms
from contentsvc_core.webhooks.events import Push, Release

#: How far the time in an entry's id may be from the entry's own: a delivery's body takes its time, and clocks are set.
_ABOUT_MS: Final = 10 * 60 * 1000
_NEWEST_FIRST: Final = (log_entries.c.created_at.desc(), log_entries.c.id.desc())


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

    async def finish(self, entry: LogEntry) -> None:
        """Update an entry."""
        place = (entry.organization_id, to_ms(entry.created_at), entry.id)
        ending = {name: rows.log_row(entry)[name] for name in ("status", "status_code", "error_message", "reason")}
        finishing = update(log_entries).where(
            log_entries.c.organization_id == place[0],
            log_entries.c.created_at == place[1],
            log_entries.c.id == place[2],
        )
        await self._database.write(lambda connection: connection.execute(finishing.values(ending)))

    async def answered(
        self, organization_id: str, integration_id: str, delivery_ids: Collection[str], *, since: datetime
    ) -> set[str]:
        """Look for deliveries in the part of the log that may hold them."""
        query = select(log_entries.c.reference_id).where(
            log_entries.c.organization_id == organization_id,
            log_entries.c.created_at >= to_ms(since),
            log_entries.c.integration_id == integration_id,
            log_entries.c.direction == Direction.INCOMING.value,
            log_entries.c.status == LogStatus.SUCCESS.value,
            log_entries.c.reference_id.is_not(None),
        )
        # All that were answered, and not those alone: there may be more ids than a statement takes parameters.
        found = await self._database.read(lambda connection: connection.scalars(query.distinct()).all())
        return set(delivery_ids).intersection(found)

    async def entries(self, organization_id: str, *, limit: int | None = None) -> Sequence[LogEntry]:
        """Read an organization's entries."""
        mine = ENTRIES.where(log_entries.c.organization_id == organization_id)
        found = await self._database.read(
            lambda connection: connection.execute(mine.order_by(*_NEWEST_FIRST).limit(limit)).all()
        )
        return await entries_of(found)

    async def page(
        self, organization_id: str, query: LogQuery, request: PageRequest
    ) -> tuple[Sequence[LogEntry], Pagination] | InvalidPage:
        """Count the entries and read one page of them, in one snapshot."""
        filters = {
            "integration_id": query.integration_ids,
            "status": [status.value for status in query.statuses],
        }
        found = await self._database.read(
            lambda connection: LOG.page(connection, ENTRIES, organization_id, filters, request)
        )
        if isinstance(found, InvalidPage):
            return found
        read, pagination = found
        return await entries_of(read), pagination

    async def entry(self, organization_id: str, log_id: str) -> LogEntry | None:
        """Read an entry.

        Ids alone lead to no entry: an index would cost every delivery something. The event that an entry came with has
        its id, and its time. Of one without an event the id tells a time, which is about the entry's. Only what is not
        found there is looked for among all of its organization.
        """
        mine = ENTRIES.where(log_entries.c.organization_id == organization_id, log_entries.c.id == log_id)
        arrived = select(events.c.created_at).where(events.c.organization_id == organization_id, events.c.id == log_id)
        minted = minted_ms(log_id)

        def read(connection: Connection) -> Sequence[rows.AnyRow]:
            at = connection.scalar(arrived)
            if at is not None:
                return connection.execute(mine.where(log_entries.c.created_at == at)).all()
            if minted is not None:
                about = log_entries.c.created_at.between(minted - _ABOUT_MS, minted + _ABOUT_MS)
                if found := connection.execute(mine.where(about)).all():
                    return found
            return connection.execute(mine).all()

        found = await entries_of(await self._database.read(read))
        return found[0] if found else None

    async def sweep(self, organization_id: str, *, before: datetime, limit: int) -> int:
        """Delete the oldest entries. Their events stay: context records and runs tell of them."""
        place = (log_entries.c.created_at, log_entries.c.id)
        old = (log_entries.c.organization_id == organization_id, log_entries.c.created_at < to_ms(before))
        oldest = self._bounded(select(*place).where(*old).order_by(*place).limit(limit))
        sweeping = delete(log_entries).where(*old, tuple_(*place).in_(oldest))
        forgetting = forget_empty(LOG, self._database.dialect, organization_id, to_ms(before))

        def sweep(connection: Connection) -> int:
            swept = connection.execute(sweeping).rowcount
            if not swept:
                # Nothing is left: a sweep ends with one of these.
                connection.execute(forgetting)
            return swept

        return await self._database.write(sweep)

    async def sweep_claims(self, *, before: datetime, limit: int) -> int:
        """Delete the oldest claims."""
        old = claims.c.claimed_at <= to_ms(before)
        # The number stands in the statement: PostgreSQL, which plans a statement for any parameters once it has come
        # several times, would take it for a tenth of all claims, and look through the whole table.
        oldest = select(claims.c.key).where(old).order_by(claims.c.claimed_at).limit(literal_column(str(limit)))
        sweeping = delete(claims).where(claims.c.key.in_(self._bounded(oldest)))
        return await self._database.write(lambda connection: connection.execute(sweeping).rowcount)

    def _bounded(self, oldest: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
        """Give the rows that one sweep takes.

        They are locked: what another transaction is changing is passed over, and nobody waits for anybody in a circle.
        As a common table expression, the question is asked once, and its limit holds: a planner may ask a subquery
        again.
        """
        return select(self._database.dialect.locking(oldest).cte("oldest", nesting=True))
