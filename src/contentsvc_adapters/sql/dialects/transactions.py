"""Where transactions run: plain functions over a connection, on whatever engine and thread."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar, final

from attrs import frozen
from sqlalchemy import Connection, Engine

from contentsvc_adapters.sql.dialects.statements import Statements

if TYPE_CHECKING:
    # The package imports SQLAlchemy's ORM: only who makes such an engine pays for that.
    from sqlalchemy.ext.asyncio import AsyncEngine

Result = TypeVar("Result")


class Transactions(Protocol):
    """Connections of one kind."""

    @property
    def sync_engine(self) -> Engine:
        """Give the engine, with its pool."""
        ...

    async def run(self, work: Callable[[Connection], Result], *, alone: bool = False) -> Result:
        """Run ``work`` in a transaction and commit; whatever it raises undoes all of it.

        Args:
            work: Knows nothing of the event loop.
            alone: It waits for other processes as long as it takes, whatever became of those who were asked for before.
        """
        ...

    async def dispose(self) -> None:
        """Close the connections."""
        ...


@final
@frozen(kw_only=True)
class Connections:
    """All connections to one database."""

    #: Of the transactions that write.
    writing: Transactions
    #: Of those that only read, each in one snapshot.
    reading: Transactions
    #: Of the lanes: transactions that begin and end themselves (SQLite), or single statements (PostgreSQL).
    settling: Transactions | Statements


@final
class Pooled:
    """A pool of asynchronous connections."""

    def __init__(self, engine: "AsyncEngine") -> None:
        """Take the engine; its connections are opened when they are needed, and kept."""
        self.engine = engine

    @property
    def sync_engine(self) -> Engine:
        """Give the engine beneath."""
        return self.engine.sync_engine

    async def run(self, work: Callable[[Connection], Result], *, alone: bool = False) -> Result:
        """Run ``work`` in a transaction, as soon as a connection is free."""
        _ = alone
        async with self.engine.begin() as connection:
            return await connection.run_sync(work)

    async def dispose(self) -> None:
        """Close the connections."""
        await self.engine.dispose()
