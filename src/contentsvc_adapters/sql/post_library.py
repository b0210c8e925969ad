from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, final

from sqlalchemy import ColumnElement, Connection, and_, bindparam, delete, func, insert, or_, select, update

from contentsvc_adapters.sql import addressing, containment
from contentsvc_adapters.sql.counts import Listing
from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.post_rows import post_of, post_row, read_labels, written_labels
from contentsvc_adapters.sql.row import AnyRow
from contentsvc_adapters.sql.schema.content import post_versions, posts, told_once
from contentsvc_adapters.sql.schema.lists import POST_SPANS, post_counts
from contentsvc_adapters.sql.store import SqlStore, is_own, reading, writing
from contentsvc_core.content.posts import CHANGED_FIELDS, Post, PostStatus, PostText
from contentsvc_core.content.queries import PostOrder, PostQuery
from contentsvc_core.content.versions import PostVersion, versions_after
from contentsvc_core.lists.pagination import PageRequest, Pagination, paginate
from contentsvc_core.refusals import Refusal
from contentsvc_core.timestamps import from_ms, to_ms

if TYPE_CHECKING:
    from contentsvc_adapters.sql.searching.search import SqlSearch

POSTS: Final = Listing(rows=posts, counts=post_counts, spans=POST_SPANS)
_COLUMNS: Final = {PostOrder.CREATED_AT: "created_at", PostOrder.OCCURRED_AT: "occurred_at"}
_DRAFT: Final = posts.c.status == PostStatus.DRAFT.value
_SCHEDULED: Final = and_(posts.c.publish_at.is_not(None), _DRAFT)
_SELECT_VERSIONS: Final = (
    select(post_versions).where(post_versions.c.post_id == bindparam("post")).order_by(post_versions.c.number.desc())
)
_DELETE_VERSIONS: Final = delete(post_versions).where(
    post_versions.c.post_id == bindparam("post"), post_versions.c.number < bindparam("oldest")
)


