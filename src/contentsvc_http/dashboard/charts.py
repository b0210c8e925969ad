from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime, timedelta
from math import log10
from typing import Any, Final
from zoneinfo import ZoneInfo

from contentsvc_core.journal import LogStatus
from contentsvc_core.lists.cursors import Cursor, written_cursor
from contentsvc_core.read_model import LogCount, stretch_at
from contentsvc_core.zones import DEFAULT_ZONE, day_of, local_time, start_of_day

HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)
ORDER: Final = (LogStatus.SUCCESS, LogStatus.PENDING, LogStatus.FAILED)
_STEPS: Final = (1, 2, 5, 10)
#: Sorts before the ids of all entries of the same time.
_FIRST: Final = "0"


def last_hours(now: datetime, number: int) -> list[datetime]:
    """Return the bounds of the last hours, the present one included: one more than there are hours."""
    end = stretch_at(now, HOUR) + HOUR
    return [end - hours * HOUR for hours in range(number, -1, -1)]


def last_days(now: datetime, number: int, zone: ZoneInfo) -> list[datetime]:
    """Return the bounds of the last local days, the present one included: one more than there are days."""
    end = day_of(zone, now) + DAY
    return [start_of_day(zone, end - days * DAY) for days in range(number, -1, -1)]


def span_of(zone: ZoneInfo) -> timedelta:
    """Return the span of the counts that make up the days of a zone."""
    return DAY if zone == DEFAULT_ZONE else HOUR


def columns(counts: Sequence[LogCount], bounds: Sequence[datetime], zone: ZoneInfo, *, label: str) -> dict[str, Any]:
    """Return a chart, 100 wide and 100 high: counts in columns, one between two successive bounds, or empty.

    A count belongs to the column in which it starts. ``label`` is the format of a column's beginning, in ``zone``.
    """
    number = len(bounds) - 1
    sums: dict[tuple[int, LogStatus], int] = {}
    for count in counts:
        index = bisect_right(bounds, count.starts_at) - 1
        if 0 <= index < number:
            key = (index, count.status)
            sums[key] = sums.get(key, 0) + count.number
    heights = [sum(sums.get((index, status), 0) for status in ORDER) for index in range(number)]
    top = round_up(max(heights, default=0))
    width = 100 / number
    drawn_columns: list[dict[str, Any]] = []
    for index in range(number):
        y = 100.0
        parts: list[dict[str, Any]] = []
        for status in ORDER:
            if value := sums.get((index, status), 0):
                height = 100 * value / top
                y -= height
                parts.append({"status": status.value, "y": round(y, 2), "height": round(height, 2)})
        begins = local_time(zone, bounds[index])
        drawn_columns.append(
            {
                "label": begins.strftime(label),
                "number": heights[index],
                "failed": sums.get((index, LogStatus.FAILED), 0),
                "until": written_cursor(Cursor(at=bounds[index + 1], id=_FIRST)),
                "x": round(index * width, 3),
                "width": round(width * 0.78, 3),
                "parts": parts,
            }
        )
    totals = {status.value: sum(sums.get((index, status), 0) for index in range(number)) for status in ORDER}
    return {"columns": drawn_columns, "top": top, "totals": totals, "is_empty": not any(heights)}


def round_up(value: int) -> int:
    """Return the next round number: 1, 2 or 5 with zeros; at least 1."""
    if value <= 1:
        return 1
    power = 10 ** int(log10(value))
    return next(step * power for step in _STEPS if step * power >= value)


def share(part: int, total: int) -> str:
    """Return a share in percent: a dash if ``total`` is 0, and 100 % only if the share is complete."""
    if not total:
        return "–"
    percent = 100 * part / total
    if part < total:
        percent = min(percent, 99.9)
    return f"{percent:.0f} %" if percent in {0, 100} else f"{percent:.1f} %"
