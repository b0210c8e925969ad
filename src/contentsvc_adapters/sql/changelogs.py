"""The public changelogs. Each content type has its own range of an index: only as many rows as requested are read."""

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final, TypeAlias, final
from zoneinfo import ZoneInfo

import msgspec
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    FromClause,
    Integer,
    Select,
    and_,
    column,
    delete,
    func,
    literal_column,
    or_,
    select,
    tuple_,
    union_all,
    values,
)

from contentsvc_adapters.sql.changelog_rows import changelog_of, put_image, save_changelog
from contentsvc_adapters.sql.dialects import Dialect
from contentsvc_adapters.sql.post_rows import post_of
from contentsvc_adapters.sql.row import read_row
from contentsvc_adapters.sql.schema.content import post_paths, posts
from contentsvc_adapters.sql.schema.publishing import changelog_images, changelog_slugs, public_changelogs
from contentsvc_adapters.sql.store import SqlStore, is_own, reading, writing
from contentsvc_core.content.posts import ContentType, Post
from contentsvc_core.content.public.changelogs import MAX_SLUGS, Exposure, PublicChangelog
from contentsvc_core.content.public.facets import Label, folded
from contentsvc_core.content.public.images import Image, ImageKind
from contentsvc_core.content.public.months import Month, months_between
from contentsvc_core.content.public.releases import PostLine, repositories_in
from contentsvc_core.lists.cursors import Cursor
from contentsvc_core.refusals import Refusal
from contentsvc_core.timestamps import from_ms, to_ms
from contentsvc_core.zones import DEFAULT_ZONE

#: A literal: the planners cannot match the partial indexes against a parameter.
_PUBLISHED: Final = posts.c.status == literal_column("'published'")
_SORT_KEY: Final = (posts.c.occurred_at, posts.c.id)
#: The number of posts of a type that a filter examines: index entries, some milliseconds.
LOOKED_AT: Final = 5_000
#: The number of rows of metadata in memory at a time: the metadata of one post may have about 100 KB.
_PART: Final = 200
_Chosen: TypeAlias = Callable[[ColumnElement[Any]], ColumnElement[bool]]


