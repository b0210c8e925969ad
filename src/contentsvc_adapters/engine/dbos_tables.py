"""Checks whether the engine's tables exist, without loading DBOS, which is slow."""

import contextlib
import sqlite3
from pathlib import Path
from typing import Final

from sqlalchemy import NullPool, create_engine, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from contentsvc_adapters.sql.dialects.dialect import OWN_TABLES
from contentsvc_adapters.sql.serving import file_uri
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.text import one_line

_CONNECT_S: Final = 3
#: A table that another role owns, as after a migration by an administrator.
_CLOSED: Final = text(
    "SELECT relname FROM pg_class WHERE relnamespace = 'dbos'::regnamespace AND relkind = 'r'"
    " AND NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')"
    " AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE')) ORDER BY relname LIMIT 1"
)
#: insufficient_privilege
_FORBIDDEN: Final = "42501"


def tables_version(url: str) -> int | None:
    try:
        return _in_file(Path(make_url(url).database or "")) if url.startswith("sqlite") else _in_schema(url)
    except (SQLAlchemyError, sqlite3.Error) as exc:
        raise StoreUnavailable(in_a_sentence("the engine's database cannot be used", exc)) from exc


def in_a_sentence(fault: str, exc: Exception) -> str:
    """Return the fault with the driver's message; SQLAlchemy's error would repeat the statement."""
    cause = getattr(exc, "orig", None) or exc
    sentence = f"{fault}: {one_line(str(cause) or type(cause).__name__, 200)}"
    return f"{sentence}; {OWN_TABLES}" if getattr(cause, "sqlstate", None) == _FORBIDDEN else sentence


def _in_file(path: Path) -> int | None:
    if not path.exists():
        return None
    with contextlib.closing(sqlite3.connect(file_uri(path, "ro"), uri=True)) as connection:
        there = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'dbos_migrations'").fetchone()
        row = connection.execute("SELECT max(version) FROM dbos_migrations").fetchone() if there else None
    return None if row is None else row[0]


def _in_schema(url: str) -> int | None:
    engine = create_engine(
        make_url(url).set(drivername="postgresql+psycopg"),
        poolclass=NullPool,
        connect_args={"connect_timeout": _CONNECT_S, "application_name": "contentsvc"},
    )
    with engine.connect() as connection:
        if connection.scalar(text("SELECT to_regclass('dbos.dbos_migrations')")) is None:
            return None
        version = connection.scalar(text("SELECT max(version) FROM dbos.dbos_migrations"))
        if closed := connection.scalar(_CLOSED):
            message = f"the database role may not read and change the engine's table {closed}; {OWN_TABLES}"
            raise StoreUnavailable(message)
        return version
