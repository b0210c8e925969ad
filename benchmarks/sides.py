"""The measured sides: programs that receive deliveries, and their databases."""

import contextlib
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final, final

import psycopg
from attrs import field, frozen

from benchmarks.bench import Bench
from benchmarks.loaders.load import Answers
from benchmarks.material import Hook
from benchmarks.processes import Process, free_port

#: The kinds of rows that each delivery adds once.
KINDS: Final = ("claims", "events", "contexts", "runs", "logs")
_PATIENCE: Final = 100
#: The time without new rows after which a side is at rest, in seconds.
_QUIET_S: Final = 0.05


@final
class Database(StrEnum):
    """The database of a side."""

    SQLITE = "sqlite"
    POSTGRESQL = "postgresql"
    #: The side stores nothing, and has no rows to count.
    NONE = "none"


@final
@frozen(kw_only=True)
class Prepared:
    """A side that can be started: its database exists, if it needs one."""

    command: Sequence[str]
    environment: Mapping[str, str]
    folder: Path
    #: The path that answers 200 when the side is ready.
    ready: str
    hook: Hook
    #: A SQLite file or a URL; empty if the side stores nothing.
    database: str


@final
@frozen(kw_only=True)
class Side:
    """A side that is not started."""

    name: str
    title: str
    database: Database
    #: A query for each of :data:`KINDS` that returns a number; empty if the side stores nothing.
    counts: Mapping[str, str]
    #: Prepares the side in a folder of its own, to listen on a port.
    prepare: Callable[[Bench, Path, int], Prepared]


@final
@frozen(kw_only=True)
class Running:
    """A running side."""

    side: Side
    prepared: Prepared
    port: int
    process: Process
    #: Its own folder: its log, and its SQLite file.
    place: Path
    #: The time from the start to readiness, in seconds.
    start_s: float

    @property
    def hook(self) -> Hook:
        """Return the side's hook."""
        return self.prepared.hook

    def counted(self) -> dict[str, int]:
        """Count its rows, in one snapshot."""
        return count(self.side, self.prepared.database)

    def settled(self) -> dict[str, int]:
        """Count its rows when they no longer change: abandoned requests may still be stored."""
        before = self.counted()
        for _ in range(_PATIENCE):
            time.sleep(_QUIET_S)
            now = self.counted()
            if now == before:
                break
            before = now
        return before

    def stop(self) -> None:
        """End it."""
        self.process.stop()


def start(
    bench: Bench,
    side: Side,
    *,
    preload: Path | None = None,
    furnish: Callable[[Prepared], None] | None = None,
) -> Running:
    """Start a side and wait until it is ready.

    Args:
        bench: The bench.
        side: The side.
        preload: A library that is loaded into the side before all others.
        furnish: Changes the side's database before the start.
    """
    folder = bench.new_folder(side.name)
    port = free_port()
    prepared = side.prepare(bench, folder, port)
    if furnish is not None:
        furnish(prepared)
    environment = dict(prepared.environment)
    if preload is not None:
        environment["LD_PRELOAD"] = str(preload)
    process = Process(
        prepared.command,
        environment=environment,
        folder=prepared.folder,
        log=folder / "log",
        core=bench.cores.server,
    )
    try:
        took = process.until_ready(f"http://127.0.0.1:{port}{prepared.ready}")
    except BaseException:
        process.stop()
        raise
    return Running(side=side, prepared=prepared, port=port, process=process, place=folder, start_s=took)


def discard(bench: Bench, running: Running) -> None:
    """Stop a side, and remove its data: a run fills many databases."""
    running.stop()
    bench.drop(running.place)
    if running.side.database is Database.POSTGRESQL:
        bench.postgres.drop(running.prepared.database)


def count(side: Side, database: str) -> dict[str, int]:
    """Count the rows of a side's database."""
    if side.database is Database.NONE:
        return {}
    if side.database is Database.SQLITE:
        with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=30)) as opened:
            opened.execute("BEGIN")
            return {kind: int(opened.execute(query).fetchone()[0]) for kind, query in side.counts.items()}
    with psycopg.connect(database) as connection:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        counts: dict[str, int] = {}
        for kind, query in side.counts.items():
            row = connection.execute(query.encode()).fetchone()
            assert row is not None
            counts[kind] = int(row[0])
        return counts


@final
@frozen(kw_only=True)
class Reckoning:
    """The stored rows of a round, compared with the answers."""

    stored: Mapping[str, int] = field(factory=dict[str, int])
    #: Why the round is invalid; ``None``: it is valid.
    fault: str | None = None


def reckon(
    before: Mapping[str, int],
    after: Mapping[str, int],
    answers: Answers,
    *,
    given_up: int,
    factors: Mapping[str, int] | None = None,
) -> Reckoning:
    """Compare rows with 200s.

    Args:
        before: The rows before the round; empty if the side stores nothing.
        after: The rows after it.
        answers: The answers that the loader got.
        given_up: The deliveries that were in flight when the loader stopped: they may be stored or not.
        factors: The number of rows of a kind that a delivery adds, if it is not one.
    """
    stored = {kind: after[kind] - before[kind] for kind in before}
    faults = [f"{answers.other} answers were not 200"] if answers.other else []
    if answers.failed:
        faults.append(f"{answers.failed} connections failed")
    if answers.unanswered:
        faults.append(f"{answers.unanswered} deliveries were never answered")
    if not answers.ok:
        faults.append("nothing was answered")
    times = {kind: (factors or {}).get(kind, 1) for kind in stored}
    faults += [f"{stored[kind]} {kind}, and none were due" for kind in stored if not times[kind] and stored[kind]]
    shares = {kind: number / times[kind] for kind, number in stored.items() if times[kind]}
    if len(set(shares.values())) > 1:
        faults.append(f"rows differ from each other: {stored}")
    elif stored and not answers.ok <= next(iter(shares.values())) <= answers.ok + given_up:
        faults.append(f"{answers.ok} answers of 200, and rows: {stored}")
    return Reckoning(stored=stored, fault="; ".join(faults) or None)
