"""The moving window of the package `limits`, in memory: `python measure.py LIMIT BUCKETS TURNS`.

Prints JSON, in seconds for each request: `hit` for an answer of yes or no, `told` for an answer that also has the
number of remaining requests and the end of the window. Each is measured as `admitted` (until all buckets are full) and
`refused` (from then on).
"""

import json
import sys
import time
from collections.abc import Callable

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter


def measure(limit: int, buckets: int, turns: int) -> dict[str, list[float]]:
    """Hit some buckets, one after the other, until they are full, and as often again; each turn has new buckets."""
    limiter = MovingWindowRateLimiter(MemoryStorage())
    item = RateLimitItemPerMinute(limit)
    names = [f"key {number}" for number in range(buckets)]

    def hit(name: str) -> bool:
        return limiter.hit(item, name)

    def told(name: str) -> tuple[bool, object]:
        return limiter.hit(item, name), limiter.get_window_stats(item, name)

    taken: dict[str, list[float]] = {}
    for _ in range(turns):
        for kind, ask in {"hit": hit, "told": told}.items():
            for state in ("admitted", "refused"):
                taken.setdefault(f"{kind} {state}", []).append(_timed(ask, names, limit))
            for name in names:
                limiter.clear(item, name)
    return taken


def _timed(ask: Callable[[str], object], names: list[str], times: int) -> float:
    began = time.perf_counter()
    for _ in range(times):
        for name in names:
            ask(name)
    return (time.perf_counter() - began) / (times * len(names))


if __name__ == "__main__":
    print(json.dumps(measure(*map(int, sys.argv[1:]))))  # noqa: T201  # a command prints
