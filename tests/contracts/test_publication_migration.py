"""Revision 0008: published posts have a time and a tag afterwards, and so have posts of older nodes."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from older_schema import ORGANIZATION, POST, add_run, database_at
from sqlalchemy import Connection, insert, select, text, update

from contentsvc_adapters.sql import Database, upgrade
from contentsvc_adapters.sql.schema.content import posts

pytestmark = pytest.mark.slow("upgrades a database of an older version, by a script that is never changed")


@pytest.fixture(params=["sqlite", "postgresql"])
async def older(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Database]:
    """A database at revision 0007."""
    async with database_at("0007", request.param, tmp_path) as database:
        yield database


def _fill(connection: Connection) -> None:
    connection.execute(text(ORGANIZATION), {"id": "org_1", "slug": "acme"})
    add_run(connection, "push")
    add_run(connection, "release", data='{"tagName":"v1.2.0"}')
    for id_, run, status in (("p", "r-push", "published"), ("r", "r-release", "draft"), ("o", None, "published")):
        connection.execute(insert(posts), POST | {"id": id_, "run_id": run, "status": status})


async def _kept(database: Database) -> dict[str, tuple[int | None, str | None]]:
    query = select(posts.c.id, posts.c.published_at, posts.c.release_tag)
    found = await database.read(lambda connection: connection.execute(query).all())
    return {row.id: (row.published_at, row.release_tag) for row in found}


async def test_published_posts_have_their_time_and_tag(older: Database) -> None:
    await older.write(_fill)
    await upgrade(older)

    assert await _kept(older) == {"p": (1_000, None), "r": (None, "v1.2.0"), "o": (1_000, None)}
    if older.dialect.upgrades_itself:
        # Only one process serves a SQLite file meanwhile.
        return

    def as_nodes_of_the_version_before(connection: Connection) -> None:
        connection.execute(insert(posts), POST | {"id": "new", "status": "published"})
        connection.execute(update(posts).where(posts.c.id == "r").values(status="published", updated_at=3_000))
        connection.execute(update(posts).where(posts.c.id == "p").values(status="draft", updated_at=3_000))
        connection.execute(update(posts).where(posts.c.id == "p").values(status="published", updated_at=4_000))

    await older.write(as_nodes_of_the_version_before)
    assert await _kept(older) == {
        "p": (1_000, None),
        "r": (3_000, "v1.2.0"),
        "o": (1_000, None),
        "new": (2_000, None),
    }
