"""The required results by module, and the known equivalent mutants."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final, final

from attrs import frozen

#: The tests: pure ones, and those over the memory stores.
TESTS: Final = ("tests/core", "tests/usecases")
_EXPLAINED: Final = Path(__file__).with_name("explained.toml")


@final
@frozen(kw_only=True)
class Area:
    """Modules in which no unexplained mutant may survive."""

    name: str
    modules: tuple[str, ...]
    #: The tests for faults of its modules' imports, the fastest first.
    tests: tuple[str, ...]


AREAS: Final = (
    Area(
        name="signature",
        modules=("webhooks.signature",),
        tests=("tests/core/test_signature.py", "tests/core/test_decision.py"),
    ),
    Area(
        name="claim",
        modules=("webhooks.settlement", "webhooks.decision"),
        tests=(
            *("tests/core/test_settlement.py", "tests/core/test_golden_decisions.py", "tests/core/test_decision.py"),
            *("tests/usecases/test_receive.py", "tests/core/test_providers.py"),
        ),
    ),
    Area(
        name="limiter",
        modules=("access.window", "access.rates", "usecases.limit"),
        tests=("tests/core/test_window.py", "tests/usecases/test_limit.py"),
    ),
)


_WORDS: Final = tuple(
    f"tests/core/changelog/{name}.py"
    for name in ("test_changelog_tables", "test_changelog_styles", "test_golden_histories", "test_changelog_select")
)
#: Modules whose functions run when other modules are imported, so that no test reaches them, and their tests.
AT_IMPORT: Final[Mapping[str, tuple[str, ...]]] = {
    "content.changelog.paths": _WORDS,
    "content.changelog.tables": _WORDS,
    "content.changelog.words": _WORDS,
}


def area_of(module: str) -> Area | None:
    return next((area for area in AREAS if module in area.modules), None)


def explained() -> Mapping[str, str]:
    """Return the equivalent mutants by name, with the reason of each."""
    table = tomllib.loads(_EXPLAINED.read_text("utf-8"))
    return {f"{module}:{name}": reason for module, reasons in table.items() for name, reason in reasons.items()}
