"""Indexing documents for search, apart from the write path of deliveries.

The words of a waiting document are computed without a lock. One transaction then deletes its row in ``search_pending``
if its version is unchanged, and writes the words of the deleted rows only: of two concurrent runs the later one wins.

Before words are computed, the row notes this attempt: a lease, during which other processes leave the document out.
A document whose attempt ended its process is indexed alone from then on, and given up after :data:`TRIES` attempts
until it changes.
"""

import asyncio
import random
from collections.abc import Callable, Sequence
from functools import partial
from itertools import takewhile
from typing import Any, Final, TypeAlias, final

import msgspec
from attrs import frozen
from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Table,
    and_,
    bindparam,
    case,
    delete,
    exists,
    or_,
    select,
    update,
)

from contentsvc_adapters.sql import rows, workflow_rows
from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.dialects import DatabaseFault
from contentsvc_adapters.sql.library import RECORDS
from contentsvc_adapters.sql.post_rows import post_of
from contentsvc_adapters.sql.schema.content import posts
from contentsvc_adapters.sql.schema.deliveries import context_records, events
from contentsvc_adapters.sql.schema.searching import search_batches, search_documents, search_pending
from contentsvc_adapters.sql.searching.words import WordIndex, scope_word
from contentsvc_adapters.sql.store import has_value
from contentsvc_core.content.posts import ContentType, Post
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.lists.pagination import how_many_fit
from contentsvc_core.read_model import folded
from contentsvc_core.search.documents import DocumentKind, post_words, record_words
from contentsvc_core.timestamps import to_ms
from contentsvc_core.values import nothing
from contentsvc_core.workflows.context import ContextRecord

#: The maximum number of documents in a batch, and the maximum size of their events in bytes, as stored.
_BATCH: Final = 100
_BATCH_BYTES: Final = 8 * 1024 * 1024
#: The number of unfinished attempts after which a document is given up.
TRIES: Final = 3
#: In milliseconds. A younger attempt may still finish, on any node. A batch takes a second of processor time.
_LEASE_MS: Final = 10_000
_KEY: Final = (search_pending.c.organization_id, search_pending.c.kind, search_pending.c.document_id)
_VERSION: Final = (*_KEY, search_pending.c.version)
_DOCUMENT_KEY: Final = ("organization_id", "kind", "document_id")

#: The waiting batches that one transaction replaces: 2,000 documents take some 10 ms.
_BATCHES: Final = select(search_batches).order_by(search_batches.c.number).limit(16)
#: As many as a float holds: the triggers on PostgreSQL use the same range.
_VERSION_BITS: Final = 53

#: One statement for all documents: SQLAlchemy does not compare it again for each.
_TAKING: Final = delete(search_pending).where(*(column == bindparam(column.name) for column in _VERSION))

_THE_VERSION: Final = tuple(column == bindparam(f"the_{column.name}") for column in _VERSION)
_BEGUN: Final = case((search_pending.c.begun_version == search_pending.c.version, search_pending.c.begun), else_=0)
WAITS: Final = _BEGUN <= TRIES
#: During an upgrade, new nodes write posts and kinds of documents that a node does not know: it leaves them to these.
_KNOWN: Final = has_value(search_pending.c.kind, DocumentKind.CONTEXT) | (
    has_value(search_pending.c.kind, DocumentKind.POST)
    & ~exists().where(
        posts.c.organization_id == search_pending.c.organization_id,
        posts.c.id == search_pending.c.document_id,
        posts.c.content_type.not_in([each.value for each in ContentType]),
    )
)
_REQUEUE: Final = update(search_pending).where(*_THE_VERSION).values(begun=search_pending.c.begun - 1, begun_at=0)

_Key: TypeAlias = tuple[str, str, str]


@final
@frozen(kw_only=True)
class AbandonedDocument:
    """A document that is not searchable, because its indexing never finished."""

    organization_id: str
    kind: str
    #: A context record's custom id, or a post's id.
    document_id: str


@frozen(kw_only=True)
class _IndexingTask:
    key: _Key
    version: int
    #: ``None``: the document was deleted.
    row: dict[str, Any] | None
    words: tuple[str, ...] = ()


