"""Connections for single statements, without SQLAlchemy, whose work around a short statement costs more."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, final

Record: TypeAlias = Mapping[str, Any]


class DriverConnection(Protocol):
    async def fetch(self, query: str, *arguments: object) -> Sequence[Record]:
        """Execute a statement and return all of its rows. The connection prepares each statement once."""
        ...

    def is_closed(self) -> bool: ...

    def terminate(self) -> None: ...

    async def close(self) -> None: ...


@final
class Statements:
    """Executes statements that are transactions of their own, each on a free connection."""

    def __init__(
        self,
        connect: Callable[[], Awaitable[DriverConnection]],
        *,
        most: int,
        is_lost: Callable[[Exception], bool],
    ) -> None:
        """``is_lost`` removes tenants' data from a driver's error, and returns whether the connection is lost."""
        self._connect = connect
        self._is_lost = is_lost
        self._free = asyncio.Semaphore(most)
        self._idle: list[DriverConnection] = []

    async def fetch(self, statement: str, arguments: Sequence[object]) -> Sequence[Record]:
        """Execute a statement and return its rows; raise the driver's errors without tenants' data.

        A cancelled statement has an unknown outcome, and its connection is closed.
        """
        async with self._free:
            connection = self._idle.pop() if self._idle else await self._connect()
            try:
                records = await connection.fetch(statement, *arguments)
            except Exception as exc:
                if self._is_lost(exc) or connection.is_closed():
                    connection.terminate()
                    # The idle connections are older than the fault, so most likely they are lost too.
                    self._drop()
                else:
                    self._idle.append(connection)
                raise
            except BaseException:
                connection.terminate()
                raise
            self._idle.append(connection)
            return records

    async def dispose(self) -> None:
        while self._idle:
            await self._idle.pop().close()

    def _drop(self) -> None:
        while self._idle:
            self._idle.pop().terminate()
