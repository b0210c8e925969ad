"""The stores and the event loop of scripts, which stay open from one example to the next."""

import asyncio
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Final, TypeVar, final

from campaigns.model.sides import Stores
from sqlalchemy import Connection, delete
from tests import postgres
from tests.contracts.contract_values import RotatingSealer

from contentsvc_adapters.memory import memory_stores
from contentsvc_adapters.sql import Database, SqlStores, upgrade
from contentsvc_adapters.sql.schema.all_tables import metadata

_Result = TypeVar("_Result")

#: Returns empty stores; resources to close go onto the stack.
Fresh = Callable[[], Awaitable[Stores]]
Opening = Callable[[AsyncExitStack], Coroutine[Any, Any, Fresh]]


async def memory(_stack: AsyncExitStack) -> Fresh:
    """Open memory stores."""

    async def fresh() -> Stores:
        return memory_stores(RotatingSealer())

    return fresh


async def sqlite(stack: AsyncExitStack) -> Fresh:
    """Open a database in a file."""
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="contentsvc-model-"))
    database = _opened(stack, f"sqlite+aiosqlite:///{Path(folder) / 'store.db'}")
    await upgrade(database)
    return _emptying(database)


async def postgresql(stack: AsyncExitStack) -> Fresh:
    """Open a database of the tests' server."""
    return _emptying(_opened(stack, stack.enter_context(postgres.database())))


def _opened(stack: AsyncExitStack, url: str) -> Database:
    database = Database(url)
    stack.push_async_callback(database.dispose)
    return database


def _emptying(database: Database) -> Fresh:
    # A new database for each example would cost more than the example.
    emptied = [delete(table) for table in reversed(metadata.sorted_tables)]

    def empty(connection: Connection) -> None:
        for statement in emptied:
            connection.execute(statement)

    async def fresh() -> Stores:
        await database.write(empty)
        return SqlStores(database, RotatingSealer())

    return fresh


#: By name; each runs every script.
FAMILIES: Final[dict[str, Opening]] = {"memory": memory, "sqlite": sqlite, "postgresql": postgresql}


@final
class Bench:
    """Stores of several kinds in one event loop, for any number of examples. A context manager."""

    def __init__(
        self, families: dict[str, Opening] = FAMILIES, *, on_script: Callable[[], object] = lambda: None
    ) -> None:
        self._on_script: Final = on_script
        self._families: Final = families
        self._runner: Final = asyncio.Runner()
        self._stack: Final = AsyncExitStack()
        self._fresh: Final[dict[str, Fresh]] = {}
        #: The counts of operations and results.
        self.figures: Final = Counter[str]()

    def __enter__(self) -> "Bench":
        try:
            for name, opening in self._families.items():
                self._fresh[name] = self.run(opening(self._stack))
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _exc: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        self._close()

    def run(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """Run a coroutine in the loop to its end."""
        return self._runner.run(work)

    def fresh(self) -> Sequence[tuple[str, Stores]]:
        """Return empty stores of each kind."""

        async def fresh() -> list[tuple[str, Stores]]:
            return [(name, await make()) for name, make in self._fresh.items()]

        return self.run(fresh())

    def done(self, steps: int) -> None:
        """Count a completed script."""
        self.figures["scripts"] += 1
        self.figures["steps"] += steps
        self._on_script()

    def _close(self) -> None:
        self.run(self._stack.aclose())
        self._runner.close()
