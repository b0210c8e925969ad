"""Our limiter's transitions, in a process of their own: `python -m benchmarks.windows LIMIT BUCKETS TURNS`.

Prints JSON as the other side does: seconds for each request, `admitted` (until all buckets are full) and `refused`
(from then on). A request reads its window and the clock, and stores the new window.
"""

import json
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime

from contentsvc_core.access.rates import Rate
from contentsvc_core.access.window import Verdict, Window, hit


def measure(limit: int, buckets: int, turns: int) -> dict[str, list[float]]:
    """Hit some buckets, one after the other, until they are full, and as often again; each turn has new buckets."""
    rate = Rate(method="POST", template="/v1/lamps", limit=limit)
    names = [f"key {number}" for number in range(buckets)]
    windows: dict[str, Window] = {}
    empty = Window()

    def ask(name: str) -> Verdict:
        windows[name], verdict = hit(windows.get(name, empty), rate, datetime.now(UTC))
        return verdict

    taken: dict[str, list[float]] = {}
    for _ in range(turns):
        for state in ("admitted", "refused"):
            taken.setdefault(state, []).append(_timed(ask, names, limit))
        windows.clear()
    return taken


def _timed(ask: Callable[[str], object], names: list[str], times: int) -> float:
    began = time.perf_counter()
    for _ in range(times):
        for name in names:
            ask(name)
    return (time.perf_counter() - began) / (times * len(names))


if __name__ == "__main__":
    print(json.dumps(measure(*map(int, sys.argv[1:]))))  # noqa: T201  # a command prints
