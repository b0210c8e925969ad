"""Trials of faults in the import of a module: its constants, fields, and defaults of parameters.

There, no function can be replaced. A process with only foreign modules is forked;
it imports the module with the fault.
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

#: Foreign modules of the areas' tests, which are imported once, and not for each mutant. Each is optional.
_OTHERS: Final = (
    *("hypothesis.strategies", "pytest_asyncio.plugin", "attrs", "cattrs", "msgspec", "click.testing", "httpx"),
    *("sqlalchemy.ext.asyncio", "cryptography.fernet", "uuid_utils", "comrak", "nh3", "psycopg", "rich.progress"),
    *("litestar", "uvicorn", "alembic.command", "structlog", "asyncpg"),
)
#: The limit of all tests of an area, in seconds of processor time.
_LIMIT_S: Final = 60.0


def tried_afresh(mutant: Mutant, tests: Sequence[str]) -> trials.End:
    """Import the module with the fault, and run tests until one fails."""

    def run() -> None:
        trials.limit(_LIMIT_S)
        sys.meta_path.insert(0, _Finder(mutant))
        status = trials.collect(tests, _Judge())
        # Not even collected: every test fails if the module cannot be imported.
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
    """A plug-in of pytest that stops at the first failure."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        trials.quiet()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        # A property has a hundred examples: tests with examples of their own are faster.
        items.sort(key=lambda item: hasattr(getattr(item, "function", None), "hypothesis"))

    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> None:
        if call.excinfo is not None and not call.excinfo.errisinstance(trials.NO_FAILURES):
            trials.die()


@final
class _Finder(MetaPathFinder):
    """Finds only the module with the fault."""

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
    """Loads the code with the fault."""

    def __init__(self, fullname: str, mutant: Mutant) -> None:
        super().__init__(fullname, str(mutant.path))
        self._mutant = mutant

    def get_code(self, fullname: str) -> CodeType:
        assert fullname == self.name
        return self._mutant.code()
