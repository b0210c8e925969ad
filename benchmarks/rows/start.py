"""From the start of the process to the first 200 of a delivery, and the waits of the deliveries after it."""

import http.client
import time
import uuid
from typing import TYPE_CHECKING, Final

from benchmarks import ours
from benchmarks.material import Hook, Signed, pushes
from benchmarks.plan import Plan
from benchmarks.processes import Process, free_port
from benchmarks.row import Finding, Row, at_most
from benchmarks.sides import Side

if TYPE_CHECKING:
    from benchmarks.bench import Bench

_OK: Final = 200
#: The time of deliveries after the first 200, in seconds: until the application is loaded.
_LOADING_S: Final = 4.0
#: The pause between two of them, in seconds.
_PAUSE_S: Final = 0.01


def measure(bench: "Bench") -> list[Finding]:
    """Start the service with all roles repeatedly on the same database, and send until it answers."""
    findings = _findings(bench, ours.sqlite_whole(), "SQLite")
    return findings if bench.plan.short else [*findings, *_findings(bench, ours.postgresql_whole(), "PostgreSQL")]


def _findings(bench: "Bench", side: Side, called: str) -> list[Finding]:
    folder = bench.new_folder("start")
    port = free_port()
    prepared = side.prepare(bench, folder, port)
    body = pushes(prepared.hook, count=1)[0]
    samples: list[float] = []
    waits: list[float] = []
    for number in range(bench.plan.rounds + 1):
        bench.note(f"{called}: start {number} of {bench.plan.rounds}")
        process = Process(
            prepared.command,
            environment=prepared.environment,
            folder=prepared.folder,
            log=folder / "log",
            core=bench.cores.server,
        )
        try:
            took = process.until(lambda: _delivered(port, prepared.hook, body), "a delivery is answered 200")
            wait = _longest_wait(port, prepared.hook, body)
        finally:
            process.stop()
        # The first start may write byte code, which is part of an installation.
        if number:
            samples.append(took)
            waits.append(wait * 1000)
    start = Finding(
        key=f"start/{side.name}",
        what=f"start to first 200, {called}, all roles",
        samples=samples,
        unit="s",
        goal=at_most(0.6),
    )
    longest = Finding(
        key=f"start/wait-{side.name}",
        what=f"longest wait of a delivery while the application is loaded, {called}, all roles",
        samples=waits,
        unit="ms",
        goal=at_most(50),
    )
    return [start, longest]


def _longest_wait(port: int, hook: Hook, body: Signed) -> float:
    """Send one delivery after the other; return the longest time of an answer, in seconds."""
    longest = 0.0
    until = time.perf_counter() + _LOADING_S
    while (began := time.perf_counter()) < until:
        _delivered(port, hook, body)
        longest = max(longest, time.perf_counter() - began)
        time.sleep(_PAUSE_S)
    return longest


def _delivered(port: int, hook: Hook, body: Signed) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    headers = {
        "Content-Type": "application/json",
        "X-Host-Event": "push",
        "X-Host-Delivery": str(uuid.uuid4()),
        "X-Hub-Signature-256": body.signature,
    }
    try:
        connection.request("POST", hook.path, body.body, headers)
        return connection.getresponse().status == _OK
    except OSError:
        return False
    finally:
        connection.close()


def estimate(plan: Plan) -> float:
    """Return the expected time, in seconds."""
    return (1 if plan.short else 2) * (plan.rounds + 1) * (1.2 + _LOADING_S)


ROWS: Final = (Row(name="start", title="start to first 200", measure=measure, estimate=estimate),)