@final
class SqlPostLibrary(SqlStore):
    def __init__(self, database: Database, search: "Callable[[], SqlSearch]") -> None:
        super().__init__(database)
        self._search = search

    async def page(
        self, organization_id: str, query: PostQuery, request: PageRequest
    ) -> tuple[Sequence[Post], Pagination] | Refusal:
        """Count the posts and read one page in one snapshot.

        A filter of fields without counts examines all posts of the organization that the other filters leave.
        """
        if not query.is_counted:
            return await self._examined(organization_id, query, request)
        filters = _filters(query)

        def page(connection: Connection) -> tuple[Sequence[Post], Pagination] | Refusal:
            by = _COLUMNS[query.order_by]
            found = POSTS.page(
                connection, select(posts), organization_id, filters, request, ascending=query.ascending, by=by
            )
            if isinstance(found, Refusal):
                return found
            read, pagination = found
            return [post_of(row) for row in read], pagination

        return await self._database.read(page)

    async def _examined(
        self, organization_id: str, query: PostQuery, request: PageRequest
    ) -> tuple[Sequence[Post], Pagination] | Refusal:
        conditions = await self._conditions(organization_id, query)
        counting = select(func.count()).select_from(posts).where(*conditions)
        keys = select(posts.c.id).where(*conditions).order_by(*_order(query))
        keys = keys.limit(request.limit).offset(request.offset)
        reading = select(posts).where(posts.c.id.in_(keys)).order_by(*_order(query))

        def page(connection: Connection) -> tuple[Sequence[Post], Pagination] | Refusal:
            pagination = paginate(request, connection.scalar(counting) or 0)
            if isinstance(pagination, Refusal):
                return pagination
            return [post_of(row) for row in connection.execute(reading)], pagination

        return await self._database.read(page)

    async def chosen(
        self, organization_id: str, query: PostQuery, *, limit: int
    ) -> tuple[Sequence[tuple[str, str]], int]:
        conditions = await self._conditions(organization_id, query)
        counting = select(func.count()).select_from(posts).where(*conditions)
        reading = select(posts.c.id, posts.c.title).where(*conditions).order_by(*_order(query)).limit(limit)

        def read(connection: Connection) -> tuple[Sequence[tuple[str, str]], int]:
            titles = [(row.id, row.title) for row in connection.execute(reading)]
            return titles, connection.scalar(counting) or 0

        return await self._database.read(read)

    async def _conditions(self, organization_id: str, query: PostQuery) -> list[ColumnElement[bool]]:
        from contentsvc_core.content.public.facets import folded  # noqa: PLC0415  # a list without filters does not need it

        dialect, by = self._database.dialect, posts.c[_COLUMNS[query.order_by]]
        conditions = [posts.c.organization_id == organization_id]
        conditions += [posts.c[name].in_(values) for name, values in _filters(query).items() if values]
        if query.since is not None:
            conditions.append(by >= to_ms(query.since))
        if query.until is not None:
            conditions.append(by < to_ms(query.until))
        for kind, names in (
            ("label", [label.value for label in query.labels]),
            ("repository", [folded(name) for name in query.repositories]),
        ):
            if names:
                conditions.append(or_(*(dialect.contains(posts.c.facets, f"\n{kind}:{name}\n") for name in names)))
        if query.terms:
            conditions.append(posts.c.id.in_(await self._search().matching(organization_id, query.terms)))
        return conditions

    @reading
    def waiting(self, connection: Connection, organization_id: str) -> int:
        scheduled = (
            select(func.count()).select_from(posts).where(posts.c.organization_id == organization_id, _SCHEDULED)
        )
        drafts = POSTS.days(connection, organization_id, {"status": [PostStatus.DRAFT.value]})
        return sum(each.number for each in drafts) - (connection.scalar(scheduled) or 0)

    async def due(self, now: datetime, *, limit: int) -> Sequence[tuple[str, str]]:
        query = (
            select(posts.c.organization_id, posts.c.id)
            # The condition on the organization makes SQLite read the index of scheduled posts, which is small.
            .where(posts.c.organization_id > "", posts.c.publish_at <= to_ms(now), _SCHEDULED)
            .order_by(posts.c.publish_at, posts.c.id)
            .limit(limit)
        )
        post_rows = await self._database.rows(query)
        return [(row.organization_id, row.id) for row in post_rows]

    @reading
    def versions(self, connection: Connection, organization_id: str, post_id: str) -> Sequence[PostVersion]:
        own = select(posts.c.id).where(is_own(posts, organization_id, post_id))
        return versions_of(connection, post_id) if connection.execute(own).first() else ()

    async def posts(self, organization_id: str, *, limit: int | None = None) -> Sequence[Post]:
        query = (
            select(posts)
            .where(posts.c.organization_id == organization_id)
            .order_by(posts.c.created_at.desc(), posts.c.id.desc())
            .limit(limit)
        )
        return await self._database.values(query, post_of)

    async def post(self, organization_id: str, post_id: str) -> Post | None:
        return await self._database.first(select(posts).where(is_own(posts, organization_id, post_id)), post_of)

    @writing
    def add(self, connection: Connection, post: Post, *, author: str | None = None) -> None:
        row = post_row(post, run_id=None, once=None)
        adding = (
            self._database.dialect.insert(posts).on_conflict_do_nothing(index_elements=["id"]).returning(posts.c.id)
        )
        if connection.scalar(adding, row) is None:
            return
        first = PostVersion(number=1, text=post.text, saved_at=post.updated_at, author=author)
        add_versions(connection, post.id, [first])
        from contentsvc_adapters.sql.outgoing.enqueue import enqueue  # noqa: PLC0415  # a list does not need it
        from contentsvc_core.outgoing.events import post_written  # noqa: PLC0415  # as above

        enqueue(connection, self._database.dialect, post_written(post, by_editor=True))
        addressing.address(connection, self._database.dialect, [post], are_new=True)

    async def change(self, post: Post, *, unchanged_since: datetime, author: str | None = None) -> bool:
        own = is_own(posts, post.organization_id, post.id)
        row = post_row(post, run_id=None, once=None)
        values = {name: row[name] for name in CHANGED_FIELDS}
        changing = (
            update(posts)
            .where(own, posts.c.updated_at == to_ms(unchanged_since), posts.c.updated_at < to_ms(post.updated_at))
            .values(values)
        )
        current = select(*(posts.c[name] for name in values)).where(own)
        # The update below replaces exactly the version that is read here, or nothing.
        replaced = select(posts).where(own, posts.c.updated_at == to_ms(unchanged_since))
        done = False

        def change(connection: Connection) -> bool:
            nonlocal done
            found = connection.execute(replaced).first()
            before = None if found is None else post_of(found)
            changes_status = before is not None and before.status is not post.status
            publishes = changes_status and post.status is PostStatus.PUBLISHED
            moves = changes_status and post.release_tag is not None
            if moves:
                containment.lock(connection, [post.organization_id], releases=True)
            if before is not None and connection.execute(changing).rowcount:
                store_version(connection, before, post, author)
                if moves:
                    containment.contain_again(connection, post.organization_id, post.id)
                row = connection.execute(select(posts).where(own)).one()
                addressing.address(connection, self._database.dialect, [post_of(row)])
                if publishes:
                    from contentsvc_adapters.sql.outgoing.enqueue import enqueue  # noqa: PLC0415  # a list does not need it
                    from contentsvc_core.outgoing.events import post_published  # noqa: PLC0415  # as above

                    row = connection.execute(select(posts).where(own)).one()
                    enqueue(connection, self._database.dialect, [post_published(post_of(row))])
                done = True
                return True
            # If the transaction runs again after an unknown outcome, the stored values may be its own.
            stored = connection.execute(current).mappings().first() if done else None
            return stored is not None and dict(stored) == values

        return await self._database.write(change)

    async def remove(
        self, organization_id: str, post_id: str, *, unchanged_since: datetime | None = None, at: datetime | None = None
    ) -> bool:
        removing = delete(posts).where(is_own(posts, organization_id, post_id))
        if unchanged_since is not None:
            removing = removing.where(posts.c.updated_at == to_ms(unchanged_since))
        statement = self._database.dialect.insert(told_once).on_conflict_do_nothing()

        def remove(connection: Connection) -> bool:
            containment.lock(connection, [organization_id], releases=True)
            removed = connection.execute(removing.returning(posts.c.once_key)).first()
            if removed is None:
                return False
            if removed.once_key is not None:
                connection.execute(statement, {"organization_id": organization_id, "once_key": removed.once_key})
            containment.contain_again(connection, organization_id, post_id, is_gone=True)
            addressing.forget(connection, post_id)
            if at is not None:
                from contentsvc_adapters.sql.changelog_rows import note_change  # noqa: PLC0415  # a list does not need it

                note_change(connection, organization_id, at)
            return True

        return await self._database.write_once(remove)


