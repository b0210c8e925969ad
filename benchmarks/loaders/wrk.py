"""The loader wrk, if it is installed: its core is never the bottleneck."""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from benchmarks.cores import pinned
from benchmarks.loaders.load import Answers, Load

_SCRIPT: Final = Path(__file__).with_name("deliveries.lua")
_RESULT: Final = "RESULT "
#: wrk's own shortest run, in seconds.
SHORTEST_S: Final = 1


def found() -> str | None:
    """Return the path of wrk; ``None``: it is not installed."""
    return shutil.which("wrk")


def install() -> bool:
    """Install Debian's package if possible; return whether wrk is installed."""
    apt = shutil.which("apt-get")
    if found() is None and apt is not None and os.geteuid() == 0:
        subprocess.run([apt, "install", "--yes", "--no-install-recommends", "wrk"], check=False, capture_output=True)  # noqa: S603  # a constant command
    return found() is not None


def send(load: Load, core: int | None) -> Answers:
    """Send on all connections, the next request right after each answer, until the time is over.

    wrk knows whole seconds. Requests in flight at the end are abandoned: the server may still store their deliveries.

    Raises:
        RuntimeError: wrk printed no results.
    """
    wrk = found()
    assert wrk is not None
    with tempfile.NamedTemporaryFile("wb", suffix=".txt") as bodies:
        for body in load.bodies:
            bodies.write(body.signature.encode() + b"\n" + body.body + b"\n")
        bodies.flush()
        address = f"127.0.0.1:{load.port}"
        command = [
            *(wrk, "-t1", f"-c{load.connections}", f"-d{max(SHORTEST_S, round(load.seconds))}s", "--timeout", "10s"),
            *("-s", str(_SCRIPT), f"http://{address}", "--"),
            *(load.path, str(load.places), str(load.seed), address, bodies.name),
        ]
        with pinned(core):
            done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603  # our own command
    result_line = next((line for line in done.stdout.splitlines() if line.startswith(_RESULT)), None)
    if result_line is None:
        message = f"wrk told no results: {done.stdout}{done.stderr}"
        raise RuntimeError(message)
    return read(result_line.removeprefix(_RESULT))


def read(text: str) -> Answers:
    """Read the line that the script prints."""
    values = json.loads(text)
    return Answers(
        ok=values["requests"] - values["status"],
        other=values["status"],
        failed=values["failed"],
        seconds=values["us"] / 1e6,
        percentiles={name[1:]: value / 1000 for name, value in values.items() if name.startswith("p")},
    )
