"""Page 100,000 of a list against page 1, over HTTP, with a filter."""

import http.client
import json
import time
from collections.abc import Callable, Mapping
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Final

from benchmarks import fill, ours
from benchmarks.cores import pinned
from benchmarks.plan import Plan
from benchmarks.row import Finding, Row, at_most
from benchmarks.sides import Database, Prepared, Running, Side, discard, start

if TYPE_CHECKING:
    from benchmarks.bench import Bench

_SIDES: Final[Mapping[str, Callable[[], Side]]] = {"sqlite": ours.sqlite, "postgresql": ours.postgresql}
_TITLES: Final = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
_LIMIT: Final = 10
#: The posts for the last page: nine of ten are published, and the filter selects these.
_POSTS: Final = 1_200_000
_PAGE: Final = 100_000
_SHORT_POSTS: Final = 60_000
_SHORT_PAGE: Final = 5_000
_ASKED_A_ROUND: Final = 30
_OK: Final = 200


def measure(bench: "Bench") -> list[Finding]:
    """Request both pages in turn, in random order."""
    return [_finding(bench, name) for name in _asked_of(bench.plan)]


def _asked_of(plan: Plan) -> list[str]:
    return list(_SIDES)[: 1 if plan.short else None]


def _finding(bench: "Bench", name: str) -> Finding:
    posts, page = (_SHORT_POSTS, _SHORT_PAGE) if bench.plan.short else (_POSTS, _PAGE)
    bench.note(f"{name}: filling in {posts:,} posts")
    running = start(bench, _SIDES[name](), furnish=partial(_furnish, Database(name), posts))
    samples: list[float] = []
    took: dict[int, list[float]] = {1: [], page: []}
    try:
        client = _Client(running)
        # Both pages once, so that neither is the first request.
        for number in took:
            client.page(number)
        for round_ in range(bench.plan.rounds):
            bench.note(f"{name}: pages, round {round_ + 1}")
            times = dict.fromkeys(took, 0.0)
            with pinned(bench.cores.loader):
                for number in bench.random.sample(sorted(took), len(took)):
                    times[number] = median(client.page(number) for _ in range(_ASKED_A_ROUND))
            for number, seconds in times.items():
                took[number].append(seconds)
            samples.append(times[page] / times[1])
    finally:
        discard(bench, running)
    return Finding(
        key=f"pages/{name}",
        what=f"{_TITLES[name]}: page {page:,} ÷ page 1 of {posts:,} posts, over HTTP, one filter",
        samples=samples,
        goal=at_most(2),
        details={"ms": {str(number): round(median(seconds) * 1000, 3) for number, seconds in took.items()}},
    )


class _Client:
    """A client with a key."""

    def __init__(self, running: Running) -> None:
        issued = ours.command(running.prepared, "key", "issue", "--organization", ours.ORGANIZATION, "--scope", "read")
        self._headers = {"Authorization": f"Bearer {issued['key']}"}
        self._connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=60)

    def page(self, number: int) -> float:
        """Request a page; return the time of the answer, in seconds.

        Raises:
            RuntimeError: The answer is not that page, or the page is not full.
        """
        began = time.perf_counter()
        address = f"/v1/posts?limit={_LIMIT}&page={number}&sort=desc&status=published"
        self._connection.request("GET", address, headers=self._headers)
        answer = self._connection.getresponse()
        body = answer.read()
        took = time.perf_counter() - began
        if answer.status != _OK or len(json.loads(body)["posts"]) != _LIMIT:
            message = f"page {number}: {answer.status} {body[:300]!r}"
            raise RuntimeError(message)
        return took


def _furnish(database: Database, posts: int, prepared: Prepared) -> None:
    fill.posts(prepared.database, database, prepared.hook, count=posts, now_ms=int(time.time() * 1000))
    fill.analyze(prepared.database, database)


def estimate(plan: Plan) -> float:
    """Return the expected time, in seconds."""
    return 6 if plan.short else 90


ROWS: Final = (Row(name="pages", title="deep pages", measure=measure, estimate=estimate),)
