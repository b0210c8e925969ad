"""p99 at half of each side's own capacity: an open loop, at a fixed rate."""

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Final

from attrs import evolve

from benchmarks.plan import Plan
from benchmarks.rounds import Contest, Field, closed, latency
from benchmarks.row import Finding, Row, at_most
from benchmarks.rows.http import TURN_S, side, side_s

if TYPE_CHECKING:
    from benchmarks.bench import Bench

_CONNECTIONS: Final = 64
#: Our side, then the peers on the same database; not FastAPI, which answers only some hundred deliveries a second.
_GROUPS: Final = {
    "sqlite": ("fastify-sqlite",),
    "postgresql": ("fastify-postgresql", "aiohttp-postgresql"),
}
_SHORT_GROUPS: Final = {"sqlite": ("fastify-sqlite",)}
_TITLES: Final = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}


def measure(bench: "Bench") -> list[Finding]:
    """Measure each side's capacity, then send half of it at a fixed rate."""
    groups = _groups(bench.plan)
    field = Field(bench)
    try:
        for name in _sides(groups):
            field.enter(name, partial(side, bench, name))
        filling = field.contest(
            lambda running, bodies: closed(bench, running, bodies, _CONNECTIONS, bench.plan.seconds),
            rounds=1,
            what="capacity",
        )
        rates = {name: turns[0].answers.per_second / 2 for name, turns in filling.turns.items()}
        contest = field.contest(
            lambda running, bodies: evolve(
                closed(bench, running, bodies, _CONNECTIONS, bench.plan.seconds),
                rate=max(1.0, rates[running.side.name]),
            ),
            warm_up=False,
            what="half of capacity",
        )
    finally:
        field.close()
    return [_finding(contest, one, others, rates) for one, others in groups.items()]


def _finding(contest: Contest, one: str, others: Sequence[str], rates: dict[str, float]) -> Finding:
    present = [name for name in others if name in contest.turns]
    what = f"p99 at half of capacity, {_TITLES[one]} ÷ the best peer on the same database"
    if not present or one not in contest.turns:
        reasons = "; ".join(f"{name}: {why}" for name, why in contest.missing.items())
        return Finding(key=f"p99/{one}", what=what, samples=(), goal=at_most(1), invalid=reasons)
    best = min(present, key=lambda name: median(map(latency, contest.turns[name])))
    everybody = {name: {**side, "rate": round(rates[name])} for name, side in contest.details().items()}
    return Finding(
        key=f"p99/{one}",
        what=what,
        samples=contest.ratios(one, best, latency),
        goal=at_most(1),
        invalid=contest.fault(one, best),
        details={"pair": [one, best, _CONNECTIONS], "best": best, "sides": everybody},
    )


def _groups(plan: Plan) -> Mapping[str, Sequence[str]]:
    return _SHORT_GROUPS if plan.short else _GROUPS


def _sides(groups: Mapping[str, Sequence[str]]) -> list[str]:
    return [name for one, others in groups.items() for name in (one, *others)]


def estimate(plan: Plan) -> float:
    """Return the expected time, in seconds."""
    return len(_sides(_groups(plan))) * (side_s(plan) + plan.seconds + TURN_S)


ROWS: Final = (Row(name="p99", title="latency at half of capacity", measure=measure, estimate=estimate),)
