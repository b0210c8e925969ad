"""What rows have at hand."""

import itertools
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import final

from benchmarks.cores import Cores
from benchmarks.loaders import client, wrk
from benchmarks.loaders.load import Answers, Load
from benchmarks.peer_files import PeerMissing, load_peers
from benchmarks.peers.work import check
from benchmarks.postgres import Postgres
from benchmarks.row import Plan
from benchmarks.sides import Side, start


@final
class Bench:
    """One run: its plan, its places, its servers."""

    def __init__(
        self,
        *,
        plan: Plan,
        seed: int,
        folder: Path,
        postgres: Postgres,
        cores: Cores,
        note: Callable[[str], None],
    ) -> None:
        """Create the bench.

        Args:
            plan: The effort.
            seed: The seed of every random order and id.
            folder: The working folder; its contents are removed at the end.
            postgres: The private server.
            cores: The cores of the processes.
            note: Shows the current step.
        """
        self.plan = plan
        self.seed = seed
        self.random = random.Random(seed)  # noqa: S311  # orders and ids, not secrets
        self.folder = folder
        self.postgres = postgres
        self.cores = cores
        self.note = note
        self._numbers = itertools.count(1)
        self._peers: dict[str, Side] | None = None

    def new_folder(self, name: str) -> Path:
        """Create a new folder."""
        made = self.folder / f"{next(self._numbers)}-{name}"
        made.mkdir()
        return made

    def drop(self, folder: Path) -> None:
        """Remove a folder that is needed no more: a run fills many."""
        shutil.rmtree(folder, ignore_errors=True)

    def peer(self, name: str) -> Side:
        """Return a peer, installed and checked.

        Raises:
            PeerMissing: The peer is unknown, cannot be installed, or is incomplete; the message says which.
        """
        if self._peers is None:
            self._peers = {}
        if name not in self._peers:
            side = load_peers(name, note=self.note)
            self.note(f"checking {name}")
            running = start(self, side)
            try:
                faults = check(running)
            finally:
                running.stop()
            if faults:
                message = f"{name} does not do the work: {'; '.join(faults)}"
                raise PeerMissing(message)
            self._peers[name] = side
        return self._peers[name]

    def next_seed(self) -> int:
        """Return the seed of a loader: no two loaders send the same delivery ids."""
        return self.random.getrandbits(30)

    def send(self, load: Load) -> Answers:
        """Send deliveries: by wrk where each connection waits for its answers, and else by our own loader."""
        if load.rate is None and load.seconds >= wrk.SHORTEST_S and wrk.found() is not None:
            return wrk.send(load, self.cores.loader)
        return client.send(load, self.cores.loader)
