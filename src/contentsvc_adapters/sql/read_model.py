"""The queries of the dashboard's lists.

They have no indexes of their own, because each delivery would pay for an index. The log and the runs are read in the
order of their keys, and rows of a delivery are found by the delivery's time.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias, final

from sqlalchemy import ColumnElement, Connection, Select, Table, and_, func, literal_column, or_, select, tuple_

from contentsvc_adapters.sql import rows
from contentsvc_adapters.sql.counts import CountedRange
from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.dialects import Dialect
from contentsvc_adapters.sql.entries import LOG, find_entry, listed_entries
from contentsvc_adapters.sql.row import read_row
from contentsvc_adapters.sql.schema.deliveries import log_entries
from contentsvc_adapters.sql.schema.lists import DAY_MS, HOUR_MS, log_counts
from contentsvc_core.journal import TITLES, Direction, ListedEntry, LogOutcome, LogStatus
from contentsvc_core.lists.cursors import Cursor
from contentsvc_core.read_model import LogCount, LogSearch, refuse_uncounted
from contentsvc_core.timestamps import to_ms

_Conditions: TypeAlias = Sequence[ColumnElement[bool]]

#: The condition that a count is not zero: only the sum over the shards is meaningful.
_ANY: Final = func.sum(log_counts.c.number) > 0
_SEARCHED: Final = (
    log_entries.c.title,
    log_entries.c.reference_id,
    log_entries.c.error_message,
    log_entries.c.reason,
)


@final
class SqlReadModel:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._entries = listed_entries(database.dialect)

    async def log(
        self,
        organization_id: str,
        search: LogSearch,
        *,
        limit: int,
        before: Cursor | None = None,
        after: Cursor | None = None,
    ) -> Sequence[ListedEntry]:
        filters = {
            "integration_id": search.integration_ids,
            "status": [status.value for status in search.statuses],
        }
        own = [
            log_entries.c.organization_id == organization_id,
            *(log_entries.c[name].in_(values) for name, values in filters.items() if values),
            *_with_outcomes(search),
            *([] if search.direction is None else [log_entries.c.direction == search.direction.value]),
            *([] if search.since is None else [log_entries.c.created_at >= to_ms(search.since)]),
            *([] if search.until is None else [log_entries.c.created_at < to_ms(search.until)]),
            *_holding(self._database.dialect, search),
            *between(log_entries, before, after),
        ]

        def read(connection: Connection) -> list[rows.AnyRow]:
            if search == LogSearch():
                return list(connection.execute(newest_rows(self._entries, log_entries, own, limit)))
            entry_rows: list[rows.AnyRow] = []
            # Each day is one short statement, and days without matching entries are skipped.
            for day in LOG.days(connection, organization_id, filters):
                if search.since is not None and day.until <= to_ms(search.since):
                    break
                if (search.until is not None and day.since >= to_ms(search.until)) or _is_outside(day, before, after):
                    continue
                entry_rows += connection.execute(
                    newest_rows(self._entries, log_entries, [*own, *_inside(day)], limit - len(entry_rows))
                )
                if len(entry_rows) >= limit:
                    break
            return entry_rows

        return await _entries(await self._database.read(read))

    async def entry(self, organization_id: str, log_id: str) -> ListedEntry | None:
        row = await self._database.read(
            lambda connection: find_entry(connection, self._entries, organization_id, log_id)
        )
        return None if row is None else (await _entries([row]))[0]

    async def newest_entries(self, organization_id: str) -> Mapping[str, ListedEntry]:
        """Read each integration's newest entry, which is in the newest hour with a count."""

        def read(connection: Connection) -> list[rows.AnyRow]:
            return [
                row
                for integration_id, day in _newest_days(connection, organization_id).items()
                for row in connection.execute(_newest(connection, self._entries, organization_id, integration_id, day))
            ]

        return {entry.integration_id: entry for entry in await _entries(await self._database.read(read))}

    async def log_counts(self, organization_id: str, *, since: datetime, span: timedelta) -> Sequence[LogCount]:
        refuse_uncounted(span)
        key = (log_counts.c.starts_at, log_counts.c.integration_id, log_counts.c.status)
        counting = (
            select(*key, func.sum(log_counts.c.number).label("number"))
            .where(
                log_counts.c.organization_id == organization_id,
                log_counts.c.span == span // timedelta(milliseconds=1),
                log_counts.c.starts_at >= to_ms(since),
            )
            .group_by(*key)
            .having(_ANY)
            .order_by(*key)
        )
        count_rows = await self._database.rows(counting)
        return [read_row(LogCount, row, number=int(row.number)) for row in count_rows]


