"""Revision 0018: endpoints of the previous version keep their format, also while its nodes go on to write."""

from pathlib import Path

import pytest
from contract_values import RotatingSealer
from older_schema import ORGANIZATION, database_at
from sqlalchemy import Connection, text

from contentsvc_adapters.sql import sql_stores, upgrade
from contentsvc_core.outgoing.formats import EndpointFormat

pytestmark = pytest.mark.slow("upgrades a database of an older version, by a script that is never changed")

# In the words of the previous version.
_ENDPOINT = (
    "INSERT INTO webhook_endpoints (id, organization_id, url, description, event_types, enabled, sealed_secret,"
    " failures, created_at) VALUES (:id, 'org_1', 'https://a.example/', '', '[]', :enabled, 'x', 0, 0)"
)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_endpoints_of_the_previous_version_have_the_standard_format(kind: str, tmp_path: Path) -> None:
    def fill(connection: Connection) -> None:
        connection.execute(text(ORGANIZATION), {"id": "org_1", "slug": "acme"})
        add(connection, "whe_1")

    def add(connection: Connection, id_: str) -> None:
        connection.execute(text(_ENDPOINT), {"id": id_, "enabled": True})

    async with database_at("0017", kind, tmp_path) as older:
        await older.write(fill)
        await upgrade(older)
        await older.write(lambda connection: add(connection, "whe_2"))
        stores = sql_stores(older, RotatingSealer())
        found = await stores.endpoints.endpoints("org_1")

        assert [(each.id, each.format) for each in found] == [
            ("whe_1", EndpointFormat.STANDARD),
            ("whe_2", EndpointFormat.STANDARD),
        ]
        assert await stores.alerts.watched() == ["org_1"]
