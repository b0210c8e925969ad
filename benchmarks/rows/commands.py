"""The processor time of commands, against the start of a bare interpreter."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks import fill, ours
from benchmarks.changelog.history import history
from benchmarks.changelog.repository import write_repository
from benchmarks.cores import pinned
from benchmarks.plan import Plan
from benchmarks.processes import free_port
from benchmarks.row import Finding, Row, at_most
from benchmarks.sides import Database, Prepared

if TYPE_CHECKING:
    from benchmarks.bench import Bench

_OF_ACME: Final = ("--organization", ours.ORGANIZATION)
#: The commands, and the starts of a bare interpreter that each may cost in processor time.
_COMMANDS: Final[tuple[tuple[tuple[str, ...], float], ...]] = (
    (("--version",), 6),
    (("--help",), 6),
    (("organization", "list"), 25),
    (("key", "list"), 25),
    (("integration", "list", *_OF_ACME), 25),
    (("log", "list", *_OF_ACME), 25),
    (("post", "list", *_OF_ACME), 25),
)
#: The starts of each command in a round: one start is a few ticks of the system's clock.
_STARTS: Final = 5
#: The pushes of the previewed history: some 3,000 commits.
_PUSHES: Final = 1_500
#: The goal of a preview, in readings of the whole history by git.
_PREVIEW_GOAL: Final = 15
#: The posts and log entries to list: a page on a screen.
_LISTED: Final = 20


def measure(bench: "Bench") -> list[Finding]:
    """Start the commands in turns, on one SQLite file with some rows of each kind."""
    folder = bench.new_folder("commands")
    prepared = ours.sqlite_whole().prepare(bench, folder, free_port())
    ours.command(prepared, "key", "issue", *_OF_ACME)
    now_ms = int(time.time() * 1000)
    fill.posts(prepared.database, Database.SQLITE, prepared.hook, count=_LISTED, now_ms=now_ms)
    fill.logs(
        prepared.database, Database.SQLITE, prepared.hook, count=_LISTED, oldest_ms=now_ms - 60_000, span_ms=60_000
    )
    bare = [sys.executable, "-c", "pass"]
    sides = [bare, *([ours.program(), *words] for words, _ in _COMMANDS)]
    # The first start may write byte code, which is part of an installation.
    for command in sides:
        _cpu_s(bench, command, prepared)
    rounds: list[list[float]] = []
    for number in range(bench.plan.rounds):
        bench.note(f"commands: round {number + 1} of {bench.plan.rounds}")
        turns = [[_cpu_s(bench, command, prepared) for command in sides] for _ in range(_STARTS)]
        rounds.append([sum(turn) / _STARTS for turn in zip(*turns, strict=True)])
    return [
        Finding(
            key=f"commands/{words[0]}",
            what=f"processor time of `contentsvc {' '.join(words)}` ÷ of `python -c pass`",
            samples=[turn[place] / turn[0] for turn in rounds],
            goal=at_most(goal),
            details={"cpu_ms": round(sum(turn[place] for turn in rounds) / len(rounds) * 1000, 1)},
        )
        for place, (words, goal) in enumerate(_COMMANDS, start=1)
    ] + [_preview(bench)]


def _preview(bench: "Bench") -> Finding:
    """Preview the last releases of a history, against git reading the whole of it."""
    folder = bench.new_folder("preview")
    write_repository(history(pushes=_PUSHES, seed=bench.seed), folder)
    reading = ["git", "log", "--name-status", "--format=%H%x00%B"]
    previewing = [ours.program(), "preview"]
    # The first start may write byte code.
    _cpu_of(bench, previewing, folder, os.environ)
    samples: list[float] = []
    costs: list[float] = []
    for _ in range(bench.plan.rounds):
        turns = [
            [_cpu_of(bench, command, folder, os.environ) for command in (previewing, reading)] for _ in range(_STARTS)
        ]
        ours_s, git_s = (sum(turn) / _STARTS for turn in zip(*turns, strict=True))
        samples.append(ours_s / git_s)
        costs.append(ours_s)
    return Finding(
        key="commands/preview",
        what="processor time of `contentsvc preview` ÷ of `git log --name-status`, on the same history",
        samples=samples,
        goal=at_most(_PREVIEW_GOAL),
        details={"cpu_ms": round(sum(costs) / len(costs) * 1000, 1), "pushes": _PUSHES},
    )


def _cpu_s(bench: "Bench", command: Sequence[str], prepared: Prepared) -> float:
    return _cpu_of(bench, command, prepared.folder, prepared.environment)


def _cpu_of(bench: "Bench", command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> float:
    with pinned(bench.cores.server):
        process = subprocess.Popen(  # noqa: S603  # our own commands, and git
            command, env=dict(environment), cwd=folder, stdout=subprocess.DEVNULL
        )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        message = f"{' '.join(command)} has failed: {process.returncode}"
        raise RuntimeError(message)
    return used.ru_utime + used.ru_stime


def estimate(plan: Plan) -> float:
    """Return the expected time, in seconds."""
    return 5 + plan.rounds * _STARTS * 2


ROWS: Final = (Row(name="commands", title="what a command costs", measure=measure, estimate=estimate),)
