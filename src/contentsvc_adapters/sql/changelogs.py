"""The public changelogs, and the posts that they show.

Each type of content has its own stretch of an index, newest first: as many rows as are asked for are read of each type
that is shown, however many there are of it and of others.
"""

from collections import Counter
from collections.abc import Generator, Sequence
from datetime import datetime
from typing import Any, Final, final

import msgspec
from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Integer,
    Select,
    and_,
    column,
    func,
    literal_column,
    or_,
    select,
    tuple_,
    union_all,
    update,
    values,
)

from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.rows import AnyRow, json_of, post_of
from contentsvc_adapters.sql.schema import posts, public_changelogs
from contentsvc_core.content.posts import ContentType, Post
from contentsvc_core.content.public.changelogs import Exposure, PublicChangelog
from contentsvc_core.content.public.months import Month, months_between
from contentsvc_core.content.public.places import PublishedPlace
from contentsvc_core.content.public.releases import repositories_in
from contentsvc_core.timestamps import from_ms, to_ms

#: Spelled out: behind a parameter, the planners would not see that the partial indexes serve.
_PUBLISHED: Final = (posts.c.status == literal_column("'published'")) & posts.c.published_at.is_not(None)
_PLACE: Final = (posts.c.published_at, posts.c.id)
#: How many posts' metadata are held at a time, in rows: that of one post may have some 100 KB.
_PART: Final = 200


@final
class SqlChangelogs:
    """The public changelogs."""

    def __init__(self, database: Database) -> None:
        """Take the database."""
        self._database = database

    async def of(self, organization_id: str) -> PublicChangelog | None:
        """Read an organization's changelog."""
        return await self._changelog(public_changelogs.c.organization_id, organization_id)

    async def named(self, slug: str) -> PublicChangelog | None:
        """Read the changelog of a slug."""
        return await self._changelog(public_changelogs.c.slug, slug)

    async def save(self, changelog: PublicChangelog) -> bool:
        """Write a changelog, unless another organization has its slug."""
        row = _row(changelog)
        saving = self._database.dialect.insert(public_changelogs).values(row)
        saving = saving.on_conflict_do_update(index_elements=["organization_id"], set_=row)
        holder = select(public_changelogs.c.organization_id).where(public_changelogs.c.slug == changelog.slug)

        def save(connection: Connection) -> bool:
            # Of several that ask for a slug at once, the next one finds that this one has it.
            self._database.dialect.hold(connection, f"changelog/{changelog.slug}")
            if connection.scalar(holder) not in {None, changelog.organization_id}:
                return False
            connection.execute(saving)
            return True

        return await self._database.write(save)

    async def posts(
        self,
        changelog: PublicChangelog,
        *,
        limit: int,
        month: Month | None = None,
        released: bool = False,
        before: PublishedPlace | None = None,
    ) -> Sequence[Post]:
        """Read the newest posts of each type that is shown, and of those the newest."""
        conditions: list[ColumnElement[bool]] = []
        if month is not None:
            conditions += [posts.c.published_at >= to_ms(month.since), posts.c.published_at < to_ms(month.until)]
        if released:
            conditions.append(posts.c.release_tag.is_not(None))
        if before is not None:
            conditions.append(tuple_(*_PLACE) < tuple_(to_ms(before.published_at), before.id))
        newest = literal_column(str(limit), Integer)
        of_each = [
            select(*_PLACE)
            .where(_shown(changelog, kind), *conditions)
            .order_by(*(each.desc() for each in _PLACE))
            .limit(newest)
            .subquery()
            for kind in changelog.content_types
        ]
        together = union_all(*(select(each) for each in of_each)).subquery()
        keys = select(together.c.id).order_by(together.c.published_at.desc(), together.c.id.desc()).limit(newest)
        chosen = keys.subquery()
        query = select(posts).join(chosen, posts.c.id == chosen.c.id).order_by(*(each.desc() for each in _PLACE))
        return [post_of(row) for row in await self._all(query)]

    async def post(self, changelog: PublicChangelog, post_id: str) -> Post | None:
        """Read a post that is shown."""
        mine = (posts.c.organization_id == changelog.organization_id, posts.c.id == post_id)
        found = await self._all(select(posts).where(*mine))
        post = post_of(found[0]) if found else None
        return post if post is not None and changelog.shows(post) else None

    async def months(self, changelog: PublicChangelog) -> Sequence[Month]:
        """Read the first and the last publication, then ask for each month between them whether it has any."""
        ends = select(
            *(
                select(end(posts.c.published_at)).where(_shown(changelog, kind)).scalar_subquery()
                for kind in changelog.content_types
                for end in (func.min, func.max)
            )
        )

        def read(connection: Connection) -> list[Month]:
            known = [from_ms(each) for each in connection.execute(ends).one() if each is not None]
            if not known:
                return []
            asked = months_between(Month.of(min(known)), Month.of(max(known)))
            having = {row.since for row in connection.execute(_having(changelog, asked))}
            return [month for month in asked if to_ms(month.since) in having]

        return await self._database.read(read)

    async def exposure(self, changelog: PublicChangelog) -> Exposure:
        """Count in parts, by the metadata alone."""

        def count(connection: Connection) -> Exposure:
            number, repositories = 0, Counter[str]()
            for kind in changelog.content_types:
                for metadata in _metadata(connection, changelog, kind):
                    number += 1
                    repositories.update(repositories_in(msgspec.json.decode(metadata) if metadata else None))
            return Exposure(posts=number, repositories=repositories)

        return await self._database.read(count)

    async def last_change(self, changelog: PublicChangelog) -> datetime:
        """Read the last change of what is or was shown."""
        query = select(func.max(posts.c.updated_at)).where(
            posts.c.organization_id == changelog.organization_id, posts.c.published_at.is_not(None)
        )
        last = await self._database.read(lambda connection: connection.scalar(query))
        return changelog.updated_at if last is None else max(changelog.updated_at, from_ms(last))

    async def _changelog(self, key: Column[str], value: str) -> PublicChangelog | None:
        found = await self._all(select(public_changelogs).where(key == value))
        return _changelog(found[0]) if found else None

    async def _all(self, query: Select[*tuple[Any, ...]]) -> Sequence[AnyRow]:
        return await self._database.read(lambda connection: connection.execute(query).all())


