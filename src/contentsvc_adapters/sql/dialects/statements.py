"""Connections for single statements, past SQLAlchemy, whose work around a statement costs more than a short one."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, final

#: A row, by the names of its columns.
Record: TypeAlias = Mapping[str, Any]


class DriverConnection(Protocol):
    """What is needed of a driver's connection."""

    async def fetch(self, query: str, *arguments: object) -> Sequence[Record]:
        """Execute a statement, prepared once for the connection, and give all of its rows."""
        ...

    def is_closed(self) -> bool:
        """Tell whether the connection is known to be gone."""
        ...

    def terminate(self) -> None:
        """Close it at once, whatever it is doing."""
        ...

    async def close(self) -> None:
        """Close it in order."""
        ...


@final
class Statements:
    """Executes statements that are transactions of their own, each on a connection that is free."""

    def __init__(
        self,
        connect: Callable[[], Awaitable[DriverConnection]],
        *,
        most: int,
        is_lost: Callable[[Exception], bool],
    ) -> None:
        """Take what opens connections; they are opened when they are needed, and kept.

        Args:
            connect: Opens one.
            most: How many there are at most.
            is_lost: Takes whatever a tenant said out of a driver's error, and tells whether the connection is gone.
        """
        self._connect = connect
        self._is_lost = is_lost
        self._free = asyncio.Semaphore(most)
        self._idle: list[DriverConnection] = []

    async def fetch(self, statement: str, arguments: Sequence[object]) -> Sequence[Record]:
        """Execute a statement and give its rows; whatever the driver raises is raised, and tells nothing of a tenant.

        Cut off, it leaves the statement's outcome unknown and no connection behind.
        """
        async with self._free:
            connection = self._idle.pop() if self._idle else await self._connect()
            try:
                found = await connection.fetch(statement, *arguments)
            except Exception as exc:
                if self._is_lost(exc) or connection.is_closed():
                    connection.terminate()
                    # What went down with this one, most likely: all were opened before it was seen to be gone.
                    self._drop()
                else:
                    self._idle.append(connection)
                raise
            except BaseException:
                connection.terminate()
                raise
            self._idle.append(connection)
            return found

    async def dispose(self) -> None:
        """Close the connections; none is in use any more."""
        while self._idle:
            await self._idle.pop().close()

    def _drop(self) -> None:
        while self._idle:
            self._idle.pop().terminate()
