"""`python -m benchmarks.peers.check [NAME ...]`: check that peers do the measured work completely."""

import os
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.bench import Bench
from benchmarks.cores import choose
from benchmarks.peer_files import PeerMissing
from benchmarks.peers.checked import checked_peer
from benchmarks.plan import SHORT
from benchmarks.postgres import Postgres

#: The peers that are sides.
PEERS: Final = ("fastapi-sqlite", "fastapi-postgresql", "fastify-sqlite", "fastify-postgresql", "aiohttp-postgresql")


def main(names: Sequence[str]) -> int:
    """Check peers by name, all of them if none is named; return the exit code."""
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="contentsvc-peers-") as folder, Postgres() as postgres:
        bench = Bench(
            plan=SHORT,
            seed=random.SystemRandom().getrandbits(30),
            folder=Path(folder),
            postgres=postgres,
            cores=choose(os.sched_getaffinity(0)),
            note=lambda text: print(text, file=sys.stderr),  # noqa: T201  # a command prints
        )
        for name in names or PEERS:
            try:
                checked_peer(bench, name)
                found = "does the work"
            except PeerMissing as exc:
                wrong += 1
                found = str(exc)
            print(f"{name}: {found}")  # noqa: T201  # a command prints
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
