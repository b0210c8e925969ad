"""Databases of both kinds at an earlier revision, for tests of a migration."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Final

from alembic import command
from sqlalchemy import Connection
from tests import postgres

from contentsvc_adapters.sql import Database
from contentsvc_adapters.sql.migrations import migrate

#: An organization in the words of every version so far.
ORGANIZATION: Final = (
    "INSERT INTO organizations (id, slug, name, retention_days, version, created_at) VALUES (:id, :slug, 'x', 30, 1, 0)"
)


@asynccontextmanager
async def database_at(revision: str, kind: str, folder: Path) -> AsyncGenerator[Database]:
    """Make a database with the schema of a revision; ``kind`` is ``sqlite`` or ``postgresql``."""

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
