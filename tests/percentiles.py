"""What campaigns say of many durations."""

import statistics
from collections.abc import Sequence


def p99(values: Sequence[float]) -> float:
    """Give the 99th percentile, never more than the largest; of fewer than 2 values that is no number."""
    return statistics.quantiles(values, n=100, method="inclusive")[98] if len(values) > 1 else float("nan")
