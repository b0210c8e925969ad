"""The geometry of charts; templates draw them as SVG."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from math import ceil, log10
from typing import Final, final

from attrs import field, frozen

from contentsvc_core.insights import LogCount
from contentsvc_core.journal import LogStatus

#: The order of a column's parts, from bottom to top.
ORDER: Final = (LogStatus.SUCCESS, LogStatus.PENDING, LogStatus.FAILED)
_STEPS: Final = (1, 2, 5, 10)


@final
@frozen(kw_only=True)
class ColumnPart:
    """A part of a column."""

    status: str
    number: int
    #: The distance from the top, and the height, in percent of the picture's height.
    y: float
    height: float


@final
@frozen(kw_only=True)
class Column:
    """One stretch of time."""

    label: str
    number: int
    x: float
    width: float
    parts: tuple[ColumnPart, ...] = field(converter=tuple)


@final
@frozen(kw_only=True)
class Columns:
    """A chart of columns, 100 wide and 100 high; empty if there are no counts."""

    columns: tuple[Column, ...] = field(converter=tuple)
    #: The value at the top of the chart.
    top: int
    totals: Mapping[str, int]

    @property
    def is_empty(self) -> bool:
        return not any(column.number for column in self.columns)


def columns(
    counts: Sequence[LogCount], *, since: datetime, span: timedelta, number: int, label: str = "%Y-%m-%d %H:%M"
) -> Columns:
    """Stack counts in ``number`` columns, one for each stretch of time, including empty ones.

    ``since`` and the counts' ``starts_at`` are multiples of ``span``. ``label`` is the format of a column's beginning.
    """
    sums: dict[tuple[int, LogStatus], int] = {}
    for count in counts:
        place = (count.starts_at - since) // span
        if 0 <= place < number:
            key = (place, count.status)
            sums[key] = sums.get(key, 0) + count.number
    heights = [sum(sums.get((place, status), 0) for status in ORDER) for place in range(number)]
    top = round_up(max(heights, default=0))
    width = 100 / number
    made: list[Column] = []
    for place in range(number):
        y = 100.0
        parts: list[ColumnPart] = []
        for status in ORDER:
            if value := sums.get((place, status), 0):
                height = 100 * value / top
                y -= height
                parts.append(ColumnPart(status=status.value, number=value, y=round(y, 2), height=round(height, 2)))
        begins = since + place * span
        made.append(
            Column(
                label=begins.strftime(label),
                number=heights[place],
                x=round(place * width, 3),
                width=round(width * 0.78, 3),
                parts=parts,
            )
        )
    totals = {status.value: sum(sums.get((place, status), 0) for place in range(number)) for status in ORDER}
    return Columns(columns=made, top=top, totals=totals)


def round_up(value: int) -> int:
    """Return the next round number: 1, 2 or 5 with zeros; at least 1."""
    if value <= 1:
        return 1
    power = 10 ** int(log10(value))
    return next(step * power for step in _STEPS if step * power >= value)


def share(part: int, whole: int) -> str:
    """Return a share in percent: a dash if ``whole`` is 0, and 100 % only if the share is complete."""
    if not whole:
        return "–"
    percent = 100 * part / whole
    if part < whole:
        percent = min(percent, 99.9)
    return f"{percent:.0f} %" if percent in {0, 100} else f"{percent:.1f} %"


def quantile(buckets: Sequence[tuple[float, float]], wanted: float) -> float | None:
    """Estimate a quantile from a histogram as Prometheus does: linear inside its bucket.

    ``buckets`` have ascending upper bounds, the last one infinite, each with its cumulative count. ``wanted`` is 0 to
    1.
    """
    if not buckets or not buckets[-1][1]:
        return None
    rank = wanted * buckets[-1][1]
    lower, below = 0.0, 0.0
    for bound, number in buckets:
        if number >= rank:
            if bound == float("inf"):
                return lower
            return lower + (bound - lower) * ((rank - below) / (number - below) if number > below else 1.0)
        lower, below = bound, number
    return lower


def milliseconds(seconds: float | None) -> str:
    """Return a short duration as text."""
    if seconds is None:
        return "–"
    ms = seconds * 1000
    return f"{ms:.1f} ms" if ms < 10 else f"{ceil(ms)} ms"  # noqa: PLR2004  # two digits that mean something
