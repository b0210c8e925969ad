"""SQLite: a file, one connection that writes, some that only read."""

import asyncio
import sqlite3
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Any, ClassVar, Final, Self, final

import aiosqlite
from attrs import frozen
from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Engine,
    FromClause,
    Select,
    Subquery,
    Table,
    create_engine,
    event,
    func,
    literal_column,
    select,
)
from sqlalchemy.dialects.sqlite import Insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool

from contentsvc_adapters.sql.dialects.checkpoints import Checkpointer
from contentsvc_adapters.sql.dialects.dialect import DatabaseFault, Question
from contentsvc_adapters.sql.dialects.transactions import Connections, Pooled, asynchronous_engine
from contentsvc_adapters.sql.dialects.writer_thread import Bare, WriterThread

#: The file keeps it: once the writer has set it, every other connection finds it so.
_WAL: Final = "journal_mode=WAL"
_PRAGMAS: Final = ("synchronous=FULL", "foreign_keys=ON")
#: The writer leaves checkpoints to another thread. Its pages of 16 MiB hold the upper levels of all indexes.
_WRITING: Final = ("wal_autocheckpoint=0", "cache_size=-16384")
_PAUSE_S: Final = 0.005


@final
@frozen(kw_only=True)
class Sqlite:
    """SQLite, as a file in WAL mode with one writing connection and some that only read."""

    path: Path
    #: How long a transaction waits for another process's write lock.
    busy_timeout_ms: int
    #: How many transactions may read at once.
    readers: int

    #: One process serves the file: nobody is surprised by a schema that is newer than what runs.
    upgrades_itself: ClassVar[bool] = True
    patience_s: ClassVar[float | None] = None
    lanes: ClassVar[int] = 1

    @classmethod
    def of(cls, url: URL, *, busy_timeout_ms: int, readers: int) -> Self:
        """Take the file that a URL names.

        Raises:
            ValueError: It names none, or asks for more.
        """
        if not url.database or url.database == ":memory:" or url.query:
            message = (
                "SQLite needs a file and nothing else: sqlite+aiosqlite:///contentsvc.db; a full path has four slashes"
            )
            raise ValueError(message)
        return cls(path=Path(url.database), busy_timeout_ms=busy_timeout_ms, readers=readers)

    def connections(self) -> Connections:
        """Create the thread that writes, and the connections that read."""
        writer = WriterThread(
            create_engine(
                "sqlite://",
                creator=partial(self._open, (_WAL, *_PRAGMAS, *_WRITING)),
                poolclass=QueuePool,
                pool_size=1,
                max_overflow=0,
                # Parameters are tenants' data: they belong into no traceback.
                hide_parameters=True,
            ),
            Checkpointer(self.path, partial(self._open, _PRAGMAS)),
            is_lockout=lambda exc: self.fault(exc) is DatabaseFault.LOCKED,
        )
        # A transaction that reads and then writes fails at once with BUSY when it began deferred, whatever the timeout.
        _begin_with("BEGIN IMMEDIATE", writer.sync_engine)
        reader = asynchronous_engine(
            URL.create("sqlite+aiosqlite", database=str(self.path)),
            partial(self._connect, (*_PRAGMAS, "query_only=ON")),
            pool_size=self.readers,
        )
        _begin_with("BEGIN", reader)
        return Connections(writing=writer, reading=Pooled(reader), settling=Bare(writer))

    async def _connect(self, pragmas: tuple[str, ...]) -> aiosqlite.Connection:
        # Opened before there is a thread for the connection. aiosqlite leaves a thread behind when it cannot open the
        # file; that thread complains of a closed event loop where an operator needs one sentence.
        opened = await asyncio.to_thread(self._open, pragmas)
        connection = aiosqlite.Connection(lambda: opened, iter_chunk_size=64)
        # As SQLAlchemy does with its own: a connection that is never closed must not keep the process from ending.
        connection._thread.daemon = True  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        return await connection

    def _open(self, pragmas: tuple[str, ...]) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path,
            # The driver begins no transaction of its own: _begin does, with the mode that is wanted.
            isolation_level=None,
            timeout=self.busy_timeout_ms / 1000,
            # Opened in one thread, used by another, and by that one alone.
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

    def for_each(self, outer: FromClause, inner: Select[*tuple[Any, ...]], *, of: Table) -> Subquery:
        """Give the rows of ``inner`` for each row of ``outer``."""
        # SQLite knows no LATERAL; the ids of the inner rows lead to them.
        ids = inner.with_only_columns(inner.selected_columns.id, maintain_column_froms=True)
        columns = [of.c[name] for name in inner.selected_columns.keys()]  # noqa: SIM118  # a collection of columns
        return select(*columns).select_from(outer.join(of, of.c.id.in_(ids))).subquery()

    def size_of(self, column: Column[str]) -> ColumnElement[int]:
        """Give the size of a text."""
        return func.length(column)

    def now_ms(self) -> ColumnElement[int]:
        """Return the time of the machine."""
        return literal_column("CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)", BigInteger)

    def holds(self, column: ColumnElement[Any], part: str, *, folded: bool = False) -> ColumnElement[bool]:
        """Look for a part of a text."""
        # Not LIKE, which has wildcards, a limit for patterns, and its own mind about case. lower() knows ASCII alone.
        return func.instr(func.lower(column) if folded else column, part) > 0

    def locking(self, question: Question) -> Question:
        """Leave a question as it is: whoever writes holds the one write lock already."""
        return question

    def alone(self, connection: Connection) -> None:
        """Do nothing: whoever writes is alone."""

    def hold(self, connection: Connection, name: str) -> None:
        """Do nothing: whoever writes is alone."""

    def fault(self, exc: Exception) -> DatabaseFault | None:
        """Tell what an error is about."""
        # Lanes speak to the driver, everybody else through SQLAlchemy.
        cause = exc.orig if isinstance(exc, DBAPIError) else exc
        match cause:
            case sqlite3.IntegrityError() | sqlite3.DataError():
                return DatabaseFault.VALUE
            case sqlite3.ProgrammingError():
                return DatabaseFault.STATEMENT
            case sqlite3.Error() if _code(cause) == sqlite3.SQLITE_ERROR:
                # A missing table or column among others: no later moment makes the statement right.
                return DatabaseFault.STATEMENT
            case sqlite3.Error():
                return DatabaseFault.LOCKED if _is_locked(cause) else DatabaseFault.AWAY
            case _:
                return DatabaseFault.AWAY if isinstance(exc, DBAPIError) else None

    def explain(self, exc: Exception) -> str:
        """Say in a sentence what is wrong with the database, or with a value."""
        cause = exc.orig if isinstance(exc, DBAPIError) else exc
        match self.fault(exc):
            case DatabaseFault.VALUE:
                return f"the database refuses the value: {cause}"
            case DatabaseFault.STATEMENT:
                return f"the database does not understand what it is asked: {cause}"
            case DatabaseFault.LOCKED:
                return f"the database file '{self.path}' is locked by another process"
            case _ if _code(cause) == sqlite3.SQLITE_CANTOPEN and not self.path.parent.is_dir():
                return f"the database file '{self.path}' cannot be opened: its folder does not exist; create it"
            case _:
                return f"the database file '{self.path}' cannot be used: {cause}"


def _begin_with(statement: str, engine: Engine) -> None:
    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:  # pyright: ignore[reportUnusedFunction]
        connection.exec_driver_sql(statement)


def _is_locked(exc: BaseException | None) -> bool:
    return _code(exc) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def _code(exc: BaseException | None) -> int:
    # The primary result code is the low byte of an extended one.
    return getattr(exc, "sqlite_errorcode", 0) & 0xFF
