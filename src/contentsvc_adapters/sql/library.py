"""The posts and context records."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, final

from sqlalchemy import ColumnElement, Connection, Select, delete, func, select, tuple_, update

from contentsvc_adapters.sql import addressing, containment, rows
from contentsvc_adapters.sql.counts import POSTS
from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.schema import context_records, events, posts, told_once
from contentsvc_core.content.posts import Post, PostStatus
from contentsvc_core.content.queries import PostOrder, PostQuery
from contentsvc_core.content.windows import LookbackWindow
from contentsvc_core.lists.pagination import PageRequest, Pagination
from contentsvc_core.refusals import Refusal
from contentsvc_core.timestamps import to_ms
from contentsvc_core.workflows.context import ContextRecord, how_many_fit

_RECORDS: Final[Select[*tuple[Any, ...]]] = select(
    context_records, events.c.repository, events.c.delivery_id, events.c.type, events.c.data
).join(events, events.c.id == context_records.c.event_id)
_COLUMNS: Final = {PostOrder.CREATED_AT: "created_at", PostOrder.OCCURRED_AT: "occurred_at"}
_NEWEST_FIRST: Final = (context_records.c.created_at.desc(), context_records.c.id.desc())


@final
class SqlContextLibrary:
    """The context library."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, organization_id: str, custom_id: str) -> ContextRecord | None:
        found = await self._read(
            _RECORDS.where(
                context_records.c.organization_id == organization_id, context_records.c.custom_id == custom_id
            )
        )
        return found[0] if found else None

    async def repository(self, organization_id: str, custom_id: str) -> str | None:
        query = (
            select(events.c.repository)
            .join(context_records, events.c.id == context_records.c.event_id)
            .where(context_records.c.organization_id == organization_id, context_records.c.custom_id == custom_id)
        )
        return await self._database.read(lambda connection: connection.scalar(query))

    async def before(self, record: ContextRecord, *, limit: int, max_bytes: int) -> Sequence[ContextRecord]:
        mine = (
            context_records.c.organization_id == record.organization_id,
            context_records.c.provider == record.provider,
            context_records.c.repository_id == record.repository_id,
            tuple_(context_records.c.created_at, context_records.c.id) < tuple_(to_ms(record.created_at), record.id),
        )
        return (await self._bounded(mine, limit, max_bytes))[0]

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
        mine = (
            context_records.c.organization_id == organization_id,
            context_records.c.provider == provider,
            context_records.c.repository_id == repository_id,
            context_records.c.created_at >= to_ms(window.since),
            context_records.c.created_at < to_ms(window.until),
        )
        counting = select(func.count()).select_from(context_records).where(*mine)
        return await self._bounded(mine, limit, max_bytes, counting)

    async def _bounded(
        self,
        mine: Sequence[ColumnElement[bool]],
        limit: int,
        max_bytes: int,
        counting: Select[int] | None = None,
    ) -> tuple[Sequence[ContextRecord], int]:
        """Read as many records as fit. The sizes are read first, because an event can have 25 MiB."""
        sizes = (
            select(self._database.dialect.size_of(events.c.data))
            .select_from(context_records)
            .join(events, events.c.id == context_records.c.event_id)
            .where(*mine)
            .order_by(*_NEWEST_FIRST)
            .limit(limit)
        )

        def read(connection: Connection) -> tuple[Sequence[rows.AnyRow], int]:
            fitting = how_many_fit(connection.scalars(sizes), max_bytes)
            found = connection.execute(_RECORDS.where(*mine).order_by(*_NEWEST_FIRST).limit(fitting)).all()
            return found, 0 if counting is None else (connection.scalar(counting) or 0) - len(found)

        found, left_out = await self._database.read(read)
        return await _records(found), left_out

    async def records(self, organization_id: str, *, limit: int | None = None) -> Sequence[ContextRecord]:
        mine = _RECORDS.where(context_records.c.organization_id == organization_id)
        return await self._read(mine.order_by(*_NEWEST_FIRST).limit(limit))

    async def _read(self, query: Select[*tuple[Any, ...]]) -> list[ContextRecord]:
        return await _records(await self._database.read(lambda connection: connection.execute(query).all()))


async def _records(found: Sequence[rows.AnyRow]) -> list[ContextRecord]:
    # In a thread: a hundred records may hold two hundred thousand commits.
    return await asyncio.to_thread(lambda: [rows.context_record(row) for row in found])


