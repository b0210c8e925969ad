"""The one thread in which a process writes into a SQLite file."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Final, TypeVar, cast, final

from sqlalchemy import Connection, Engine

from contentsvc_adapters.sql.dialects.checkpoints import Checkpointer
from contentsvc_core.errors import StoreUnavailable

if TYPE_CHECKING:
    import sqlite3

_Result = TypeVar("_Result")


@final
class WriterThread:
    """Runs transactions, one after the other, in the order in which they were asked for.

    Each is one hop to the thread and one back, however many statements it has, and nothing in this process waits for
    the write lock: only another process can hold it. What was asked for runs to its end, even when who asked goes away.
    """

    def __init__(self, engine: Engine, checkpointer: Checkpointer, *, is_lockout: Callable[[Exception], bool]) -> None:
        """Take the engine; its connection is opened in the thread, when the first transaction is asked for.

        Args:
            engine: Has one connection, and begins each transaction with the write lock.
            checkpointer: Is told how much was written.
            is_lockout: Tells whether an error means that another process has kept the file locked.
        """
        self.sync_engine: Final = engine
        self._checkpointer = checkpointer
        self._is_lockout = is_lockout
        #: How often a transaction gave up because another process held the lock.
        self._lockouts = 0
        self._jobs: Final[SimpleQueue[Callable[[], bool]]] = SimpleQueue()
        self._thread: Thread | None = None
        #: How many rows the last transaction has committed, and on which connection.
        self._rows = 0
        self._driver: sqlite3.Connection | None = None

    async def run(self, work: Callable[[Connection], _Result], *, alone: bool = False) -> _Result:
        """Run ``work`` in a transaction and commit; whatever it raises undoes all of it.

        Args:
            work: Runs in the thread.
            alone: Try it, even when who was before in the queue has waited for another process in vain.
        """
        return await self._ask(partial(self._transaction, work), patient=alone)

    async def dispose(self) -> None:
        """Run what was asked for, then close the connection and end the thread."""
        if self._thread is not None:
            await self._ask(self._close, patient=True)

    def run_bare(
        self, work: "Callable[[sqlite3.Connection], _Result]", translate: Callable[[Exception], Exception]
    ) -> "asyncio.Future[_Result]":
        """Run ``work`` on the driver's connection; it begins and ends the one transaction in it itself.

        Args:
            work: Runs in the thread, past SQLAlchemy, whose part costs as much as a short statement.
            translate: Returns what is raised for an error.
        """
        return self._ask(partial(self._past, work), patient=False, translate=translate)

    def _ask(
        self,
        work: Callable[[], _Result],
        *,
        patient: bool,
        translate: Callable[[Exception], Exception] = lambda exc: exc,
    ) -> "asyncio.Future[_Result]":
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[_Result] = loop.create_future()
        lockouts = None if patient else self._lockouts

        def job() -> bool:
            """Do the work; tell whether the thread is to go on."""
            self._rows = 0
            try:
                if lockouts is not None and lockouts != self._lockouts:
                    # The one before waited in vain, as long as this one did: a queue must not add its timeouts up.
                    message = "the database was locked by another process"
                    raise StoreUnavailable(message)  # noqa: TRY301  # told like any other
                told = partial(_tell, answer, work())
            except BaseException as exc:  # noqa: BLE001  # whoever asked is told, whatever it is
                if isinstance(exc, Exception) and self._is_lockout(exc):
                    self._lockouts += 1
                told = partial(_refuse, answer, translate(exc) if isinstance(exc, Exception) else exc)
            # The loop is closed: nobody is there any more who could be told.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(told)
            if self._rows and self._driver is not None:
                self._checkpointer.written(self._driver, self._rows)
            return self._thread is not None

        self._jobs.put(job)
        if self._thread is None:
            # A daemon: a file that nobody closed, and that another process has locked, must not keep this one alive.
            self._thread = Thread(target=self._work, name="SQLite writer", daemon=True)
            self._thread.start()
        return answer

    def _work(self) -> None:
        while self._jobs.get()():
            pass

    def _transaction(self, work: Callable[[Connection], _Result]) -> _Result:
        def begun(connection: Connection) -> _Result:
            with connection.begin():
                return work(connection)

        return self._bare(begun)

    def _bare(self, work: Callable[[Connection], _Result]) -> _Result:
        with self.sync_engine.connect() as connection:
            driver = cast("sqlite3.Connection", connection.connection.driver_connection)
            before = driver.total_changes
            result = work(connection)
            self._driver, self._rows = driver, driver.total_changes - before
            return result

    def _past(self, work: "Callable[[sqlite3.Connection], _Result]") -> _Result:
        if self._driver is None:
            with self.sync_engine.connect() as connection:
                self._driver = cast("sqlite3.Connection", connection.connection.driver_connection)
        driver, before = self._driver, self._driver.total_changes
        try:
            result = work(driver)
        except BaseException:
            # Whatever it is, the next one asks the engine for its connection.
            self._driver = None
            raise
        self._rows = driver.total_changes - before
        return result

    def _close(self) -> None:
        self._thread = None
        self._checkpointer.stop()
        self.sync_engine.dispose()


@final
class Bare:
    """The way to a writer's thread for those who begin and end their transactions themselves, one each time."""

    def __init__(self, writer: WriterThread) -> None:
        """Take the thread."""
        self._writer = writer

    @property
    def sync_engine(self) -> Engine:
        """Give the thread's engine."""
        return self._writer.sync_engine

    def run(
        self, work: "Callable[[sqlite3.Connection], _Result]", translate: Callable[[Exception], Exception]
    ) -> "asyncio.Future[_Result]":
        """Run ``work``, which begins and ends its transaction itself."""
        return self._writer.run_bare(work, translate)

    async def dispose(self) -> None:
        """Do nothing: the thread is the writer's."""


def _tell(answer: "asyncio.Future[_Result]", result: _Result) -> None:
    if not answer.done():
        answer.set_result(result)


def _refuse(answer: "asyncio.Future[_Result]", exc: BaseException) -> None:
    if not answer.done():
        answer.set_exception(exc)
