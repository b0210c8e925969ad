"""Revision 0012: posts that are there have a date and their push, and so have the posts that older nodes write."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from older_schema import database_at
from sqlalchemy import Connection, insert, select

from contentsvc_adapters.sql import Database, upgrade
from contentsvc_adapters.sql.schema.content import posts
from contentsvc_adapters.sql.schema.deliveries import events
from contentsvc_adapters.sql.schema.directory import organizations
from contentsvc_adapters.sql.schema.work import workflow_runs

pytestmark = pytest.mark.slow("upgrades a database of an older version, by a script that is never changed")
_BASE: dict[str, Any] = {"organization_id": "org_1", "created_at": 1_000}
_POST: dict[str, Any] = _BASE | {
    "title": "t",
    "content": "c",
    "markdown": "m",
    "content_type": "changelog",
    "updated_at": 2_000,
}


@pytest.fixture(params=["sqlite", "postgresql"])
async def older(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Database]:
    """A database at revision 0011."""
    async with database_at("0011", request.param, tmp_path) as database:
        yield database


def _fill(connection: Connection) -> None:
    connection.execute(
        insert(organizations),
        {"id": "org_1", "slug": "acme", "name": "Acme", "retention_days": 30, "version": 1, "created_at": 0},
    )
    for kind, delivery in (("push", "d-1"), ("release", "d-2"), ("generation", None)):
        connection.execute(
            insert(events),
            _BASE
            | {"id": f"e-{kind}", "provider": "codehost", "repository_id": 7, "type": kind, "data": "{}"}
            | {"delivery_id": delivery},
        )
        connection.execute(
            insert(workflow_runs),
            _BASE
            | {"id": f"r-{kind}", "trigger_id": "t", "event_id": f"e-{kind}", "replayed": False, "status": "completed"}
            | {"attempts": 1, "kills": 0, "takes": 1, "due_at": 0},
        )
        connection.execute(insert(posts), _POST | {"id": kind, "run_id": f"r-{kind}", "status": "draft"})
    connection.execute(insert(posts), _POST | {"id": "late", "status": "published", "published_at": 5_000})


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
    as_older_nodes_do = insert(posts).values(_POST | {"id": "new", "status": "draft"})
    await older.write(lambda connection: connection.execute(as_older_nodes_do))
    assert await _kept(older) == kept | {"new": (1_000, None, None)}
