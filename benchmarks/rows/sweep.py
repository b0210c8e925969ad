"""p99 at half of capacity while the sweeper deletes expired rows."""

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

from attrs import evolve

from benchmarks import fill, ours
from benchmarks.loaders.load import Load
from benchmarks.material import Signed
from benchmarks.plan import Plan
from benchmarks.rounds import Field, closed, latency
from benchmarks.row import Finding, Row
from benchmarks.rows.http import TURN_S
from benchmarks.sides import Database, Prepared, Running, Side, count

if TYPE_CHECKING:
    from benchmarks.bench import Bench

_CONNECTIONS: Final = 64
_SIDES: Final[Mapping[str, Callable[[], Side]]] = {"sqlite": ours.sqlite_whole, "postgresql": ours.postgresql_whole}
_TITLES: Final = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
#: Older than any plan keeps it.
_OLD_MS: Final = 4000 * fill.DAY_MS
#: The sweeper pauses 0.05 s after each 100 rows: it cannot be faster than this.
_ROWS_A_SECOND: Final = 2_000
_LEFT: Final = "SELECT count(*) FROM log_entries WHERE created_at < {before}"


def measure(bench: "Bench") -> list[Finding]:
    """Sweep the database of one server during deliveries, and not that of another server."""
    return [_finding(bench, name) for name in _swept(bench.plan)]


def _swept(plan: Plan) -> list[str]:
    return list(_SIDES)[: 1 if plan.short else None]


def _finding(bench: "Bench", name: str) -> Finding:
    rounds, seconds = _size(bench.plan)
    database = Database(name)
    # The sweeper deletes rows meanwhile: only the other tables can be compared with the answers. No runs are performed.
    created = _SIDES[name]()
    side = evolve(created, counts={kind: created.counts[kind] for kind in ("events", "contexts")})
    now = int(time.time() * 1000)
    entered = Field(bench)
    try:
        entered.enter("quiet", lambda: side, furnish=partial(_furnish, database, 0, now))
        load = partial(_load, bench, seconds)
        capacity = entered.contest(load, rounds=1, what=f"{name}: capacity")
        rate = max(1.0, capacity.turns["quiet"][0].answers.per_second / 2)
        expected = int(_ROWS_A_SECOND * (2 * rounds * (seconds + TURN_S) + 20))
        entered.enter("sweeping", lambda: side, furnish=partial(_furnish, database, expected, now))
        contest = entered.contest(
            lambda running, bodies: evolve(load(running, bodies), rate=rate),
            rounds=rounds,
            warm_up=False,
            what=f"{name}: sweeping",
        )
        left = count(
            evolve(side, counts={"left": _LEFT.format(before=now - _OLD_MS // 2)}),
            entered.running("sweeping").prepared.database,
        )["left"]
    finally:
        entered.close()
    invalid = contest.fault("quiet", "sweeping")
    if not left:
        invalid = f"the sweep was over before the rounds were; {invalid or ''}".rstrip("; ")
    if left == expected:
        invalid = f"nothing was swept; {invalid or ''}".rstrip("; ")
    return Finding(
        key=f"sweep/{name}",
        what=f"{_TITLES[name]}: p99 at half of capacity while a sweep runs ÷ while none does",
        samples=contest.ratios("sweeping", "quiet", latency),
        invalid=invalid,
        details={
            "pair": ["sweeping", "quiet", _CONNECTIONS],
            "sides": contest.details(),
            "swept": expected - left,
            "rate": round(rate),
        },
    )


def _load(bench: "Bench", seconds: float, running: Running, bodies: list[Signed]) -> Load:
    return closed(bench, running, bodies, _CONNECTIONS, seconds)


def _furnish(database: Database, rows: int, now: int, prepared: Prepared) -> None:
    fill.without_triggers(prepared.database, database)
    if rows:
        fill.logs(
            prepared.database, database, prepared.hook, count=rows, oldest_ms=now - _OLD_MS, span_ms=100 * fill.DAY_MS
        )
        fill.analyze(prepared.database, database)


def _size(plan: Plan) -> tuple[int, float]:
    return (1, 1.0) if plan.short else (5, 3.0)


def estimate(plan: Plan) -> float:
    """Return the expected time, in seconds."""
    rounds, seconds = _size(plan)
    return len(_swept(plan)) * ((2 * rounds + 1) * (seconds + TURN_S) + 8)


ROWS: Final = (Row(name="sweep", title="deliveries while a sweep runs", measure=measure, estimate=estimate),)
