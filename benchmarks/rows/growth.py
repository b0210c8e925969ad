"""The cost of a delivery with full databases and many organizations."""

import time
from collections.abc import Callable, Mapping
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Final, final

from attrs import evolve, field, frozen

from benchmarks import fill, ours
from benchmarks.loaders.load import Load
from benchmarks.plan import Plan
from benchmarks.rounds import Contest, Field, closed, throughput
from benchmarks.row import Finding, Row, at_least
from benchmarks.rows.http import START_S, TURN_S
from benchmarks.sides import Database, Prepared, Side

if TYPE_CHECKING:
    from benchmarks.bench import Bench

_CONNECTIONS: Final = 64
_EMPTY: Final = "empty"
_SIDES: Final[Mapping[str, Callable[[], Side]]] = {"sqlite": ours.sqlite, "postgresql": ours.postgresql}
_TITLES: Final = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
#: The age of the oldest log row: the sweeper deletes none of them during the row.
_LOG_SPAN_MS: Final = 20 * fill.DAY_MS
#: The rounds of a plot, and their length in seconds.
_PLOT_ROUNDS: Final = 2
#: The rounds with a goal: the worse end of an interval needs more than two.
_GOAL_ROUNDS: Final = 6
_PLOT_S: Final = 2.0


@final
@frozen(kw_only=True)
class Growth:
    """A growing quantity."""

    key: str
    #: The text of the table: "claims, with a fifth as many log rows".
    quantity: str
    #: The sizes; the largest is compared with an empty database.
    sizes: tuple[int, ...]
    short_sizes: tuple[int, ...]
    #: Fills a database to a size.
    furnish: Callable[[Prepared, Database, int], None]
    #: Changes the load for a size.
    change: Callable[[Load, int], Load] = field(default=lambda load, _: load)
    #: The number of rows that a delivery adds at a size.
    factors: Callable[[int], Mapping[str, int]] = field(default=lambda _: {})
    bound: float | None = 0.9
    #: Whether rounds have the plan's length instead of that of a plot.
    thorough: bool = False
    #: The length of a round with a goal, in seconds, if rounds are not thorough.
    seconds: float = 2.0
    #: The estimated time of filling, in microseconds a unit.
    fill_us: float = 0.0


