"""SQLite: a batch of settlements is one transaction of the writing connection."""

import sqlite3
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, partial
from itertools import repeat
from operator import itemgetter
from typing import Any, Final, Self, final

from attrs import define, field, frozen
from sqlalchemy import BindParameter, Column, bindparam, select
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.sqlite import Insert, insert

from contentsvc_adapters.sql.entries import added_counts, adding_counts
from contentsvc_adapters.sql.schema.deliveries import claims, context_records, events, log_entries
from contentsvc_adapters.sql.schema.directory import organizations
from contentsvc_adapters.sql.schema.lists import log_counts
from contentsvc_adapters.sql.schema.searching import search_batches
from contentsvc_adapters.sql.schema.work import workflow_runs
from contentsvc_adapters.sql.settling import settlement_rows
from contentsvc_adapters.sql.settling.batch_writer import BatchItem
from contentsvc_adapters.sql.settling.settlement_rows import AlikeRows
from contentsvc_adapters.sql.store import SqlStore
from contentsvc_core.timestamps import from_ms, to_ms
from contentsvc_core.webhooks.settlement import Claim, Settled, Settlement, claim_is_held

_DIALECT: Final = sqlite.dialect()
#: With the write lock: a transaction that reads first fails at its first write if another one has written in between.
_BEGIN: Final = "BEGIN IMMEDIATE"


class _KeyTaken(Exception):
    """A row of a batch exists already, or is invalid; the whole batch was rolled back."""


@final
@frozen(kw_only=True)
class _Insertion:
    sql: str
    #: Returns a row's values in the order of the statement's parameters.
    in_order: Callable[[settlement_rows.Row], tuple[Any, ...]]

    @classmethod
    def of(cls, statement: Insert) -> Self:
        compiled = statement.compile(dialect=_DIALECT)
        return cls(sql=str(compiled), in_order=itemgetter(*(compiled.positiontup or ())))

    def add(self, rows: Iterable[settlement_rows.Row], cursor: sqlite3.Cursor) -> None:
        cursor.executemany(self.sql, map(self.in_order, rows))


def _replacing(statement: Insert, key: Sequence[str], *columns: str) -> Insert:
    return statement.on_conflict_do_update(
        index_elements=key, set_={column: statement.excluded[column] for column in columns}
    )


_TAKE: Final = _Insertion.of(_replacing(insert(claims), ["key"], "claimed_at", "log_id"))
_ADD_EVENTS: Final = _Insertion.of(insert(events))
_INSERT_CONTEXT: Final = _Insertion.of(
    _replacing(insert(context_records), ["organization_id", "custom_id"], "event_id")
)
_START: Final = _Insertion.of(insert(workflow_runs))
_ADD_LOG: Final = _Insertion.of(insert(log_entries))
_COUNT: Final = _Insertion.of(adding_counts(insert(log_counts)))
_NOTE: Final = str(insert(search_batches).values(documents=bindparam("documents")).compile(dialect=_DIALECT))
_KNOWN: Final = str(
    select(log_entries.c.title)
    .where(*(log_entries.c[name] == bindparam(name) for name in ("organization_id", "created_at", "id")))
    .compile(dialect=_DIALECT)
)


@final
class SqliteBatchWriter(SqlStore):
    def write(self, batch: Sequence[BatchItem]) -> Awaitable[Sequence[Settled]]:
        return self._database.settle(partial(_settled, batch))


def _settled(batch: Sequence[BatchItem], driver: sqlite3.Connection) -> Sequence[Settled]:
    try:
        return _committed(batch, driver, known=False)
    except _KeyTaken:
        # Part of the batch may have been written before, and its answer was lost. This is rare, so it is not checked
        # first.
        return _committed(batch, driver, known=True)


def _committed(batch: Sequence[BatchItem], driver: sqlite3.Connection, *, known: bool) -> Sequence[Settled]:
    """Write a batch in one transaction; ``known``: look for items that were written before."""
    cursor = driver.cursor()
    cursor.execute(_BEGIN)
    try:
        answers = _written(batch, cursor, known=known)
        driver.commit()
    except BaseException as exc:
        driver.rollback()
        if isinstance(exc, sqlite3.IntegrityError) and not known:
            raise _KeyTaken from exc
        raise
    return answers


