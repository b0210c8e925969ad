"""Heartbeats of executors: a process detects dead executors and recovers their runs.

Other executors observe the growth of a number, so clocks need not agree.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import monotonic
from typing import Final, final

from attrs import define, field, frozen

from contentsvc_core.ports import Executors, IdSource
from contentsvc_core.workflows.runs import Recovered, Taken

_KILLED: Final = "the process ended while the run was running"
#: The number of turns from one search for runs without an executor to the next: 10 s with the default heartbeat, like
#: the patience with silent executors. An executor leaves such runs when it stops during an outage of the database.
_ORPHANS_EVERY: Final = 5
_PREFIX: Final = "exe_"


def engines_of(executors: Iterable[str]) -> frozenset[str]:
    """Return the engines of executors by their names; names of older versions have none."""
    engines = {name.removeprefix(_PREFIX).rpartition("_")[0] for name in executors}
    return frozenset(engines - {""})


@final
@frozen(kw_only=True)
class Heartbeat:
    given_up: bool = False
    lost: tuple[str, ...] = ()
    #: The engines of other executors with heartbeats, other than this one's.
    other_engines: frozenset[str] = frozenset()
    recovered: Recovered = field(factory=Recovered)


@final
@define(eq=False, repr=False)
class Membership:
    """The membership of one executor.

    ``alone`` means that this is the only process: all other registered executors are dead. An executor that is silent
    for ``patience_s`` seconds, a few heartbeats, is removed. ``now`` is a monotonic clock. ``engine`` becomes a part of
    the executor's name, so that others can notice a different one.
    """

    _executors: Executors
    _ids: IdSource
    _alone: bool = field(kw_only=True, alias="alone")
    _engine: str = field(default="", kw_only=True, alias="engine")
    _patience_s: float = field(default=10.0, kw_only=True, alias="patience_s")
    _now: Callable[[], float] = field(default=monotonic, kw_only=True, alias="now")
    name: str | None = field(init=False, default=None)
    _beats: Mapping[str, int] = field(init=False, factory=dict[str, int])
    #: The last heartbeat of each other executor, and how long it has been silent since, in observed seconds.
    _heartbeats: dict[str, tuple[int, float]] = field(init=False, factory=dict[str, tuple[int, float]])
    _last: float = field(init=False, default=0.0)
    _turns: int = field(init=False, default=0)

    async def heartbeat(self) -> Heartbeat:
        """Send a heartbeat, observe the other executors, and recover the runs of dead ones.

        If other executors have removed this one, it must stop its runs; the next turn registers it under a new name.
        """
        if self.name is None:
            name = self._ids.new_id(f"{_PREFIX}{self._engine}_" if self._engine else _PREFIX)
            await self._executors.join(name)
            self.name = name
        beats = await self._executors.heartbeat(self.name)
        if self.name not in beats:
            self.name = None
            return Heartbeat(given_up=True)
        alive = {id_ for id_, count in beats.items() if self._beats.get(id_, count) != count}
        self._beats = beats
        lost = self._lost(beats)
        recovered = Recovered()
        if lost or self._turns % _ORPHANS_EVERY == 0:
            recovered = await self._executors.recover(_KILLED, lost=lost)
        self._turns += 1
        return Heartbeat(lost=tuple(lost), recovered=recovered, other_engines=engines_of(alive) - {self._engine})

    async def running(self) -> Sequence[Taken]:
        return () if self.name is None else await self._executors.running(self.name)

    async def leave(self) -> None:
        if self.name is not None:
            await self._executors.leave(self.name)
            self.name = None

    def _lost(self, beats: Mapping[str, int]) -> dict[str, int]:
        others = {id_: count for id_, count in beats.items() if id_ != self.name}
        if self._alone:
            return others
        now = self._now()
        # After an outage of the database or a stall of this process, other executors may only seem silent. So a long
        # pause counts for no more than a quarter of the patience, which leaves time for one hanging heartbeat. It does
        # count, since turns take long under load, too.
        watched = min(now - self._last, self._patience_s / 4)
        self._last = now
        previous, self._heartbeats = self._heartbeats, {}
        for id_, count in others.items():
            last_count, silent = previous.get(id_, (None, 0.0))
            self._heartbeats[id_] = (count, silent + watched if last_count == count else 0.0)
        return {id_: count for id_, (count, silent) in self._heartbeats.items() if silent >= self._patience_s}
