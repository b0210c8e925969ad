"""The path of a SQLite database."""

from pathlib import Path

from contentsvc_adapters.sql import Database
from contentsvc_adapters.sql.dialects.sqlite import Sqlite


def file_of(database: Database) -> Path:
    assert isinstance(database.dialect, Sqlite)
    return database.dialect.path
