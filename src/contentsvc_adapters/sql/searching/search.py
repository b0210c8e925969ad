"""Search for context records and posts (port :class:`~contentsvc_core.ports.Search`)."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final, TypeAlias, final

from sqlalchemy import ColumnElement, Connection, FromClause, Select, and_, func, select, tuple_

from contentsvc_adapters.sql import rows, workflow_rows
from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.post_rows import post_of
from contentsvc_adapters.sql.schema.content import posts
from contentsvc_adapters.sql.schema.deliveries import context_records, events
from contentsvc_adapters.sql.schema.searching import search_documents, search_pending
from contentsvc_adapters.sql.searching.indexing import WAITS, SearchIndexer
from contentsvc_adapters.sql.searching.words import scope_word, word_index
from contentsvc_core.content.posts import Post
from contentsvc_core.lists.cursors import Cursor
from contentsvc_core.lists.pagination import how_many_fit
from contentsvc_core.lists.terms import Term
from contentsvc_core.search.documents import DocumentKind
from contentsvc_core.search.questions import ContextSearch, Hits, PostSearch
from contentsvc_core.timestamps import to_ms
from contentsvc_core.workflows.context import ContextRecord

_Found: TypeAlias = tuple[Sequence[rows.AnyRow], bool, int]

#: The maximum number of waiting documents that a search indexes before it answers.
_AT_ONCE: Final = 2_000
_NEWEST_FIRST: Final = (search_documents.c.created_at.desc(), search_documents.c.place_id.desc())
_OF_RECORD: Final = and_(
    context_records.c.organization_id == search_documents.c.organization_id,
    context_records.c.custom_id == search_documents.c.document_id,
)
_OF_POST: Final = and_(
    posts.c.organization_id == search_documents.c.organization_id, posts.c.id == search_documents.c.document_id
)


@final
class SqlSearch:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._words = word_index(database)
        self.indexer: Final = SearchIndexer(database, self._words)

    async def records(
        self, organization_id: str, search: ContextSearch, *, limit: int, max_bytes: int, before: Cursor | None = None
    ) -> Hits[ContextRecord]:
        conditions = self._conditions(organization_id, DocumentKind.CONTEXT, search.terms, before)
        if search.repository:
            conditions.append(search_documents.c.repository == search.repository)
        if search.event_types:
            conditions.append(search_documents.c.type.in_(search.event_types))
        if search.since is not None:
            conditions.append(search_documents.c.created_at >= to_ms(search.since))
        source = search_documents.join(context_records, _OF_RECORD).join(
            events, events.c.id == context_records.c.event_id
        )
        sizes = _listed(select(self._database.dialect.size_of(events.c.data)), source, conditions, limit + 1)
        full = select(
            context_records, events.c.repository, events.c.delivery_id, events.c.type, events.c.data
        ).select_from(source)

        def read(connection: Connection) -> _Found:
            found = list(connection.scalars(sizes))
            fitting = how_many_fit(found[:limit], max_bytes)
            listed = connection.execute(full.where(*conditions).order_by(*_NEWEST_FIRST).limit(fitting)).all()
            return listed, len(found) > fitting, _pending(connection, organization_id, DocumentKind.CONTEXT)

        await self.indexer.index(limit=_AT_ONCE, organization_id=organization_id)
        listed, has_more, behind = await self._database.read(read)
        # In a thread: a hundred records may hold two hundred thousand commits.
        found = await asyncio.to_thread(lambda: [workflow_rows.context_record(row) for row in listed])
        return Hits(found=found, has_more=has_more, behind=behind)

    async def posts(
        self, organization_id: str, search: PostSearch, *, limit: int, before: Cursor | None = None
    ) -> Hits[Post]:
        conditions = self._conditions(organization_id, DocumentKind.POST, search.terms, before)
        if search.statuses:
            conditions.append(posts.c.status.in_([status.value for status in search.statuses]))
        if search.content_types:
            conditions.append(search_documents.c.type.in_([kind.value for kind in search.content_types]))
        if search.since is not None:
            conditions.append(search_documents.c.created_at >= to_ms(search.since))
        query = _listed(select(posts), search_documents.join(posts, _OF_POST), conditions, limit + 1)

        def read(connection: Connection) -> _Found:
            post_rows = connection.execute(query).all()
            return post_rows[:limit], len(post_rows) > limit, _pending(connection, organization_id, DocumentKind.POST)

        await self.indexer.index(limit=_AT_ONCE, organization_id=organization_id)
        listed, has_more, behind = await self._database.read(read)
        return Hits(found=[post_of(row) for row in listed], has_more=has_more, behind=behind)

    async def matching(self, organization_id: str, terms: Sequence[Term]) -> Select[str]:
        await self.indexer.index(limit=_AT_ONCE, organization_id=organization_id)
        conditions = self._conditions(organization_id, DocumentKind.POST, terms, None)
        return select(search_documents.c.document_id).where(*conditions)

    async def catch_up(self, *, limit: int) -> int:
        return await self.indexer.index(limit=limit)

    def _conditions(
        self, organization_id: str, kind: DocumentKind, terms: Sequence[Term], before: Cursor | None
    ) -> list[ColumnElement[bool]]:
        conditions = [search_documents.c.organization_id == organization_id, search_documents.c.kind == kind.value]
        if terms:
            conditions.append(self._words.found(scope_word(organization_id, kind), terms))
        if before is not None:
            sort_key = tuple_(search_documents.c.created_at, search_documents.c.place_id)
            conditions.append(sort_key < tuple_(to_ms(before.at), before.id))
        return conditions


def _listed(
    what: Select[*tuple[Any, ...]], source: FromClause, conditions: Sequence[ColumnElement[bool]], limit: int
) -> Select[*tuple[Any, ...]]:
    return what.select_from(source).where(*conditions).order_by(*_NEWEST_FIRST).limit(limit)


def _pending(connection: Connection, organization_id: str, kind: DocumentKind) -> int:
    own = (search_pending.c.organization_id == organization_id, search_pending.c.kind == kind.value, WAITS)
    return connection.scalar(select(func.count()).select_from(search_pending).where(*own)) or 0
