"""Medians and their confidence intervals."""

import random
from collections.abc import Sequence
from statistics import median
from typing import Final, final

from attrs import frozen

from benchmarks.row import Goal, Sense

#: Resamples: with more, the interval's ends move by less than the digits of the samples.
RESAMPLES: Final = 10_000
#: The share outside of a 95 % interval on each side.
_TAIL: Final = 0.025


@final
@frozen(kw_only=True)
class Interval:
    """A median with its 95 % interval."""

    median: float
    low: float
    high: float

    def worse(self, goal: Goal | None) -> float:
        """Return the end that is compared with the goal: the worse one."""
        if goal is None:
            return self.median
        return self.low if goal.sense is Sense.AT_LEAST else self.high


def bootstrap(samples: Sequence[float], *, seed: int = 1, resamples: int = RESAMPLES) -> Interval:
    """Return the median of samples with its percentile bootstrap interval (Efron 1979).

    With one sample the interval is that sample, and has no meaning.

    Raises:
        ValueError: There are no samples.
    """
    if not samples:
        message = "no samples"
        raise ValueError(message)
    source = random.Random(seed)  # noqa: S311  # reproducible from the samples
    values = list(samples)
    medians = sorted(median(source.choices(values, k=len(values))) for _ in range(resamples))
    cut = int(resamples * _TAIL)
    return Interval(median=median(values), low=medians[cut], high=medians[-1 - cut])
