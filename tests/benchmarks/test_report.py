"""The report: table, page, chart, file."""

from functools import cache
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from attrs import evolve
from benchmarks.chart import chart, share
from benchmarks.plan import FULL, SHORT
from benchmarks.registry import ROWS, chosen
from benchmarks.report import BEGIN, END, figure, lines_of, markdown, put_into
from benchmarks.results import Result, Results, judged, load, save
from benchmarks.row import Finding, at_least, at_most

_POINT = {"per_second": 1000.0, "cpu_us": 90.0, "p50_ms": 1.0, "p99_ms": 4.0}
_FOUND = (
    Finding(
        key="sqlite/floor@64",
        what="SQLite ÷ floor",
        samples=[0.5, 0.7, 0.6],
        goal=at_least(0.6),
        details={
            "pair": ["sqlite", "floor", 64],
            "of_null": 0.8,
            "sides": {
                name: {**_POINT, "cpu_us": cost, "deliveries": 9}
                for name, cost in {"sqlite": 120.0, "floor": 60.0, "null": 85.0}.items()
            },
        },
    ),
    Finding(key="start/sqlite", what="start", samples=[0.5, 0.51, 0.52], unit="s", goal=at_most(0.6)),
    Finding(key="lost", what="a loss", samples=[9.0, 9.0], goal=at_least(1), invalid="sqlite: 7 answers, 6 rows"),
    Finding(key="gone", what="a peer", samples=[], goal=at_least(1), invalid="no npm"),
    Finding(
        key="curve/sqlite/throughput", what="beside", samples=[1.0], details={"points": {"1": _POINT, "64": _POINT}}
    ),
    Finding(
        key="growth/rows/sqlite",
        what="grown",
        samples=[1.0],
        details={"growth": {"quantity": "claims", "database": "sqlite", "points": [[0, 90.0], [1000, 95.0]]}},
    ),
)


@cache
def _results(row: str = "http", at: str = "2026-01-02T03:04:05Z") -> Results:
    found = judged(_FOUND, row=row, at=at, seed=7, revision="abc")
    return Results(machine={"machine": "a machine"}, results=found)


def _of(key: str) -> Result:
    found = _results().of(key)
    assert found is not None
    return found


def test_the_worse_end_is_held_against_the_goal() -> None:
    # The median meets it, the interval's lower end does not.
    assert _of("sqlite/floor@64").quoted == 0.5
    assert _of("sqlite/floor@64").met is False
    assert _of("start/sqlite").quoted == 0.52
    assert _of("start/sqlite").met is True


def test_an_invalid_result_misses_its_goal_and_shows_the_reason() -> None:
    assert _of("lost").met is False
    assert _of("gone").met is False
    cells = lines_of(_results(), with_goal=True)
    assert [line[4] for line in cells] == [
        "missed by 17%",
        "met",
        "invalid: sqlite: 7 answers, 6 rows",
        "invalid: no npm",
    ]


def test_a_line_has_processor_time_and_the_null_store_beside_it() -> None:
    line = lines_of(_results(), with_goal=True)[0]

    assert line[1:4] == ["≥ 0.6 ×", "0.5 ×", "0.5 – 0.7, median 0.6"]
    assert line[5:] == ["120 : 60", "0.8", "3"]


def test_the_page_gets_its_figures_between_the_marks_again_and_again() -> None:
    page = f"before\n{BEGIN}\nold\n{END}\nafter\n"
    once = put_into(page, markdown(_results()))

    assert put_into(once, markdown(_results())) == once
    assert once.startswith("before\n")
    assert once.endswith("\nafter\n")
    assert "old" not in once
    for text in (
        "a machine",
        "2026-01-02 03:04:05",
        "| our receiver, storing in SQLite | 120 | + 35 |",
        "missed by 17%",
    ):
        assert text in once


@pytest.mark.parametrize("page", ["", BEGIN, END, f"{END}{BEGIN}", f"{BEGIN}{END}{BEGIN}{END}"])
def test_a_page_without_its_marks_is_not_changed(page: str) -> None:
    with pytest.raises(ValueError, match="once each"):
        put_into(page, "")


def test_the_project_s_own_page_has_its_marks() -> None:
    page = (Path(__file__).parents[2] / "docs/performance.md").read_text("utf-8")

    assert "figures" in put_into(page, "figures")


def test_the_chart_is_svg_with_every_goal_in_it() -> None:
    drawn = ET.fromstring(chart(_results()))  # noqa: S314  # our own
    texts = {"".join(text.itertext()) for text in drawn.iter("{http://www.w3.org/2000/svg}text")}

    assert {"SQLite ÷ floor", "start", "a loss", "a peer", "not measured", "0.5 (≥ 0.6)", "0.52 s (≤ 0.6)"} <= texts
    assert {"p99 in ms, by connections", "CPU µs by claims"} <= texts


def test_the_chart_of_nothing_is_svg() -> None:
    assert ET.fromstring(chart(Results())).tag.endswith("svg")  # noqa: S314  # our own


def test_a_higher_share_is_better_for_either_direction_of_the_goal() -> None:
    assert share(_of("sqlite/floor@64"), 1.2) == 2.0
    assert share(_of("start/sqlite"), 0.3) == 2.0


def test_a_row_replaces_its_own_results_alone(tmp_path: Path) -> None:
    file = tmp_path / "performance" / "latest.json"
    order = ["http", "start"]
    first = _results("http").with_row("start", _results("start").results[:1], order)
    save(first, file)
    again = load(file)
    assert again == first

    newer = [evolve(result, at="2027-01-01T00:00:00Z") for result in _results("http").results[:2]]
    merged = again.with_row("http", newer, order)

    assert [(result.row, result.at[:4]) for result in merged.results] == [
        ("http", "2027"),
        ("http", "2027"),
        ("start", "2026"),
    ]
    # A removed row has no figures.
    assert all(result.row == "start" for result in again.with_row("start", [], ["start"]).results)


@pytest.mark.parametrize(
    ("value", "written"), [(0.47219, "0.472"), (12.34, "12.3"), (14832.1, "14,832"), (18, "18"), (0.0, "0")]
)
def test_figures_have_three_digits(value: float, written: str) -> None:
    assert figure(value) == written


def test_rows_are_chosen_by_their_names() -> None:
    assert chosen("") == ROWS
    assert [row.name for row in chosen("start, http")] == ["http", "start"]
    with pytest.raises(ValueError, match="no row is named nothing"):
        chosen("http,nothing")


def test_names_of_rows_are_unique_and_estimates_hold_the_budget() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)
    assert sum(row.estimate(FULL) for row in ROWS) < 60 * 60
    assert sum(row.estimate(SHORT) for row in ROWS) < 5 * 60
