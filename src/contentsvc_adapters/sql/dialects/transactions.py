"""Where transactions run: plain functions over a connection, on whatever engine and thread."""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar, cast, final

from attrs import frozen
from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.engine import URL
from sqlalchemy.util import greenlet_spawn

from contentsvc_adapters.sql.dialects.statements import Statements
from contentsvc_adapters.sql.dialects.writer_thread import Bare

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
    settling: Bare | Statements


def asynchronous_engine(url: URL, connect: Callable[[], Awaitable[object]], **options: object) -> Engine:
    """Create an engine over an asynchronous driver, as ``create_async_engine`` does, for :class:`Pooled` alone.

    The package of that function imports SQLAlchemy's ORM, which is a third of a short command's start.

    Args:
        url: Names the dialect and the driver.
        connect: Opens a connection of the driver.
        options: Of :func:`sqlalchemy.create_engine`.
    """

    def creator() -> object:
        return cast("Any", engine.dialect).dbapi.connect(async_creator_fn=connect)

    # Parameters are tenants' data: they belong into no traceback.
    create = cast("Callable[..., Engine]", create_engine)
    engine = create(url, creator=creator, hide_parameters=True, max_overflow=0, **options)
    return engine


@final
class Pooled:
    """A pool of asynchronous connections."""

    def __init__(self, engine: Engine) -> None:
        """Create it over an :func:`asynchronous_engine`, which opens connections when needed, and keeps them."""
        self.sync_engine = engine

    async def run(self, work: Callable[[Connection], Result], *, alone: bool = False) -> Result:
        """Run ``work`` in a transaction, as soon as a connection is free."""
        _ = alone

        def transaction() -> Result:
            with self.sync_engine.begin() as connection:
                return work(connection)

        return await greenlet_spawn(transaction)

    async def dispose(self) -> None:
        """Close the connections."""
        await greenlet_spawn(self.sync_engine.dispose)
