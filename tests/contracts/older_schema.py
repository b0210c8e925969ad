"""Databases of both kinds at an earlier revision, for tests of a migration."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any, Final

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, insert
from tests import postgres

from contentsvc_adapters.sql import HEAD, Database, revision
from contentsvc_adapters.sql.migrations import migrate
from contentsvc_adapters.sql.schema.all_tables import metadata
from contentsvc_adapters.sql.schema.deliveries import events
from contentsvc_adapters.sql.schema.work import workflow_runs

#: Each database has its own index of words: only the scripts define it.
WORDS: Final = "search_words"

#: An organization, as all versions so far write it.
ORGANIZATION: Final = (
    "INSERT INTO organizations (id, slug, name, retention_days, version, created_at) VALUES (:id, :slug, 'x', 30, 1, 0)"
)
#: A post without an id and a status, with the columns of all versions.
POST: Final[dict[str, Any]] = {
    "organization_id": "org_1",
    "created_at": 1_000,
    "title": "t",
    "content": "c",
    "markdown": "m",
    "content_type": "changelog",
    "updated_at": 2_000,
}


def add_run(connection: Connection, kind: str, **event: Any) -> str:
    """Add an event of a kind with its completed run, as the versions 0007 to 0011 write them; return the run's id."""
    base = {"organization_id": "org_1", "created_at": 1_000}
    event = {"provider": "codehost", "repository_id": 7, "data": "{}", **event}
    connection.execute(insert(events), base | {"id": f"e-{kind}", "type": kind} | event)
    run_id = f"r-{kind}"
    run = {"id": run_id, "trigger_id": "t", "event_id": f"e-{kind}", "replayed": False, "status": "completed"}
    connection.execute(insert(workflow_runs), base | run | {"attempts": 1, "kills": 0, "takes": 1, "due_at": 0})
    return run_id


def since(revision: str) -> pytest.MarkDecorator:
    """Return a mark: the fixture ``older`` is a database of each kind at this revision."""
    each = [pytest.param((revision, kind), id=kind) for kind in ("sqlite", "postgresql")]
    return pytest.mark.parametrize("older", each, indirect=True)


@asynccontextmanager
async def database_at(revision: str, kind: str, folder: Path) -> AsyncGenerator[Database]:
    """Create a database with the schema of a revision; ``kind`` is ``sqlite`` or ``postgresql``."""

    def work(connection: Connection) -> None:
        config = migrate._config()  # pyright: ignore[reportPrivateUsage]  # a part of the upgrade
        config.attributes["connection"] = connection
        command.upgrade(config, revision)

    file = nullcontext(f"sqlite+aiosqlite:///{folder / 'older.db'}")
    with file if kind == "sqlite" else postgres.database(migrated=False) as url:
        database = Database(url)
        await database.write_alone(work)
        yield database
        await database.dispose()


async def in_a_process(script: str) -> int:
    process = await asyncio.create_subprocess_exec(sys.executable, "-W", "error", "-c", script)
    return await process.wait()


async def check_upgrades_at_once(empty: Database, url: str) -> None:
    """Check that one of several processes upgrades a database, and the others wait."""
    script = f"""
import asyncio
from contentsvc_adapters.sql import Database, revision, upgrade
async def main():
    database = Database("{url}", busy_timeout_ms=60_000)
    done = await upgrade(database)
    assert await revision(database) == "{HEAD}"
    await database.dispose()
    raise SystemExit(10 if done else 11)
asyncio.run(main())
"""
    answers = await asyncio.gather(*(in_a_process(script) for _ in range(4)))

    assert sorted(answers) == [10, 11, 11, 11]
    assert await revision(empty) == HEAD


async def killed_upgrade(url: str, at: str) -> int:
    """Upgrade a database in a process that is killed after a statement; return its exit code."""
    return await in_a_process(f"""
import asyncio, os
from sqlalchemy import event
from contentsvc_adapters.sql import Database, upgrade
async def main():
    database = Database("{url}")
    def killed(connection, cursor, statement, *rest):
        if statement.strip().startswith("{at}"):
            os.kill(os.getpid(), 9)
    event.listen(database._writer.sync_engine, "after_cursor_execute", killed)
    await upgrade(database)
asyncio.run(main())
""")


def differences(connection: Connection) -> object:
    """Return the differences between a migrated schema and the tables."""

    def is_shared(name: str | None, _kind: str, _parents: object) -> bool:
        return not (name or "").startswith(WORDS)

    return compare_metadata(MigrationContext.configure(connection, opts={"include_name": is_shared}), metadata)