async def _entries(entry_rows: Sequence[rows.AnyRow]) -> list[ListedEntry]:
    # In a thread: there may be fifty small events of an older version.
    return await asyncio.to_thread(lambda: [rows.listed_entry(row) for row in entry_rows])


def _holding(dialect: Dialect, search: LogSearch) -> _Conditions:
    conditions: list[ColumnElement[bool]] = []
    if search.event_word:
        conditions.append(dialect.contains(log_entries.c.title, search.event_word))
    if search.folded_text:
        conditions.append(or_(*(dialect.contains(text, search.folded_text, folded=True) for text in _SEARCHED)))
    return conditions


def _with_outcomes(search: LogSearch) -> _Conditions:
    if not search.outcomes:
        return []
    title, failed = log_entries.c.title, log_entries.c.status == LogStatus.FAILED.value
    starts = (start for outcome, start in TITLES.items() if outcome in search.outcomes)
    conditions = [and_(~failed, func.substr(title, 1, len(start)) == start) for start in starts]
    if LogOutcome.REFUSED in search.outcomes:
        conditions.append(failed)
    return [log_entries.c.direction == Direction.INCOMING.value, or_(*conditions)]


def between(table: Table, before: Cursor | None, after: Cursor | None) -> _Conditions:
    sort_key = tuple_(table.c.created_at, table.c.id)
    conditions: list[ColumnElement[bool]] = []
    if before is not None:
        conditions.append(sort_key < tuple_(to_ms(before.at), before.id))
    if after is not None:
        conditions.append(sort_key > tuple_(to_ms(after.at), after.id))
    return conditions


def _is_outside(stretch: CountedRange, before: Cursor | None, after: Cursor | None) -> bool:
    return (before is not None and to_ms(before.at) < stretch.since) or (
        after is not None and to_ms(after.at) >= stretch.until
    )


def _inside(stretch: CountedRange) -> _Conditions:
    return log_entries.c.created_at >= stretch.since, log_entries.c.created_at < stretch.until


def newest_rows(
    full: Select[*tuple[Any, ...]], table: Table, conditions: _Conditions, limit: int
) -> Select[*tuple[Any, ...]]:
    """Create the statement that reads the newest matching rows of a table as ``full`` does, newest first.

    Their keys are selected first, and joins apply to the selected rows only. The limit is a literal. PostgreSQL plans a
    repeated statement for unknown parameters, would assume a tenth of the table, and scan all joined rows.
    """
    sort_key = (table.c.created_at, table.c.id)
    newest_first = [column.desc() for column in sort_key]
    own = select(table.c.organization_id, *sort_key).where(*conditions).order_by(*newest_first)
    keys = own.limit(literal_column(str(limit))).subquery("keys")
    same = and_(
        table.c.organization_id == keys.c.organization_id,
        table.c.created_at == keys.c.created_at,
        table.c.id == keys.c.id,
    )
    return full.join(keys, same).order_by(*newest_first)


def _newest_days(connection: Connection, organization_id: str) -> dict[str, int]:
    key = (log_counts.c.integration_id, log_counts.c.starts_at)
    days = (
        select(*key)
        .where(log_counts.c.organization_id == organization_id, log_counts.c.span == DAY_MS)
        .group_by(*key)
        .having(_ANY)
        .order_by(log_counts.c.starts_at)
    )
    return {row.integration_id: row.starts_at for row in connection.execute(days)}


def _newest(
    connection: Connection, full: Select[*tuple[Any, ...]], organization_id: str, integration_id: str, day: int
) -> Select[*tuple[Any, ...]]:
    starts_at = log_counts.c.starts_at
    hours = (
        select(starts_at)
        .where(
            log_counts.c.organization_id == organization_id,
            log_counts.c.span == HOUR_MS,
            starts_at >= day,
            starts_at < day + DAY_MS,
            log_counts.c.integration_id == integration_id,
        )
        .group_by(starts_at)
        .having(_ANY)
        .order_by(starts_at.desc())
        .limit(1)
    )
    hour = connection.execute(hours).scalar_one()
    own = (log_entries.c.organization_id == organization_id, log_entries.c.integration_id == integration_id)
    return newest_rows(full, log_entries, [*own, *_inside(CountedRange(hour, hour + HOUR_MS, 1))], 1)