def note_change(connection: Connection, organization_id: str, at: datetime) -> None:
    """Have an organization's changelog, if it has one, say that it has changed: a post is gone, and cannot say so."""
    mine = (public_changelogs.c.organization_id == organization_id, public_changelogs.c.updated_at < to_ms(at))
    connection.execute(update(public_changelogs).where(*mine).values(updated_at=to_ms(at)))


def _shown(changelog: PublicChangelog, kind: ContentType) -> ColumnElement[bool]:
    return and_(posts.c.organization_id == changelog.organization_id, posts.c.content_type == kind.value, _PUBLISHED)


def _metadata(connection: Connection, changelog: PublicChangelog, kind: ContentType) -> Generator[str | None]:
    """Read the metadata of every post of a type that is shown, part by part."""
    query = select(*_PLACE, posts.c.source_metadata).where(_shown(changelog, kind)).order_by(*_PLACE).limit(_PART)
    rows = connection.execute(query).all()
    while rows:
        yield from (row.source_metadata for row in rows)
        behind = tuple_(*_PLACE) > tuple_(rows[-1].published_at, rows[-1].id)
        rows = connection.execute(query.where(behind)).all() if len(rows) == _PART else ()


def _having(changelog: PublicChangelog, asked: Sequence[Month]) -> Select[tuple[int]]:
    """Make the statement that gives when those months begin that have anything."""
    months = (
        values(column("since", BigInteger), column("until", BigInteger), name="months")
        .data([(to_ms(month.since), to_ms(month.until)) for month in asked])
        .cte("months")
    )
    within = (posts.c.published_at >= months.c.since, posts.c.published_at < months.c.until)
    any_of = (select(posts.c.id).where(_shown(changelog, kind), *within).exists() for kind in changelog.content_types)
    return select(months.c.since).where(or_(*any_of))


def _row(changelog: PublicChangelog) -> dict[str, Any]:
    return {
        "organization_id": changelog.organization_id,
        "slug": changelog.slug,
        "title": changelog.title,
        "description": changelog.description,
        "product_url": changelog.product_url,
        "content_types": json_of([kind.value for kind in changelog.content_types]),
        "is_public": changelog.is_public,
        "created_at": to_ms(changelog.created_at),
        "updated_at": to_ms(changelog.updated_at),
    }


def _changelog(row: AnyRow) -> PublicChangelog:
    return PublicChangelog(
        organization_id=row.organization_id,
        slug=row.slug,
        title=row.title,
        description=row.description,
        product_url=row.product_url,
        content_types=tuple(ContentType(kind) for kind in msgspec.json.decode(row.content_types)),
        is_public=row.is_public,
        created_at=from_ms(row.created_at),
        updated_at=from_ms(row.updated_at),
    )
