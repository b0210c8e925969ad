"""From 1 to 256 connections: throughput should rise and stay, and p99 grow no faster than the queue."""

from collections.abc import Sequence
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
#: A plot needs two rounds. A goal is compared with the worse end of an interval, which two rounds do not have.
_PLOT_ROUNDS: Final = 2


def measure(bench: "Bench") -> list[Finding]:
    """Run all numbers of connections in turn on both databases; numbers with a goal get more rounds."""
    points = _SHORT_POINTS if bench.plan.short else POINTS
    names = _names(bench.plan)
    rounds, seconds = _size(bench.plan)
    parts: dict[int, list[Contest]] = {connections: [] for connections in points}
    field = Field(bench)
    try:
        for name in names:
            field.enter(name, partial(side, bench, name))
        for number, connections in _turns(rounds, points):
            part = field.contest(
                lambda running, bodies, c=connections: closed(bench, running, bodies, c, seconds),
                rounds=1,
                warm_up=not number and connections == points[0],
                what=f"{connections} connections",
            )
            parts[connections].append(part)
    finally:
        field.close()
    contests = {connections: Contest.joined(each) for connections, each in parts.items()}
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
    """Return rounds and seconds."""
    return (1, 1.0) if plan.short else (plan.rounds, 2.0)


def _turns(rounds: int, points: Sequence[int]) -> list[tuple[int, int]]:
    return [
        (number, at) for number in range(rounds) for at in points if number < _PLOT_ROUNDS or at in {_FULL_AT, _MOST}
    ]


def estimate(plan: Plan) -> float:
    """Return the expected time, in seconds."""
    rounds, seconds = _size(plan)
    turns = _turns(rounds, _SHORT_POINTS if plan.short else POINTS)
    return len(_names(plan)) * len(turns) * (seconds + TURN_S) + 10


ROWS: Final = (Row(name="curve", title="concurrency from 1 to 256", measure=measure, estimate=estimate),)
