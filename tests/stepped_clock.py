"""`python -m tests.stepped_clock serve …`: `contentsvc` by a clock that a test steps, forwards and back, while it runs.

The clock is the machine's and as many seconds as a file holds. It is patched in one process: `--workers` starts others,
which go by the machine's own.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, final

#: Not one of the service's own variables: those are an installation's alone.
_FILE: Final = "STEPPED_CLOCK_FILE"


@final
class SteppedClock:
    """The test's side: by how much the servers' clock is ahead of the machine's."""

    #: The program in place of the command.
    program: Final[Sequence[str]] = (sys.executable, "-m", "tests.stepped_clock")

    def __init__(self, folder: Path) -> None:
        """Begin with the machine's time; the file is kept in a folder."""
        self._file = folder / "clock"
        self.step_to(0)

    @property
    def environment(self) -> Mapping[str, str]:
        """Return the variables for a server."""
        return {_FILE: str(self._file)}

    def step_to(self, ahead_s: float) -> None:
        """Set the offset to the machine's clock, in seconds; it applies from the next call on."""
        # Never half written: it is asked at any moment.
        new = self._file.with_suffix(".new")
        new.write_text(f"{ahead_s}", "ascii")
        new.replace(self._file)


def _main() -> None:
    from contentsvc_adapters.clocks import SystemClock  # noqa: PLC0415  # black-box tests import nothing
    from contentsvc_cli.main import main  # noqa: PLC0415  # as above

    file = Path(os.environ[_FILE])
    machines = SystemClock.now

    def now(self: SystemClock) -> datetime:
        return machines(self) + timedelta(seconds=float(file.read_text("ascii")))

    SystemClock.now = now
    main(prog_name="contentsvc")


if __name__ == "__main__":
    _main()
