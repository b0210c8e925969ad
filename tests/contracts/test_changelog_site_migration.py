"""Revision 0014: the changelog of an organization becomes its first one, and nodes of the previous version continue."""

import asyncio
from pathlib import Path

import pytest
from attrs import evolve
from contract_values import RotatingSealer
from older_schema import ORGANIZATION, database_at, since
from sqlalchemy import Connection, text

from contentsvc_adapters.sql import Database, sql_stores, upgrade
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.public.facets import Label
from contentsvc_core.timestamps import from_ms

pytestmark = pytest.mark.slow("upgrades a database of an older version, by a script that is never changed")

# Statements of the previous version, which has one changelog for each organization and no paths.
_CHANGELOG = (
    "INSERT INTO public_changelogs (organization_id, slug, title, description, content_types, is_public, created_at,"
    " updated_at) VALUES (:owner, :slug, 't', '', '[\"changelog\"]', true, 0, 0) ON CONFLICT (organization_id) DO"
    " UPDATE SET slug = excluded.slug, revision = public_changelogs.revision + 1"
)
_SLUG = "INSERT INTO changelog_slugs (slug, organization_id) VALUES (:slug, :owner)"
_POST = (
    "INSERT INTO posts (id, organization_id, title, content, markdown, content_type, status, created_at, updated_at,"
    " published_at, occurred_at) VALUES (:id, 'org_1', 'A lamp', '<h2>Fixed</h2>', 'm', 'changelog', 'published', 0,"
    " 0, 0, 0)"
)
#: The rounds of each node before the migration, and after it.
_AT_LEAST = 5
_RENAME = "UPDATE posts SET title = 'A door', content = '<h2>Added</h2>', updated_at = 1 WHERE id = 'p-1'"


async def run(database: Database, statement: str, **values: str) -> None:
    await database.write(lambda connection: connection.execute(text(statement), values))


def _fill(connection: Connection) -> None:
    for id_, slug in (("org_1", "acme"), ("org_2", "zenith")):
        connection.execute(text(ORGANIZATION), {"id": id_, "slug": slug})
    connection.execute(text(_CHANGELOG), {"owner": "org_1", "slug": "lamps"})
    for slug in ("lamps", "before"):
        connection.execute(text(_SLUG), {"slug": slug, "owner": "org_1"})
    connection.execute(text(_POST), {"id": "p-1"})


@since("0013")
async def test_the_changelog_keeps_its_addresses_and_posts_get_theirs(older: Database) -> None:
    await older.write(_fill)
    await upgrade(older)
    changelogs = sql_stores(older, RotatingSealer()).changelogs

    first = await changelogs.of("org_1")
    assert first is not None
    assert (first.id, first.slug, first.is_first, first.is_public) == ("chl_1", "lamps", True, True)
    assert (first.content_types, first.created_at) == ((ContentType.CHANGELOG,), from_ms(0))
    assert await changelogs.all_of("org_1") == [first]
    assert await changelogs.named("lamps") == await changelogs.named("before") == first
    # The post is shown at once, and soon found by its path and its label.
    (post,) = await changelogs.posts(first, limit=9)
    assert post.path is None
    assert await changelogs.posts(first, limit=9, label=Label.FIXED) == []
    assert await changelogs.address(limit=9) == 1
    assert await changelogs.address(limit=9) == 0
    assert await changelogs.at_path(first, "1970/01/a-lamp") == post
    assert await changelogs.posts(first, limit=9, label=Label.FIXED) == [post]
    now = await changelogs.of("org_1")
    assert now is not None
    assert now.revision > first.revision
    second = evolve(first, id="chl_more", slug="more")
    assert await changelogs.save(second) is None
    assert {each.id for each in await changelogs.all_of("org_1")} == {"chl_1", "chl_more"}


