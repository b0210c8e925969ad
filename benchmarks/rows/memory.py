"""The peak resident memory of the server under full load."""

from typing import TYPE_CHECKING, Final

from benchmarks import ours
from benchmarks.material import pushes
from benchmarks.plan import Plan
from benchmarks.rounds import closed, take_turn
from benchmarks.row import Finding, Row, at_most
from benchmarks.rows.http import START_S, TURN_S
from benchmarks.sides import Side, discard, start

if TYPE_CHECKING:
    from benchmarks.bench import Bench

_CONNECTIONS: Final = 64


def measure(bench: "Bench") -> list[Finding]:
    """Start each server, and load it for two turns, so that caches are filled."""
    findings = [_finding(bench, ours.sqlite(), "SQLite", 90)]
    return findings if bench.plan.short else [*findings, _finding(bench, ours.postgresql(), "PostgreSQL", 80)]


def _finding(bench: "Bench", side: Side, called: str, bound: float) -> Finding:
    samples: list[float] = []
    fault: str | None = None
    for number in range(_rounds(bench.plan)):
        bench.note(f"{called}: memory, round {number + 1}")
        running = start(bench, side)
        try:
            load = closed(bench, running, pushes(running.hook), _CONNECTIONS, 2 * bench.plan.seconds)
            turn = take_turn(bench, running, load)
            samples.append(running.process.peak_mb)
        finally:
            discard(bench, running)
        fault = fault or turn.reckoning.fault
    return Finding(
        key=f"memory/{side.name}",
        what=f"memory under full load, {called}, {_CONNECTIONS} connections",
        samples=samples,
        unit="MB",
        goal=at_most(bound),
        invalid=fault,
    )


def _rounds(plan: Plan) -> int:
    """Return the number of rounds: memory varies little."""
    return 1 if plan.short else 2


def estimate(plan: Plan) -> float:
    """Return the expected time, in seconds."""
    return (1 if plan.short else 2) * _rounds(plan) * (2 * plan.seconds + TURN_S + START_S)


ROWS: Final = (Row(name="memory", title="memory under full load", measure=measure, estimate=estimate),)
