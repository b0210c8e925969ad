"""From an accepted delivery to its post: runs a second of a burst."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

from attrs import evolve

from benchmarks import ours
from benchmarks.loaders import client
from benchmarks.loaders.load import Load
from benchmarks.material import pushes
from benchmarks.plan import Plan
from benchmarks.processes import NotStarted, Process, free_port
from benchmarks.row import Finding, Goal, Row, at_least
from benchmarks.sides import Running, Side, count, start

if TYPE_CHECKING:
    from benchmarks.bench import Bench

#: The time of a burst, in seconds: deliveries arrive faster than runs end.
_RATE: Final = 1000.0
_BURST_S: Final = 2.0
_SHORT_BURST_S: Final = 0.5
_CONNECTIONS: Final = 16
_WORKERS: Final = 2
#: Distinct pushes, so that the posts differ.
_BODIES: Final = 64
_LOOK_S: Final = 0.1
_PATIENCE_S: Final = 120.0
#: Only runs with a post count.
_POSTS: Final = "SELECT count(*) FROM posts"
#: Counted often, so each count reads the small index of unfinished runs.
_LEFT: Final = (
    "SELECT (SELECT count(*) FROM workflow_runs WHERE status = 'pending')"
    " + (SELECT count(*) FROM workflow_runs WHERE status = 'running')"
)


def measure(bench: "Bench") -> list[Finding]:
    """Send a burst to each side, and wait for the last post."""
    return [
        _finding(bench, "inline", ours.sqlite_whole, "SQLite with inline", at_least(500), workers=0),
        _finding(
            *(bench, "dbos", ours.postgresql, f"PostgreSQL with DBOS and {_WORKERS} workers", at_least(400)),
            workers=_WORKERS,
        ),
    ]


def _finding(bench: "Bench", name: str, side: Callable[[], Side], called: str, goal: Goal, *, workers: int) -> Finding:
    samples: list[float] = []
    invalid: str | None = None
    with ExitStack() as stack:
        try:
            running = start(bench, evolve(side(), counts={"posts": _POSTS}))
            stack.callback(running.stop)
            for _ in range(workers):
                _start_worker(bench, running, stack)
        except NotStarted as exc:
            return Finding(key=f"runs/{name}", what=called, samples=[], unit="/s", goal=goal, invalid=str(exc))
        # One more than the reported rounds: the first one warms up caches.
        for number in range(bench.plan.rounds + 1):
            bench.note(f"runs, {called}: burst {number} of {bench.plan.rounds}")
            rate, fault = _burst(bench, running)
            invalid = invalid or fault
            if number:
                samples.append(rate)
    return Finding(
        key=f"runs/{name}",
        what=f"runs from accepted delivery to post, {called}",
        samples=samples,
        unit="/s",
        goal=goal,
        invalid=invalid,
        details={"deliveries": int(_RATE * _seconds(bench.plan))},
    )


def _burst(bench: "Bench", running: Running) -> tuple[float, str | None]:
    """Send a burst; return the posts a second until the last post, and the fault, if any."""
    before = count(running.side, running.prepared.database)["posts"]
    unfinished = evolve(running.side, counts={"left": _LEFT})
    load = Load(
        port=running.port,
        path=running.hook.path,
        bodies=pushes(running.hook, count=_BODIES),
        connections=_CONNECTIONS,
        seconds=_seconds(bench.plan),
        seed=bench.next_seed(),
        rate=_RATE,
    )
    began = time.perf_counter()
    answers = client.send(load, bench.cores.loader)
    expected = answers.ok
    while True:
        left = count(unfinished, running.prepared.database)["left"]
        took = time.perf_counter() - began
        if not left or took > _PATIENCE_S:
            break
        time.sleep(_LOOK_S)
    posts = count(running.side, running.prepared.database)["posts"] - before
    faults = [f"{answers.other} answers were not 200"] if answers.other else []
    if answers.failed or answers.unanswered:
        faults.append(f"{answers.failed} connections failed, {answers.unanswered} deliveries were never answered")
    if posts != expected:
        faults.append(f"{expected} deliveries were accepted, and {posts} posts are there after {took:.0f} s")
    return posts / took, "; ".join(faults) or None


def _start_worker(bench: "Bench", running: Running, stack: ExitStack) -> None:
    port = free_port()
    folder = bench.new_folder("worker")
    program = ours.program()
    worker = Process(
        [program, "serve", "--role", "worker", "--port", str(port)],
        environment=running.prepared.environment,
        folder=folder,
        log=folder / "log",
    )
    stack.callback(worker.stop)
    worker.until_ready(f"http://127.0.0.1:{port}{running.prepared.ready}")


def _seconds(plan: Plan) -> float:
    return _SHORT_BURST_S if plan.short else _BURST_S


def estimate(plan: Plan) -> float:
    """Return the expected time, in seconds."""
    slowest = 150.0
    return 20 + (plan.rounds + 1) * 2 * _RATE * _seconds(plan) / slowest


ROWS: Final = (Row(name="runs", title="runs, from accepted delivery to post", measure=measure, estimate=estimate),)
