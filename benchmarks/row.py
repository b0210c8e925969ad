"""Rows of the benchmark, and their findings."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, final

from attrs import field, frozen

from benchmarks.bench import Bench
from benchmarks.plan import Plan


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
class Row:
    """A subject that is measured in one go."""

    #: What ``BENCH`` selects it by.
    name: str
    title: str
    #: Runs it to its end.
    measure: Callable[[Bench], Sequence[Finding]]
    #: How long that takes, about, in seconds.
    estimate: Callable[[Plan], float]
