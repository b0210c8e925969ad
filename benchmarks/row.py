"""Rows of the benchmark, and their findings."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, final

from attrs import field, frozen

if TYPE_CHECKING:
    from benchmarks.bench import Bench


@final
class Sense(StrEnum):
    """Which side of its goal a figure has to be on."""

    AT_LEAST = "≥"
    AT_MOST = "≤"


@final
@frozen(kw_only=True)
class Goal:
    """What a figure is held against."""

    sense: Sense
    bound: float

    def met(self, value: float) -> bool:
        """Check whether a figure meets the goal."""
        return value >= self.bound if self.sense is Sense.AT_LEAST else value <= self.bound


def at_least(bound: float) -> Goal:
    """Return the goal of a figure that must not be smaller."""
    return Goal(sense=Sense.AT_LEAST, bound=bound)


def at_most(bound: float) -> Goal:
    """Return the goal of a figure that must not be larger."""
    return Goal(sense=Sense.AT_MOST, bound=bound)


@final
@frozen(kw_only=True)
class Finding:
    """The samples of one figure."""

    #: Unique among all findings; stays the same from run to run: ``sqlite/floor@64``.
    key: str
    #: As the table has it: "SQLite ÷ floor, 64 connections".
    what: str
    #: One for each round. Empty only where ``invalid`` says why.
    samples: Sequence[float]
    #: What the figure is in: ``×`` for ratios, ``s``, ``MB``, ``/s``, ``ms``, ``µs``.
    unit: str = "×"
    #: ``None``: a figure for information, without a goal.
    goal: Goal | None = None
    #: Why the figure is invalid, whatever its samples are.
    invalid: str | None = None
    #: Further figures: any JSON.
    details: Mapping[str, Any] = field(factory=dict[str, Any])


@final
@frozen(kw_only=True)
class Plan:
    """How thoroughly is measured."""

    short: bool
    #: How many rounds, and how long each side runs in one, in seconds.
    rounds: int
    seconds: float
    #: How long a side is warmed up before its first round, in seconds.
    warm_up: float


FULL: Final = Plan(short=False, rounds=9, seconds=5.0, warm_up=1.5)
#: wrk knows whole seconds.
SHORT: Final = Plan(short=True, rounds=2, seconds=1.0, warm_up=0.4)


@final
@frozen(kw_only=True)
class Row:
    """A subject that is measured in one go."""

    #: What ``BENCH`` selects it by.
    name: str
    title: str
    #: Runs it to its end.
    measure: "Callable[[Bench], Sequence[Finding]]"
    #: How long that takes, about, in seconds.
    estimate: Callable[[Plan], float]
