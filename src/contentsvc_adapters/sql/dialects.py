"""What differs between databases: everything else in this package is written for all of them.

Only SQLite is here so far. Another database is another class with the same methods, and a line in :func:`dialect_of`.
"""

import asyncio
import sqlite3
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Final, final

import aiosqlite
from attrs import frozen
from sqlalchemy import Connection, Table, event
from sqlalchemy.dialects.sqlite import Insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

#: The file keeps it: once the writer has set it, every other connection finds it so.
_WAL: Final = "journal_mode=WAL"
_PRAGMAS: Final = ("synchronous=FULL", "foreign_keys=ON")
_PAUSE_S: Final = 0.005


@final
@frozen(kw_only=True)
class Sqlite:
    """SQLite, as a file in WAL mode with one writing connection and some that only read."""

    path: Path
    #: How long a transaction waits for another process's write lock.
    busy_timeout_ms: int

    def writer(self) -> AsyncEngine:
        """Make the engine of the one connection that writes."""
        # A transaction that reads and then writes fails at once with BUSY when it began deferred, whatever the timeout.
        return self._engine(1, begin="BEGIN IMMEDIATE", pragmas=(_WAL, *_PRAGMAS))

    def reader(self, size: int) -> AsyncEngine:
        """Make the engine of the connections that read; each transaction sees one snapshot."""
        return self._engine(size, begin="BEGIN", pragmas=(*_PRAGMAS, "query_only=ON"))

    def _engine(self, size: int, *, begin: str, pragmas: tuple[str, ...]) -> AsyncEngine:
        engine = create_async_engine(
            URL.create("sqlite+aiosqlite", database=str(self.path)),
            pool_size=size,
            max_overflow=0,
            # Parameters are tenants' data: they belong into no traceback.
            hide_parameters=True,
            async_creator=partial(self._connect, pragmas),
        )

        @event.listens_for(engine.sync_engine, "begin")
        def _begin(connection: Connection) -> None:  # pyright: ignore[reportUnusedFunction]
            connection.exec_driver_sql(begin)

        return engine

    async def _connect(self, pragmas: tuple[str, ...]) -> aiosqlite.Connection:
        # Opened before there is a thread for the connection: aiosqlite would leave one behind when it cannot be, which
        # then complains of a closed event loop where an operator should read one sentence.
        opened = await asyncio.to_thread(self._open, pragmas)
        connection = aiosqlite.Connection(lambda: opened, iter_chunk_size=64)
        # As SQLAlchemy does with its own: a connection that nobody closed must not keep the process from ending.
        connection._thread.daemon = True  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        return await connection

    def _open(self, pragmas: tuple[str, ...]) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path,
            # The driver begins no transaction of its own: _begin does, with the mode that is wanted.
            isolation_level=None,
            timeout=self.busy_timeout_ms / 1000,
            # Opened here, used by the connection's own thread alone.
            check_same_thread=False,
        )
        try:
            for pragma in pragmas:
                self._set(connection, pragma)
        except BaseException:
            connection.close()
            raise
        return connection

    def _set(self, connection: sqlite3.Connection, pragma: str) -> None:
        deadline = monotonic() + self.busy_timeout_ms / 1000
        while True:
            try:
                connection.execute(f"PRAGMA {pragma}")
            except sqlite3.OperationalError as exc:
                # Several open a new file at once: for the switch to WAL, SQLite does not wait, whatever the timeout.
                if not _is_locked(exc) or monotonic() >= deadline:
                    raise
                sleep(_PAUSE_S)
            else:
                return

    def insert(self, table: Table) -> Insert:
        """Begin an ``INSERT`` that may say what to do on a conflict."""
        return sqlite_insert(table)

    def is_locked(self, exc: DBAPIError) -> bool:
        """Tell whether a transaction could not begin since another process holds the lock."""
        return _is_locked(exc.orig)

    def explain(self, exc: DBAPIError) -> str:
        """Say in a sentence what is wrong with the database."""
        if _code(exc.orig) == sqlite3.SQLITE_CANTOPEN and not self.path.parent.is_dir():
            return f"the database file '{self.path}' cannot be opened: its folder does not exist; create it"
        if self.is_locked(exc):
            return f"the database file '{self.path}' is locked by another process"
        return f"the database file '{self.path}' cannot be used: {exc.orig}"


def _is_locked(exc: BaseException | None) -> bool:
    return _code(exc) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def _code(exc: BaseException | None) -> int:
    # The primary result code is the low byte of an extended one.
    return getattr(exc, "sqlite_errorcode", 0) & 0xFF


def dialect_of(url: str, *, busy_timeout_ms: int) -> Sqlite:
    """Give the dialect that a database's URL asks for.

    Raises:
        ValueError: No database that can be used is named.
    """
    try:
        parsed = make_url(url)
    except ArgumentError:
        # The URL itself is not repeated: it may hold a password.
        message = "the database's URL cannot be read; it looks like sqlite+aiosqlite:///contentsvc.db"
        raise ValueError(message) from None
    if parsed.get_backend_name() != "sqlite":
        message = f"unknown kind of database '{parsed.get_backend_name()}': sqlite+aiosqlite:///FILE is supported"
        raise ValueError(message)
    if not parsed.database or parsed.database == ":memory:" or parsed.query:
        message = (
            "SQLite needs a file and nothing else: sqlite+aiosqlite:///contentsvc.db; a full path has four slashes"
        )
        raise ValueError(message)
    return Sqlite(path=Path(parsed.database), busy_timeout_ms=busy_timeout_ms)
