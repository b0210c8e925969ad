"""Rounds: sides take turns under the same load, in random order."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, final

from attrs import evolve, frozen

from benchmarks.loaders.load import Answers, Load
from benchmarks.material import Signed, pushes
from benchmarks.peer_files import PeerMissing
from benchmarks.processes import NotStarted
from benchmarks.sides import Prepared, Reckoning, Running, Side, discard, reckon, start

if TYPE_CHECKING:
    from benchmarks.bench import Bench


@final
@frozen(kw_only=True)
class Turn:
    """One side's turn in one round."""

    answers: Answers
    #: The processor time of the server's processes for an answer, in microseconds.
    cpu_us: float
    reckoning: Reckoning


@final
@frozen(kw_only=True)
class Contest:
    """The turns of each side, round by round, without sides that could not start."""

    turns: Mapping[str, Sequence[Turn]]
    #: The reasons why sides could not start.
    missing: Mapping[str, str]

    @classmethod
    def joined(cls, parts: "Sequence[Contest]") -> "Contest":
        """Return the contest of all rounds of several contests of the same sides."""
        turns = {name: [turn for part in parts for turn in part.turns[name]] for name in parts[0].turns}
        return cls(turns=turns, missing=parts[0].missing)

    def fault(self, *names: str) -> str | None:
        """Return why figures of some sides are invalid; ``None``: they are valid."""
        for name in names:
            if name in self.missing:
                return f"{name}: {self.missing[name]}"
            for turn in self.turns[name]:
                if turn.reckoning.fault is not None:
                    return f"{name}: {turn.reckoning.fault}"
        return None

    def ratios(self, one: str, other: str, figure: Callable[[Turn], float]) -> list[float]:
        """Return one side's figure as a share of another's, round by round."""
        if one in self.missing or other in self.missing:
            return []
        pairs = zip(self.turns[one], self.turns[other], strict=True)
        return [figure(own) / figure(foreign) if figure(foreign) else 0.0 for own, foreign in pairs]

    def details(self) -> dict[str, Any]:
        """Return the figures behind the ratios: medians of each side."""
        return {
            name: {
                "per_second": round(median(turn.answers.per_second for turn in turns), 1),
                "cpu_us": round(median(turn.cpu_us for turn in turns), 1),
                "p50_ms": round(median(turn.answers.percentiles.get("50", 0.0) for turn in turns), 3),
                "p99_ms": round(median(turn.answers.percentiles.get("99", 0.0) for turn in turns), 3),
                "deliveries": sum(turn.answers.ok for turn in turns),
            }
            for name, turns in self.turns.items()
            if turns
        }


def throughput(turn: Turn) -> float:
    """Return good answers a second."""
    return turn.answers.per_second


def cpu(turn: Turn) -> float:
    """Return processor time per answer."""
    return turn.cpu_us


def latency(turn: Turn) -> float:
    """Return p99, in ms."""
    return turn.answers.percentiles.get("99", float("inf"))


@final
class Field:
    """Sides that are started, and take turns until they are stopped."""

    def __init__(self, bench: "Bench") -> None:
        self._bench = bench
        self._running: dict[str, Running] = {}
        self._missing: dict[str, str] = {}

    def enter(
        self,
        name: str,
        side: "Callable[[], Side]",
        *,
        preload: Path | None = None,
        furnish: Callable[[Prepared], None] | None = None,
    ) -> None:
        """Start a side; a fault of the start is part of every contest's result.

        Args:
            name: The name in the contest.
            side: Returns the side.
            preload: A library that is loaded into the side before all others.
            furnish: Changes the side's database before the start.
        """
        self._bench.note(f"starting {name}")
        try:
            server = start(self._bench, side(), preload=preload, furnish=furnish)
        except (PeerMissing, NotStarted) as exc:
            self._missing[name] = str(exc)
        else:
            self._running[name] = server

    def running(self, name: str) -> Running:
        """Return a running side."""
        return self._running[name]

    def close(self) -> None:
        """Stop all sides, and remove their data."""
        for running in self._running.values():
            discard(self._bench, running)

    def contest(
        self,
        loads: Callable[[Running, list[Signed]], Load],
        *,
        rounds: int | None = None,
        warm_up: bool = True,
        names: Sequence[str] | None = None,
        what: str = "",
        changes: Mapping[str, Callable[[Load], Load]] | None = None,
        factors: Mapping[str, Mapping[str, int]] | None = None,
    ) -> Contest:
        """Run all sides in turn.

        Args:
            loads: Returns the load of a side's turn, from bodies for its hook.
            rounds: The number of rounds; by default the plan's.
            warm_up: Whether each side is warmed up before.
            names: The sides; by default all.
            what: The text of the progress display.
            changes: Changes of the load of some sides, by their names.
            factors: The number of rows of a kind that a delivery leaves at some sides, if it is not one.
        """

        def load(name: str) -> Load:
            measured = loads(self._running[name], bodies[name])
            return changes[name](measured) if changes and name in changes else measured

        present = [name for name in self._running if names is None or name in names]
        bodies = {name: pushes(self._running[name].hook) for name in present}
        if warm_up:
            for name in present:
                self._bench.note(f"{what}: warming up {name}")
                self._bench.send(evolve(load(name), seconds=self._bench.plan.warm_up, rate=None))
        turns: dict[str, list[Turn]] = {name: [] for name in present}
        total = self._bench.plan.rounds if rounds is None else rounds
        for number in range(total):
            order = list(present)
            self._bench.random.shuffle(order)
            for name in order:
                self._bench.note(f"{what}: round {number + 1} of {total}, {name}")
                foreign = (factors or {}).get(name)
                turns[name].append(take_turn(self._bench, self._running[name], load(name), foreign))
        return Contest(turns=turns, missing=dict(self._missing))


def take_turn(
    bench: "Bench",
    running: Running,
    load: Load,
    factors: Mapping[str, int] | None = None,
    *,
    send: Callable[[Load], Answers] | None = None,
) -> Turn:
    """Send a load to a side, and compare the stored rows with the answers.

    Args:
        bench: The bench.
        running: The side.
        load: The load.
        factors: The number of rows of a kind that a delivery leaves, if it is not one.
        send: Sends the load, instead of the bench's own loader.
    """
    before = running.settled()
    spent = running.process.cpu_seconds
    answers = (send or bench.send)(load)
    spent = running.process.cpu_seconds - spent
    # At a fixed rate, the loader waits for all answers.
    given_up = load.connections if load.rate is None else 0
    return Turn(
        answers=answers,
        cpu_us=spent / answers.ok * 1e6 if answers.ok else 0.0,
        reckoning=reckon(before, running.settled(), answers, given_up=given_up, factors=factors),
    )


def closed(bench: "Bench", running: Running, bodies: Sequence[Signed], connections: int, seconds: float) -> Load:
    """Return a load of connections that each wait for their answers."""
    return Load(
        port=running.port,
        path=running.hook.path,
        bodies=bodies,
        connections=connections,
        seconds=seconds,
        seed=bench.next_seed(),
    )
