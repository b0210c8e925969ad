"""Revision 0015: subscribers of a changelog that was there before, and nodes of the version before at work."""

from pathlib import Path

import pytest
from contract_values import RotatingSealer
from older_schema import ORGANIZATION, database_at
from sqlalchemy import Connection, text

from contentsvc_adapters.sql import sql_stores, upgrade
from contentsvc_core.content.public.changelogs import first_id
from contentsvc_core.outgoing.subscribers import Subscriber, SubscriberStatus
from contentsvc_core.testing import START

pytestmark = pytest.mark.slow("upgrades a database of an older version, by a script that is never changed")

# In the words of the version before.
_CHANGELOG = (
    "INSERT INTO public_changelogs (id, owner_id, organization_id, slug, title, description, content_types, is_public,"
    " created_at, updated_at) VALUES (:id, 'org_1', 'org_1', 'acme', 't', '', '[\"changelog\"]', :is_public, 0, 0)"
)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_a_changelog_of_the_version_before_gets_subscribers(kind: str, tmp_path: Path) -> None:
    def fill(connection: Connection) -> None:
        connection.execute(text(ORGANIZATION), {"id": "org_1", "slug": "acme"})
        connection.execute(text(_CHANGELOG), {"id": first_id("org_1"), "is_public": True})

    async with database_at("0014", kind, tmp_path) as older:
        await older.write(fill)
        await upgrade(older)
        stores = sql_stores(older, RotatingSealer())
        asking = Subscriber(
            id="sub_1",
            organization_id="org_1",
            changelog_id=first_id("org_1"),
            address="ann@example.org",
            digest="d",
            created_at=START,
        )
        assert await stores.subscribers.request(asking, "token")
        made = await stores.subscribers.confirm("d", at=START, new_digest="e", new_token="new")

        assert made is not None
        assert made.status is SubscriberStatus.CONFIRMED
        # A node of the version before changes the changelog meanwhile.
        await older.write(lambda connection: connection.execute(text("UPDATE public_changelogs SET title = 'new'")))
        assert await stores.subscribers.subscribers("org_1") == [made]
