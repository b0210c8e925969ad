"""Copying a SQLite file into an empty PostgreSQL database (decision 0073)."""

import sqlite3
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Table, create_engine, func, select, text
from sqlalchemy.util import await_only

from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.schema.all_tables import metadata
from contentsvc_adapters.sql.serving import file_uri
from contentsvc_core.errors import ContentServiceError

#: Counts and documents of search follow from the copied rows, by triggers; processes write their own heartbeats.
_MADE_ANEW: Final = frozenset(
    {"log_counts", "post_counts", "search_documents", "search_pending", "search_batches", "executors"}
)
COPIED: Final = tuple(table for table in metadata.sorted_tables if table.name not in _MADE_ANEW)
#: The number of rows of one COPY. Its triggers run once, so small batches cost more; a thousand posts need some MiB.
_BATCH: Final = 1000


async def copy_file(file: Path, target: Database, on_table: Callable[[str, int, int], object]) -> Mapping[str, int]:
    """Copy all rows of a file, in one transaction; return the number of rows by table.

    Both schemas are current, and no process serves the file. ``on_table`` is called with the table, the number of its
    copied rows, and the number of its rows.

    Raises:
            ContentServiceError: The target has rows.
            Unstorable: The target refuses a value.
            StoreUnavailable: The target does not answer.
    """

    def copied(connection: Connection) -> Mapping[str, int]:
        for table in COPIED:
            if connection.execute(select(table).limit(1)).first() is not None:
                message = f"the database is not empty: the table {table.name} has rows; copy into a new database"
                raise ContentServiceError(message)
        engine = create_engine("sqlite://", creator=partial(sqlite3.connect, file_uri(file, "ro"), uri=True))
        try:
            with engine.connect() as source:
                return {table.name: _copy(source, connection, table, on_table) for table in COPIED}
        finally:
            engine.dispose()

    return await target.write_alone(copied)


def _copy(source: Connection, target: Connection, table: Table, on_table: Callable[[str, int, int], object]) -> int:
    driver: Any = target.connection.driver_connection
    total = source.scalar(select(func.count()).select_from(table)) or 0
    done = 0
    on_table(table.name, done, total)
    rows = source.execution_options(yield_per=_BATCH).execute(select(table))
    for batch in rows.partitions():
        # Each COPY is one statement for the triggers, which count its rows at once.
        await_only(
            driver.copy_records_to_table(table.name, records=map(tuple, batch), columns=[each.name for each in table.c])
        )
        done += len(batch)
        on_table(table.name, done, total)
    if done and (numbered := table.autoincrement_column) is not None:
        # The next row gets a number after the copied ones.
        advancing = "SELECT setval(pg_get_serial_sequence(:table, :column), (SELECT max({}) FROM {}))"
        target.execute(
            text(advancing.format(numbered.name, table.name)), {"table": table.name, "column": numbered.name}
        )
    return done
