"""The database: its connections, its transactions, and the one place where a driver's errors become the core's."""

import asyncio
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from typing import Any, Final, TypeAlias, TypeVar, final

from sqlalchemy import Connection
from sqlalchemy.exc import (
    DataError,
    DBAPIError,
    IntegrityError,
    ProgrammingError,
    SQLAlchemyError,
    StatementError,
)
from sqlalchemy.exc import TimeoutError as NoConnectionFree

from contentsvc_adapters.sql.dialects import dialect_of
from contentsvc_core.errors import ContentServiceError, StoreUnavailable, Unstorable

_Result = TypeVar("_Result")
_Work: TypeAlias = Callable[[Connection], _Result]


@final
class Database:
    """One database. A transaction is a plain function over a connection: it can await nothing else in the middle.

    A transaction that has been asked for runs to its end, even when who asked goes away: nothing is cut in half, and
    no connection is lost. Only the core's errors leave, and whatever the function itself raises to undo its work.
    """

    def __init__(self, url: str, *, busy_timeout_ms: int = 5000, readers: int = 4) -> None:
        """Name the database; it is opened when it is first used.

        Args:
            url: ``sqlite+aiosqlite:///FILE``.
            busy_timeout_ms: How long a write waits while another process writes.
            readers: How many transactions may read at once.

        Raises:
            ValueError: No database that can be used is named.
        """
        self.dialect: Final = dialect_of(url, busy_timeout_ms=busy_timeout_ms)
        self._writer: Final = self.dialect.writer()
        self._reader: Final = self.dialect.reader(readers)
        # asyncio's lock is fair: writers get their turn in the order in which they came.
        self._turn: Final = asyncio.Lock()
        #: How often a writer gave up because another process held the lock.
        self._lockouts = 0
        self._running: Final[set[asyncio.Task[Any]]] = set()
        self._closed = False

    async def read(self, work: _Work[_Result]) -> _Result:
        """Run ``work`` in a transaction that sees one moment and may not write.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        return await self._to_the_end(self._read, work)

    async def write(self, work: _Work[_Result]) -> _Result:
        """Run ``work`` in a transaction and commit; whatever it raises undoes all of it.

        Raises:
            StoreUnavailable: The database does not answer, or another process kept it locked.
            Unstorable: The database refuses a value.
        """
        return await self._to_the_end(self._write, work)

    async def dispose(self) -> None:
        """Wait for the transactions that are under way, then close every connection; there are no more afterwards."""
        self._closed = True
        while self._running:
            await asyncio.wait(self._running)
        # The writer last: closing the last connection moves the log into the file, and readers may not do that.
        await self._reader.dispose()
        await self._writer.dispose()

    async def _to_the_end(
        self, transaction: Callable[[_Work[_Result]], Coroutine[Any, Any, _Result]], work: _Work[_Result]
    ) -> _Result:
        if self._closed:
            message = "the database was closed"
            raise StoreUnavailable(message)
        task = asyncio.create_task(transaction(work))
        # The loop itself keeps only a weak reference.
        self._running.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    def _ended(self, transaction: "asyncio.Task[Any]") -> None:
        self._running.discard(transaction)
        if not transaction.cancelled():
            # Who asked may have gone away: an exception that nobody fetches is printed with a traceback.
            transaction.exception()

    async def _read(self, work: _Work[_Result]) -> _Result:
        with self._translated():
            async with self._reader.connect() as connection:
                return await connection.run_sync(work)

    async def _write(self, work: _Work[_Result]) -> _Result:
        lockouts = self._lockouts
        async with self._turn:
            if lockouts != self._lockouts:
                # The one before waited in vain, as long as this one did: a queue must not add its timeouts up.
                message = "the database was locked by another process"
                raise StoreUnavailable(message)
            with self._translated():
                async with self._writer.begin() as connection:
                    return await connection.run_sync(work)

    @contextmanager
    def _translated(self) -> Generator[None]:
        try:
            yield
        except (UnicodeEncodeError, OverflowError) as exc:
            # Not the database's own errors: the driver cannot even hand such a value over.
            message = f"the database cannot hold the value: {exc}"
            raise Unstorable(message) from exc
        except (IntegrityError, DataError) as exc:
            message = f"the database refuses the value: {exc.orig}"
            raise Unstorable(message) from exc
        except ProgrammingError as exc:
            message = f"the database does not understand what it is asked: {exc.orig}"
            raise ContentServiceError(message) from exc
        except DBAPIError as exc:
            if self.dialect.is_locked(exc):
                self._lockouts += 1
            raise StoreUnavailable(self.dialect.explain(exc)) from exc
        except NoConnectionFree as exc:
            message = "no connection to the database became free in time"
            raise StoreUnavailable(message) from exc
        except StatementError as exc:
            message = f"the database cannot hold the value: {exc.orig}"
            raise Unstorable(message) from exc
        except SQLAlchemyError as exc:
            message = f"the database is used in a wrong way: {type(exc).__name__}"
            raise ContentServiceError(message) from exc
