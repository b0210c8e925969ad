"""Trying what a module does when it is imported: its constants, its fields, what its parameters are by default.

No function can be replaced there. A process is forked that has imported what others have written, and nothing of ours;
in it the module is imported with the fault in it.
"""

import importlib
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any, Final, final

import pytest
from tests.mutation import trials
from tests.mutation.mutants import Mutant

#: What the tests of the rooms import in the end: once, and not for each mutant. None of it has to be there.
_OTHERS: Final = (
    *("hypothesis.strategies", "pytest_asyncio.plugin", "attrs", "cattrs", "msgspec", "click.testing", "httpx"),
    *("sqlalchemy.ext.asyncio", "cryptography.fernet", "uuid_utils", "comrak", "nh3", "psycopg", "rich.progress"),
    *("litestar", "uvicorn", "alembic.command", "structlog", "asyncpg"),
)
#: In seconds of the processor's time, for all tests of a room.
_LIMIT_S: Final = 60.0


def tried_afresh(mutant: Mutant, tests: Sequence[str]) -> trials.End:
    """Import the module with the fault in it, and run tests until one fails."""

    def run() -> None:
        trials.limit(_LIMIT_S)
        sys.meta_path.insert(0, _Finder(mutant))
        status = trials.collect(tests, _Judge())
        # Not even collected: what cannot be imported is noticed by every test.
        assert status == pytest.ExitCode.OK

    _, status = os.waitpid(trials.forked(run), 0)
    return trials.ended(status)


def import_others() -> None:
    """Import foreign modules, for all processes that are forked from this one."""
    for name in _OTHERS:
        with suppress(ImportError):
            importlib.import_module(name)


@final
class _Judge:
    """A plug-in of pytest's: the first failure is enough."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        trials.quiet()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        # A property is tried with a hundred examples: examples of one's own are faster.
        items.sort(key=lambda item: hasattr(getattr(item, "function", None), "hypothesis"))

    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> None:
        if call.excinfo is not None and not call.excinfo.errisinstance(trials.NO_FAILURES):
            trials.die()


@final
class _Finder(MetaPathFinder):
    """Finds one module with a fault in it, and no other."""

    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant
        self._name = f"contentsvc_core.{mutant.module}"

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        if fullname != self._name:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        assert isinstance(spec, ModuleSpec)
        spec.loader = _Loader(fullname, self._mutant)
        return spec


@final
class _Loader(SourceFileLoader):
    """Gives the code with the fault in it."""

    def __init__(self, fullname: str, mutant: Mutant) -> None:
        super().__init__(fullname, str(mutant.path))
        self._mutant = mutant

    def get_code(self, fullname: str) -> CodeType:
        assert fullname == self.name
        return self._mutant.code()
