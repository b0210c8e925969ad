"""Revision 0012: posts that are there have a date and their push, and so have the posts that older nodes write."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from older_schema import ORGANIZATION, POST, add_run, database_at
from sqlalchemy import Connection, insert, select, text

from contentsvc_adapters.sql import Database, upgrade
from contentsvc_adapters.sql.schema.content import posts

pytestmark = pytest.mark.slow("upgrades a database of an older version, by a script that is never changed")


@pytest.fixture(params=["sqlite", "postgresql"])
async def older(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Database]:
    """A database at revision 0011."""
    async with database_at("0011", request.param, tmp_path) as database:
        yield database


def _fill(connection: Connection) -> None:
    connection.execute(text(ORGANIZATION), {"id": "org_1", "slug": "acme"})
    for kind, delivery in (("push", "d-1"), ("release", "d-2"), ("generation", None)):
        run_id = add_run(connection, kind, delivery_id=delivery)
        connection.execute(insert(posts), POST | {"id": kind, "run_id": run_id, "status": "draft"})
    connection.execute(insert(posts), POST | {"id": "late", "status": "published", "published_at": 5_000})


async def _kept(database: Database) -> dict[str, tuple[int | None, str | None, str | None]]:
    query = select(posts.c.id, posts.c.occurred_at, posts.c.push_id, posts.c.contained_in)
    found = await database.read(lambda connection: connection.execute(query).all())
    return {row.id: (row.occurred_at, row.push_id, row.contained_in) for row in found}


async def test_posts_stay_where_they_stood_and_the_next_release_finds_their_pushes(older: Database) -> None:
    await older.write(_fill)
    await upgrade(older)

    kept = {
        "push": (1_000, "codehost:7:d-1", None),
        "release": (1_000, None, None),
        "generation": (1_000, None, None),
        "late": (5_000, None, None),
    }
    assert await _kept(older) == kept
    if older.dialect.upgrades_itself:
        # No other node serves a SQLite file meanwhile.
        return
    as_older_nodes_do = insert(posts).values(POST | {"id": "new", "status": "draft"})
    await older.write(lambda connection: connection.execute(as_older_nodes_do))
    assert await _kept(older) == kept | {"new": (1_000, None, None)}
