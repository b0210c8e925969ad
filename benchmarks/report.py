"""The table: on the terminal, and in Markdown."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.table import Table

from benchmarks.results import Result, Results
from benchmarks.row import Goal

_MET: Final = {True: "met", False: "missed", None: ""}
#: The marks around the generated part of the page.
BEGIN: Final = "<!-- figures: written by make bench -->"
_LADDER: Final = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
END: Final = "<!-- end of figures -->"
_COLUMNS: Final = ("what", "goal", "ours", "95 % interval", "goal met", "CPU µs", "÷ no store", "rounds")


def lines_of(results: Results, *, with_goal: bool) -> list[list[str]]:
    """Return the table's cells, for figures with a goal or for the others."""
    return [_cells(result) for result in results.results if (result.finding.goal is not None) is with_goal]


def _cells(result: Result) -> list[str]:
    finding, interval = result.finding, result.interval
    details = finding.details
    return [
        finding.what,
        "" if finding.goal is None else _goal(finding.goal, finding.unit),
        "–" if interval is None else _figure(result.quoted, finding.unit),
        ""
        if interval is None
        else f"{figure(interval.low)} – {figure(interval.high)}, median {figure(interval.median)}",
        f"invalid: {finding.invalid}" if finding.invalid else _verdict(result),
        _cpu(details),
        _ratio(details.get("of_null")),
        str(result.rounds),
    ]


def _verdict(result: Result) -> str:
    goal, quoted = result.finding.goal, result.quoted
    if goal is None or quoted is None or result.met:
        return _MET[result.met]
    share = (goal.bound - quoted) / goal.bound if goal.met(goal.bound + 1) else (quoted - goal.bound) / goal.bound
    return f"missed by {share:.0%}"


def _goal(goal: Goal, unit: str) -> str:
    return f"{goal.sense.value} {_figure(goal.bound, unit)}"


def _figure(value: float | None, unit: str) -> str:
    return "–" if value is None else f"{figure(value)} {unit}"


def figure(value: float) -> str:
    """Return a number with three digits; whole numbers stay as they are."""
    if abs(value) >= 100 or value == int(value):  # noqa: PLR2004  # three digits before the point
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _cpu(details: Mapping[str, Any]) -> str:
    """Return each side's processor time per answer, for a ratio."""
    pair = details.get("pair")
    sides = details.get("sides", {})
    if pair is None or any(name not in sides for name in pair[:2]):
        return ""
    return " : ".join(figure(sides[name]["cpu_us"]) for name in pair[:2])


def _ratio(value: float | None) -> str:
    return "" if value is None else figure(value)


def terminal_table(results: Results, *, title: str) -> list[Table]:
    """Return the tables for the terminal."""
    tables: list[Table] = []
    for with_goal, name in ((True, title), (False, "Beside the goals")):
        lines = lines_of(results, with_goal=with_goal)
        if not lines:
            continue
        table = Table(title=name, title_justify="left")
        for column in _COLUMNS:
            table.add_column(column, justify="left" if column in {"what", "goal met"} else "right")
        for line in lines:
            style = "bold red" if line[4].startswith("invalid") else "yellow" if line[4].startswith("missed") else ""
            table.add_row(*line, style=style)
        tables.append(table)
    return tables


def markdown(results: Results) -> str:
    """Return the generated part of the page: the tables, machine and date, and each side's figures."""
    parts = [_table(_COLUMNS, lines_of(results, with_goal=True))]
    if rest := lines_of(results, with_goal=False):
        parts += ["Beside the goals:", _table(_COLUMNS, rest)]
    if sides := _sides(results):
        parts += [
            "What each side did, medians of all rounds:",
            _table(("row", "side", "deliveries/s", "CPU µs", "p50 ms", "p99 ms", "deliveries"), sides),
        ]
    if ladder := _ladder(results):
        parts += ["What an answer costs, in µs of processor time, and what is added from line to line:", ladder]
    conditions = [[name, text] for name, text in results.machine.items() if text]
    rows = {result.row: [result.row, _when(result), str(result.seed), result.revision] for result in results.results}
    parts += [
        "Where it was measured:",
        _table(("", ""), conditions),
        "When:",
        _table(("row", "at (UTC)", "seed", "revision"), list(rows.values())),
    ]
    return "\n\n".join(parts)


def _ladder(results: Results) -> str:
    """Return the cost of each layer compared to the one before it, from the throughput row at full load."""
    rungs: dict[str, float] = {}
    for one in _LADDER:
        result = results.of(f"{one}/floor@64")
        if result is not None:
            rungs |= {name: side["cpu_us"] for name, side in result.finding.details.get("sides", {}).items()}
    if any(name not in rungs for name in ("floor", "null")):
        return ""
    lines = [
        ["HTTP and HMAC: the floor", figure(rungs["floor"]), ""],
        ["our receiver, storing nothing", figure(rungs["null"]), f"+ {figure(rungs['null'] - rungs['floor'])}"],
    ]
    lines += [
        [f"our receiver, storing in {called}", figure(rungs[one]), f"+ {figure(rungs[one] - rungs['null'])}"]
        for one, called in _LADDER.items()
        if one in rungs
    ]
    return _table(("64 connections", "CPU µs", "added"), lines)


def _when(result: Result) -> str:
    return result.at.replace("T", " ").removesuffix("Z")


def _sides(results: Results) -> list[list[str]]:
    sides: dict[tuple[str, str], list[str]] = {}
    for result in results.results:
        pair = result.finding.details.get("pair")
        if pair is None:
            continue
        where = f"{result.row}, {pair[2]} connections"
        for name, side in result.finding.details.get("sides", {}).items():
            figures = [side[key] for key in ("per_second", "cpu_us", "p50_ms", "p99_ms", "deliveries")]
            sides[where, name] = [where, name, *map(figure, figures)]
    return list(sides.values())


def _table(columns: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    return "\n".join([line(columns), "|" + "---|" * len(columns), *map(line, lines)])


def put_into(page: str, generated: str) -> str:
    """Replace the part of the page between its markers.

    Raises:
        ValueError: The markers are missing, repeated, or in the wrong order.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end or BEGIN in after or END in after:
        message = f"the page needs {BEGIN!r} and {END!r}, once each"
        raise ValueError(message)
    return f"{before}{BEGIN}\n\n{generated}\n\n{END}{after}"
