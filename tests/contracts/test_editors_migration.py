"""Revision 0016: posts that are there, and those of nodes of the version before, are edited and filtered."""

from pathlib import Path

import pytest
from attrs import evolve
from contract_values import RotatingSealer
from older_schema import ORGANIZATION, database_at
from sqlalchemy import Connection, text

from contentsvc_adapters.sql import sql_stores, upgrade
from contentsvc_core.content.posts import Label, PostStatus
from contentsvc_core.content.queries import PostQuery
from contentsvc_core.lists.pagination import PageRequest
from contentsvc_core.refusals import Refusal
from contentsvc_core.testing import START

pytestmark = pytest.mark.slow("upgrades a database of an older version, by a script that is never changed")

# In the words of the version before.
_DRAFT = (
    "INSERT INTO posts (id, organization_id, title, content, markdown, content_type, status, created_at, updated_at,"
    " occurred_at) VALUES (:id, 'org_1', 't', '<h2>Fixed</h2>', 'm', 'changelog', 'draft', 1000, 1000, 1000)"
)
_PUBLICATION = "UPDATE posts SET status = 'published', published_at = 3000, updated_at = 3000 WHERE id = 'p-1'"


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_drafts_of_the_version_before_are_edited_scheduled_and_filtered(kind: str, tmp_path: Path) -> None:
    def fill(connection: Connection) -> None:
        connection.execute(text(ORGANIZATION), {"id": "org_1", "slug": "acme"})
        connection.execute(text(_DRAFT), {"id": "p-1"})

    async with database_at("0015", kind, tmp_path) as older:
        await older.write(fill)
        await upgrade(older)
        stores = sql_stores(older, RotatingSealer())
        await older.write(lambda connection: connection.execute(text(_DRAFT), {"id": "p-2"}))

        assert await stores.posts.waiting("org_1") == 2
        assert await stores.changelogs.address(limit=9) == 2
        assert await stores.changelogs.address(limit=9) == 0
        page = await stores.posts.page("org_1", PostQuery(labels=(Label.FIXED,)), PageRequest())
        assert not isinstance(page, Refusal)
        assert [post.id for post in page[0]] == ["p-2", "p-1"]

        before = page[0][1]
        scheduled = evolve(before, title="new", publish_at=START, updated_at=START)
        assert await stores.posts.change(scheduled, unchanged_since=before.updated_at, author="csk_1")
        kept = await stores.posts.versions("org_1", "p-1")
        assert [(each.number, each.text, each.author) for each in kept] == [
            (2, scheduled.text, "csk_1"),
            (1, before.text, None),
        ]
        assert await stores.posts.due(START, limit=9) == [("org_1", "p-1")]
        # A node of the version before publishes the draft, and deletes the other one.
        await older.write(lambda connection: connection.execute(text(_PUBLICATION)))
        assert await stores.posts.due(START, limit=9) == []
        published = await stores.posts.post("org_1", "p-1")
        assert published is not None
        assert (published.status, published.publish_at) == (PostStatus.PUBLISHED, None)
        await older.write(lambda connection: connection.execute(text("DELETE FROM posts")))
