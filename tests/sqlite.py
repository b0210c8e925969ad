"""SQLite files for tests."""

import asyncio
import shutil
import sqlite3
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, inspect

from contentsvc_adapters.sql import Database
from contentsvc_adapters.sql.migrations import migrate
from tests.postgres_server import once, run_folder

_RUN_MIGRATIONS: Final = migrate._upgrade  # pyright: ignore[reportPrivateUsage]  # replaced by tests


def migrated(path: Path) -> str:
    """Make a database with the schema; return its URL. It is copied from one that the run makes once."""
    shutil.copy(_template(), path)
    return f"sqlite+aiosqlite:///{path}"


def _template() -> Path:
    template = run_folder() / "template.db"
    with once(run_folder(), "template.db-made") as first:
        if first:
            # In a thread of its own: who asks may be inside a running loop.
            with ThreadPoolExecutor(1) as thread:
                thread.submit(asyncio.run, _migrate(f"sqlite:///{template}")).result()
    return template


async def _migrate(url: str) -> None:
    made = Database(url)
    await made.write_alone(_RUN_MIGRATIONS)
    await made.dispose()


def copy_schema(connection: Connection) -> bool:
    """Bring a database to the newest schema, as the migrations do; an empty SQLite file is given a copy of it.

    Running the migrations takes longer than most commands do that begin with an empty folder.
    """
    if connection.dialect.name != "sqlite" or inspect(connection).has_table("alembic_version"):
        return _RUN_MIGRATIONS(connection)
    for statement in _statements():
        connection.exec_driver_sql(statement)
    return True


@cache
def _statements() -> Sequence[str]:
    """Return the statements that create the schema."""
    with closing(sqlite3.connect(_template())) as made:
        return [each for each in made.iterdump() if each not in {"BEGIN TRANSACTION;", "COMMIT;"}]
