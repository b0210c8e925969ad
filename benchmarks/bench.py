"""The tools of a row: plan, cores, servers, and folders."""

import itertools
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import final

from benchmarks.cores import Cores
from benchmarks.loaders import client, wrk
from benchmarks.loaders.load import Answers, Load
from benchmarks.plan import Plan
from benchmarks.postgres import Postgres


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

    def new_folder(self, name: str) -> Path:
        """Create a new folder."""
        folder = self.folder / f"{next(self._numbers)}-{name}"
        folder.mkdir()
        return folder

    def drop(self, folder: Path) -> None:
        """Remove a folder: a run fills many."""
        shutil.rmtree(folder, ignore_errors=True)

    def next_seed(self) -> int:
        """Return a new seed of a loader, so that two loaders never send the same delivery ids."""
        return self.random.getrandbits(30)

    def send(self, load: Load) -> Answers:
        """Send deliveries: by wrk if each connection waits for its answers, otherwise by our own loader."""
        if load.rate is None and load.seconds >= wrk.SHORTEST_S and wrk.found() is not None:
            return wrk.send(load, self.cores.loader)
        return client.send(load, self.cores.loader)
