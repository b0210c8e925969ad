"""The connections that read a SQLite file: aiosqlite, with one hop to a thread for each transaction."""

from collections.abc import Callable, Coroutine
from threading import current_thread
from typing import Any, TypeVar, cast, final

import aiosqlite
from sqlalchemy import Connection, Engine
from sqlalchemy.util import greenlet_spawn

_Result = TypeVar("_Result")


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
    def __init__(self, engine: Engine) -> None:
        self.sync_engine = engine

    async def run(self, work: Callable[[Connection], _Result], *, alone: bool = False) -> _Result:
        _ = alone
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
