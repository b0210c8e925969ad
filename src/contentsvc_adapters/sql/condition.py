"""Diagnostics of a database that may be faulty: nothing is written, and nothing is taken for granted."""

import contextlib
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final, final

from attrs import frozen
from sqlalchemy import ColumnElement, Connection, Select, Table, exists, func, inspect, null, select, text

from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.schema.all_tables import metadata
from contentsvc_adapters.sql.schema.deliveries import context_records, events, log_entries
from contentsvc_adapters.sql.schema.directory import integrations, organizations, webhook_secrets
from contentsvc_adapters.sql.schema.outgoing import webhook_endpoints
from contentsvc_adapters.sql.schema.work import executors, workflow_runs
from contentsvc_adapters.sql.serving import file_uri, try_to_write
from contentsvc_core.timestamps import from_ms

_LOCKED_S: Final = 1.0
#: The size of the temporary file of :func:`check_room`, in bytes: a few transactions of deliveries; it takes 0.2 s.
SPILLED: Final = 4 * 1024**2
#: The size of its rows, in bytes, as PostgreSQL 15 to 18 write them.
_ROW: Final = 14


@final
@frozen(kw_only=True)
class DatabaseServer:
    kind: str
    version: str
    numbers: tuple[int, ...]
    #: The durability of a commit, in the database's term.
    synchronous: str
    encoding: str = "UTF8"
    now: datetime | None = None


async def server(database: Database) -> DatabaseServer:
    return await database.read(_server)


