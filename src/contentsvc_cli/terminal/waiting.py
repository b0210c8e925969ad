import contextlib
import sys
import threading
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Final, final

from contentsvc_cli.terminal.output import printable

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_PATIENCE_S: Final = 1.0


@final
class ProgressDisplay:
    def __init__(self, text: str) -> None:
        self._lock: Final = threading.Lock()
        self._fields: Final[dict[str, Any]] = {"description": text, "counted": ""}
        self._shown: tuple[Progress, TaskID] | None = None
        self._ended = False

    def say(self, text: str) -> None:
        self._update(description=printable(text, sys.stderr))

    def count(self, done: int, total: int | None = None) -> None:
        counted = f"{done}" if total is None else f"{done} of {total}"
        self._update(completed=done, total=total, counted=counted)

    def begin(self) -> None:
        # Imported late: most commands end sooner than the display takes to import.
        from rich.console import Console  # noqa: PLC0415
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

        progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[counted]}", markup=False),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
            # Otherwise, output for a file would go to the terminal.
            redirect_stdout=False,
        )
        with self._lock:
            if not self._ended:
                task = progress.add_task("", total=None)
                progress.update(task, **self._fields)
                progress.start()
                self._shown = progress, task

    def end(self) -> None:
        with self._lock:
            self._ended = True
            if self._shown is not None:
                self._shown[0].stop()

    def _update(self, **fields: Any) -> None:  # noqa: ANN401  # the display's own fields
        with self._lock:
            self._fields.update(fields)
            if self._shown is not None:
                progress, task = self._shown
                progress.update(task, **fields)


@contextlib.contextmanager
def waiting(text: str, *, patience_s: float = _PATIENCE_S) -> Generator[ProgressDisplay]:
    """Show a text and the elapsed time on standard error, if that is a terminal. Print nothing meanwhile."""
    shown = ProgressDisplay(text)
    timer = threading.Timer(patience_s, shown.begin)
    timer.daemon = True
    if sys.stderr.isatty():
        timer.start()
    try:
        yield shown
    finally:
        timer.cancel()
        shown.end()
