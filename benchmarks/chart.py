"""The chart: every figure as a share of its goal, the curve of concurrency, and the cost of growth."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from benchmarks.drawing import Axis, Drawing
from benchmarks.report import figure
from benchmarks.results import Result, Results
from benchmarks.row import Sense

_WIDTH: Final = 1040
_LABELS: Final = 430
_LINE: Final = 24
_TOP: Final = 56
#: The least and the greatest share of a goal on the axis.
_LEAST: Final = 1 / 8
_MOST: Final = 8.0
_PANEL: Final = 190
_GAP: Final = 80
#: The left edges of the two plots of a line, and their width.
_PLOTS: Final = (60, 570)
_PLOT: Final = 370
_NAMES: Final = {"sqlite": ("one", "SQLite"), "postgresql": ("two", "PostgreSQL")}


def chart(results: Results) -> str:
    """Return the results as an SVG chart."""
    drawing = Drawing(_WIDTH)
    bottom = _bars(drawing, [result for result in results.results if result.finding.goal is not None])
    curves = {name: points for name in _NAMES if (points := _points(results, name))}
    if curves:
        top = bottom + _GAP
        _curve(drawing, curves, "per_second", "deliveries a second, by connections", _PLOTS[0], top, logarithmic=False)
        _curve(drawing, curves, "p99_ms", "p99 in ms, by connections", _PLOTS[1], top, logarithmic=True)
        bottom = top + _PANEL + 30
    for place, (quantity, grown) in enumerate(_growth(results).items()):
        left = _PLOTS[place % 2]
        top = bottom + _GAP if left == _PLOTS[0] else bottom - _PANEL - 30
        series = {name: {float(at): {"cpu_us": cost} for at, cost in points} for name, points in grown.items()}
        _curve(drawing, series, "cpu_us", f"CPU µs by {quantity}", left, top, logarithmic=False)
        bottom = top + _PANEL + 30
    return drawing.svg(bottom + 20, title="contentsvc: figures against goals")


def share(result: Result, value: float) -> float:
    """Return a figure as a share of its goal: 1 meets the goal exactly, and more is better for both senses."""
    goal = result.finding.goal
    assert goal is not None
    if goal.sense is Sense.AT_LEAST:
        return value / goal.bound
    return goal.bound / value if value > 0 else _MOST


def _bars(drawing: Drawing, results: Sequence[Result]) -> float:
    axis = Axis(low=_LEAST, high=_MOST, begin=_LABELS + 10, end=_WIDTH - 190, logarithmic=True)
    bottom = _TOP + _LINE * len(results)
    drawing.text(16, 24, "Each figure as a share of its goal (bars: median; whiskers: 95 % interval)", size=15)
    for mark in (_LEAST, 0.25, 0.5, 1.0, 2.0, 4.0, _MOST):
        x = axis.at(mark)
        drawing.line([(x, _TOP - 6), (x, bottom)], of="ink" if mark == 1 else "grid", thick=1.5 if mark == 1 else 1)
        drawing.text(x, _TOP - 10, "goal" if mark == 1 else f"{mark:g}×", of="faint", anchor="middle", size=11)
    for number, result in enumerate(results):
        _bar(drawing, axis, _TOP + _LINE * number, result)
    return bottom


def _bar(drawing: Drawing, axis: Axis, top: float, result: Result) -> None:
    middle = top + _LINE / 2
    finding, interval = result.finding, result.interval
    drawing.text(_LABELS, middle + 4, _shortened(finding.what), anchor="end")
    right = _WIDTH - 182
    if interval is None:
        drawing.text(axis.begin + 4, middle + 4, "not measured", of="faint", size=11)
        return
    of = "invalid" if finding.invalid else "met" if result.met else "missed"
    one = axis.at(1.0)
    end = axis.at(share(result, interval.median))
    drawing.box(min(one, end), middle - 7, abs(end - one) or 1.5, 14, of=of)
    ends = sorted(axis.at(share(result, value)) for value in (interval.low, interval.high))
    drawing.line([(ends[0], middle), (ends[1], middle)], of="ink", thick=1.5)
    for x in ends:
        drawing.line([(x, middle - 4), (x, middle + 4)], of="ink", thick=1.5)
    goal = finding.goal
    assert goal is not None
    assert result.quoted is not None
    unit = "" if finding.unit == "×" else f" {finding.unit}"
    text = "invalid" if finding.invalid else f"{figure(result.quoted)}{unit} ({goal.sense.value} {figure(goal.bound)})"
    drawing.text(right, middle + 4, text, of="faint" if finding.invalid else "ink", size=11)


def _shortened(text: str, most: int = 62) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _curve(
    drawing: Drawing,
    curves: Mapping[str, Mapping[float, Mapping[str, float]]],
    key: str,
    title: str,
    left: float,
    top: float,
    *,
    logarithmic: bool,
) -> None:
    """Draw a line for each database over the same logarithmic axis."""
    values = [point[key] for points in curves.values() for point in points.values()]
    places = sorted({at for points in curves.values() for at in points})
    least = min(values) if logarithmic else 0.0
    most = max(values)
    # A single value, or only zeros, define no scale.
    most = most if most > least else least + 1
    # Zero has no place on a logarithmic axis: it is drawn a decade before the first value.
    first = places[0] or min([at for at in places if at] or [1]) / 10
    x = Axis(low=first, high=max(places[-1], first * 2), begin=left, end=left + _PLOT, logarithmic=True)
    y = Axis(
        low=max(least, 1e-3) if logarithmic else 0.0, high=most, begin=top + _PANEL, end=top, logarithmic=logarithmic
    )
    drawing.text(left, top - 34, title, size=13)
    for part in (0.0, 0.5, 1.0):
        height = y.begin + part * (y.end - y.begin)
        value = y.low * (y.high / y.low) ** part if logarithmic else y.high * part
        drawing.line([(left, height), (left + _PLOT, height)], of="grid")
        drawing.text(left - 6, height + 4, figure(float(f"{value:.3g}")), of="faint", anchor="end", size=11)
    for at in places:
        drawing.text(x.at(at), top + _PANEL + 16, f"{at:,.0f}", of="faint", anchor="middle", size=11)
    for place, (name, points) in enumerate(curves.items()):
        of, called = _NAMES[name]
        line = [(x.at(at), y.at(point[key])) for at, point in sorted(points.items())]
        drawing.line(line, of=of, thick=2)
        for dot in line:
            drawing.dot(*dot, of=of)
        drawing.text(left + 90 * place, top - 14, called, of=of)


def _points(results: Results, name: str) -> dict[float, dict[str, float]]:
    measured = results.of(f"curve/{name}/throughput")
    points: dict[str, dict[str, float]] = {} if measured is None else measured.finding.details.get("points", {})
    return {float(at): point for at, point in points.items()}


def _growth(results: Results) -> dict[str, dict[str, list[list[float]]]]:
    """Return the cost of growth, by the growing quantity, then by database."""
    grown: dict[str, dict[str, list[list[float]]]] = {}
    for result in results.results:
        details: Mapping[str, Any] = result.finding.details
        if "growth" in details:
            growth = details["growth"]
            grown.setdefault(growth["quantity"], {})[growth["database"]] = growth["points"]
    return grown
