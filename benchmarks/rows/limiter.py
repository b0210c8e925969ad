"""One transition of the limiter's window, against the moving window of the package `limits`, both in memory."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, median
from typing import TYPE_CHECKING, Final

from benchmarks.cores import pinned
from benchmarks.peer_files import PeerMissing, installed
from benchmarks.plan import Plan
from benchmarks.row import Finding, Row, at_least

if TYPE_CHECKING:
    from benchmarks.bench import Bench

#: The largest limit of the service, and the number of callers that take turns.
_LIMIT: Final = 60
_BUCKETS: Final = 50
_TURNS: Final = 5
#: The estimated time of a process of either side, in seconds.
_PROCESS_S: Final = 3.0
_STATES: Final = ("admitted", "refused")


def measure(bench: "Bench") -> list[Finding]:
    """Measure both sides, one after the other, with equal numbers of admitted and refused requests."""
    try:
        folder = installed("limits_peer", note=bench.note)
    except PeerMissing as exc:
        return [_finding("told", [], invalid=str(exc)), _finding("hit", [], invalid=str(exc))]
    sides = {
        "ours": [sys.executable, "-m", "benchmarks.windows"],
        "theirs": [str(folder / ".venv/bin/python"), str(folder / "measure.py")],
    }
    rounds: list[dict[str, dict[str, list[float]]]] = []
    for number in range(bench.plan.rounds):
        bench.note(f"limiter: round {number + 1} of {bench.plan.rounds}")
        order = bench.random.sample(sorted(sides), len(sides))
        rounds.append({name: _timed(bench, sides[name]) for name in order})
    mine = [_typical(turn["ours"], _STATES) for turn in rounds]
    findings: list[Finding] = []
    for kind in ("told", "hit"):
        foreign = [_typical(turn["theirs"], [f"{kind} {state}" for state in _STATES]) for turn in rounds]
        ratios = [other / own for own, other in zip(mine, foreign, strict=True)]
        details = {"ours_us": round(median(mine) * 1e6, 2), "theirs_us": round(median(foreign) * 1e6, 2)}
        findings.append(_finding(kind, ratios, details=details))
    return findings


def _finding(
    kind: str, samples: Sequence[float], *, details: dict[str, float] | None = None, invalid: str | None = None
) -> Finding:
    # A transition returns the remaining requests and the end of the window, so the other side also has to.
    told = kind == "told"
    asked = "hit and get_window_stats" if told else "hit alone, which tells less"
    return Finding(
        key=f"limiter/{kind}",
        what=f"a Window transition, against limits' moving window ({asked})",
        samples=samples,
        goal=at_least(3) if told else None,
        invalid=invalid,
        details=details or {},
    )


def _timed(bench: "Bench", command: Sequence[str]) -> dict[str, list[float]]:
    with pinned(bench.cores.server):
        done = subprocess.run(  # noqa: S603  # our own commands
            [*command, *map(str, (_LIMIT, _BUCKETS, _TURNS))],
            cwd=Path(__file__).parents[2],
            check=True,
            capture_output=True,
            text=True,
        )
    taken: dict[str, list[float]] = json.loads(done.stdout)
    return taken


def _typical(taken: dict[str, list[float]], kinds: Sequence[str]) -> float:
    """Return seconds per request: of the fastest turn, and the mean of admitted and refused requests.

    Other load on the machine can only make a turn slower.
    """
    return mean(min(taken[kind]) for kind in kinds)


def estimate(plan: Plan) -> float:
    """Return the expected time, in seconds."""
    return plan.rounds * 2 * _PROCESS_S


ROWS: Final = (Row(name="limiter", title="the limiter's window", measure=measure, estimate=estimate),)
