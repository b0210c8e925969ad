"""Progress display: a bar on a terminal, and lines elsewhere."""

import time
from typing import Self, final

from rich import progress
from rich.console import Console


@final
class Progress:
    """Shows the progress of rows in seconds: each row estimates its time beforehand."""

    def __init__(self, console: Console, *, total_s: float) -> None:
        """Create the display.

        Args:
            console: The console.
            total_s: The estimated time of all rows, in seconds.
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
        """Start the display."""
        self._shown.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the display."""
        self._shown.stop()

    def begin(self, row: str, expected_s: float) -> None:
        """Show the beginning of a row."""
        self._done_s += self._row_s
        self._row_s = expected_s
        self._began = time.monotonic()
        self._shown.update(self._task, row=row)
        if not self._console.is_terminal:
            self._console.print(f"{row}: about {expected_s:.0f} s", highlight=False)

    def note(self, text: str) -> None:
        """Show the current step."""
        # A row that takes longer than its estimate stays at the end of its share.
        within = min(time.monotonic() - self._began, self._row_s)
        self._shown.update(self._task, completed=self._done_s + within, description=text)
