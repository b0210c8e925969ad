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
    bindparam,
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
from contentsvc_adapters.sql.row import AnyRow, json_of
from contentsvc_adapters.sql.rows import post_of
from contentsvc_adapters.sql.schema import changelog_slugs, organizations, posts, public_changelogs
from contentsvc_core.content.posts import ContentType, Post
from contentsvc_core.content.public.changelogs import (
    MAX_SLUGS,
    SLUG_TAKEN,
    Exposure,
    InvalidChangelog,
    PublicChangelog,
    public_slugs,
    too_many_slugs,
)
from contentsvc_core.content.public.months import Month, months_between
from contentsvc_core.content.public.places import PublishedPlace
from contentsvc_core.content.public.releases import PostLine, repositories_in
from contentsvc_core.errors import Unstorable
from contentsvc_core.timestamps import from_ms, to_ms

#: Spelled out: behind a parameter, the planners would not see that the partial indexes serve.
_PUBLISHED: Final = posts.c.status == literal_column("'published'")
_PLACE: Final = (posts.c.occurred_at, posts.c.id)
#: How many posts' metadata are held at a time, in rows: that of one post may have some 100 KB.
_PART: Final = 200


_STANDING: Final = select(public_changelogs).where(public_changelogs.c.organization_id == bindparam("owner"))
_HELD: Final = select(changelog_slugs.c.slug).where(changelog_slugs.c.organization_id == bindparam("owner"))


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
        """Read the changelog that has a slug, or whose organization holds it."""
        holder = select(changelog_slugs.c.organization_id).where(changelog_slugs.c.slug == slug).scalar_subquery()
        query = select(public_changelogs).where(
            (public_changelogs.c.slug == slug) | (public_changelogs.c.organization_id == holder)
        )
        found = [_changelog(row) for row in await self._all(query)]
        return min(found, key=lambda changelog: changelog.slug != slug, default=None)

    async def save(self, changelog: PublicChangelog, *, at_most: int = MAX_SLUGS) -> InvalidChangelog | None:
        """Write a changelog, unless another organization has its slug."""
        dialect, owner = self._database.dialect, changelog.organization_id
        row = _row(changelog)
        saving = dialect.insert(public_changelogs).values(row)
        counted = row | {"revision": public_changelogs.c.revision + 1}
        saving = saving.on_conflict_do_update(index_elements=["organization_id"], set_=counted)

        def save(connection: Connection) -> InvalidChangelog | None:
            # Changes of one organization come one after the other, and so do requests for one slug.
            locking = select(organizations.c.id).where(organizations.c.id == owner)
            if connection.execute(locking.with_for_update(key_share=True)).first() is None:
                message = f"there is no organization '{owner}'"
                raise Unstorable(message)
            dialect.hold(connection, f"changelog/{changelog.slug}")
            found = connection.execute(_STANDING, {"owner": owner}).first()
            standing = None if found is None else _changelog(found)
            held = set(connection.scalars(_HELD, {"owner": owner}))
            mine = held if standing is None else held | {standing.slug}
            if _is_anothers(connection, changelog, is_new=changelog.slug not in mine):
                return SLUG_TAKEN
            new = public_slugs(standing, changelog) - held
            if new and len(held | new) > at_most:
                return too_many_slugs(at_most)
            connection.execute(saving)
            for slug in new:
                # A node of an older version may have published under a slug that another organization holds.
                holding = dialect.insert(changelog_slugs).values(slug=slug, organization_id=owner)
                connection.execute(holding.on_conflict_do_nothing())
            return None

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
            conditions += [posts.c.occurred_at >= to_ms(month.since), posts.c.occurred_at < to_ms(month.until)]
        if released:
            conditions.append(posts.c.release_tag.is_not(None))
        if before is not None:
            conditions.append(tuple_(*_PLACE) < tuple_(to_ms(before.occurred_at), before.id))
        newest = literal_column(str(limit), Integer)
        of_each = [
            select(*_PLACE)
            .where(_listed(changelog, kind), *conditions)
            .order_by(*(each.desc() for each in _PLACE))
            .limit(newest)
            .subquery()
            for kind in changelog.content_types
        ]
        together = union_all(*(select(each) for each in of_each)).subquery()
        keys = select(together.c.id).order_by(together.c.occurred_at.desc(), together.c.id.desc()).limit(newest)
        chosen = keys.subquery()
        query = select(posts).join(chosen, posts.c.id == chosen.c.id).order_by(*(each.desc() for each in _PLACE))
        return [post_of(row) for row in await self._all(query)]

    async def post(self, changelog: PublicChangelog, post_id: str) -> Post | None:
        """Read a post that is shown."""
        mine = (posts.c.organization_id == changelog.organization_id, posts.c.id == post_id)
        found = await self._all(select(posts).where(*mine))
        post = post_of(found[0]) if found else None
        return post if post is not None and changelog.shows(post) else None

    async def contained(self, changelog: PublicChangelog, post_id: str, *, limit: int) -> Sequence[PostLine]:
        """Read the lines of the posts that the post of a release contains."""
        query = (
            select(*_PLACE, posts.c.title)
            .where(
                posts.c.organization_id == changelog.organization_id,
                posts.c.contained_in == post_id,
                posts.c.content_type.in_([kind.value for kind in changelog.content_types]),
                _PUBLISHED,
            )
            .order_by(*(each.desc() for each in _PLACE))
            .limit(limit)
        )
        return [
            PostLine(id=row.id, title=row.title, occurred_at=from_ms(row.occurred_at)) for row in await self._all(query)
        ]

    async def months(self, changelog: PublicChangelog) -> Sequence[Month]:
        """Read the first and the last time of an event, then ask for each month between them whether it has any."""
        ends = select(
            *(
                select(end(posts.c.occurred_at)).where(_listed(changelog, kind)).scalar_subquery()
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


def _is_anothers(connection: Connection, changelog: PublicChangelog, *, is_new: bool) -> bool:
    """Return whether another organization has or holds the slug, or, where it is new, is called so."""
    owner, slug = changelog.organization_id, changelog.slug
    having = [
        select(table.c.organization_id).where(table.c.slug == slug, table.c.organization_id != owner)
        for table in (public_changelogs, changelog_slugs)
    ]
    if is_new:
        having.append(select(organizations.c.id).where(organizations.c.slug == slug, organizations.c.id != owner))
    return any(connection.execute(each).first() is not None for each in having)


def note_change(connection: Connection, organization_id: str, at: datetime) -> None:
    """Have an organization's changelog, if it has one, say that it has changed: a post is gone, and cannot say so."""
    mine = (public_changelogs.c.organization_id == organization_id, public_changelogs.c.updated_at < to_ms(at))
    connection.execute(update(public_changelogs).where(*mine).values(updated_at=to_ms(at)))


def _shown(changelog: PublicChangelog, kind: ContentType) -> ColumnElement[bool]:
    return and_(posts.c.organization_id == changelog.organization_id, posts.c.content_type == kind.value, _PUBLISHED)


def _listed(changelog: PublicChangelog, kind: ContentType) -> ColumnElement[bool]:
    return _shown(changelog, kind) & posts.c.contained_in.is_(None)


def _metadata(connection: Connection, changelog: PublicChangelog, kind: ContentType) -> Generator[str | None]:
    """Read the metadata of every post of a type that is shown, part by part."""
    query = select(*_PLACE, posts.c.source_metadata).where(_shown(changelog, kind)).order_by(*_PLACE).limit(_PART)
    rows = connection.execute(query).all()
    while rows:
        yield from (row.source_metadata for row in rows)
        behind = tuple_(*_PLACE) > tuple_(rows[-1].occurred_at, rows[-1].id)
        rows = connection.execute(query.where(behind)).all() if len(rows) == _PART else ()


def _having(changelog: PublicChangelog, asked: Sequence[Month]) -> Select[tuple[int]]:
    """Make the statement that gives when those months begin that have anything."""
    months = (
        values(column("since", BigInteger), column("until", BigInteger), name="months")
        .data([(to_ms(month.since), to_ms(month.until)) for month in asked])
        .cte("months")
    )
    within = (posts.c.occurred_at >= months.c.since, posts.c.occurred_at < months.c.until)
    any_of = (select(posts.c.id).where(_listed(changelog, kind), *within).exists() for kind in changelog.content_types)
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
        revision=row.revision,
    )