@final
class SqlChangelogs(SqlStore):
    async def of(self, organization_id: str) -> PublicChangelog | None:
        own = public_changelogs.c.organization_id == organization_id
        return await self._database.first(select(public_changelogs).where(own), changelog_of)

    async def all_of(self, organization_id: str) -> Sequence[PublicChangelog]:
        query = select(public_changelogs).where(public_changelogs.c.owner_id == organization_id)
        ordered = query.order_by(public_changelogs.c.created_at, public_changelogs.c.id)
        return await self._database.values(ordered, changelog_of)

    async def named(self, slug: str) -> PublicChangelog | None:
        held = select(changelog_slugs.c.changelog_id).where(changelog_slugs.c.slug == slug).scalar_subquery()
        is_current = public_changelogs.c.slug == slug
        either = select(public_changelogs).where(is_current | (public_changelogs.c.id == held))
        return await self._database.first(either.order_by(is_current.desc()).limit(1), changelog_of)

    async def save(self, changelog: PublicChangelog, *, at_most: int = MAX_SLUGS) -> Refusal | None:
        return await self._database.write(
            lambda connection: save_changelog(connection, self._database.dialect, changelog, at_most=at_most)
        )

    @writing
    def remove(self, connection: Connection, changelog: PublicChangelog) -> None:
        own = (public_changelogs.c.id == changelog.id, public_changelogs.c.owner_id == changelog.organization_id)
        connection.execute(delete(changelog_images).where(changelog_images.c.changelog_id == changelog.id))
        connection.execute(delete(public_changelogs).where(*own))

    async def put_image(self, changelog: PublicChangelog, kind: ImageKind, image: Image | None, at: datetime) -> None:
        await self._database.write(
            lambda connection: put_image(connection, self._database.dialect, changelog.id, kind, image, at)
        )

    async def image(self, changelog: PublicChangelog, kind: ImageKind) -> Image | None:
        mark = changelog.image(kind)
        query = select(changelog_images.c.content).where(
            changelog_images.c.changelog_id == changelog.id, changelog_images.c.kind == kind.value
        )
        content = None if mark is None else await self._database.read(lambda connection: connection.scalar(query))
        return None if mark is None or content is None else Image(mark=mark, content=content)

    async def posts(
        self,
        changelog: PublicChangelog,
        *,
        limit: int,
        label: Label | None = None,
        month: Month | None = None,
        released: bool = False,
        before: Cursor | None = None,
    ) -> Sequence[Post]:
        conditions: list[ColumnElement[bool]] = []
        if month is not None:
            conditions += [posts.c.occurred_at >= to_ms(month.since), posts.c.occurred_at < to_ms(month.until)]
        if released:
            conditions.append(posts.c.release_tag.is_not(None))
        if before is not None:
            conditions.append(tuple_(*_SORT_KEY) < tuple_(to_ms(before.at), before.id))
        query = self._newest(changelog, conditions, limit=limit, label=label)
        return await self._database.values(query, post_of)

    def _newest(
        self,
        changelog: PublicChangelog,
        conditions: Sequence[ColumnElement[bool]],
        *,
        limit: int,
        label: Label | None = None,
        ascending: bool = False,
    ) -> Select[*tuple[Any, ...]]:
        chosen = _choosing(self._database.dialect, changelog, label)
        first = literal_column(str(limit), Integer)

        def order(table: FromClause) -> list[ColumnElement[Any]]:
            columns = (table.c.occurred_at, table.c.id)
            return [each.asc() if ascending else each.desc() for each in columns]

        def of_type(kind: ContentType) -> FromClause:
            within = (
                select(*_SORT_KEY, posts.c.facets).where(_listed(changelog, kind), *conditions).order_by(*order(posts))
            )
            if chosen is None:
                return within.with_only_columns(*_SORT_KEY).limit(first).subquery()
            looked_at = within.limit(literal_column(str(LOOKED_AT), Integer)).subquery()
            fitting = select(looked_at.c.occurred_at, looked_at.c.id).where(chosen(looked_at.c.facets))
            return fitting.order_by(*order(looked_at)).limit(first).subquery()

        together = union_all(*(select(of_type(kind)) for kind in changelog.content_types)).subquery()
        keys = select(together.c.id).order_by(*order(together)).limit(first).subquery()
        return select(posts).join(keys, posts.c.id == keys.c.id).order_by(*order(posts))

    async def post(self, changelog: PublicChangelog, post_id: str) -> Post | None:
        own = is_own(posts, changelog.organization_id, post_id)
        post = await self._database.first(select(posts).where(own), post_of)
        return post if post is not None and changelog.shows(post) else None

    async def at_path(self, changelog: PublicChangelog, path: str) -> Post | None:
        holder = select(post_paths.c.post_id).where(
            post_paths.c.organization_id == changelog.organization_id, post_paths.c.path == path
        )
        post_id = await self._database.read(lambda connection: connection.scalar(holder))
        return None if post_id is None else await self.post(changelog, post_id)

    async def beside(self, changelog: PublicChangelog, post: Post) -> tuple[PostLine | None, PostLine | None]:
        sort_key = tuple_(to_ms(post.occurred_at), post.id)
        older = self._newest(changelog, [tuple_(*_SORT_KEY) < sort_key], limit=1)
        newer = self._newest(changelog, [tuple_(*_SORT_KEY) > sort_key], limit=1, ascending=True)
        return await self._database.first(older, _line), await self._database.first(newer, _line)

    async def contained(self, changelog: PublicChangelog, post_id: str, *, limit: int) -> Sequence[PostLine]:
        query = (
            select(*_SORT_KEY, posts.c.title, posts.c.path, posts.c.facets)
            .where(
                posts.c.organization_id == changelog.organization_id,
                posts.c.contained_in == post_id,
                posts.c.content_type.in_([kind.value for kind in changelog.content_types]),
                _PUBLISHED,
            )
            .order_by(*(each.desc() for each in _SORT_KEY))
            .limit(limit)
        )
        chosen = _choosing(self._database.dialect, changelog)
        shown = query if chosen is None else query.where(chosen(posts.c.facets))
        return await self._database.values(shown, _line)

    @reading
    def months(
        self, connection: Connection, changelog: PublicChangelog, zone: ZoneInfo = DEFAULT_ZONE
    ) -> Sequence[Month]:
        """Read the first and the last time of an event, then check each month between them for posts."""
        chosen = _choosing(self._database.dialect, changelog)
        ends = select(
            *(
                select(end(posts.c.occurred_at)).where(_listed(changelog, kind)).scalar_subquery()
                for kind in changelog.content_types
                for end in (func.min, func.max)
            )
        )
        times = [from_ms(each) for each in connection.execute(ends).one() if each is not None]
        if not times:
            return []
        months = months_between(Month.of(min(times), zone), Month.of(max(times), zone))
        having = {row.since for row in connection.execute(_having(changelog, months, chosen))}
        return [month for month in months if to_ms(month.since) in having]

    async def exposure(self, changelog: PublicChangelog) -> Exposure:
        """Count in batches, from the metadata alone."""
        chosen = _choosing(self._database.dialect, changelog)

        def count(connection: Connection) -> Exposure:
            number, repositories = 0, Counter[str]()
            for kind in changelog.content_types:
                condition = _shown(changelog, kind)
                condition = condition if chosen is None else condition & chosen(posts.c.facets)
                for metadata in _metadata(connection, condition):
                    number += 1
                    repositories.update(repositories_in(msgspec.json.decode(metadata) if metadata else None))
            return Exposure(posts=number, repositories=repositories)

        return await self._database.read(count)

    async def last_change(self, changelog: PublicChangelog) -> datetime:
        query = select(func.max(posts.c.updated_at)).where(
            posts.c.organization_id == changelog.organization_id, posts.c.published_at.is_not(None)
        )
        last = await self._database.read(lambda connection: connection.scalar(query))
        return changelog.updated_at if last is None else max(changelog.updated_at, from_ms(last))


