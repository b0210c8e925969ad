"""Pages of a list, found by counts of its rows in stretches of time.

The counts lead from the longest stretches to the shortest ones that hold a page. Rows are skipped only inside those. So
each page costs about the same, while ``OFFSET`` alone would read all rows before it.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeAlias, final

from attrs import evolve
from sqlalchemy import ColumnElement, Connection, Delete, Row, Select, Table, and_, delete, func, select, tuple_

from contentsvc_adapters.sql.dialects import Dialect
from contentsvc_core.lists.pagination import PageRequest, Pagination, paginate
from contentsvc_core.refusals import Refusal
from contentsvc_core.timestamps import to_ms
from contentsvc_core.values import Value

#: Up to this many rows before the page are skipped, if there is no filter: that is faster than reading counts.
_FEW: Final = 200
#: After every stored time; the end of a list without an end.
_NEVER_MS: Final = 2**62

Filters: TypeAlias = Mapping[str, Collection[str]]
_Rows: TypeAlias = list[Row[*tuple[Any, ...]]]


@final
class CountedRange(Value, frozen=True):
    #: In milliseconds; the end is exclusive.
    since: int
    until: int
    number: int = 0


def range_of(since: datetime | None, until: datetime | None) -> CountedRange | None:
    """Return the range from ``since`` on and before ``until``, not counted yet; ``None``: all times."""
    if since is None and until is None:
        return None
    return CountedRange(0 if since is None else to_ms(since), _NEVER_MS if until is None else to_ms(until))


def holding(stretches: Sequence[CountedRange], offset: int, limit: int) -> tuple[list[CountedRange], int]:
    """Return the stretches that hold rows ``offset`` to ``offset + limit``, and the offset inside the first one."""
    chosen: list[CountedRange] = []
    for stretch in stretches:
        if not chosen and offset >= stretch.number:
            offset -= stretch.number
            continue
        chosen.append(stretch)
        if sum(each.number for each in chosen) >= offset + limit:
            break
    return chosen, offset


def joined(stretches: Sequence[CountedRange]) -> list[CountedRange]:
    merged: list[CountedRange] = []
    for stretch in stretches:
        last = merged[-1] if merged else None
        if last is not None and (last.until == stretch.since or stretch.until == last.since):
            since, until = min(last.since, stretch.since), max(last.until, stretch.until)
            merged[-1] = CountedRange(since, until, last.number + stretch.number)
        else:
            merged.append(stretch)
    return merged


@final
class Listing(Value, frozen=True, kw_only=True):
    """A table that is listed by ``created_at`` and ``id``, and the counts of its rows."""

    rows: Table
    counts: Table
    #: The lengths of the counted stretches.
    spans: Sequence[int]

    def page(
        self,
        connection: Connection,
        full: Select[*tuple[Any, ...]],
        organization_id: str,
        filters: Filters,
        request: PageRequest,
        *,
        ascending: bool = False,
        by: str = "created_at",
        within: CountedRange | None = None,
    ) -> tuple[_Rows, Pagination] | Refusal:
        """Count an organization's rows and read one page of them, in a transaction with one snapshot.

        ``by`` is the time column for sorting: counts find pages by ``created_at`` only. Only rows that were created
        ``within`` the range are in the list; ``None``: all.
        """
        query = _ListQuery(self, connection, full, organization_id, filters, ascending, by)
        whole = [] if within is None else [within]
        longest = query.stretches(self.spans[0], whole or None)
        pagination = paginate(request, sum(stretch.number for stretch in longest))
        if isinstance(pagination, Refusal):
            return pagination
        if by != "created_at" or (request.offset <= _FEW and not any(filters.values())):
            return query.read(query.inside(*whole), request.offset, request.limit), pagination
        chosen, offset = holding(longest, request.offset, request.limit)
        for span in self.spans[1:]:
            chosen, offset = holding(query.stretches(span, chosen), offset, request.limit)
        rows: _Rows = []
        for stretch in joined(chosen):
            rows += query.read(query.inside(stretch), offset, request.limit - len(rows))
            offset = 0
        return rows, pagination

    def days(self, connection: Connection, organization_id: str, filters: Filters) -> list[CountedRange]:
        query = _ListQuery(self, connection, select(self.rows), organization_id, filters, ascending=False)
        return query.stretches(self.spans[0])


class _ListQuery(Value, frozen=True):
    listing: Listing
    connection: Connection
    full: Select[*tuple[Any, ...]]
    organization_id: str
    filters: Filters
    ascending: bool
    by: str = "created_at"

    def _of_organization(self, table: Table) -> list[ColumnElement[bool]]:
        filters = (table.c[name].in_(values) for name, values in self.filters.items() if values)
        return [table.c.organization_id == self.organization_id, *filters]

    def stretches(self, span: int, within: Sequence[CountedRange] | None = None) -> list[CountedRange]:
        """Return the stretches of a length that hold rows, from the beginning of ``within`` to its end."""
        counts = self.listing.counts
        starts_at, number = counts.c.starts_at, func.sum(counts.c.number)
        counting = select(starts_at, number).where(*self._of_organization(counts), counts.c.span == span)
        counting = counting.group_by(starts_at).having(number != 0)
        counting = counting.order_by(starts_at if self.ascending else starts_at.desc())
        if within is None:
            return self._counted(counting, span)
        if not within:
            return []
        since, until = min(each.since for each in within), max(each.until for each in within)
        found = self._counted(counting.where(starts_at > since - span, starts_at < until), span)
        cut = [self._cut(stretch, max(stretch.since, since), min(stretch.until, until)) for stretch in found]
        return [stretch for stretch in cut if stretch.number]

    def _counted(self, counting: Select[*tuple[Any, ...]], span: int) -> list[CountedRange]:
        return [CountedRange(at, at + span, int(number)) for at, number in self.connection.execute(counting)]

    def _cut(self, stretch: CountedRange, since: int, until: int) -> CountedRange:
        """Return a part of a stretch, counted by shorter stretches, or by rows if it is the shortest one."""
        if (since, until) == (stretch.since, stretch.until):
            return stretch
        part = CountedRange(since, until)
        shorter = next((span for span in self.listing.spans if span < stretch.until - stretch.since), None)
        if shorter is not None:
            return evolve(part, number=sum(each.number for each in self.stretches(shorter, [part])))
        own = self._of_organization(self.listing.rows)
        counting = select(func.count()).select_from(self.listing.rows).where(*own, *self.inside(part))
        return evolve(part, number=self.connection.scalar(counting) or 0)

    def inside(self, *stretches: CountedRange) -> Sequence[ColumnElement[bool]]:
        at = self.listing.rows.c.created_at
        return [limit for stretch in stretches for limit in (at >= stretch.since, at < stretch.until)]

    def read(self, conditions: Sequence[ColumnElement[bool]], offset: int, limit: int) -> _Rows:
        rows = self.listing.rows
        sort_key = (rows.c[self.by], rows.c.id)
        order = sort_key if self.ascending else [column.desc() for column in sort_key]
        # Skipped rows cost only their keys, which an index holds; nothing is joined to them.
        keys_query = (
            select(*sort_key)
            .where(*self._of_organization(rows), *conditions)
            .order_by(*order)
            .limit(limit)
            .offset(offset)
        )
        keys = keys_query.subquery("keys")
        reading = self.full.join(
            keys,
            and_(
                rows.c.organization_id == self.organization_id,
                rows.c[self.by] == keys.c[self.by],
                rows.c.id == keys.c.id,
            ),
        )
        return list(self.connection.execute(reading.order_by(*order)))


def forget_empty(listing: Listing, dialect: Dialect, organization_id: str, before_ms: int) -> Delete:
    """Create the statement that deletes empty counts of stretches that begin before ``before_ms``.

    The deleted rows add up to zero, so no sum changes: they are locked first, and rows that others have locked stay.
    """
    counts = listing.counts
    key = [column for column in counts.primary_key if column.name != "organization_id"]
    old = dialect.locking(
        select(*key, counts.c.number).where(
            counts.c.organization_id == organization_id,
            counts.c.span.in_(listing.spans),
            counts.c.starts_at < before_ms,
        )
    ).cte("old", nesting=True)
    parts = old.alias("parts")
    group = [column.name for column in key if column.name != "shard"]
    empty = select(*(parts.c[name] for name in group)).group_by(*(parts.c[name] for name in group))
    found = select(*(old.c[column.name] for column in key)).where(
        tuple_(*(old.c[name] for name in group)).in_(empty.having(func.sum(parts.c.number) == 0))
    )
    return delete(counts).where(counts.c.organization_id == organization_id, tuple_(*key).in_(found))
