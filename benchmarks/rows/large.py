"""Large deliveries: the cost of a commit in a large push, and the memory of bodies of 25 MiB."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from benchmarks import ours
from benchmarks.loaders import client
from benchmarks.material import push, signed
from benchmarks.plan import Plan
from benchmarks.rounds import Turn, closed, take_turn
from benchmarks.row import Finding, Row, at_most
from benchmarks.rows.http import TURN_S
from benchmarks.sides import Running, Side, discard, start

if TYPE_CHECKING:
    from benchmarks.bench import Bench

_SIDES: Final[Mapping[str, Callable[[], Side]]] = {"sqlite": ours.sqlite, "postgresql": ours.postgresql}
_TITLES: Final = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
#: The largest number of commits that a code host sends with one push; and a usual large number.
_MANY: Final = 2048
_FEW: Final = 20
_CONNECTIONS: Final = 4
_LARGEST: Final = 25 * 1024 * 1024


def measure(bench: "Bench") -> list[Finding]:
    """Cost per commit first, then the largest bodies, on servers of their own."""
    names = _sent_to(bench.plan)
    return [finding for name in names for finding in (_per_commit(bench, name), _largest(bench, name))]


def _sent_to(plan: Plan) -> list[str]:
    return list(_SIDES)[: 1 if plan.short else None]


def _per_commit(bench: "Bench", name: str) -> Finding:
    rounds, seconds = _size(bench.plan)
    running = start(bench, _SIDES[name]())
    costs: dict[int, list[float]] = {_FEW: [], _MANY: []}
    fault: str | None = None
    try:
        bodies = {commits: [signed(push(running.hook, 1, commits=commits), running.hook.secret)] for commits in costs}
        # The first round warms up.
        for round_ in range(rounds + 1):
            for commits in bench.random.sample(sorted(costs), len(costs)):
                bench.note(f"{name}: {commits} commits, round {round_} of {rounds}")
                turn = take_turn(bench, running, closed(bench, running, bodies[commits], _CONNECTIONS, seconds))
                fault = fault or turn.reckoning.fault
                if round_:
                    costs[commits].append(turn.cpu_us / commits)
    finally:
        discard(bench, running)
    return Finding(
        key=f"large/commits/{name}",
        what=f"{_TITLES[name]}: CPU per commit in a push of {_MANY:,} ÷ in one of {_FEW}",
        samples=[many / few if few else 0.0 for many, few in zip(costs[_MANY], costs[_FEW], strict=True)],
        goal=at_most(1),
        invalid=fault,
        details={"cpu_us_a_commit": {str(commits): costs[commits] for commits in costs}},
    )


def _largest(bench: "Bench", name: str) -> Finding:
    samples: list[float] = []
    turns: list[Turn] = []
    for round_ in range(1 if bench.plan.short else 3):
        bench.note(f"{name}: bodies of 25 MiB, round {round_ + 1}")
        running = start(bench, _SIDES[name]())
        try:
            turns.append(_send_largest(bench, running))
            samples.append(running.process.peak_mb)
        finally:
            discard(bench, running)
    return Finding(
        key=f"large/memory/{name}",
        what=f"{_TITLES[name]}: memory with bodies of 25 MiB and {_MANY:,} commits, one after the other",
        samples=samples,
        unit="MB",
        invalid=next((turn.reckoning.fault for turn in turns if turn.reckoning.fault), None),
        details={
            "p99_ms": [turn.answers.percentiles.get("99") for turn in turns],
            "deliveries": sum(turn.answers.ok for turn in turns),
        },
    )


def _send_largest(bench: "Bench", running: Running) -> Turn:
    """Send with our own loader, which waits for every answer; wrk abandons requests in flight."""
    body = signed(push(running.hook, 1, commits=_MANY, size=_LARGEST), running.hook.secret)
    load = closed(bench, running, [body], 1, 2.0)
    return take_turn(bench, running, load, send=lambda load: client.send(load, bench.cores.loader))


def _size(plan: Plan) -> tuple[int, float]:
    return (1, 1.0) if plan.short else (5, 2.0)


def estimate(plan: Plan) -> float:
    """Return the expected time, in seconds."""
    rounds, seconds = _size(plan)
    return len(_sent_to(plan)) * (2 * (rounds + 1) * (seconds + TURN_S) + (1 if plan.short else 3) * 8)


ROWS: Final = (Row(name="large", title="large deliveries", measure=measure, estimate=estimate),)