_line: Final = partial(read_row, PostLine)


def _choosing(dialect: Dialect, changelog: PublicChangelog, label: Label | None = None) -> _Chosen | None:
    if label is None and not changelog.is_filtered:
        return None

    def chosen(facets: ColumnElement[Any]) -> ColumnElement[bool]:
        conditions: list[ColumnElement[bool]] = []
        if label is not None:
            conditions.append(dialect.contains(facets, f"\nlabel:{label.value}\n"))
        if changelog.scopes:
            conditions.append(
                or_(*(dialect.contains(facets, f"\nscope:{folded(name)}\n") for name in changelog.scopes))
            )
        if changelog.repositories:
            others: ColumnElement[Any] = facets
            for name in changelog.repositories:
                others = func.replace(others, f"\nrepository:{folded(name)}\n", "\n")
            conditions += [dialect.contains(facets, "\nrepository:"), ~dialect.contains(others, "\nrepository:")]
        return and_(*conditions)

    return chosen


def _shown(changelog: PublicChangelog, kind: ContentType) -> ColumnElement[bool]:
    return and_(posts.c.organization_id == changelog.organization_id, posts.c.content_type == kind.value, _PUBLISHED)


def _listed(changelog: PublicChangelog, kind: ContentType) -> ColumnElement[bool]:
    return _shown(changelog, kind) & posts.c.contained_in.is_(None)


def _metadata(connection: Connection, condition: ColumnElement[bool]) -> Generator[str | None]:
    query = select(*_SORT_KEY, posts.c.source_metadata).where(condition).order_by(*_SORT_KEY).limit(_PART)
    rows = connection.execute(query).all()
    while rows:
        yield from (row.source_metadata for row in rows)
        behind = tuple_(*_SORT_KEY) > tuple_(rows[-1].occurred_at, rows[-1].id)
        rows = connection.execute(query.where(behind)).all() if len(rows) == _PART else ()


def _having(
    changelog: PublicChangelog, requested_months: Sequence[Month], chosen: _Chosen | None
) -> Select[tuple[int]]:
    months = (
        values(column("since", BigInteger), column("until", BigInteger), name="months")
        .data([(to_ms(month.since), to_ms(month.until)) for month in requested_months])
        .cte("months")
    )
    within = (posts.c.occurred_at >= months.c.since, posts.c.occurred_at < months.c.until)
    if chosen is not None:
        within = (*within, chosen(posts.c.facets))
    any_of = (select(posts.c.id).where(_listed(changelog, kind), *within).exists() for kind in changelog.content_types)
    return select(months.c.since).where(or_(*any_of))