@final
class SqlPostLibrary:
    """The post library."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self, organization_id: str, query: PostQuery, request: PageRequest
    ) -> tuple[Sequence[Post], Pagination] | Refusal:
        """Count the posts and read one page in one snapshot."""
        filters = {
            "status": [status.value for status in query.statuses],
            "content_type": [kind.value for kind in query.content_types],
            "brand_identity_id": query.brand_identity_ids,
        }

        def page(connection: Connection) -> tuple[Sequence[Post], Pagination] | Refusal:
            by = _COLUMNS[query.order_by]
            found = POSTS.page(
                connection, select(posts), organization_id, filters, request, ascending=query.ascending, by=by
            )
            if isinstance(found, Refusal):
                return found
            read, pagination = found
            return [rows.post_of(row) for row in read], pagination

        return await self._database.read(page)

    async def posts(self, organization_id: str, *, limit: int | None = None) -> Sequence[Post]:
        query = (
            select(posts)
            .where(posts.c.organization_id == organization_id)
            .order_by(posts.c.created_at.desc(), posts.c.id.desc())
            .limit(limit)
        )
        found = await self._database.read(lambda connection: connection.execute(query).all())
        return [rows.post_of(row) for row in found]

    async def post(self, organization_id: str, post_id: str) -> Post | None:
        query = select(posts).where(posts.c.organization_id == organization_id, posts.c.id == post_id)
        found = await self._database.read(lambda connection: connection.execute(query).first())
        return None if found is None else rows.post_of(found)

    async def change(self, post: Post, *, seen: datetime) -> bool:
        """Update a post if its last change is ``seen``, so that one of several concurrent changes wins."""
        mine = (posts.c.organization_id == post.organization_id, posts.c.id == post.id)
        values = {
            "title": post.title,
            "content": post.content,
            "markdown": post.markdown,
            "status": post.status.value,
            "updated_at": to_ms(post.updated_at),
            "published_at": None if post.published_at is None else to_ms(post.published_at),
        }
        changing = (
            update(posts)
            .where(*mine, posts.c.updated_at == to_ms(seen), posts.c.updated_at < to_ms(post.updated_at))
            .values(values)
        )
        standing = select(*(posts.c[name] for name in values)).where(*mine)
        # Each version has one status: the update below replaces exactly the version that is read here, or nothing.
        replaced = select(posts.c.status).where(*mine, posts.c.updated_at == to_ms(seen))
        done = False

        def change(connection: Connection) -> bool:
            nonlocal done
            before = connection.scalar(replaced)
            publishes = post.status is PostStatus.PUBLISHED and before != post.status.value
            moves = post.release_tag is not None and before not in {None, post.status.value}
            if moves:
                containment.hold(connection, [post.organization_id], releases=True)
            if connection.execute(changing).rowcount:
                if moves:
                    containment.contain_again(connection, post.organization_id, post.id)
                if post.published_at is not None:
                    row = connection.execute(select(posts).where(*mine)).one()
                    addressing.address(connection, self._database.dialect, [rows.post_of(row)])
                if publishes:
                    from contentsvc_adapters.sql.outgoing.telling import tell  # noqa: PLC0415  # a list needs none
                    from contentsvc_core.outgoing.events import post_published  # noqa: PLC0415  # as above

                    # Other columns may have changed meanwhile: the message shows the stored post.
                    row = connection.execute(select(posts).where(*mine)).one()
                    tell(connection, self._database.dialect, [post_published(rows.post_of(row))])
                done = True
                return True
            # If the transaction runs again after an unknown outcome, the stored values may be its own.
            found = connection.execute(standing).mappings().first() if done else None
            return found is not None and dict(found) == values

        return await self._database.write(change)

    async def remove(
        self, organization_id: str, post_id: str, *, seen: datetime | None = None, at: datetime | None = None
    ) -> bool:
        """Delete a post; its key remains reported."""
        removing = delete(posts).where(posts.c.organization_id == organization_id, posts.c.id == post_id)
        if seen is not None:
            removing = removing.where(posts.c.updated_at == to_ms(seen))
        told = self._database.dialect.insert(told_once).on_conflict_do_nothing()
        done = False

        def remove(connection: Connection) -> bool:
            nonlocal done
            containment.hold(connection, [organization_id], releases=True)
            removed = connection.execute(removing.returning(posts.c.once_key)).first()
            if removed is not None:
                if removed.once_key is not None:
                    connection.execute(told, {"organization_id": organization_id, "once_key": removed.once_key})
                containment.contain_again(connection, organization_id, post_id, is_gone=True)
                addressing.forget(connection, post_id)
                if at is not None:
                    from contentsvc_adapters.sql.changelog_rows import note_change  # noqa: PLC0415  # a list needs none

                    note_change(connection, organization_id, at)
                done = True
            # ``done`` is true if the transaction runs again after an unknown outcome and was committed the first time.
            return done

        return await self._database.write(remove)
