"""Revision 0017: log entries of the version before have no facts, and nodes of that version write on."""

from pathlib import Path

import pytest
from contract_values import RotatingSealer
from older_schema import ORGANIZATION, database_at
from sqlalchemy import Connection, text

from contentsvc_adapters.sql import sql_stores, upgrade

pytestmark = pytest.mark.slow("upgrades a database of an older version, by a script that is never changed")

# In the words of the version before.
_ENTRY = (
    "INSERT INTO log_entries (organization_id, created_at, id, integration_id, repository_id, title, integration_type,"
    " direction, status, status_code) VALUES ('org_1', :at, :id, 'int_1', 1, 'Invalid webhook signature', 'codehost',"
    " 'incoming', 'failed', 401)"
)


def _entry(connection: Connection, at: int) -> None:
    connection.execute(text(_ENTRY), {"at": at, "id": f"log_{at}"})


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_entries_from_before_and_of_nodes_of_the_version_before_have_no_facts(kind: str, tmp_path: Path) -> None:
    def fill(connection: Connection) -> None:
        connection.execute(text(ORGANIZATION), {"id": "org_1", "slug": "acme"})
        _entry(connection, 1)

    async with database_at("0016", kind, tmp_path) as older:
        await older.write(fill)
        await upgrade(older)
        await older.write(lambda connection: _entry(connection, 2))

        found = await sql_stores(older, RotatingSealer()).journal.entries("org_1")

        assert [(entry.id, entry.received) for entry in found] == [("log_2", None), ("log_1", None)]
