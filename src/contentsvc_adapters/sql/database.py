"""The database: its connections, its transactions, and the mapping of driver errors to the core's errors."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, assert_never, final

from sqlalchemy import ClauseElement, Connection, Delete, Insert, Select, Update
from sqlalchemy.exc import SQLAlchemyError, StatementError
from sqlalchemy.exc import TimeoutError as NoConnectionFree
from sqlalchemy.pool import QueuePool
from sqlalchemy.sql.compiler import SQLCompiler

from contentsvc_adapters.sql.dialects import DatabaseFault, Dialect, Record, Statements, dialect_of
from contentsvc_adapters.sql.dialects.writer_thread import WriterThread
from contentsvc_adapters.sql.row import AnyRow
from contentsvc_core.errors import ContentServiceError, StoreUnavailable, Unstorable
from contentsvc_core.values import nothing

if TYPE_CHECKING:
    import sqlite3

_Result = TypeVar("_Result")
_Work: TypeAlias = Callable[[Connection], _Result]
Fetch: TypeAlias = Callable[[str, Sequence[object]], Awaitable[Sequence[Record]]]

#: The maximum number of tries of a transaction. Of conflicting transactions one always succeeds.
_TURNS: Final = 5
#: The longest pause before the second try, in seconds; before each later try it is four times as long.
_PAUSE_S: Final = 0.01


def _either(now: _Result, before: _Result) -> _Result:
    return now or before


@final
class Database:
    """One database. A transaction is a plain function over a connection, and awaits nothing.

    A transaction runs to its end even if its caller is cancelled, so no connection is lost. Its function may run
    several times: after a conflict with other transactions, or after a lost connection with an unknown outcome. Only
    the core's errors are raised, and errors that the function itself raises to roll back.
    """

    def __init__(self, url: str, *, busy_timeout_ms: int = 5000, readers: int = 10, pool_size: int = 10) -> None:
        """Create the database; the first use opens it.

        Args:
                url: ``sqlite+aiosqlite:///FILE`` or ``postgresql+asyncpg://USER:PASSWORD@HOST/DATABASE``.
                busy_timeout_ms: SQLite: the time limit for waiting while another process writes.
                readers: SQLite: the maximum number of concurrent reads.
                pool_size: PostgreSQL: the maximum number of concurrent transactions.
        """
        self.dialect: Final[Dialect] = dialect_of(
            url, busy_timeout_ms=busy_timeout_ms, readers=readers, pool_size=pool_size
        )
        connections = self.dialect.connections()
        self._writer: Final = connections.writing
        self._reader: Final = connections.reading
        self._settler: Final = connections.settling
        self._running: Final[set[asyncio.Future[Any]]] = set()
        self._closed = False
        self._compiled: Final[dict[ClauseElement, SQLCompiler]] = {}
        #: Called after each write of this process.
        self.on_written: Callable[[], None] = nothing

    def connections(self) -> tuple[int, int]:
        """Return the number of open connections in use and the maximum number, in this process."""
        pools = {each.sync_engine.pool for each in (self._writer, self._reader)}
        counted = [pool for pool in pools if isinstance(pool, QueuePool)]
        return sum(pool.checkedout() for pool in counted), sum(pool.size() for pool in counted)

    async def read(self, work: _Work[_Result]) -> _Result:
        return await self._to_the_end(self._in_time(lambda: self._reader.run(work)))

    async def rows(self, query: Select[*tuple[Any, ...]]) -> Sequence[AnyRow]:
        return await self.read(lambda connection: connection.execute(query).all())

    async def values(self, query: Select[*tuple[Any, ...]], read: Callable[[AnyRow], _Result]) -> list[_Result]:
        return [read(row) for row in await self.rows(query)]

    async def first(self, query: Select[*tuple[Any, ...]], read: Callable[[AnyRow], _Result]) -> _Result | None:
        """Return the value that ``read`` makes of the first row; ``None``: the query finds no row."""
        row = await self.read(lambda connection: connection.execute(query).first())
        return None if row is None else read(row)

    async def change(self, statement: Insert | Update | Delete) -> int:
        """Execute a statement in a transaction of its own; return the number of its rows."""
        return await self.write_once(lambda connection: connection.execute(statement).rowcount)

    async def write(self, work: _Work[_Result]) -> _Result:
        """Run ``work`` in a transaction and commit; an exception rolls all of it back.

        Other transactions may write concurrently: values that ``work`` has read may have changed when it writes.
        (SQLite has one writer at a time.)

        Raises:
                StoreUnavailable: The database does not answer, or another process has locked it.
                Unstorable: The database refuses a value.
        """
        result = await self._to_the_end(self._in_time(lambda: self._writer.run(work)))
        self._written()
        return result

    async def write_once(self, work: _Work[_Result], merge: Callable[[_Result, _Result], _Result] = _either) -> _Result:
        """Run ``work`` as :meth:`write` does; its result is false if there was nothing to do.

        If it runs again after an unknown outcome and finds nothing to do, its first result is returned. ``merge``
        decides that for results with several parts.
        """
        first: list[_Result] = []

        def once(connection: Connection) -> _Result:
            result = work(connection)
            first[:] = [merge(result, first[0]) if first else result]
            return first[0]

        return await self.write(once)

    def settle(self, work: "Callable[[sqlite3.Connection], _Result]") -> "asyncio.Future[_Result]":
        """Run ``work`` on the driver's connection; it begins and ends one transaction. Only for SQLite's lane."""
        settler = self._settler
        assert isinstance(settler, WriterThread), "there is no such connection: use execute()"
        writing = self._submit(settler, work)
        writing.add_done_callback(lambda done: done.cancelled() or done.exception() or self._written())
        return writing

    async def execute(self, work: Callable[[Fetch], Awaitable[_Result]]) -> _Result:
        """Run ``work``, whose statements are transactions of their own. Only for PostgreSQL's lanes."""
        settler = self._settler
        assert isinstance(settler, Statements), "there is no such connection: use settle()"
        result = await self._to_the_end(self._in_time(lambda: work(settler.fetch)))
        self._written()
        return result

    async def poll(self, *statements: ClauseElement, **parameters: object) -> Sequence[Record]:
        """Execute short statements, each a transaction of its own, and return the rows of the last one.

        They bypass SQLAlchemy, whose work costs several times theirs. No polling loop has to learn of their writes.
        """
        calls = [self._compiled_call(statement, parameters) for statement in statements]
        settler = self._settler
        if isinstance(settler, WriterThread):
            return await asyncio.shield(self._submit(settler, partial(_fetched, calls)))

        async def fetched() -> Sequence[Record]:
            records: Sequence[Record] = ()
            for text, values in calls:
                records = await settler.fetch(text, values)
            return records

        return await self._to_the_end(self._in_time(fetched))

    async def write_alone(self, work: _Work[_Result]) -> _Result:
        """Run ``work`` once as :meth:`write` does, under the lock for migrations and without a time limit."""

        def alone(connection: Connection) -> _Result:
            self.dialect.alone(connection)
            return work(connection)

        async def once() -> _Result:
            try:
                return await self._writer.run(alone)
            except Exception as exc:
                self._raise_for(exc)
                raise

        return await self._to_the_end(once())

    async def dispose(self) -> None:
        self._closed = True
        while self._running:
            await asyncio.wait(self._running)
        # The writer last: closing the last connection moves SQLite's log into the file, which readers may not do.
        await self._reader.dispose()
        await self._settler.dispose()
        await self._writer.dispose()

    def _submit(
        self, settler: WriterThread, work: "Callable[[sqlite3.Connection], _Result]"
    ) -> "asyncio.Future[_Result]":
        if self._closed:
            refused: asyncio.Future[_Result] = asyncio.get_running_loop().create_future()
            refused.set_exception(StoreUnavailable("the database was closed"))
            return refused
        running = settler.run_on_driver(work, self._translated)
        self._running.add(running)
        running.add_done_callback(self._ended)
        return running

    def _compiled_call(
        self, statement: ClauseElement, parameters: Mapping[str, object]
    ) -> tuple[str, Sequence[object]]:
        if (compiled := self._compiled.get(statement)) is None:
            compiled = statement.compile(dialect=self._writer.sync_engine.dialect)
            assert isinstance(compiled, SQLCompiler)
            self._compiled[statement] = compiled
        values = {**compiled.params, **parameters}
        return compiled.string, [values[name] for name in compiled.positiontup or ()]

    async def _to_the_end(self, transaction: Coroutine[Any, Any, _Result]) -> _Result:
        if self._closed:
            transaction.close()
            message = "the database was closed"
            raise StoreUnavailable(message)
        task = asyncio.create_task(transaction)
        # The event loop keeps only a weak reference.
        self._running.add(task)
        task.add_done_callback(self._ended)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError as exc:
            asking = asyncio.current_task()
            if not task.cancelled() or (asking is not None and asking.cancelling()):
                raise
            # A driver cancelled the task, not the caller. A batch that saw CancelledError would take it for the end of
            # the event loop, and answer none of its callers.
            message = "the transaction was cut off"
            raise StoreUnavailable(message) from exc

    def _written(self) -> None:
        # A fault of a listener must not look like a fault of the write, which is durable.
        asyncio.get_running_loop().call_soon(self.on_written)

    def _ended(self, transaction: "asyncio.Future[Any]") -> None:
        self._running.discard(transaction)
        if not transaction.cancelled():
            # Retrieve the exception: if the caller has gone, asyncio would log it with a traceback.
            transaction.exception()

    async def _in_time(self, run: Callable[[], Awaitable[_Result]]) -> _Result:
        patience = asyncio.timeout(self.dialect.patience_s)
        try:
            async with patience:
                return await self._in_turns(run)
        except TimeoutError as exc:
            if not patience.expired():
                raise
            message = f"the database did not answer within {self.dialect.patience_s} s"
            raise StoreUnavailable(message) from exc

    async def _in_turns(self, run: Callable[[], Awaitable[_Result]]) -> _Result:
        turn = 0
        while True:
            try:
                return await run()
            except Exception as exc:
                turn += 1
                if turn == _TURNS or self.dialect.fault(exc) not in {DatabaseFault.CONFLICT, DatabaseFault.LOST}:
                    self._raise_for(exc)
                    raise
            # A random pause, so that conflicting transactions do not meet again.
            await asyncio.sleep(random.uniform(0, _PAUSE_S * 4**turn))  # noqa: S311  # no secret

    def _translated(self, exc: Exception) -> Exception:
        try:
            self._raise_for(exc)
        except ContentServiceError as translated:
            return translated
        return exc

    def _raise_for(self, exc: Exception) -> None:
        fault = self.dialect.fault(exc)
        match fault:
            case DatabaseFault.VALUE:
                raise Unstorable(self.dialect.explain(exc)) from exc
            case DatabaseFault.STATEMENT:
                raise ContentServiceError(self.dialect.explain(exc)) from exc
            case (
                DatabaseFault.LOCKED
                | DatabaseFault.CONFLICT
                | DatabaseFault.LOST
                | DatabaseFault.FULL
                | DatabaseFault.AWAY
            ):
                raise StoreUnavailable(self.dialect.explain(exc)) from exc
            case None:
                _raise_for_any_database(exc)
            case _:
                assert_never(fault)


def _fetched(calls: Sequence[tuple[str, Sequence[object]]], driver: "sqlite3.Connection") -> Sequence[Record]:
    records: Sequence[Record] = ()
    for text, values in calls:
        cursor = driver.execute(text, values)
        names = [column[0] for column in cursor.description or ()]
        records = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    return records


def _raise_for_any_database(exc: Exception) -> None:
    match exc:
        case UnicodeEncodeError() | OverflowError():
            # The driver cannot encode the value.
            message = f"the database cannot hold the value: {exc}"
            raise Unstorable(message) from exc
        case NoConnectionFree():
            message = "no connection to the database became free in time"
            raise StoreUnavailable(message) from exc
        case StatementError():
            message = f"the database cannot hold the value: {exc.orig}"
            raise Unstorable(message) from exc
        case SQLAlchemyError():
            message = f"the database is used in a wrong way: {type(exc).__name__}"
            raise ContentServiceError(message) from exc
        case _:
            pass
