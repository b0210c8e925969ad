"""Percentiles for campaigns."""

import statistics
from collections.abc import Sequence


def p99(values: Sequence[float]) -> float:
    """Return the 99th percentile, never more than the largest; NaN: there are fewer than 2 values."""
    return statistics.quantiles(values, n=100, method="inclusive")[98] if len(values) > 1 else float("nan")
