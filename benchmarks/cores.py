"""The cores of the processes."""

import contextlib
import os
from collections.abc import Generator, Iterable
from typing import final

from attrs import frozen


@final
@frozen(kw_only=True)
class Cores:
    """The core of the measured server, and that of the loader; ``None``: the system chooses."""

    server: int | None
    loader: int | None

    @property
    def told(self) -> str:
        """Return the assignment in words."""
        if self.server is None:
            return "nothing pinned: there is one core only"
        return f"server pinned to core {self.server}, loader to core {self.loader}, PostgreSQL not pinned"


def choose(available: Iterable[int]) -> Cores:
    """Choose the first core for the server and the last one for the loader."""
    cores = sorted(available)
    if len(cores) == 1:
        return Cores(server=None, loader=None)
    return Cores(server=cores[0], loader=cores[-1])


@contextlib.contextmanager
def pinned(core: int | None) -> Generator[None]:
    """Restrict processes that are started in the block to one core: children inherit the affinity."""
    if core is None:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
