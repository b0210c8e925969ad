"""SQLite: a file with one writing connection and several read-only ones."""

import asyncio
import os
import sqlite3
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import current_thread
from time import monotonic, sleep
from typing import Any, ClassVar, Final, Self, TypeVar, cast, final

import aiosqlite
from sqlalchemy import (
    BigInteger,
    BindParameter,
    Column,
    ColumnElement,
    Connection,
    Engine,
    FromClause,
    Select,
    Subquery,
    Table,
    TableValuedAlias,
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
from sqlalchemy.util import greenlet_spawn

from contentsvc_adapters.sql.dialects.checkpoints import Checkpointer
from contentsvc_adapters.sql.dialects.dialect import RIGHT_FILE, DatabaseFault, Query
from contentsvc_adapters.sql.dialects.transactions import Connections, asynchronous_engine
from contentsvc_adapters.sql.dialects.writer_thread import WriterThread
from contentsvc_adapters.sql.serving import access_fault, file_uri, has_no_access, primary_code
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.values import Value

#: The file stores this setting: once the writer has set it, it holds for every connection.
_WAL: Final = "journal_mode=WAL"
_PRAGMAS: Final = ("synchronous=FULL", "foreign_keys=ON")
#: The writer leaves checkpoints to another thread. Its cache of 16 MiB holds the upper levels of all indexes.
_WRITING: Final = ("wal_autocheckpoint=0", "cache_size=-16384")
_PAUSE_S: Final = 0.005
_Result = TypeVar("_Result")


@final
class Sqlite(Value, frozen=True, kw_only=True):
    """SQLite, as a file in WAL mode with one writing connection and several read-only ones."""

    path: Path
    #: The time limit for waiting for another process's write lock, in milliseconds.
    busy_timeout_ms: int
    readers: int

    is_sqlite: ClassVar[bool] = True
    #: One process serves the file, so no older process can meet a newer schema.
    upgrades_itself: ClassVar[bool] = True
    patience_s: ClassVar[float | None] = None
    lanes: ClassVar[int] = 1

    @classmethod
    def of(cls, url: URL, *, busy_timeout_ms: int, readers: int) -> Self:
        if not url.database or url.database == ":memory:" or url.query:
            message = (
                "SQLite needs a file and nothing else: sqlite+aiosqlite:///contentsvc.db; a full path has four slashes"
            )
            raise ValueError(message)
        return cls(path=Path(url.database), busy_timeout_ms=busy_timeout_ms, readers=readers)

    def connections(self) -> Connections:
        file = _OpenFile(self.path)
        writer = WriterThread(
            create_engine(
                "sqlite://",
                creator=lambda: self._open(file, (_WAL, *_PRAGMAS, *_WRITING)),
                poolclass=QueuePool,
                pool_size=1,
                max_overflow=0,
                # Parameters are tenants' data, which must not get into a traceback.
                hide_parameters=True,
            ),
            Checkpointer(self.path, partial(self._open, file, _PRAGMAS)),
            check_file=file.check,
            is_lockout=lambda exc: self.fault(exc) is DatabaseFault.LOCKED,
        )
        # A deferred transaction that reads first fails at its first write with BUSY, whatever the timeout.
        _begin_with("BEGIN IMMEDIATE", writer.sync_engine)
        reader = asynchronous_engine(
            URL.create("sqlite+aiosqlite", database=str(self.path)),
            partial(self._connect, file, (*_PRAGMAS, "query_only=ON")),
            pool_size=self.readers,
            pool_reset_on_return=None,
            # The connection that was used last has the warmest cache of pages.
            pool_use_lifo=True,
        )
        _begin_with("BEGIN", reader)
        return Connections(writing=writer, reading=Readers(reader), settling=writer)

    async def _connect(self, file: "_OpenFile", pragmas: tuple[str, ...]) -> object:
        # The file is opened before aiosqlite starts a thread. If aiosqlite cannot open the file, its thread survives
        # and complains of a closed event loop, where an operator needs one sentence.
        opened = await asyncio.to_thread(self._open, file, pragmas)
        return await ReaderConnection(lambda: opened)

    def _open(self, file: "_OpenFile", pragmas: tuple[str, ...]) -> sqlite3.Connection:
        file.check()
        connection = sqlite3.connect(
            file.uri,
            uri=True,
            isolation_level=None,
            timeout=self.busy_timeout_ms / 1000,
            # The connection is opened in one thread and then used in one other thread only.
            check_same_thread=False,
        )
        try:
            for pragma in pragmas:
                self._set(connection, pragma)
            file.opened()
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
                # Several processes may open a new file at once. SQLite's timeout does not cover the switch to WAL.
                if not _is_locked(exc) or monotonic() >= deadline:
                    raise
                sleep(_PAUSE_S)
            else:
                return

    def insert(self, table: Table) -> Insert:
        return sqlite_insert(table)

    def for_each(self, outer: FromClause, inner: Select[*tuple[Any, ...]], *, of: Table) -> Subquery:
        # SQLite lacks LATERAL: the ids of the inner rows select them.
        ids = inner.with_only_columns(inner.selected_columns.id, maintain_column_froms=True)
        columns = [of.c[name] for name in inner.selected_columns.keys()]  # noqa: SIM118  # a collection of columns
        return select(*columns).select_from(outer.join(of, of.c.id.in_(ids))).subquery()

    def size_of(self, column: Column[str]) -> ColumnElement[int]:
        return func.length(column)

    def now_ms(self) -> ColumnElement[int]:
        return literal_column("CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)", BigInteger)

    def contains(self, column: ColumnElement[Any], part: str, *, folded: bool = False) -> ColumnElement[bool]:
        # Not LIKE: it has wildcards, limits patterns, and ignores case. lower() changes ASCII only.
        return func.instr(func.lower(column) if folded else column, part) > 0

    def entries(self, texts: BindParameter[str]) -> TableValuedAlias:
        return func.json_each(texts).table_valued("key", "value")

    def locking(self, query: Query) -> Query:
        """Return the query unchanged: a writer holds SQLite's single write lock already."""
        return query

    def alone(self, connection: Connection) -> None:
        pass

    def lock(self, connection: Connection, name: str) -> None:
        pass

    def fault(self, exc: Exception) -> DatabaseFault | None:
        # Lanes use the driver directly; all other code uses SQLAlchemy.
        cause = exc.orig if isinstance(exc, DBAPIError) else exc
        match cause:
            case sqlite3.IntegrityError() | sqlite3.DataError():
                return DatabaseFault.VALUE
            case sqlite3.ProgrammingError():
                return DatabaseFault.STATEMENT
            case sqlite3.Error() if primary_code(cause) == sqlite3.SQLITE_ERROR:
                return DatabaseFault.STATEMENT
            case sqlite3.Error() if primary_code(cause) == sqlite3.SQLITE_FULL:
                return DatabaseFault.FULL
            case sqlite3.Error():
                return DatabaseFault.LOCKED if _is_locked(cause) else DatabaseFault.AWAY
            case _:
                return DatabaseFault.AWAY if isinstance(exc, DBAPIError) else None

    def explain(self, exc: Exception) -> str:
        cause = exc.orig if isinstance(exc, DBAPIError) else exc
        match self.fault(exc):
            case DatabaseFault.VALUE:
                return f"the database refuses the value: {cause}"
            case DatabaseFault.STATEMENT:
                return f"the database does not understand what it is asked: {cause}"
            case DatabaseFault.LOCKED:
                return f"the database file '{self.path}' is locked by another process"
            case DatabaseFault.FULL:
                return f"the database file '{self.path}' cannot be used: {cause}; free some space on its disk"
            case _ if has_no_access(cause) and (denied := access_fault(self.path)) is not None:
                return denied
            case _ if primary_code(cause) in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
                return f"the database file '{self.path}' cannot be used: {cause}; {RIGHT_FILE}"
            case _:
                return f"the database file '{self.path}' cannot be used: {cause}"


class _OpenFile:
    """The file that the first connection opened, to read or to write.

    SQLite writes into it even after its path leads elsewhere or nowhere.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._opened: os.stat_result | None = None

    @property
    def uri(self) -> str:
        """The address for SQLite, which must not create the file again after it was opened."""
        return file_uri(self._path, "rwc" if self._opened is None else "rw")

    def opened(self) -> None:
        if self._opened is None:
            self._opened = self._path.stat()

    def check(self) -> None:
        if self._opened is None:
            return
        with suppress(FileNotFoundError, NotADirectoryError):
            if os.path.samestat(self._opened, self._path.stat()):
                return
        message = (
            f"the database file '{self._path}' was removed or replaced while this process uses it: stop the process, "
            "and put the file or a backup in its place"
        )
        raise StoreUnavailable(message)


def _begin_with(statement: str, engine: Engine) -> None:
    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:  # pyright: ignore[reportUnusedFunction]
        connection.exec_driver_sql(statement)


def _is_locked(exc: BaseException | None) -> bool:
    return primary_code(exc) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


@final
class ReaderConnection(aiosqlite.Connection):
    """A connection whose calls run directly when its own thread makes them, without aiosqlite's hop for each call."""

    def __init__(self, connector: "Callable[[], Any]") -> None:
        super().__init__(connector, iter_chunk_size=64)
        # As in SQLAlchemy's own dialect: a connection that is never closed must not keep the process alive.
        self._thread.daemon = True

    async def transaction(self, work: Callable[[], _Result]) -> _Result:
        """Run ``work`` in the connection's thread. ``work`` uses SQLAlchemy's asynchronous dialect."""
        return await self._execute(_finished, greenlet_spawn(work))

    async def _execute(self, fn: Callable[..., Any], *args: object, **kwargs: object) -> Any:  # noqa: ANN401  # of any call of the driver
        if current_thread() is self._thread:
            return fn(*args, **kwargs)
        return await super()._execute(fn, *args, **kwargs)  # pyright: ignore[reportUnknownMemberType]


def _finished(coroutine: Coroutine[Any, Any, _Result]) -> _Result:
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    coroutine.close()
    message = "a call of the connection was awaited in its own thread"
    raise RuntimeError(message)


@final
class Readers:
    """The connections that read a SQLite file, with one hop to a thread for each transaction."""

    def __init__(self, engine: Engine) -> None:
        self.sync_engine = engine

    async def run(self, work: Callable[[Connection], _Result]) -> _Result:
        connection = await greenlet_spawn(self.sync_engine.connect)
        try:

            def transaction() -> _Result:
                with connection.begin():
                    return work(connection)

            driver = cast("ReaderConnection", connection.connection.driver_connection)
            return await driver.transaction(transaction)
        finally:
            await greenlet_spawn(connection.close)

    async def dispose(self) -> None:
        await greenlet_spawn(self.sync_engine.dispose)
