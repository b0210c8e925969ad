"""A public changelog of a thousand published posts against one of ten, over HTTP: its front page and its feed."""

import http.client
import time
from collections.abc import Callable, Mapping
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Final

from attrs import evolve

from benchmarks import fill, ours
from benchmarks.cores import pinned
from benchmarks.plan import Plan
from benchmarks.row import Finding, Row, at_most
from benchmarks.sides import Database, Prepared, Running, Side, discard, start

if TYPE_CHECKING:
    from benchmarks.bench import Bench

_SIDES: Final[Mapping[str, Callable[[], Side]]] = {"sqlite": ours.sqlite, "postgresql": ours.postgresql}
_TITLES: Final = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
#: The number of posts by slug. The first one of each ten is a draft.
_MADE: Final = {"few": 12, "many": 1_112}
_SHOWN: Final = {"few": 10, "many": 1_000}
_PATHS: Final = {"page": "", "feed": "/feed.atom"}
_ASKED_A_ROUND: Final = 30
_OK: Final = 200


def measure(bench: "Bench") -> list[Finding]:
    """Request page and feed in turn, in random order."""
    names = list(_SIDES)[: 1 if bench.plan.short else None]
    return [finding for name in names for finding in _findings(bench, name)]


def _findings(bench: "Bench", name: str) -> list[Finding]:
    running = start(bench, _SIDES[name](), furnish=partial(_furnish, Database(name)))
    samples: dict[str, list[float]] = {kind: [] for kind in _PATHS}
    took: dict[tuple[str, str], list[float]] = {(kind, slug): [] for kind in _PATHS for slug in _MADE}
    try:
        reader = _Reader(running)
        for kind, slug in took:
            reader.read(kind, slug)
        for round_ in range(bench.plan.rounds):
            bench.note(f"{name}: public changelogs, round {round_ + 1}")
            with pinned(bench.cores.loader):
                for kind, slug in bench.random.sample(sorted(took), len(took)):
                    took[kind, slug].append(median(reader.read(kind, slug) for _ in range(_ASKED_A_ROUND)))
            for kind, ratios in samples.items():
                ratios.append(took[kind, "many"][-1] / took[kind, "few"][-1])
    finally:
        discard(bench, running)
    return [
        Finding(
            key=f"public/{name}/{kind}",
            what=f"{_TITLES[name]}: {_SHOWN['many']:,} public posts ÷ {_SHOWN['few']}, the {kind}, over HTTP",
            samples=ratios,
            # The page shows 20 of the thousand posts, and all 10 of the others: twice as much may take twice as long.
            goal=at_most(2),
            details={"ms": {slug: round(median(took[kind, slug]) * 1000, 3) for slug in _MADE}},
        )
        for kind, ratios in samples.items()
    ]


class _Reader:
    """A reader."""

    def __init__(self, running: Running) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=60)

    def read(self, kind: str, slug: str) -> float:
        """Request a page or feed; return the time of the answer, in seconds.

        Raises:
            RuntimeError: The answer is shorter than expected.
        """
        began = time.perf_counter()
        self._connection.request("GET", f"/changelog/{slug}{_PATHS[kind]}")
        answer = self._connection.getresponse()
        body = answer.read()
        took = time.perf_counter() - began
        shown = body.count(b"<article" if kind == "page" else b"<entry>")
        if answer.status != _OK or shown != min(_SHOWN[slug], 20):
            message = f"{kind} of {slug}: {answer.status}, {shown} posts"
            raise RuntimeError(message)
        return took


def _furnish(database: Database, prepared: Prepared) -> None:
    now_ms = int(time.time() * 1000)
    for slug, count in _MADE.items():
        organization = ours.command(prepared, "organization", "create", slug, "--slug", slug)
        hook = evolve(prepared.hook, organization=organization["id"])
        fill.posts(prepared.database, database, hook, count=count, now_ms=now_ms)
        ours.command(prepared, "changelog", "publish", "--organization", slug, "--yes")
    fill.analyze(prepared.database, database)


def estimate(plan: Plan) -> float:
    """Return the expected time, in seconds."""
    return 8 if plan.short else 60


ROWS: Final = (Row(name="public", title="public changelogs", measure=measure, estimate=estimate),)
