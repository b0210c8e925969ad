"""Posts and context records."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final, final

from sqlalchemy import Connection, Select, func, select, tuple_

from contentsvc_adapters.sql import rows
from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.schema import context_records, events, posts
from contentsvc_core.content.pagination import InvalidPage, PageRequest, Pagination, paginate
from contentsvc_core.content.posts import Post
from contentsvc_core.content.queries import PostQuery
from contentsvc_core.timestamps import to_ms
from contentsvc_core.workflows.context import ContextRecord

_RECORDS: Final[Select[*tuple[Any, ...]]] = select(
    context_records, events.c.repository, events.c.delivery_id, events.c.type, events.c.data
).join(events, events.c.id == context_records.c.event_id)
_NEWEST_FIRST: Final = (context_records.c.created_at.desc(), context_records.c.id.desc())


@final
class SqlContextLibrary:
    """The context library."""

    def __init__(self, database: Database) -> None:
        """Take the database."""
        self._database = database

    async def record(self, organization_id: str, custom_id: str) -> ContextRecord | None:
        """Read one record."""
        found = await self._read(
            _RECORDS.where(
                context_records.c.organization_id == organization_id, context_records.c.custom_id == custom_id
            )
        )
        return found[0] if found else None

    async def before(self, record: ContextRecord, *, limit: int) -> Sequence[ContextRecord]:
        """Read the records of one repository that are older than ``record``."""
        return await self._read(
            _RECORDS.where(
                context_records.c.organization_id == record.organization_id,
                context_records.c.provider == record.provider,
                context_records.c.repository_id == record.repository_id,
                tuple_(context_records.c.created_at, context_records.c.id)
                < tuple_(to_ms(record.created_at), record.id),
            )
            .order_by(*_NEWEST_FIRST)
            .limit(limit)
        )

    async def records(self, organization_id: str, *, limit: int | None = None) -> Sequence[ContextRecord]:
        """Read an organization's records."""
        mine = _RECORDS.where(context_records.c.organization_id == organization_id)
        return await self._read(mine.order_by(*_NEWEST_FIRST).limit(limit))

    async def _read(self, query: Select[*tuple[Any, ...]]) -> list[ContextRecord]:
        found = await self._database.read(lambda connection: connection.execute(query).all())
        # Not on the loop: a hundred records may hold two hundred thousand commits.
        return await asyncio.to_thread(lambda: [rows.context_record(row) for row in found])


@final
class SqlPostLibrary:
    """The post library."""

    def __init__(self, database: Database) -> None:
        """Take the database."""
        self._database = database

    async def page(
        self, organization_id: str, query: PostQuery, request: PageRequest
    ) -> tuple[Sequence[Post], Pagination] | InvalidPage:
        """Count the posts and read one page of them, in one snapshot."""
        conditions = [posts.c.organization_id == organization_id]
        if query.statuses:
            conditions.append(posts.c.status.in_([status.value for status in query.statuses]))
        if query.content_types:
            conditions.append(posts.c.content_type.in_([kind.value for kind in query.content_types]))
        order = (posts.c.created_at, posts.c.id)

        def page(connection: Connection) -> tuple[Sequence[Post], Pagination] | InvalidPage:
            total = connection.scalar(select(func.count()).select_from(posts).where(*conditions)) or 0
            pagination = paginate(request, total)
            if isinstance(pagination, InvalidPage):
                return pagination
            found = connection.execute(
                select(posts)
                .where(*conditions)
                .order_by(*(order if query.ascending else [column.desc() for column in order]))
                .limit(request.limit)
                .offset(request.offset)
            )
            return [rows.post_of(row) for row in found], pagination

        return await self._database.read(page)

    async def posts(self, organization_id: str, *, limit: int | None = None) -> Sequence[Post]:
        """Read an organization's posts."""
        query = (
            select(posts)
            .where(posts.c.organization_id == organization_id)
            .order_by(posts.c.created_at.desc(), posts.c.id.desc())
            .limit(limit)
        )
        found = await self._database.read(lambda connection: connection.execute(query).all())
        return [rows.post_of(row) for row in found]
