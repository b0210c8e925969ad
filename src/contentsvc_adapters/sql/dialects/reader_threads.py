"""The threads in which a process reads from a SQLite file."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, TypeVar, final

from sqlalchemy import Connection, Engine

_Result = TypeVar("_Result")


@final
class ReaderThreads:
    """Runs transactions that only read, each in a thread, as many at once as there are connections.

    A transaction is one hop to a thread and one back, however many statements it has.
    """

    def __init__(self, engine: Engine, *, most: int) -> None:
        """Create the threads' pool; threads and connections begin when they are needed.

        Args:
            engine: Its pool has one connection for each thread.
            most: How many transactions run at once.
        """
        self.sync_engine: Final = engine
        self._threads: Final = ThreadPoolExecutor(most, thread_name_prefix="SQLite reader")

    async def run(self, work: Callable[[Connection], _Result], *, alone: bool = False) -> _Result:
        """Run ``work`` in a transaction, as soon as a thread is free."""
        _ = alone
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, partial(self._transaction, work))

    async def dispose(self) -> None:
        """Close the connections and end the threads."""
        # Wait for none: every transaction that was asked for has ended, and the threads are idle.
        self._threads.shutdown(wait=False)
        self.sync_engine.dispose()

    def _transaction(self, work: Callable[[Connection], _Result]) -> _Result:
        with self.sync_engine.begin() as connection:
            return work(connection)
