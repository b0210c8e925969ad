"""Revision 0019: triggers of the version before, and nodes of that version beside the new ones."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from older_schema import database_at
from sqlalchemy import Connection, insert, text

from contentsvc_adapters.sql import Database, upgrade
from contentsvc_adapters.sql.automations import SqlAutomations
from contentsvc_adapters.sql.schema.directory import organizations
from contentsvc_core.testing import START
from contentsvc_core.workflows.filters import NO_OPTIONS, Batch, TriggerOptions
from contentsvc_core.workflows.triggers import Trigger, collecting
from contentsvc_core.zones import DEFAULT_ZONE

pytestmark = pytest.mark.slow("upgrades a database of an older version, by a script that is never changed")
_OLD = (
    "INSERT INTO triggers (id, organization_id, name, source_type, enabled, repository_ids, event_types, output_type, "
    "auto_publish, created_at) VALUES (:id, 'org_1', '', 'codehost_webhook', true, '[1]', '[]', 'changelog', false, 0)"
)


@pytest.fixture(params=["sqlite", "postgresql"])
async def older(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Database]:
    """A database at revision 0018."""
    async with database_at("0018", request.param, tmp_path) as database:
        yield database


async def _run(database: Database, statement: str, **values: Any) -> None:
    def run(connection: Connection) -> None:
        connection.execute(text(statement), values)

    await database.write(run)


async def test_a_trigger_of_before_has_no_options_and_older_nodes_write_beside(older: Database) -> None:
    organization = {"id": "org_1", "slug": "acme", "name": "Acme", "retention_days": 30, "version": 1, "created_at": 0}
    await older.write(lambda connection: connection.execute(insert(organizations), organization))
    await _run(older, _OLD, id="trg_1")

    await upgrade(older)

    triggers = SqlAutomations(older, Trigger)
    found = await triggers.find("org_1", "trg_1")
    assert isinstance(found, Trigger)
    assert (found.options, found.due_at, found.since) == (NO_OPTIONS, None, None)
    # A node of the version before adds a trigger, and renames one with options: the options stay.
    await _run(older, _OLD, id="trg_2")
    changed = collecting(evolve(found, options=TriggerOptions(paths=("a/**",), batch=Batch.DAILY)), START, DEFAULT_ZONE)
    assert await triggers.change("org_1", "trg_1", lambda _: changed) == changed
    await _run(older, "UPDATE triggers SET name = 'x' WHERE id = :id", id="trg_1")
    assert await triggers.find("org_1", "trg_1") == evolve(changed, name="x")
    other = await triggers.find("org_1", "trg_2")
    assert other == evolve(found, id="trg_2")
