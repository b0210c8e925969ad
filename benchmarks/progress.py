"""Progress display: a bar on a terminal, and lines elsewhere."""

import time
from typing import Self, final

from rich import progress
from rich.console import Console


@final
class Progress:
    """Shows rows as they run. Its measure is time: rows say beforehand how long they take."""

    def __init__(self, console: Console, *, total_s: float) -> None:
        """Show on a console.

        Args:
            console: Where to.
            total_s: How long everything takes, about, in seconds.
        """
        self._console = console
        self._shown = progress.Progress(
            progress.TextColumn("{task.fields[row]:>10}"),
            progress.BarColumn(),
            progress.TimeElapsedColumn(),
            progress.TextColumn("of about {task.fields[minutes]} min  {task.description}"),
            console=console,
            transient=True,
        )
        self._task = self._shown.add_task("", total=total_s, row="", minutes=f"{total_s / 60:.1f}")
        self._done_s = 0.0
        self._row_s = 0.0
        self._began = time.monotonic()

    def __enter__(self) -> Self:
        """Begin to show."""
        self._shown.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Show no more."""
        self._shown.stop()

    def begin(self, row: str, expected_s: float) -> None:
        """Show the begin of a row."""
        self._done_s += self._row_s
        self._row_s = expected_s
        self._began = time.monotonic()
        self._shown.update(self._task, row=row)
        if not self._console.is_terminal:
            self._console.print(f"{row}: about {expected_s:.0f} s", highlight=False)

    def note(self, text: str) -> None:
        """Show the current step."""
        # A row that takes longer than it said does not run ahead into the next one's share.
        within = min(time.monotonic() - self._began, self._row_s)
        self._shown.update(self._task, completed=self._done_s + within, description=text)
