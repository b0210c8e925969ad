"""Hooks between a lane and PostgreSQL."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, final

from tests import postgres

from contentsvc_adapters.sql import Database
from contentsvc_adapters.sql.dialects import Statements

#: Wraps the execution of a statement, and returns its result.
Around = Callable[[Callable[[], Awaitable[Any]], str], Awaitable[Any]]


def on_lanes(database: Database, around: Around) -> None:
    """Wrap each statement that lanes execute on connections that are opened from now on."""
    statements: Any = database._settler  # pyright: ignore[reportPrivateUsage]  # the target of the lanes' statements
    assert isinstance(statements, Statements)
    lanes: Any = statements
    connect = lanes._connect

    async def connected() -> _Watched:
        return _Watched(await connect(), around)

    lanes._connect = connected
    lanes._drop()


@final
class _Watched:
    """A driver's connection."""

    def __init__(self, connection: Any, around: Around) -> None:
        self._around: Final = around
        self.is_closed = connection.is_closed
        self.terminate = connection.terminate
        self.close = connection.close
        self._fetch = connection.fetch

    async def fetch(self, query: str, *arguments: object) -> Sequence[Any]:
        return await self._around(lambda: self._fetch(query, *arguments), query)


async def until_they_wait(writing: "Sequence[asyncio.Task[Any]]", url: str) -> None:
    """Wait until each task waits for a lock of another transaction."""
    query = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    while len(postgres.rows(url, query)) < len(writing):
        assert not any(each.done() for each in writing)
        await asyncio.sleep(0.01)
