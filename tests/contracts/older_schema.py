"""Databases of both kinds at an earlier revision, for tests of a migration.

The files of revision 0020 have the statements that created its schema, one a line. They are never changed.
"""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Final

import pytest
from alembic import command
from sqlalchemy import Connection
from tests import postgres

from contentsvc_adapters.sql import HEAD, Database, revision
from contentsvc_adapters.sql.migrations import migrate

#: An organization, as all versions so far write it.
ORGANIZATION: Final = (
    "INSERT INTO organizations (id, slug, name, retention_days, version, created_at) VALUES (:id, :slug, 'x', 30, 1, 0)"
)
#: Revisions that are not upgraded, and what their error says.
REFUSED: Final = [
    ("9999", "newer version.*run that version, or restore"),
    ("0000_unknown", "newer version.*run that version, or restore"),
    ("0019", "too old.*upgrades 0020 and later.*upgrade it with an earlier version"),
]


def since(revision: str) -> pytest.MarkDecorator:
    """Return a mark: the fixture ``older`` is a database of each kind at this revision."""
    each = [pytest.param((revision, kind), id=kind) for kind in ("sqlite", "postgresql")]
    return pytest.mark.parametrize("older", each, indirect=True)


@asynccontextmanager
async def database_at(revision: str, kind: str, folder: Path) -> AsyncGenerator[Database]:
    """Create a database with the schema of a revision; ``kind`` is ``sqlite`` or ``postgresql``."""

    statements = Path(__file__).with_name("revision_0020") / f"{kind}.sql"

    def work(connection: Connection) -> None:
        for statement in statements.read_text().splitlines():
            connection.exec_driver_sql(statement)
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
