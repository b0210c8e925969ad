"""Where a SQLite database lies."""

from pathlib import Path

from contentsvc_adapters.sql import Database
from contentsvc_adapters.sql.dialects import Sqlite


def file_of(database: Database) -> Path:
    """Give the file, which only a SQLite database has."""
    assert isinstance(database.dialect, Sqlite)
    return database.dialect.path
