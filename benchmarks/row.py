"""Rows of the benchmark, and their findings."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, final

from attrs import field, frozen

from benchmarks.bench import Bench
from benchmarks.plan import Plan


@final
class Sense(StrEnum):
    """The direction of a goal: at least, or at most."""

    AT_LEAST = "≥"
    AT_MOST = "≤"


@final
@frozen(kw_only=True)
class Goal:
    """The goal of a figure."""

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

    #: The key, unique and the same in each run: ``sqlite/floor@64``.
    key: str
    #: The title in the table: "SQLite ÷ floor, 64 connections".
    what: str
    #: The samples, one for each round. Empty only with a reason in ``invalid``.
    samples: Sequence[float]
    #: The unit: ``×`` for ratios, ``s``, ``MB``, ``/s``, ``ms``, ``µs``.
    unit: str = "×"
    #: ``None``: a figure for information, without a goal.
    goal: Goal | None = None
    #: The reason why the figure is invalid, if it is.
    invalid: str | None = None
    #: Further figures: any JSON.
    details: Mapping[str, Any] = field(factory=dict[str, Any])


@final
@frozen(kw_only=True)
class Row:
    """A subject that is measured in one contest."""

    #: The name for ``BENCH``.
    name: str
    title: str
    #: Measures the row.
    measure: Callable[[Bench], Sequence[Finding]]
    #: Returns the estimated time, in seconds.
    estimate: Callable[[Plan], float]