@final
class SearchIndexer:
    def __init__(self, database: Database, words: WordIndex) -> None:
        self._database = database
        self._words = words
        now_ms = database.dialect.now_ms()
        expired = search_pending.c.begun_at <= now_ms - _LEASE_MS
        self._beginning = (
            update(search_pending)
            .where(*_THE_VERSION, or_(_BEGUN == 0, expired))
            .values(begun=_BEGUN + 1, begun_version=search_pending.c.version, begun_at=now_ms)
        )
        has_expired = and_(_BEGUN > 0, expired)
        suspect = case((or_(_BEGUN > 1, has_expired), 1), else_=0).label("suspect")
        query = select(*_KEY, search_pending.c.version, _BEGUN.label("begun"), suspect).where(_KNOWN)
        query = query.order_by(*_KEY).limit(bindparam("limit", type_=Integer))
        # After the last attempt, its lease must expire before the document is given up.
        is_last_over = and_(WAITS, has_expired)
        self._of_all = query.where(or_(_BEGUN == 0, is_last_over))
        self._of_one = query.where(
            or_(_BEGUN < TRIES, is_last_over), search_pending.c.organization_id == bindparam("owner")
        )
        #: Called for each document that is given up.
        self.on_abandoned: Callable[[AbandonedDocument], None] = nothing
        #: Called with the fault of each document that cannot be read; it is tried again, and then given up.
        self.on_fault: Callable[[Exception], object] = nothing

    async def index(self, *, limit: int, organization_id: str | None = None) -> int:
        done = 0
        while done < limit:
            batches, pending, records, written = await self._pending(min(_BATCH, limit - done), organization_id)
            if batches:
                await self._database.write(lambda connection, batches=batches: self._note(connection, batches))
                continue
            if not pending:
                break
            begun = await self._database.write(lambda connection, pending=pending: self._begin(connection, pending))
            done += len(pending)
            first = pending[0]
            if first.begun >= TRIES:
                if begun:
                    self.on_abandoned(
                        AbandonedDocument(
                            organization_id=first.organization_id, kind=first.kind, document_id=first.document_id
                        )
                    )
                continue
            # A search does not wait for the documents that another process has begun.
            own = begun if organization_id is None else pending
            if own:
                tasks, faults = await asyncio.to_thread(_tasks, own, records, written)
                await self._store(tasks, begun)
                if faults and organization_id is not None:
                    # A search would read the same documents again: it reads those under a lease.
                    break
                for fault in faults:
                    self.on_fault(fault)
        return done

    async def _store(self, tasks: Sequence[_IndexingTask], begun: Sequence[rows.AnyRow]) -> None:
        try:
            await self._database.write(lambda connection: self._keep(connection, tasks))
        except StoreUnavailable as exc:
            cause = exc.__cause__
            if isinstance(cause, Exception) and self._database.dialect.fault(cause) is DatabaseFault.FULL:
                # The documents are not at fault: the attempt does not count.
                await self._database.write(lambda connection: self._requeue(connection, begun))
            raise

    async def _pending(self, limit: int, organization_id: str | None) -> tuple[Sequence[rows.AnyRow], ...]:
        """Read the next waiting documents: several new ones, or one suspect (two attempts, or an expired lease).

        If batches wait, read them instead: their documents are not noted yet. Only a search of one organization reads
        documents with a lease as well.
        """
        query = self._of_all if organization_id is None else self._of_one
        parameters = {"limit": limit, "owner": organization_id}

        def read(connection: Connection) -> tuple[Sequence[rows.AnyRow], ...]:
            if batches := connection.execute(_BATCHES).all():
                return batches, (), (), ()
            pending = connection.execute(query, parameters).all()
            pending = list(takewhile(lambda row: not row.suspect, pending)) or pending[:1]
            pending = pending[: self._fitting(connection, pending)] if pending else pending
            return (), pending, _records(connection, pending), _posts(connection, pending)

        return await self._database.read(read)

    def _note(self, connection: Connection, batches: Sequence[rows.AnyRow]) -> None:
        """Replace batches by their documents; another process may have done that."""
        claiming = delete(search_batches).where(search_batches.c.number.in_([batch.number for batch in batches]))
        noted = set(connection.scalars(claiming.returning(search_batches.c.number)))
        keys = {
            (organization_id, DocumentKind.CONTEXT.value, custom_id)
            for batch in batches
            if batch.number in noted
            for organization_id, ids in msgspec.json.decode(batch.documents).items()
            for custom_id in ids
        }
        insertion = self._database.dialect.insert(search_pending)
        noting = insertion.on_conflict_do_update(
            index_elements=list(_DOCUMENT_KEY), set_={"version": insertion.excluded.version}
        )
        # A random version, which no earlier change had: a concurrent indexer notices the change.
        documents = [
            dict(zip(_DOCUMENT_KEY, key, strict=True), version=random.getrandbits(_VERSION_BITS))
            for key in sorted(keys)
        ]
        if documents:
            connection.execute(noting, documents)

    def _begin(self, connection: Connection, pending: Sequence[rows.AnyRow]) -> list[rows.AnyRow]:
        """Note an attempt for each document without a lease, and return these documents."""
        # One by one in the order of keys, the same order as when they are removed.
        return [row for row in pending if connection.execute(self._beginning, _version_of(row)).rowcount]

    def _requeue(self, connection: Connection, begun: Sequence[rows.AnyRow]) -> None:
        for row in begun:
            connection.execute(_REQUEUE, _version_of(row))

    def _fitting(self, connection: Connection, pending: Sequence[rows.AnyRow]) -> int:
        sizes = dict[tuple[str, str], int]()
        size = self._database.dialect.size_of(events.c.data)
        source = context_records.join(events, events.c.id == context_records.c.event_id)
        query = select(context_records.c.organization_id, context_records.c.custom_id, size).select_from(source)
        if document_ids := _ids(pending, DocumentKind.CONTEXT):
            sizes = {
                (organization_id, custom_id): bytes_
                for organization_id, custom_id, bytes_ in connection.execute(
                    query.where(_are(context_records, document_ids))
                )
            }
        return how_many_fit((sizes.get((row.organization_id, row.document_id), 0) for row in pending), _BATCH_BYTES)

    def _keep(self, connection: Connection, tasks: Sequence[_IndexingTask]) -> None:
        # In the order of keys, so that concurrent transactions cannot deadlock.
        taken = [task for task in tasks if _take(connection, task)]
        gone = [task.key for task in taken if task.row is None]
        if gone:
            deleted = or_(
                *(
                    and_(*(search_documents.c[name] == part for name, part in zip(_DOCUMENT_KEY, key, strict=True)))
                    for key in gone
                )
            )
            removing = delete(search_documents).where(deleted).returning(search_documents.c.id)
            self._words.drop(connection, list(connection.scalars(removing)))
        addition = self._database.dialect.insert(search_documents)
        keeping = addition.on_conflict_do_update(
            index_elements=list(_DOCUMENT_KEY),
            set_={name: addition.excluded[name] for name in ("created_at", "place_id", "repository", "type")},
        ).returning(search_documents.c.id)
        documents = [(connection.execute(keeping, task.row).scalar_one(), task.words) for task in taken if task.row]
        self._words.store(connection, documents)


