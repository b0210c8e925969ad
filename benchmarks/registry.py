"""All rows, in the order in which they run and are shown."""

from typing import Final

from benchmarks.row import Row
from benchmarks.rows import (
    changelog,
    commands,
    curve,
    growth,
    http,
    idle,
    large,
    latency,
    limiter,
    memory,
    pages,
    public,
    runs,
    slow_disk,
    start,
    steps,
    sweep,
)

ROWS: Final[tuple[Row, ...]] = (
    *http.ROWS,
    *steps.ROWS,
    *slow_disk.ROWS,
    *latency.ROWS,
    *growth.ROWS,
    *pages.ROWS,
    *public.ROWS,
    *memory.ROWS,
    *start.ROWS,
    *idle.ROWS,
    *commands.ROWS,
    *runs.ROWS,
    *limiter.ROWS,
    *changelog.ROWS,
    *curve.ROWS,
    *sweep.ROWS,
    *large.ROWS,
)


def chosen(names: str) -> tuple[Row, ...]:
    """Return the rows that ``BENCH`` names, separated by commas; all rows if it is empty.

    Raises:
        ValueError: A row is unknown.
    """
    chosen_names = [name.strip() for name in names.split(",") if name.strip()]
    known = {row.name for row in ROWS}
    if unknown := [name for name in chosen_names if name not in known]:
        message = f"no row is named {', '.join(unknown)}; there are {', '.join(row.name for row in ROWS)}"
        raise ValueError(message)
    return tuple(row for row in ROWS if not chosen_names or row.name in chosen_names)
