"""Run plain functions over a connection in transactions, on any engine and thread."""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar, cast, final

from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.engine import URL
from sqlalchemy.util import greenlet_spawn

from contentsvc_adapters.sql.dialects.statements import Statements
from contentsvc_adapters.sql.dialects.writer_thread import WriterThread
from contentsvc_core.values import Value

Result = TypeVar("Result")


class Transactions(Protocol):
    @property
    def sync_engine(self) -> Engine: ...

    async def run(self, work: Callable[[Connection], Result]) -> Result:
        """Run ``work``, a plain function, in a transaction and commit; an exception rolls all of it back."""
        ...

    async def dispose(self) -> None: ...


@final
class Connections(Value, frozen=True, kw_only=True):
    writing: Transactions
    #: For transactions that only read, each in one snapshot.
    reading: Transactions
    #: For the lanes, which begin and end transactions themselves (SQLite) or execute single statements (PostgreSQL).
    settling: WriterThread | Statements


def asynchronous_engine(url: URL, connect: Callable[[], Awaitable[object]], **options: object) -> Engine:
    """Create an engine over an asynchronous driver for :class:`Pooled`; ``connect`` opens a connection of the driver.

    ``create_async_engine`` imports SQLAlchemy's ORM, which takes a third of a short command's start.
    """

    def creator() -> object:
        return cast("Any", engine.dialect).dbapi.connect(async_creator_fn=connect)

    # Parameters are tenants' data, which must not get into a traceback.
    create = cast("Callable[..., Engine]", create_engine)
    engine = create(url, creator=creator, hide_parameters=True, max_overflow=0, **options)
    return engine


@final
class Pooled:
    def __init__(self, engine: Engine) -> None:
        self.sync_engine = engine

    async def run(self, work: Callable[[Connection], Result]) -> Result:
        def transaction() -> Result:
            with self.sync_engine.begin() as connection:
                return work(connection)

        return await greenlet_spawn(transaction)

    async def dispose(self) -> None:
        await greenlet_spawn(self.sync_engine.dispose)
