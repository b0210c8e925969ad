"""``python -m benchmarks.profile``: profile our server under load; print a table, in Markdown.

py-spy samples the server's stacks from outside, so only the sampling itself costs time in the server. The shares are of
samples on a processor. They are multiplied by the processor time of a delivery without a profiler. The last line is the
system's account of the threads: the profiler misses C code without the interpreter's lock, so the shares of statements
are too small.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, final

from attrs import frozen

from benchmarks import ours
from benchmarks.bench import Bench
from benchmarks.cores import choose
from benchmarks.loaders.load import Load
from benchmarks.material import PUSH_BYTES, pushes
from benchmarks.peer_files import installed
from benchmarks.plan import SHORT
from benchmarks.postgres import Postgres
from benchmarks.profile.parts import OTHER, PARTS, shares
from benchmarks.sides import Running, Side, start

_RATE: Final = 500


@final
@frozen(kw_only=True)
class Profile:
    """The profile of one side."""

    title: str
    #: Processor time that a delivery costs, in microseconds.
    cpu_us: float
    #: The part of it outside of the event loop's thread.
    others_us: float
    shares: Mapping[str, float]


def main(arguments: Sequence[str]) -> int:
    """Profile the sides, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.profile", description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="how long each side is looked at")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--raw", type=Path, help="a folder to keep the stacks in, for a flame graph")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="contentsvc-profile-") as folder, Postgres() as postgres:
        bench = Bench(
            plan=SHORT,
            seed=random.SystemRandom().getrandbits(30),
            folder=Path(folder),
            postgres=postgres,
            cores=choose(os.sched_getaffinity(0)),
            note=lambda text: print(text, file=sys.stderr),  # noqa: T201  # a command prints
        )
        raw = options.raw or Path(folder)
        raw.mkdir(parents=True, exist_ok=True)
        profiler = installed("profiler", note=bench.note) / ".venv/bin/py-spy"
        found = [
            _profiled(bench, profiler, side, raw, seconds=options.seconds, connections=options.connections)
            for side in (ours.floor(), ours.null(), ours.sqlite(), ours.postgresql())
        ]
    print(table(found, connections=options.connections))  # noqa: T201  # a command prints
    return 0


def table(profiles: Sequence[Profile], *, connections: int) -> str:
    """Write the table: a part a line, a side a column."""
    lines = [
        f"| µs of processor time, {PUSH_BYTES // 1024} KB push, {connections} connections | "
        + " | ".join(profile.title for profile in profiles)
        + " |",
        "|---|" + "---:|" * len(profiles),
    ]
    for name in (*(part.name for part in PARTS), OTHER):
        cells = [profile.shares.get(name, 0.0) * profile.cpu_us for profile in profiles]
        if any(cells):
            lines.append(f"| {name} | " + " | ".join(f"{cell:.1f}" if cell else "" for cell in cells) + " |")
    lines.append("| **all** | " + " | ".join(f"**{profile.cpu_us:.0f}**" for profile in profiles) + " |")
    lines.append(
        "| of which other threads than the event loop's | " + " | ".join(f"{p.others_us:.0f}" for p in profiles) + " |"
    )
    return "\n".join(lines)


def _profiled(bench: Bench, profiler: Path, side: Side, folder: Path, *, seconds: float, connections: int) -> Profile:
    bench.note(f"profiling {side.title}")
    running = start(bench, side)
    try:
        load = _load(bench, running, seconds, connections)
        bench.send(load)
        before, main = running.process.cpu_seconds, running.process.main_thread_seconds
        answers = bench.send(load)
        cpu_us = (running.process.cpu_seconds - before) / answers.ok * 1e6
        main_us = (running.process.main_thread_seconds - main) / answers.ok * 1e6
        file = folder / f"{side.name}.txt"
        # The load lasts longer than the profile.
        sender = threading.Thread(target=bench.send, args=(_load(bench, running, seconds + 2, connections),))
        sender.start()
        try:
            subprocess.run(  # noqa: S603  # the profiler
                [
                    *(str(profiler), "record", "--pid", str(running.process.pid), "--rate", str(_RATE)),
                    *("--duration", str(max(1, round(seconds))), "--format", "raw", "--output", str(file)),
                ],
                check=True,
                capture_output=True,
            )
        finally:
            sender.join()
    finally:
        running.stop()
    return Profile(
        title=side.title,
        cpu_us=cpu_us,
        others_us=max(0.0, cpu_us - main_us),
        shares=shares(file.read_text("utf-8").splitlines()),
    )


def _load(bench: Bench, running: Running, seconds: float, connections: int) -> Load:
    return Load(
        port=running.port,
        path=running.hook.path,
        bodies=pushes(running.hook),
        connections=connections,
        seconds=seconds,
        seed=bench.next_seed(),
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
