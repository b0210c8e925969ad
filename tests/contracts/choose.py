"""`python -m tests.contracts.choose`: choose the contract tests that run on PostgreSQL in the first tier.

It runs the contracts on PostgreSQL, and records the statements that each test executes. The chosen tests execute each
of these statements at least once. Their names are written to ``on_postgresql.txt``. Decision 0055 has the reasons.
"""

import re
import sys
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, final

import pytest
from sqlalchemy import Engine, event

from contentsvc_adapters.sql.dialects.statements import Record, Statements

#: The reason why another contract is in the second tier on PostgreSQL.
REPEATS: Final = "repeats statements on PostgreSQL that the contracts in on_postgresql.txt execute"
#: The names of the chosen tests, a line each: ``FILE::FUNCTION``.
LIST: Final = Path(__file__).with_name("on_postgresql.txt")
#: Added to the number of a test's statements: what the fixtures of a test cost, in statements.
_FIXTURES: Final = 5
#: Parameters, generated names, and lists of parameters, whose length depends on the values.
_VALUES: Final = ((r"\$\d+(?:::\w+(?:\[\])?)?", "?"), (r"\?(?:, \?)+", "?"), (r"\b(?:param|anon)_\d+", "x"))


def name_of(item: pytest.Item) -> str:
    """Return the name of a test function, without its parameters."""
    return f"{item.path.name}::{getattr(item, 'originalname', item.name)}"


def is_on_postgresql(item: pytest.Item) -> bool:
    """Check whether the test is a contract that the stores of PostgreSQL repeat."""
    callspec = getattr(item, "callspec", None)
    return callspec is not None and callspec.params.get("stores") == "postgresql"


def _is_slow(item: pytest.Item) -> bool:
    return any(mark.args != (REPEATS,) for mark in item.iter_markers("slow"))


def chosen(statements: Mapping[str, set[str]]) -> Sequence[str]:
    """Return tests that execute each statement at least once: first those with most new statements for their cost."""
    left = set[str]().union(*statements.values())
    found: list[str] = []
    while left:
        best = max(
            sorted(statements), key=lambda name: len(statements[name] & left) / (len(statements[name]) + _FIXTURES)
        )
        left -= statements[best]
        found.append(best)
    return sorted(found)


@final
class _Recorder:
    """Records the statements of each test, without their values."""

    def __init__(self) -> None:
        self.statements: dict[str, set[str]] = {}
        self._now: set[str] = set()
        event.listen(Engine, "before_cursor_execute", self._see)
        fetch = Statements.fetch

        async def seen(executor: Statements, statement: str, arguments: Sequence[object]) -> Sequence[Record]:
            self._add(statement)
            return await fetch(executor, statement, arguments)

        setattr(Statements, "fetch", seen)  # noqa: B010  # lanes execute past SQLAlchemy

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if is_on_postgresql(item) and not _is_slow(item)]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        self._now = self.statements.setdefault(name_of(item), set())
        return (yield)

    def _see(self, _connection: object, _cursor: object, statement: str, *_: object) -> None:
        self._add(statement)

    def _add(self, statement: str) -> None:
        for values, shown in _VALUES:
            statement = re.sub(values, shown, statement)
        self._now.add(statement)


if __name__ == "__main__":
    recorder = _Recorder()
    status = pytest.main(["-q", "--numprocesses=0", "-o", "timeout=0", str(LIST.parent)], plugins=[recorder])
    if status == pytest.ExitCode.OK:
        LIST.write_text("".join(f"{name}\n" for name in chosen(recorder.statements)), "utf-8")
    sys.exit(status)
