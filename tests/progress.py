"""The progress of a campaign: a bar on a terminal, else a line now and then."""

import contextlib
import sys
from collections.abc import Generator
from time import monotonic
from typing import Final, Protocol, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

#: The interval of lines, in seconds.
EVERY_S: Final = 60.0


class Advance(Protocol):
    """Reports progress of the given amount."""

    def __call__(self, by: float = 1, /) -> None: ...


@contextlib.contextmanager
def progress(what: str, total: float, *, stream: TextIO | None = None, every_s: float = EVERY_S) -> Generator[Advance]:
    """Show the progress of a campaign.

    Args:
        what: The name, or the counted things.
        total: The total number.
        stream: The output; by default stderr.
        every_s: The interval between lines without a terminal, in seconds.
    """
    console = Console(file=stream or sys.stderr)
    with _bar(console, what, total) if console.is_terminal else _lines(console, what, total, every_s) as advance:
        yield advance


@contextlib.contextmanager
def _bar(console: Console, what: str, total: float) -> Generator[Advance]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    # Without a drawing thread: a forked process could inherit its locked lock.
    with Progress(*columns, console=console, auto_refresh=False) as shown:
        task = shown.add_task(what, total=total)
        shown.refresh()

        def advance(by: float = 1, /) -> None:
            shown.advance(task, by)
            shown.refresh()

        yield advance


@contextlib.contextmanager
def _lines(console: Console, what: str, total: float, every_s: float) -> Generator[Advance]:
    began = printed = monotonic()
    done = 0.0

    def advance(by: float = 1, /) -> None:
        nonlocal printed, done
        done += by
        if (now := monotonic()) - printed >= every_s:
            printed = now
            # Without the console, which would wrap and colour it.
            console.file.write(f"{what}: {done:,.0f} of {total:,.0f} after {now - began:.0f} s\n")
            console.file.flush()

    yield advance
