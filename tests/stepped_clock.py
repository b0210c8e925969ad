"""`python -m tests.stepped_clock serve …`: `contentsvc` with a clock that a test sets forwards and back.

The clock is the machine's plus the seconds in a file. Only one process is patched: `--workers` starts others,
which use the machine's clock.
"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, final

#: Not a variable of the service: those belong to an installation.
_FILE: Final = "STEPPED_CLOCK_FILE"
_DATABASES: Final = "STEPPED_DATABASES"


@final
class SteppedClock:
    """The offset of the servers' clock from the machine's clock, for tests."""

    #: The program that replaces the command.
    program: Final[Sequence[str]] = (sys.executable, "-m", "tests.stepped_clock")

    def __init__(self, folder: Path, *, databases: bool = False) -> None:
        """Create the offset 0, in a file of the given folder; ``databases``: their clocks, by which leases end, too."""
        self._file = folder / "clock"
        self._databases = databases
        self.step_to(0)

    @property
    def environment(self) -> Mapping[str, str]:
        """Return the variables for a server."""
        return {_FILE: str(self._file)} | ({_DATABASES: "yes"} if self._databases else {})

    def step_to(self, ahead_s: float) -> None:
        """Set the offset to the machine's clock, in seconds; it applies from the next call on."""
        # Replaced as a whole: the servers read it at any moment.
        new = self._file.with_suffix(".new")
        new.write_text(f"{ahead_s}", "ascii")
        new.replace(self._file)


def _main() -> None:
    from contentsvc_adapters.clocks import SystemClock  # noqa: PLC0415  # black-box tests import nothing
    from contentsvc_cli.main import main  # noqa: PLC0415  # as above

    file = Path(os.environ[_FILE])
    machines = SystemClock.now

    def ahead_s() -> float:
        return float(file.read_text("ascii"))

    def now(self: SystemClock) -> datetime:
        return machines(self) + timedelta(seconds=ahead_s())

    SystemClock.now = now
    if _DATABASES in os.environ:
        _step_databases(ahead_s)
    main(prog_name="contentsvc")


def _step_databases(ahead_s: Callable[[], float]) -> None:
    from sqlalchemy import BigInteger, ColumnElement, bindparam  # noqa: PLC0415  # as above

    from contentsvc_adapters.sql.dialects.postgresql import Postgresql  # noqa: PLC0415  # as above
    from contentsvc_adapters.sql.dialects.sqlite import Sqlite  # noqa: PLC0415  # as above

    ahead_ms = bindparam("ahead_ms", callable_=lambda: int(1000 * ahead_s()), type_=BigInteger)

    def stepped(machines: Callable[[Any], ColumnElement[int]]) -> Any:  # a method of one kind or the other
        def now_ms(dialect: Any) -> ColumnElement[int]:  # as above
            return machines(dialect) + ahead_ms

        return now_ms

    for kind in (Postgresql, Sqlite):
        kind.now_ms = stepped(kind.now_ms)


if __name__ == "__main__":
    _main()