def _server(connection: Connection) -> DatabaseServer:
    if connection.dialect.name == "sqlite":
        version = str(connection.scalar(text("SELECT sqlite_version()")))
        levels = ("off", "normal", "full", "extra")
        return DatabaseServer(
            kind="SQLite",
            version=version,
            numbers=tuple(int(part) for part in version.split(".")),
            synchronous=levels[int(connection.scalar(text("PRAGMA synchronous")) or 0)],
        )
    row = connection.execute(
        text(
            "SELECT current_setting('server_version'), current_setting('server_version_num')::int, "
            "current_setting('synchronous_commit'), current_setting('server_encoding'), "
            "(extract(epoch from clock_timestamp()) * 1000)::bigint"
        )
    ).one()
    version, number, synchronous, encoding, now_ms = row
    return DatabaseServer(
        kind="PostgreSQL",
        # Some distributions append their name to the number.
        version=str(version).partition(" ")[0],
        numbers=(number // 10_000, number % 10_000),
        synchronous=synchronous,
        encoding=encoding,
        now=from_ms(now_ms),
    )


async def check_room(database: Database) -> None:
    """Check that PostgreSQL can write :data:`SPILLED` bytes to the database's disk; nothing is stored.

    A full disk raises :class:`StoreUnavailable`.
    """
    await database.read(_spill)


def _spill(connection: Connection) -> None:
    # A result that is larger than work_mem is written to a temporary file, also in a transaction that only reads.
    connection.execute(
        text("SELECT set_config('work_mem', '64kB', true), set_config('temp_tablespaces', '', true)"),
    )
    connection.execute(text(f"SELECT count(*) FROM generate_series(1, {SPILLED // _ROW})"))  # noqa: S608  # a number


async def forbidden(database: Database) -> str | None:
    """Return which tables the role of the connection may not read or may not change; ``None``: it may do all."""
    closed = await database.read(_forbidden)
    if not closed:
        return None
    tables = f"{len(closed)} tables, such as {closed[0]}" if len(closed) > 1 else f"the table {closed[0]}"
    return f"the database role may not read and change {tables}"


def _forbidden(connection: Connection) -> Sequence[str]:
    if connection.dialect.name == "sqlite":
        return ()
    # The schema may have tables of other programs. A list of privileges in one call asks for any of them.
    query = text(
        "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'"
        " AND relname = ANY(:names)"
        " AND NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')"
        " AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE')) ORDER BY relname"
    )
    return connection.scalars(query, {"names": list(metadata.tables)}).all()


async def sealed_secrets(database: Database, *, limit: int) -> Sequence[str]:
    """Return at most ``limit`` sealed values of each kind, newest first; a database of an older version lacks some."""
    secrets = select(webhook_secrets.c.sealed).order_by(webhook_secrets.c.id.desc()).limit(limit)
    tokens = (
        select(integrations.c.sealed_token)
        .where(integrations.c.sealed_token.is_not(None))
        .order_by(integrations.c.created_at.desc())
        .limit(limit)
    )
    endpoints = select(webhook_endpoints.c.sealed_secret).order_by(webhook_endpoints.c.created_at.desc()).limit(limit)

    def read(connection: Connection) -> list[str]:
        found = [*connection.scalars(secrets), *connection.scalars(tokens)]
        if inspect(connection).has_table(webhook_endpoints.name):
            found += connection.scalars(endpoints)
        return [sealed for sealed in found if sealed is not None]

    return await database.read(read)


async def heartbeats(database: Database) -> Mapping[str, int]:
    return await database.read(lambda connection: {row.id: row.beats for row in connection.execute(select(executors))})


async def organization_ids(database: Database) -> Sequence[str]:
    """Return the ids of all organizations, also of unreadable ones."""
    query = select(organizations.c.id).order_by(organizations.c.id)
    return await database.read(lambda connection: connection.scalars(query).all())


async def providers(database: Database) -> frozenset[str]:
    query = select(integrations.c.provider).distinct()
    return frozenset(await database.read(lambda connection: connection.scalars(query).all()))


async def dangling(database: Database, *, limit: int) -> Mapping[str, int]:
    """Return the number of rows by table, of ``limit`` rows each, whose event or organization does not exist."""

    def of(table: Table, newest: Sequence[ColumnElement[Any]]) -> Select[int]:
        some = select(table.c.organization_id, table.c.event_id if "event_id" in table.c else null().label("event_id"))
        rows = some.order_by(*newest).limit(limit).subquery()
        owner = exists().where(organizations.c.id == rows.c.organization_id)
        event = exists().where(events.c.id == rows.c.event_id)
        return select(func.count()).select_from(rows).where(~owner | (rows.c.event_id.is_not(None) & ~event))

    tables: Mapping[Table, Sequence[ColumnElement[Any]]] = {
        events: (events.c.id.desc(),),
        workflow_runs: (workflow_runs.c.id.desc(),),
        # No index has their order in time.
        context_records: (),
        log_entries: (),
    }
    return await database.read(
        lambda connection: {table.name: connection.scalar(of(table, newest)) or 0 for table, newest in tables.items()}
    )


@final
@frozen(kw_only=True)
class FileState:
    size: int
    #: The size of the write-ahead log in bytes; 0: there is no log.
    log_size: int
    #: In SQLite's term; empty: it could not be read.
    journal_mode: str
    #: The reason why the file cannot be written; ``None``: it can.
    fault: sqlite3.Error | None


def file_state(path: Path) -> FileState:
    """Return the state of an existing SQLite file; nothing is written into the file."""
    # Before the file is opened: closing its last connection moves the log into the file.
    size, log_size = _size(path), _size(path.with_name(f"{path.name}-wal"))
    mode = ""
    fault: sqlite3.Error | None = None
    try:
        opened = sqlite3.connect(file_uri(path, "rw"), uri=True, isolation_level=None, timeout=_LOCKED_S)
        with contextlib.closing(opened) as connection:
            (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
            try_to_write(connection)
    except sqlite3.Error as exc:
        fault = exc
    return FileState(size=size, log_size=log_size, journal_mode=mode, fault=fault)


def free_space(folder: Path) -> tuple[int, int]:
    usage = shutil.disk_usage(folder)
    return usage.free, usage.total


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
