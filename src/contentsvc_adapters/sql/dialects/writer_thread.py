"""The single thread that writes to a SQLite file."""

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
    """Runs transactions one after the other, in the order of the calls; each costs one hop to the thread and one back.

    A transaction runs to its end even if its caller is cancelled. Only another process can hold the write lock.
    """

    def __init__(
        self,
        engine: Engine,
        checkpointer: Checkpointer,
        *,
        check_file: Callable[[], None],
        is_lockout: Callable[[Exception], bool],
    ) -> None:
        """``check_file`` is called before each transaction, and raises if the file must not be written."""
        self.sync_engine: Final = engine
        self._check_file = check_file
        self._checkpointer = checkpointer
        self._is_lockout = is_lockout
        #: The number of transactions that gave up because another process held the lock.
        self._lockouts = 0
        self._jobs: Final[SimpleQueue[Callable[[], bool]]] = SimpleQueue()
        self._thread: Thread | None = None
        self._rows = 0
        self._driver: sqlite3.Connection | None = None

    async def run(self, work: Callable[[Connection], _Result]) -> _Result:
        """Run ``work`` in a transaction in the thread, and commit; an exception rolls all of it back."""
        return await self._enqueue(partial(self._transaction, work))

    async def dispose(self) -> None:
        if self._thread is not None:
            await self._enqueue(self._close, patient=True)

    def run_on_driver(
        self, work: "Callable[[sqlite3.Connection], _Result]", translate: Callable[[Exception], Exception]
    ) -> "asyncio.Future[_Result]":
        """Run ``work`` on the driver's connection; it begins and ends exactly one transaction.

        ``translate`` maps an exception to the one that is raised.
        """
        return self._enqueue(partial(self._run_on_driver, work), translate=translate)

    def _enqueue(
        self,
        work: Callable[[], _Result],
        *,
        patient: bool = False,
        translate: Callable[[Exception], Exception] = lambda exc: exc,
    ) -> "asyncio.Future[_Result]":
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[_Result] = loop.create_future()
        lockouts = None if patient else self._lockouts

        def job() -> bool:
            self._rows = 0
            try:
                if lockouts is not None and lockouts != self._lockouts:
                    # The previous transaction waited in vain, and this one for as long: timeouts must not add up along
                    # the queue.
                    message = "the database was locked by another process"
                    raise StoreUnavailable(message)  # noqa: TRY301  # handled below like any other
                callback = partial(_resolve, answer, work())
            except BaseException as exc:  # noqa: BLE001  # the caller's future gets every exception
                if isinstance(exc, Exception) and self._is_lockout(exc):
                    self._lockouts += 1
                callback = partial(_refuse, answer, translate(exc) if isinstance(exc, Exception) else exc)
            # The loop may be closed, and then the result has no receiver.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(callback)
            if self._rows and self._driver is not None:
                self._checkpointer.written(self._driver, self._rows)
            return self._thread is not None

        self._jobs.put(job)
        if self._thread is None:
            # A daemon: an unclosed file that another process has locked must not keep this process alive.
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

        return self._run_on_engine(begun)

    def _run_on_engine(self, work: Callable[[Connection], _Result]) -> _Result:
        self._check_file()
        with self.sync_engine.connect() as connection:
            driver = cast("sqlite3.Connection", connection.connection.driver_connection)
            before = driver.total_changes
            result = work(connection)
            self._driver, self._rows = driver, driver.total_changes - before
            return result

    def _run_on_driver(self, work: "Callable[[sqlite3.Connection], _Result]") -> _Result:
        self._check_file()
        if self._driver is None:
            with self.sync_engine.connect() as connection:
                self._driver = cast("sqlite3.Connection", connection.connection.driver_connection)
        driver, before = self._driver, self._driver.total_changes
        try:
            result = work(driver)
        except BaseException:
            # After any error, the next transaction asks the engine for its connection.
            self._driver = None
            raise
        self._rows = driver.total_changes - before
        return result

    def _close(self) -> None:
        self._thread = None
        self._checkpointer.stop()
        self.sync_engine.dispose()


def _resolve(answer: "asyncio.Future[_Result]", result: _Result) -> None:
    if not answer.done():
        answer.set_result(result)


def _refuse(answer: "asyncio.Future[_Result]", exc: BaseException) -> None:
    if not answer.done():
        answer.set_exception(exc)
