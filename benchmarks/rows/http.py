"""Throughput over HTTP: our sides against the floor, the null store and the peers, under the same load."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, final

from attrs import frozen

from benchmarks import ours
from benchmarks.interval import bootstrap
from benchmarks.peers.checked import checked_peer
from benchmarks.plan import Plan
from benchmarks.rounds import Contest, Field, closed, cpu, throughput
from benchmarks.row import Finding, Goal, Row, at_least
from benchmarks.sides import Side

if TYPE_CHECKING:
    from benchmarks.bench import Bench

#: The time of a turn beside the load, in seconds: rows are counted, and a loader starts.
TURN_S: Final = 0.6
#: The start of a side, in seconds.
START_S: Final = 1.5


@final
@frozen(kw_only=True)
class Pair:
    """A ratio of two sides."""

    one: str
    other: str
    connections: int
    goal: Goal | None


_TITLES: Final = {
    "sqlite": "SQLite",
    "postgresql": "PostgreSQL",
    "floor": "an HMAC-and-200 app on the same server",
    "fastapi-sqlite": "FastAPI + SQLAlchemy (SQLite)",
    "fastapi-postgresql": "FastAPI + SQLAlchemy (PostgreSQL)",
    "fastify-sqlite": "Fastify + better-sqlite3",
    "fastify-postgresql": "Fastify + pg",
    "aiohttp-postgresql": "aiohttp + gidgethub + asyncpg",
}
PAIRS: Final = (
    Pair(one="sqlite", other="floor", connections=64, goal=at_least(0.60)),
    Pair(one="postgresql", other="floor", connections=64, goal=at_least(0.55)),
    Pair(one="sqlite", other="fastapi-sqlite", connections=16, goal=at_least(18)),
    Pair(one="sqlite", other="fastapi-sqlite", connections=64, goal=at_least(18)),
    Pair(one="postgresql", other="fastapi-postgresql", connections=16, goal=at_least(6)),
    Pair(one="postgresql", other="fastapi-postgresql", connections=64, goal=at_least(12)),
    Pair(one="sqlite", other="fastify-sqlite", connections=1, goal=at_least(1.2)),
    Pair(one="sqlite", other="fastify-sqlite", connections=16, goal=at_least(4)),
    Pair(one="sqlite", other="fastify-sqlite", connections=64, goal=at_least(5)),
    Pair(one="postgresql", other="fastify-postgresql", connections=16, goal=at_least(2)),
    Pair(one="postgresql", other="fastify-postgresql", connections=64, goal=at_least(4.5)),
    Pair(one="postgresql", other="aiohttp-postgresql", connections=64, goal=None),
)
_NULL: Final = "null"
_FULL_LOAD: Final = 64


def sides_at(connections: int, pairs: Sequence[Pair] = PAIRS) -> list[str]:
    """Return the sides at a number of connections: both sides of each ratio, and the null store."""
    names = {name for pair in pairs if pair.connections == connections for name in (pair.one, pair.other)}
    # A single connection waits for the disk: the cost of HTTP shows with many connections.
    return [*sorted(names), *([_NULL] if connections > 1 else [])]


def side(bench: "Bench", name: str) -> Side:
    """Return a side by its name."""
    own: dict[str, Callable[[], Side]] = {
        "sqlite": ours.sqlite,
        "postgresql": ours.postgresql,
        "floor": ours.floor,
        _NULL: ours.null,
    }
    return own[name]() if name in own else checked_peer(bench, name)


def measure(bench: "Bench", pairs: Sequence[Pair] | None = None) -> list[Finding]:
    """Run one contest for each number of connections."""
    pairs = _pairs(bench.plan) if pairs is None else pairs
    findings: list[Finding] = []
    for connections in sorted({pair.connections for pair in pairs}):
        field = Field(bench)
        try:
            for name in sides_at(connections, pairs):
                field.enter(name, partial(side, bench, name))
            contest = field.contest(
                lambda running, bodies, c=connections: closed(bench, running, bodies, c, bench.plan.seconds),
                what=f"{connections} connections",
            )
        finally:
            field.close()
        findings += [_finding(contest, pair) for pair in pairs if pair.connections == connections]
    order = [(pair.one, pair.other, pair.connections) for pair in pairs]
    return sorted(findings, key=lambda finding: order.index(tuple(finding.details["pair"])))


def _finding(contest: Contest, pair: Pair) -> Finding:
    samples = contest.ratios(pair.one, pair.other, throughput)
    of_null = contest.ratios(pair.one, _NULL, throughput) if _NULL in contest.turns else []
    cost = contest.ratios(pair.one, pair.other, cpu)
    details = contest.details()
    plural = "connection" if pair.connections == 1 else "connections"
    return Finding(
        key=f"{pair.one}/{pair.other}@{pair.connections}",
        what=f"{_TITLES[pair.one]} ÷ {_TITLES[pair.other]}, {pair.connections} {plural}",
        samples=samples,
        goal=pair.goal,
        invalid=contest.fault(pair.one, pair.other),
        details={
            "pair": [pair.one, pair.other, pair.connections],
            "sides": {name: details[name] for name in (pair.one, pair.other, _NULL) if name in details},
            "of_null": round(bootstrap(of_null).median, 4) if of_null else None,
            "cpu_ratio": round(bootstrap(cost).median, 4) if cost else None,
        },
    )


def estimate(plan: Plan) -> float:
    """Return the expected time, in seconds."""
    connections = {pair.connections for pair in _pairs(plan)}
    return sum(map(len, map(sides_at, connections))) * side_s(plan)


def side_s(plan: Plan) -> float:
    """Return the expected time of one side in one contest, in seconds."""
    return START_S + plan.warm_up + plan.rounds * (plan.seconds + TURN_S)


def _pairs(plan: Plan) -> tuple[Pair, ...]:
    """Return the ratios; in the short form, only those under full load."""
    at_full_load = tuple(pair for pair in PAIRS if pair.connections == _FULL_LOAD and pair.goal is not None)
    return at_full_load if plan.short else PAIRS


ROWS: Final = (Row(name="http", title="throughput over HTTP", measure=measure, estimate=estimate),)
