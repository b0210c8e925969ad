"""A disk whose fsync takes 2 ms more: the same delay for every side of the row."""

import shutil
import subprocess
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks import ours
from benchmarks.peers.checked import checked_peer
from benchmarks.plan import Plan
from benchmarks.rounds import Field, closed, cpu, throughput
from benchmarks.row import Finding, Row, at_least
from benchmarks.rows.http import side_s

if TYPE_CHECKING:
    from benchmarks.bench import Bench

_SOURCE: Final = Path(__file__).parents[1] / "slow_fsync.c"
_CONNECTIONS: Final = 64
_PEER: Final = "fastify-sqlite"
_WHAT: Final = "SQLite ÷ Fastify + better-sqlite3 with 2 ms added to fsync, 64 connections"


def build(folder: Path) -> Path:
    """Compile the delaying library.

    Raises:
        RuntimeError: There is no C compiler, or it fails.
    """
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        message = "a C compiler is needed: Debian's package 'gcc' with 'libc6-dev'"
        raise RuntimeError(message)
    library = folder / "slow_fsync.so"
    command = [compiler, "-shared", "-fPIC", "-O2", "-o", str(library), str(_SOURCE), "-ldl"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603  # a constant command
    if done.returncode:
        message = f"the library that delays fsync cannot be compiled: {done.stderr}"
        raise RuntimeError(message)
    return library


def measure(bench: "Bench") -> list[Finding]:
    """Run both sides with the delay."""
    library = build(bench.new_folder("slow-fsync"))
    field = Field(bench)
    try:
        field.enter("sqlite", ours.sqlite, preload=library)
        field.enter(_PEER, partial(checked_peer, bench, _PEER), preload=library)
        contest = field.contest(
            lambda running, bodies: closed(bench, running, bodies, _CONNECTIONS, bench.plan.seconds),
            what="2 ms added to fsync",
        )
    finally:
        field.close()
    return [
        Finding(
            key="slow-disk/sqlite",
            what=_WHAT,
            samples=contest.ratios("sqlite", _PEER, throughput),
            goal=at_least(15),
            invalid=contest.fault("sqlite", _PEER),
            details={
                "pair": ["sqlite", _PEER, _CONNECTIONS],
                "sides": contest.details(),
                "cpu_ratios": contest.ratios("sqlite", _PEER, cpu),
            },
        )
    ]


def estimate(plan: Plan) -> float:
    """Return the expected time, in seconds."""
    return 2 * side_s(plan)


ROWS: Final = (Row(name="slow-disk", title="2 ms added to fsync", measure=measure, estimate=estimate),)