def _written(batch: Sequence[BatchItem], cursor: sqlite3.Cursor, *, known: bool) -> Sequence[Settled]:
    # The transaction holds the write lock: these reads stay valid until the commit.
    claim_keys = [item.settlement.key for item in batch]
    versions = _found(
        organizations.c.id, organizations.c.version, {e.settlement.organization_id for e in batch}, cursor
    )
    claimed = _found(claims.c.key, claims.c.claimed_at, {key for key in claim_keys if key is not None}, cursor)
    left = _BatchRows()
    answers: list[Settled] = []
    for item, key in zip(batch, claim_keys, strict=True):
        settlement = item.settlement
        version = versions.get(settlement.organization_id)
        # An item that was written before shows at the key of its log entry; an item of another version is checked.
        title = _title(settlement, cursor) if known or version != settlement.version else None
        if title is not None and version is not None:
            # The settlement was sent again after an unknown outcome. Its stored log entry shows the first answer, even
            # if the configuration or the claim has changed since.
            answers.append(Settled.AS_DECIDED if title == settlement.log.title else Settled.ALREADY_CLAIMED)
        elif version != settlement.version:
            answers.append(Settled.STALE)
        elif item.is_duplicate or (key in claimed and claim_is_held(from_ms(claimed[key]), settlement.at)):
            left.log.append(settlement_rows.rows_of(settlement.duplicate).log)
            answers.append(Settled.ALREADY_CLAIMED)
        else:
            left.add(settlement, key)
            answers.append(Settled.AS_DECIDED)
    left.write(cursor)
    return answers


@final
@define
class _BatchRows:
    claims: list[settlement_rows.Row] = field(factory=list[settlement_rows.Row])
    events: list[settlement_rows.Row] = field(factory=list[settlement_rows.Row])
    contexts: list[settlement_rows.Row] = field(factory=list[settlement_rows.Row])
    runs: list[settlement_rows.Row] = field(factory=list[settlement_rows.Row])
    log: list[settlement_rows.Row] = field(factory=list[settlement_rows.Row])
    _rows: AlikeRows = field(init=False, factory=AlikeRows)

    def add(self, settlement: Settlement, key: bytes | None) -> None:
        log, event, context, runs = self._rows.of(settlement)
        if settlement.claim is Claim.TAKE:
            self.claims.append({"key": key, "claimed_at": log["created_at"], "log_id": settlement.id})
        if event is not None:
            self.events.append(event)
        if context is not None:
            self.contexts.append(context)
        self.runs += runs
        self.log.append(log)

    def write(self, cursor: sqlite3.Cursor) -> None:
        _TAKE.add(self.claims, cursor)
        _ADD_EVENTS.add(self.events, cursor)
        _INSERT_CONTEXT.add(self.contexts, cursor)
        _START.add(self.runs, cursor)
        _ADD_LOG.add(self.log, cursor)
        _COUNT.add(added_counts(self.log), cursor)
        if self.contexts:
            # One row for all records: the indexer reads them before it reads the database's own notes.
            cursor.execute(_NOTE, (settlement_rows.noted(self.contexts),))


def _found(key: Column[Any], value: Column[Any], keys: Collection[Any], cursor: sqlite3.Cursor) -> Mapping[Any, Any]:
    if not keys:
        return {}
    size = 1 << (len(keys) - 1).bit_length()
    # Padded with a repeated key to a power of two, so that batches of all sizes share few statements.
    filled = [*keys, *repeat(next(iter(keys)), size - len(keys))]
    return dict(cursor.execute(_query(key, value, size), filled).fetchall())


@cache
def _query(key: Column[Any], value: Column[Any], size: int) -> str:
    parameters: list[BindParameter[Any]] = [bindparam(f"key_{number}", type_=key.type) for number in range(size)]
    return str(select(key, value).where(key.in_(parameters)).compile(dialect=_DIALECT))


def _title(settlement: Settlement, cursor: sqlite3.Cursor) -> str | None:
    log = settlement.log
    row = cursor.execute(_KNOWN, (settlement.organization_id, to_ms(log.created_at), log.id)).fetchone()
    return None if row is None else row[0]
