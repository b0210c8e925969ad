"""From 1 to 256 connections: throughput is to rise and stay, p99 to grow no faster than the queue."""

from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from benchmarks.plan import Plan
from benchmarks.rounds import Contest, Field, Turn, closed, latency, throughput
from benchmarks.row import Finding, Row, at_least, at_most
from benchmarks.rows.http import TURN_S, side

if TYPE_CHECKING:
    from benchmarks.bench import Bench

POINTS: Final = (1, 2, 4, 16, 64, 128, 256)
_SHORT_POINTS: Final = (1, 64, 256)
_TITLES: Final = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
_FULL_AT: Final = 64
_MOST: Final = 256


def measure(bench: "Bench") -> list[Finding]:
    """Run each number of connections in turn, both databases in each."""
    points = _SHORT_POINTS if bench.plan.short else POINTS
    names = _names(bench.plan)
    rounds, seconds = _size(bench.plan)
    contests: dict[int, Contest] = {}
    field = Field(bench)
    try:
        for name in names:
            field.enter(name, partial(side, bench, name))
        for connections in points:
            contests[connections] = field.contest(
                lambda running, bodies, c=connections: closed(bench, running, bodies, c, seconds),
                rounds=rounds,
                warm_up=connections == points[0],
                what=f"{connections} connections",
            )
    finally:
        field.close()
    return [finding for name in names for finding in _findings(contests, name)]


def _findings(contests: dict[int, Contest], name: str) -> list[Finding]:
    faults = [fault for contest in contests.values() if (fault := contest.fault(name)) is not None]
    invalid = "; ".join(faults) or None
    missing = any(name in contest.missing for contest in contests.values())

    def samples(figure: Any, scale: float = 1.0) -> list[float]:  # noqa: ANN401  # Callable[[Turn], float]
        if missing:
            return []
        pairs = zip(contests[_MOST].turns[name], contests[_FULL_AT].turns[name], strict=True)
        return [figure(most) / figure(full) / scale if figure(full) else 0.0 for most, full in pairs]

    points = {} if missing else {str(at): _point(contest.turns[name]) for at, contest in contests.items()}
    return [
        Finding(
            key=f"curve/{name}/throughput",
            what=f"{_TITLES[name]}: throughput at 256 connections ÷ at 64",
            samples=samples(throughput),
            goal=at_least(0.9),
            invalid=invalid,
            details={"points": points},
        ),
        Finding(
            key=f"curve/{name}/p99",
            what=f"{_TITLES[name]}: p99 at 256 connections ÷ at 64, as a share of the queue's growth (4)",
            samples=samples(latency, _MOST / _FULL_AT),
            goal=at_most(1),
            invalid=invalid,
        ),
    ]


def _point(turns: Any) -> dict[str, float]:  # noqa: ANN401  # Sequence[Turn]
    measured: list[Turn] = list(turns)
    return {
        "per_second": round(median(map(throughput, measured)), 1),
        "cpu_us": round(median(turn.cpu_us for turn in measured), 1),
        "p50_ms": round(median(turn.answers.percentiles.get("50", 0.0) for turn in measured), 3),
        "p99_ms": round(median(map(latency, measured)), 3),
    }


def _names(plan: Plan) -> list[str]:
    return list(_TITLES)[: 1 if plan.short else None]


def _size(plan: Plan) -> tuple[int, float]:
    """Return rounds and seconds; few rounds suffice, since the points of a curve support each other."""
    return (1, 1.0) if plan.short else (2, 2.0)


def estimate(plan: Plan) -> float:
    """Return the expected time, in seconds."""
    rounds, seconds = _size(plan)
    points = len(_SHORT_POINTS if plan.short else POINTS)
    return len(_names(plan)) * points * rounds * (seconds + TURN_S) + 10


ROWS: Final = (Row(name="curve", title="concurrency from 1 to 256", measure=measure, estimate=estimate),)