def _rows(prepared: Prepared, database: Database, size: int) -> None:
    now = int(time.time() * 1000)
    at = (prepared.database, database, prepared.hook)
    fill.claims(*at, count=size, now_ms=now)
    fill.logs(*at, count=max(1, size // 5), oldest_ms=now - _LOG_SPAN_MS, span_ms=_LOG_SPAN_MS)
    fill.analyze(prepared.database, database)


def _organizations(prepared: Prepared, database: Database, size: int) -> None:
    now = int(time.time() * 1000)
    fill.organizations(prepared.database, database, prepared.hook, count=size, now_ms=now)
    fill.analyze(prepared.database, database)


def _to_all(load: Load, size: int) -> Load:
    path = f"/api/webhooks/codehost/org_fill%d/int_fill%d/{ours.REPOSITORY_ID}"
    return evolve(load, path=path, places=size)


def _triggers(prepared: Prepared, database: Database, size: int, *, matching: bool) -> None:
    # The existing trigger counts.
    fill.triggers(prepared.database, database, prepared.hook, count=size - 1, matching=matching)
    fill.analyze(prepared.database, database)


GROWTHS: Final = (
    Growth(
        key="rows",
        quantity="claims, with a fifth as many log rows",
        sizes=(500_000, 5_000_000),
        short_sizes=(100_000,),
        furnish=_rows,
        thorough=True,
        fill_us=12,
    ),
    Growth(
        key="organizations",
        quantity="organizations, which all get deliveries",
        sizes=(100, 10_000),
        short_sizes=(1_000,),
        furnish=_organizations,
        change=_to_all,
        # In rounds of two seconds, most deliveries would be the first ones of their organizations.
        seconds=5.0,
        fill_us=100,
    ),
    Growth(
        key="triggers",
        quantity="triggers of the repository, of which one matches",
        sizes=(100, 1_000),
        short_sizes=(1_000,),
        furnish=partial(_triggers, matching=False),
        fill_us=100,
    ),
    Growth(
        key="matching",
        quantity="triggers of the repository, which all match",
        sizes=(10, 100),
        short_sizes=(10,),
        furnish=partial(_triggers, matching=True),
        factors=lambda size: {"runs": size},
        # Each run is stored, so the cost has no goal.
        bound=None,
    ),
)


def measure(bench: "Bench") -> list[Finding]:
    """Compare an empty database with full ones, side by side, for each quantity and database."""
    return [_grown(bench, growth, name) for growth, name in _grown_in(bench.plan)]


def _grown(bench: "Bench", growth: Growth, name: str) -> Finding:
    sizes = growth.short_sizes if bench.plan.short else growth.sizes
    rounds, seconds = _size(bench.plan, growth)
    entered = Field(bench)
    try:
        entered.enter(_EMPTY, _SIDES[name])
        for size in sizes:
            bench.note(f"{name}: filling in {size:,} {growth.quantity}")
            furnish = partial(_furnish, growth, Database(name), size)
            entered.enter(str(size), _SIDES[name], furnish=furnish)
        ask = partial(
            entered.contest,
            what=f"{name}, {growth.key}",
            changes={str(size): partial(_changed, growth, size) for size in sizes},
            factors={str(size): growth.factors(size) for size in sizes},
        )
        contest = ask(
            lambda running, bodies: closed(bench, running, bodies, _CONNECTIONS, seconds),
            names=[_EMPTY, str(sizes[-1])] if growth.bound is not None else None,
            rounds=rounds,
        )
        between = ask(
            lambda running, bodies: closed(bench, running, bodies, _CONNECTIONS, _PLOT_S),
            names=[str(size) for size in sizes[:-1]] if growth.bound is not None else [],
            rounds=_PLOT_ROUNDS,
        )
    finally:
        entered.close()
    whole = Contest(turns={**contest.turns, **between.turns}, missing=contest.missing)
    return _finding(whole, growth, name, sizes)


def _furnish(growth: Growth, database: Database, size: int, prepared: Prepared) -> None:
    growth.furnish(prepared, database, size)


def _changed(growth: Growth, size: int, load: Load) -> Load:
    return growth.change(load, size)


def _finding(contest: Contest, growth: Growth, name: str, sizes: tuple[int, ...]) -> Finding:
    most = str(sizes[-1])
    least = 1 if growth.key == "organizations" or "triggers" in growth.quantity else 0
    points = [[float(least), _cost(contest, _EMPTY)], *([float(size), _cost(contest, str(size))] for size in sizes)]
    what = f"{_TITLES[name]}: throughput with {sizes[-1]:,} {growth.quantity} ÷ with {'one' if least else 'none'}"
    return Finding(
        key=f"growth/{growth.key}/{name}",
        what=what,
        samples=contest.ratios(most, _EMPTY, throughput),
        goal=None if growth.bound is None else at_least(growth.bound),
        invalid=contest.fault(_EMPTY, *map(str, sizes)),
        details={
            "pair": [most, _EMPTY, _CONNECTIONS],
            "sides": contest.details(),
            "growth": {"quantity": growth.quantity, "database": name, "points": points},
        },
    )


def _cost(contest: Contest, name: str) -> float:
    turns = contest.turns.get(name, ())
    return round(median(turn.cpu_us for turn in turns), 1) if turns else 0.0


def _grown_in(plan: Plan) -> list[tuple[Growth, str]]:
    """Return the kinds of rows and their databases: in the short form, one kind in one database."""
    return [(growth, name) for growth in GROWTHS for name in _SIDES][: 1 if plan.short else None]


def _size(plan: Plan, growth: Growth) -> tuple[int, float]:
    if plan.short:
        return plan.rounds, plan.seconds
    if growth.thorough:
        return plan.rounds, plan.seconds
    return (_PLOT_ROUNDS, _PLOT_S) if growth.bound is None else (_GOAL_ROUNDS, growth.seconds)


def estimate(plan: Plan) -> float:
    """Return the expected time, in seconds."""
    total = 0.0
    for growth, _ in _grown_in(plan):
        sizes = growth.short_sizes if plan.short else growth.sizes
        rounds, seconds = _size(plan, growth)
        total += (1 + len(sizes)) * (rounds * (seconds + TURN_S) + plan.warm_up + START_S)
        total += sum(sizes) * growth.fill_us / 1e6
        if growth.bound is not None:
            total -= (len(sizes) - 1) * (rounds * (seconds + TURN_S) - _PLOT_ROUNDS * (_PLOT_S + TURN_S))
    return total


ROWS: Final = (Row(name="growth", title="full databases, many organizations", measure=measure, estimate=estimate),)
