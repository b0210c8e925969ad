"""SQLite files for tests."""

import asyncio
import shutil
import sqlite3
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, cast

from sqlalchemy import Connection, inspect

from contentsvc_adapters.sql import Database
from contentsvc_adapters.sql.migrations import migrate
from tests.postgres_server import once, run_folder

_RUN_MIGRATIONS: Final = migrate._upgrade  # pyright: ignore[reportPrivateUsage]  # replaced by tests


def migrated(path: Path) -> str:
    """Create a database with the schema, as a copy of the run's template; return its URL."""
    shutil.copy(_template(), path)
    return f"sqlite+aiosqlite:///{path}"


@contextmanager
def emptying(path: Path) -> Generator[Callable[[], None]]:
    """Return a function that deletes all rows of a database."""
    tables = "SELECT name FROM pragma_table_list WHERE type IN ('table', 'virtual') AND name NOT LIKE 'sqlite_%'"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        names = [name for (name,) in connection.execute(tables) if name != "alembic_version"]
        # Twice, because triggers write rows of other tables.
        statements = [f"DELETE FROM {name}" for name in names * 2]  # noqa: S608  # names of tables
        script = ";".join(["PRAGMA synchronous=OFF", "BEGIN IMMEDIATE", *statements, "COMMIT"])
        yield lambda: connection.executescript(script) and None


def _template() -> Path:
    template = run_folder() / "template.db"
    with once(run_folder(), "template.db-made") as first:
        if first:
            # In a thread of its own: the caller may run inside an event loop.
            with ThreadPoolExecutor(1) as thread:
                thread.submit(asyncio.run, _migrate(f"sqlite:///{template}")).result()
    return template


async def _migrate(url: str) -> None:
    created = Database(url)
    await created.write_alone(_RUN_MIGRATIONS)
    await created.dispose()


def copy_schema(connection: Connection) -> bool:
    """Upgrade a database to the newest schema; an empty SQLite file gets a copy of the template.

    The migrations take longer than most commands in an empty folder.
    """
    if connection.dialect.name != "sqlite" or inspect(connection).has_table("alembic_version"):
        return _RUN_MIGRATIONS(connection)
    driver = cast("sqlite3.Connection", connection.connection.driver_connection)
    driver.commit()
    with closing(sqlite3.connect(_template())) as created:
        created.backup(driver)
    driver.execute("BEGIN IMMEDIATE")
    return True