def _filters(query: PostQuery) -> dict[str, Sequence[str]]:
    return {
        "status": [status.value for status in query.statuses],
        "content_type": [kind.value for kind in query.content_types],
        "brand_identity_id": query.brand_identity_ids,
    }


def _order(query: PostQuery) -> list[ColumnElement[Any]]:
    sort_key = (posts.c[_COLUMNS[query.order_by]], posts.c.id)
    return [column.asc() if query.ascending else column.desc() for column in sort_key]


def versions_of(connection: Connection, post_id: str) -> list[PostVersion]:
    return [_version_of(row) for row in connection.execute(_SELECT_VERSIONS, {"post": post_id})]


def store_version(connection: Connection, before: Post, after: Post, author: str | None) -> None:
    """Add the versions of a change, and delete the versions beyond the bounds. The row of the post is locked."""
    if before.text == after.text:
        return
    added, versions = versions_after(versions_of(connection, after.id), before, after, author)
    add_versions(connection, after.id, added)
    connection.execute(_DELETE_VERSIONS, {"post": after.id, "oldest": versions[-1].number})


def add_versions(connection: Connection, post_id: str, versions: Sequence[PostVersion]) -> None:
    for version in versions:
        values = {
            "post_id": post_id,
            "number": version.number,
            "title": version.text.title,
            "markdown": version.text.markdown,
            "summary": version.text.summary,
            "labels": written_labels(version.text.labels),
            "saved_at": to_ms(version.saved_at),
            "author": version.author,
        }
        connection.execute(insert(post_versions).values(values))


def _version_of(row: AnyRow) -> PostVersion:
    text = PostText(title=row.title, markdown=row.markdown, summary=row.summary, labels=read_labels(row.labels))
    return PostVersion(number=row.number, text=text, saved_at=from_ms(row.saved_at), author=row.author)
