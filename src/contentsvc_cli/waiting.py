"""Saying on a terminal that something is under way, once it has taken a second."""

import contextlib
import threading
from collections.abc import Generator
from typing import Final, final

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

#: What is done sooner needs no word, in seconds.
_PATIENCE_S: Final = 1.0


@final
class Waiting:
    """What is said while something is under way."""

    def __init__(self, progress: Progress, text: str) -> None:
        """Take the display, and what is waited for."""
        self._progress = progress
        self._task = progress.add_task(text, total=None, counted="")

    def say(self, text: str) -> None:
        """Say something else."""
        self._progress.update(self._task, description=text)

    def count(self, done: int, total: int | None = None) -> None:
        """Say how much is done, and of how much, where that is known."""
        counted = f"{done}" if total is None else f"{done} of {total}"
        self._progress.update(self._task, completed=done, total=total, counted=counted)


@contextlib.contextmanager
def waiting(text: str, *, patience_s: float = _PATIENCE_S) -> Generator[Waiting]:
    """Show what is waited for, with the time that it has taken, on standard error when that is a terminal.

    Nothing may be printed on standard output meanwhile.

    Args:
        text: What is waited for.
        patience_s: From when on it is shown, in seconds.
    """
    console = Console(stderr=True)
    progress = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[counted]}", markup=False),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        # Where that is a file, what is printed there would land on the terminal.
        redirect_stdout=False,
    )
    lock = threading.Lock()
    ended = False

    def show() -> None:
        with lock:
            if not ended:
                progress.start()

    timer = threading.Timer(patience_s, show)
    timer.daemon = True
    if console.is_terminal:
        timer.start()
    try:
        yield Waiting(progress, text)
    finally:
        timer.cancel()
        with lock:
            ended = True
            if progress.live.is_started:
                progress.stop()
