"""Changelogs of one history: our writer against conventional-changelog, as calls and as commands.

As calls: from commits in memory to Markdown, including the parsing of messages, in a warm process; no
side runs git. As commands: from the start of a process to its end, over the same git repository. Our
command has its byte code, as an installed program has.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from benchmarks.changelog.history import PAGE, history, raw_commits
from benchmarks.changelog.repository import write_repository
from benchmarks.cores import pinned
from benchmarks.peer_files import PeerMissing, installed
from benchmarks.plan import Plan
from benchmarks.row import Finding, Row, at_least

if TYPE_CHECKING:
    from benchmarks.bench import Bench

PUSHES: Final = 1000
_SEED: Final = 1
#: The repetitions in a process. The fastest time counts: the first ones warm up, and other load on the machine
#: can only make one slower.
_TIMES: Final = 8
#: The turns of each side in a round, for the same reason: other load lasts for seconds.
_TURNS: Final = 2
_ROUND_S: Final = 16.0
_ROOT: Final = Path(__file__).parents[2]
_KINDS: Final = {
    "call": "as calls, one brief (the page is cut at the length that a post may have)",
    "releases": "as calls, a brief for each release (nothing is cut)",
    "command": "as commands over one git repository",
}


def measure(bench: "Bench") -> list[Finding]:
    """Run both writers repeatedly, in random order."""
    try:
        peer = installed("changelog_peer", note=bench.note)
    except PeerMissing as exc:
        return [_finding(kind, [], invalid=str(exc)) for kind in _KINDS]
    folder = bench.new_folder("history")
    made_pushes = history(pushes=PUSHES, seed=_SEED)
    write_repository(made_pushes, folder)
    file = folder / "history.json"
    file.write_text(json.dumps({"stretches": raw_commits(made_pushes), "repository": f"{PAGE}.git"}), "utf-8")
    node = str(peer / ".venv/bin/node")
    program = str(peer / "node_modules/conventional-changelog/dist/cli/index.js")
    commands: Mapping[str, tuple[Sequence[str], Path]] = {
        "our calls": (_ours("ours", PUSHES, _SEED, _TIMES), _ROOT),
        "their calls": ((node, str(peer / "measure.js"), str(file), str(_TIMES)), peer),
        "our command": (_ours("command", folder), _ROOT),
        "their command": ((node, program, "-p", "conventionalcommits", "-r", "0", "--stdout"), folder),
    }
    samples: dict[str, list[float]] = {kind: [] for kind in _KINDS}
    seconds: dict[str, list[float]] = {}
    shown: dict[str, int] = {}
    # Byte code is always written, and before the first round.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPATH": str(_ROOT), "PYTHONPYCACHEPREFIX": str(bench.new_folder("bytecode"))}
    for command, place in commands.values():
        _output(bench, command, place, environment)
    for number in range(bench.plan.rounds):
        bench.note(f"changelog: round {number + 1} of {bench.plan.rounds}")
        for name, took in _round(bench, commands, environment, shown).items():
            seconds.setdefault(name, []).append(took)
        for kind, (own_value, foreign) in _PAIRS.items():
            samples[kind].append(seconds[foreign][-1] / seconds[own_value][-1])
    return [
        _finding(
            kind,
            samples[kind],
            details={name: round(median(seconds[name]), 4) for name in _PAIRS[kind]}
            | {"commits": sum(len(push.commits) for push in made_pushes), "changes shown": shown},
        )
        for kind in _KINDS
    ]


#: The ratios, by the names of a round's times.
_PAIRS: Final = {
    "call": ("our calls", "their calls"),
    "releases": ("our calls, in pieces", "their calls"),
    "command": ("our command", "their command"),
}


def _round(
    bench: "Bench",
    commands: Mapping[str, tuple[Sequence[str], Path]],
    environment: Mapping[str, str],
    shown: dict[str, int],
) -> dict[str, float]:
    taken: dict[str, float] = {}
    turns = sorted(commands) * _TURNS
    for name in bench.random.sample(turns, len(turns)):
        command, folder = commands[name]
        began = time.perf_counter()
        output = _output(bench, command, folder, environment)
        took = {name: time.perf_counter() - began}
        if "calls" in name:
            measured: dict[str, Any] = json.loads(output)
            took = {name: min(measured["seconds"])}
            if "in_pieces" in measured:
                took[f"{name}, in pieces"] = min(measured["in_pieces"])
                shown |= {"ours": measured["shown"], "ours, in pieces": measured["shown_in_pieces"]}
            else:
                shown["theirs"] = measured["text"].count("\n* ")
        for of, seconds in took.items():
            taken[of] = min(seconds, taken.get(of, seconds))
    return taken


def _output(bench: "Bench", command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> str:
    # git and both programs run on the servers' core, so that no side has more cores.
    with pinned(bench.cores.server):
        done = subprocess.run(  # noqa: S603  # our own commands
            list(command),
            cwd=folder,
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
    return done.stdout


def _ours(module: str, *arguments: object) -> list[str]:
    return [sys.executable, "-m", f"benchmarks.changelog.{module}", *map(str, arguments)]


def _finding(
    kind: str, samples: Sequence[float], *, details: dict[str, Any] | None = None, invalid: str | None = None
) -> Finding:
    return Finding(
        key=f"changelog/{kind}",
        what=f"{PUSHES} pushes into one changelog, against conventional-changelog, {_KINDS[kind]}",
        samples=samples,
        goal=at_least(1),
        invalid=invalid,
        details=details or {},
    )


def estimate(plan: Plan) -> float:
    """Return the expected time, in seconds."""
    return plan.rounds * _ROUND_S


ROWS: Final = (Row(name="changelog", title="a history into a changelog", measure=measure, estimate=estimate),)
