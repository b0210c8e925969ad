"""Who is there: one process finds out which others are dead, and takes up what they have left.

An executor that lives has its beats counted. Whether it lives is told by whether the number grows while somebody
watches: no clocks have to agree, and when the database was away, nobody is taken for dead because of it. Nothing that
is written depends on it: a process that was given up too early is held back by the ledger.
"""

from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Final, final

from attrs import field, frozen

from contentsvc_core.ports import Executors, IdSource
from contentsvc_core.workflows.runs import Recovered, Taken

_KILLED: Final = "the process ended while the run was running"


@final
@frozen(kw_only=True)
class Turn:
    """What a look at the executors came to."""

    #: Whether others have given this process up.
    given_up: bool = False
    #: Those that this process has given up.
    lost: tuple[str, ...] = ()
    recovered: Recovered = field(factory=Recovered)


@final
class Membership:
    """A process's place among the executors."""

    def __init__(
        self,
        executors: Executors,
        ids: IdSource,
        *,
        alone: bool,
        patience_s: float = 10.0,
        now: Callable[[], float] = monotonic,
    ) -> None:
        """Take the ports.

        Args:
            executors: Who is registered.
            ids: Gives the names.
            alone: Whether this is surely the only process: all others that are registered are dead.
            patience_s: How long an executor may be silent before it is given up, in seconds: a few beats.
            now: The seconds of a clock that is never set.
        """
        self._executors = executors
        self._ids = ids
        self._patience_s = patience_s
        self._alone = alone
        self._now = now
        #: The beats of each other executor, and for how long it has been silent since, in seconds that were watched.
        self._seen: dict[str, tuple[int, float]] = {}
        #: When they were watched last.
        self._last = 0.0
        #: The name, while it is registered.
        self.name: str | None = None

    async def turn(self) -> Turn:
        """Beat, watch the others, and recover the runs of the dead.

        When others have given this process up, it has to let go of its runs; the next turn registers it under another
        name.

        Raises:
            StoreUnavailable: Nobody can be judged now.
        """
        if self.name is None:
            name = self._ids.mint("exe_")
            await self._executors.join(name)
            self.name = name
        beats = await self._executors.beat(self.name)
        if self.name not in beats:
            self.name = None
            return Turn(given_up=True)
        lost = self._lost(beats)
        recovered = await self._executors.recover(_KILLED, lost=lost)
        return Turn(lost=tuple(lost), recovered=recovered)

    async def running(self) -> Sequence[Taken]:
        """List the runs that are running in this process's name."""
        return () if self.name is None else await self._executors.running(self.name)

    async def leave(self) -> None:
        """Unregister."""
        if self.name is not None:
            await self._executors.leave(self.name)
            self.name = None

    def _lost(self, beats: Mapping[str, int]) -> dict[str, int]:
        """Tell which executors have been silent for too long, with the last beat of each."""
        others = {id_: count for id_, count in beats.items() if id_ != self.name}
        if self._alone:
            return others
        now = self._now()
        # When the database was away, or this process stood still, whoever seems silent may only not have been heard:
        # so a long pause counts for no more than a quarter of the patience, which leaves them time for an attempt that
        # hangs. It does count: turns take long under load, too.
        watched = min(now - self._last, self._patience_s / 4)
        self._last = now
        seen, self._seen = self._seen, {}
        for id_, count in others.items():
            known, silent = seen.get(id_, (None, 0.0))
            self._seen[id_] = (count, silent + watched if known == count else 0.0)
        return {id_: count for id_, (count, silent) in self._seen.items() if silent >= self._patience_s}
