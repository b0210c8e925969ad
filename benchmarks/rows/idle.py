"""Processor time of a server without requests."""

import time
from typing import TYPE_CHECKING, Final

from benchmarks import ours
from benchmarks.row import Finding, Plan, Row, at_most
from benchmarks.sides import Running, Side, discard, start

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.bench import Bench

#: The wait until loops have backed off, in seconds: the longest backoff is 30 s.
_SETTLE_S: Final = 60.0
#: The time of one sample, in seconds: clock ticks of 10 ms are 0.03 % of it.
_WATCH_S: Final = 30.0
_SHORT_S: Final = 10.0


def measure(bench: "Bench") -> list[Finding]:
    """Start the service with all roles on each database, send nothing, and measure both at the same time."""
    sides: dict[str, Callable[[], Side]] = {"SQLite": ours.sqlite_whole, "PostgreSQL": ours.postgresql_whole}
    watched = _SHORT_S if bench.plan.short else _WATCH_S
    samples: dict[str, list[float]] = {called: [] for called in sides}
    running: dict[str, Running] = {}
    try:
        for called, side in sides.items():
            running[called] = start(bench, side())
        bench.note("idle: until all loops have backed off")
        time.sleep(watched if bench.plan.short else _SETTLE_S)
        for number in range(_rounds(bench.plan)):
            bench.note(f"idle: {watched:.0f} s, round {number + 1}")
            before = {called: server.process.cpu_seconds for called, server in running.items()}
            time.sleep(watched)
            for called, server in running.items():
                samples[called].append((server.process.cpu_seconds - before[called]) / watched * 100)
    finally:
        for server in running.values():
            discard(bench, server)
    return [
        Finding(
            key=f"idle/{called.lower()}",
            what=f"processor time of an idle server, {called}, all roles",
            samples=samples[called],
            unit="% of a core",
            goal=at_most(0.2),
        )
        for called in sides
    ]


def _rounds(plan: Plan) -> int:
    """Return the number of samples: the figure varies little."""
    return 1 if plan.short else 3


def estimate(plan: Plan) -> float:
    """Return the expected time, in seconds."""
    watched = _SHORT_S if plan.short else _WATCH_S
    return (watched if plan.short else _SETTLE_S) + _rounds(plan) * watched + 10


ROWS: Final = (Row(name="idle", title="an idle server", measure=measure, estimate=estimate),)
