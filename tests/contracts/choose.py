"""`python -m tests.contracts.choose`: choose the contract tests that run on databases in the first tier.

It runs the contracts on SQLite and on PostgreSQL, and records the statements that each test executes. The chosen tests
execute each of these statements at least once. Their names are written to ``on_sqlite.txt`` and ``on_postgresql.txt``.
Decisions 0055 and 0062 have the reasons.
"""

import re
import sqlite3
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, final

import pytest
from sqlalchemy import Engine, event

from contentsvc_adapters.sql.dialects.statements import Record, Statements

#: The reason why another contract is in the second tier on a database.
REPEATS: Final = "repeats statements that other contracts execute on the same database in the first tier"
#: The names of the chosen tests of a database, a line each: ``FILE::FUNCTION``.
LISTS: Final = {name: Path(__file__).with_name(f"on_{name}.txt") for name in ("sqlite", "postgresql")}
#: The cost of a test's fixtures, in statements; it is added to the number of a test's statements.
_FIXTURES: Final = 5
#: Parameters, generated names, and lists of parameters, whose length depends on the values.
_VALUES: Final = ((r"\$\d+(?:::\w+(?:\[\])?)?", "?"), (r"\?(?:, \?)+", "?"), (r"\b(?:param|anon)_\d+", "x"))


def name_of(item: pytest.Item) -> str:
    """Return the name of a test function, without its parameters; of a published contract, with the guarantee."""
    callspec = getattr(item, "callspec", None)
    guarantee = None if callspec is None else callspec.params.get("guarantee")
    name = f"{item.path.name}::{getattr(item, 'originalname', item.name)}"
    return name if guarantee is None else f"{name}[{guarantee}]"


def database_of(item: pytest.Item) -> str | None:
    """Return the database of a contract that several families of stores repeat."""
    callspec = getattr(item, "callspec", None)
    family = None if callspec is None else callspec.params.get("stores")
    return family if family in LISTS else None


def _is_slow(item: pytest.Item) -> bool:
    return any(mark.args != (REPEATS,) for mark in item.iter_markers("slow"))


def chosen(statements: Mapping[str, set[str]]) -> Sequence[str]:
    """Return tests that execute each statement at least once: first those with most new statements for their cost."""
    remaining = set[str]().union(*statements.values())
    found: list[str] = []
    while remaining:
        best = max(
            sorted(statements), key=lambda name: len(statements[name] & remaining) / (len(statements[name]) + _FIXTURES)
        )
        remaining -= statements[best]
        found.append(best)
    return sorted(found)


@final
class _Recorder:
    """Records the statements of each test on each database, without their values."""

    def __init__(self) -> None:
        self.statements: dict[str, dict[str, set[str]]] = {database: {} for database in LISTS}
        self._now: set[str] = set()
        event.listen(Engine, "before_cursor_execute", self._see)
        fetch = Statements.fetch

        async def seen(executor: Statements, statement: str, arguments: Sequence[object]) -> Sequence[Record]:
            self._add(statement)
            return await fetch(executor, statement, arguments)

        # Lanes execute statements without SQLAlchemy.
        setattr(Statements, "fetch", seen)  # noqa: B010
        setattr(sqlite3, "connect", _connecting(self._add))  # noqa: B010

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if database_of(item) and not _is_slow(item)]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        self._now = self.statements[database_of(item) or ""].setdefault(name_of(item), set())
        return (yield)

    def _see(self, _connection: object, _cursor: object, statement: str, *_: object) -> None:
        self._add(statement)

    def _add(self, statement: str) -> None:
        for values, shown in _VALUES:
            statement = re.sub(values, shown, statement)
        self._now.add(statement)


def _connecting(see: Callable[[str], None]) -> Callable[..., sqlite3.Connection]:
    """Return a function that opens connections of SQLite whose statements are recorded."""
    connect = sqlite3.connect

    class Cursor(sqlite3.Cursor):
        def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
            see(sql)
            return super().execute(sql, *parameters)

        def executemany(self, sql: str, parameters: Any) -> sqlite3.Cursor:
            see(sql)
            return super().executemany(sql, parameters)

    class Connection(sqlite3.Connection):
        def cursor(self, factory: Any = Cursor) -> Any:
            return super().cursor(factory)

    return lambda *values, **options: connect(*values, **{"factory": Connection, **options})


if __name__ == "__main__":
    recorder = _Recorder()
    status = pytest.main(["-q", "--numprocesses=0", "-o", "timeout=0", str(Path(__file__).parent)], plugins=[recorder])
    if status == pytest.ExitCode.OK:
        for database, statements in recorder.statements.items():
            LISTS[database].write_text("".join(f"{name}\n" for name in chosen(statements)), "utf-8")
    sys.exit(status)