async def test_nodes_of_the_version_before_write_while_it_is_migrated(tmp_path: Path) -> None:
    async with database_at("0013", "postgresql", tmp_path) as older:
        await older.write(_fill)
        written = [0] * 4
        over = asyncio.Event()

        async def node(number: int) -> None:
            while not over.is_set() or written[number] < _AT_LEAST:
                await run(older, _POST, id=f"p-{number}-{written[number]}")
                await run(older, _CHANGELOG, owner="org_1", slug="lamps")
                await run(older, _RENAME)
                written[number] += 1

        async with asyncio.TaskGroup() as nodes:
            for number in range(len(written)):
                nodes.create_task(node(number))
            while min(written) < _AT_LEAST:
                await asyncio.sleep(0)
            await upgrade(older)
            before = list(written)
            while any(now < then + _AT_LEAST for now, then in zip(written, before, strict=True)):
                await asyncio.sleep(0)
            over.set()

        changelogs = sql_stores(older, RotatingSealer()).changelogs
        first = await changelogs.of("org_1")
        assert first is not None
        assert (first.id, first.slug) == ("chl_1", "lamps")
        while await changelogs.address(limit=99):
            pass
        exposure = await changelogs.exposure(first)
        assert exposure.posts == sum(written) + 1
        renamed = await changelogs.at_path(first, "1970/01/a-door")
        assert renamed is not None
        assert renamed.id == "p-1"
        assert len(await changelogs.posts(first, limit=10_000, label=Label.FIXED)) == sum(written)


@since("0013")
async def test_unreadable_posts_do_not_keep_others_from_their_paths(older: Database) -> None:
    await older.write(_fill)
    torn = [f"p-0{number}" for number in range(3)]
    for id_ in (*torn, "p-2"):
        await run(older, _POST, id=id_)
    await run(older, "UPDATE posts SET source_metadata = '{' WHERE id LIKE 'p-0%'")
    await upgrade(older)
    changelogs, faults = sql_stores(older, RotatingSealer()).changelogs, list[Exception]()
    changelogs.on_unreadable = faults.append

    while await changelogs.address(limit=1):
        pass
    first = await changelogs.of("org_1")
    assert first is not None
    paths = [await changelogs.at_path(first, path) for path in ("1970/01/a-lamp", "1970/01/a-lamp-2")]
    assert {post and post.id for post in paths} == {"p-1", "p-2"}
    # Each fault is reported once, not at each turn of the loop.
    assert sorted(str(fault)[:13] for fault in faults) == [f"the post {id_}" for id_ in torn]


@since("0013")
async def test_nodes_of_the_version_before_read_and_write_beside_it(older: Database) -> None:
    await older.write(_fill)
    await upgrade(older)
    if older.dialect.upgrades_itself:
        # A SQLite file has no other node during the migration.
        return
    changelogs = sql_stores(older, RotatingSealer()).changelogs
    first = await changelogs.of("org_1")
    assert first is not None
    assert await changelogs.save(evolve(first, id="chl_more", slug="more")) is None
    await changelogs.address(limit=9)

    await run(older, _CHANGELOG, owner="org_1", slug="light")
    await run(older, _CHANGELOG, owner="org_2", slug="sky")
    await run(older, _SLUG, owner="org_2", slug="sky")
    await run(older, _POST, id="p-2")
    await run(older, _RENAME)

    found = await changelogs.of("org_1")
    foreign = await changelogs.named("sky")
    assert found is not None
    assert foreign is not None
    assert (found.slug, found.id) == ("light", "chl_1")
    assert (foreign.id, foreign.organization_id) == ("chl_2", "org_2")
    assert found.revision >= first.revision + 3
    # Posts of older nodes get an address; the old path redirects.
    assert await changelogs.address(limit=9) == 2
    for path, id_ in (("1970/01/a-lamp", "p-1"), ("1970/01/a-door", "p-1"), ("1970/01/a-lamp-2", "p-2")):
        post = await changelogs.at_path(found, path)
        assert post is not None
        assert post.id == id_
    assert [post.id for post in await changelogs.posts(found, limit=9, label=Label.NEW)] == ["p-1"]