def _version_of(row: rows.AnyRow) -> dict[str, Any]:
    return {f"the_{column.name}": getattr(row, column.name) for column in _VERSION}


def _tasks(
    pending: Sequence[rows.AnyRow], records: Sequence[rows.AnyRow], written: Sequence[rows.AnyRow]
) -> tuple[list[_IndexingTask], list[Exception]]:
    """Return the tasks of the documents that can be read, and the faults of the others."""
    stored: dict[_Key, Callable[[], ContextRecord | Post]] = {
        (row.organization_id, DocumentKind.CONTEXT.value, row.custom_id): partial(workflow_rows.context_record, row)
        for row in records
    }
    stored |= {(row.organization_id, DocumentKind.POST.value, row.id): partial(post_of, row) for row in written}
    tasks, faults = list[_IndexingTask](), list[Exception]()
    for row in pending:
        try:
            tasks.append(_task(row, stored.get((row.organization_id, row.kind, row.document_id))))
        except Exception as exc:  # noqa: BLE001  # an unreadable document must not stop the others
            faults.append(exc)
    return tasks, faults


def _take(connection: Connection, task: _IndexingTask) -> bool:
    values = dict(zip(_DOCUMENT_KEY, task.key, strict=True), version=task.version)
    return connection.execute(_TAKING, values).rowcount > 0


def _ids(pending: Sequence[rows.AnyRow], kind: DocumentKind) -> dict[str, list[str]]:
    ids: dict[str, list[str]] = {}
    for row in pending:
        if row.kind == kind.value:
            ids.setdefault(row.organization_id, []).append(row.document_id)
    return ids


def _are(table: Table, ids: dict[str, list[str]]) -> ColumnElement[bool]:
    column = table.c.custom_id if table is context_records else table.c.id
    return or_(
        *(
            and_(table.c.organization_id == organization_id, column.in_(document_ids))
            for organization_id, document_ids in ids.items()
        )
    )


def _records(connection: Connection, pending: Sequence[rows.AnyRow]) -> Sequence[rows.AnyRow]:
    ids = _ids(pending, DocumentKind.CONTEXT)
    return connection.execute(RECORDS.where(_are(context_records, ids))).all() if ids else ()


def _posts(connection: Connection, pending: Sequence[rows.AnyRow]) -> Sequence[rows.AnyRow]:
    ids = _ids(pending, DocumentKind.POST)
    return connection.execute(select(posts).where(_are(posts, ids))).all() if ids else ()


def _task(row: rows.AnyRow, read: Callable[[], ContextRecord | Post] | None) -> _IndexingTask:
    key = (row.organization_id, row.kind, row.document_id)
    full = dict(zip(_DOCUMENT_KEY, key, strict=True))
    match read and read():
        case ContextRecord() as found:
            fields, words = {"repository": folded(found.repository), "type": found.event.type}, record_words(found)
        case Post() as found:
            fields, words = {"repository": None, "type": found.content_type.value}, post_words(found)
        case None:
            return _IndexingTask(key=key, version=row.version, row=None)
    sort_key = {"created_at": to_ms(found.created_at), "place_id": found.id}
    scope = scope_word(found.organization_id, DocumentKind(row.kind))
    return _IndexingTask(key=key, version=row.version, row={**full, **sort_key, **fields}, words=(scope, *words))
