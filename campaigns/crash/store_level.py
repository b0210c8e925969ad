"""A process that settles deliveries and is killed with -9 after some milliseconds, thousands of times.

Each cycle forks a process from one that has imported all modules. It settles deliveries on the file of the previous
cycle, as many at once as a receiver does. It writes each attempt and each result into a ledger, and waits for the disk.
The next process redelivers unacknowledged deliveries. The check reads the file with SQLite alone, and not through the
stores.
"""

import asyncio
import os
import random
import signal
import sqlite3
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Final, final

import msgspec
from attrs import define, field, frozen
from tests.contracts.contract_values import RotatingSealer, Tenant, push, tenant

from contentsvc_adapters.ids import RandomIds
from contentsvc_adapters.sql import Database, SqlStores, upgrade
from contentsvc_core.testing import START
from contentsvc_core.webhooks.delivery import HookConfiguration
from contentsvc_core.webhooks.outcomes import Processed
from contentsvc_core.webhooks.settlement import Settled, Settlement, settlement

_TRIGGERS: Final = 2
#: The number of concurrent settlements.
_AT_ONCE: Final = 24
#: The least and the longest time from the start of a process to its kill, in seconds.
_KILLED_AFTER_S: Final = (0.005, 0.200)
#: The number of cycles on one file: the cost of a cycle must not depend on the number of cycles before it.
_A_FILE: Final = 500


@final
@frozen(kw_only=True)
class Line:
    """A line of the ledger: an attempt, or its result."""

    delivery: str
    log_id: str
    answer: str = ""


@final
@frozen(kw_only=True)
class _Prepared:
    """A database file, its hook, and the ledger beside it."""

    file: Path
    ledger: Path
    acme: Tenant
    hook: HookConfiguration


@final
@define(kw_only=True)
class StoreReport:
    """The result of a campaign."""

    cycles: int = 0
    deliveries: int = 0
    attempts: int = 0
    acknowledged: int = 0
    #: Acknowledged deliveries that are missing.
    lost: list[str] = field(factory=list[str])
    #: Deliveries that are stored twice.
    doubled: list[str] = field(factory=list[str])
    #: Deliveries that are stored in part, or were never sent.
    partial: list[str] = field(factory=list[str])

    @property
    def faults(self) -> list[str]:
        return [*self.lost, *self.doubled, *self.partial]

    @property
    def line(self) -> str:
        """Return the line of figures."""
        return (
            f"crash, store level: {self.cycles} cycles, {self.deliveries} deliveries in {self.attempts} attempts, "
            f"{self.acknowledged} acknowledged; lost {len(self.lost)}, doubled {len(self.doubled)}, "
            f"partial {len(self.partial)}"
        )


def run_store_campaign(
    folder: Path, *, count: int, seed: int, answers: int = 0, on_cycle: Callable[[], object] = lambda: None
) -> StoreReport:
    """Run a campaign in a folder.

    Args:
        folder: The folder of the files. The campaign removes the files of cycles without a fault.
        count: The number of cycles.
        seed: The same seed gives the same deliveries and the same times of kills.
        answers: The number of answers that a process gets before its time runs.
        on_cycle: Called after each cycle.
    """
    rng = random.Random(seed)  # noqa: S311  # reproducible from the seed
    report = StoreReport()
    for first in range(0, count, _A_FILE):
        file, ledger = folder / f"store-{first}.db", folder / f"ledger-{first}"
        ledger.touch()
        acme, hook = asyncio.run(_made(file))
        prepared = _Prepared(file=file, ledger=ledger, acme=acme, hook=hook)
        for _ in range(first, min(first + _A_FILE, count)):
            _cycle(prepared, rng.getrandbits(64), rng.uniform(*_KILLED_AFTER_S), answers)
            report.cycles += 1
            on_cycle()
        _judge(file, ledger, report)
        if not report.faults:
            for each in folder.glob(f"*-{first}*"):
                each.unlink()
    return report


async def _made(file: Path) -> tuple[Tenant, HookConfiguration]:
    database = Database(f"sqlite+aiosqlite:///{file}")
    await upgrade(database)
    stores = SqlStores(database, RotatingSealer())
    acme = await tenant(stores, triggers=_TRIGGERS)
    hook = await acme.hook()
    await stores.close()
    await database.dispose()
    return acme, hook


def _cycle(prepared: _Prepared, seed: int, after_s: float, answers: int) -> None:
    """Fork, let it settle, and kill it."""
    _drop_torn_line(prepared.ledger)
    unacknowledged = _unacknowledged(read_ledger(prepared.ledger))
    ready, begun = os.pipe()
    with warnings.catch_warnings():
        # The warning is about locks of other threads; the threads of a test runner hold none that matter here.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        try:
            os.close(ready)
            asyncio.run(_settle(prepared, seed, unacknowledged, begun, answers))
        finally:
            # The child must not return into the code of its parent.
            os._exit(1)
    os.close(begun)
    try:
        if os.read(ready, 1):
            time.sleep(after_s)
            os.kill(child, signal.SIGKILL)
    finally:
        os.close(ready)
        _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        message = "the process that settles has ended by itself"
        raise RuntimeError(message)


async def _settle(prepared: _Prepared, seed: int, again: list[str], begun: int, answers: int) -> None:
    """Settle without end: first unacknowledged deliveries, then new ones, with copies among them."""
    rng = random.Random(seed)  # noqa: S311  # as above
    ids = RandomIds()
    stores = SqlStores(Database(f"sqlite+aiosqlite:///{prepared.file}"), RotatingSealer())
    book = os.open(prepared.ledger, os.O_WRONLY | os.O_APPEND)
    waiting = [*again]
    recent: list[str] = []
    answered = count(1)

    def next_delivery() -> str:
        if waiting:
            return waiting.pop()
        if recent and rng.random() < 0.2:
            return rng.choice(recent[-_AT_ONCE:])
        recent.append(created := f"d-{rng.getrandbits(64):016x}")
        return created

    async def work() -> None:
        while True:
            delivery = next_delivery()
            settling = _settlement(prepared, delivery, ids)
            _note(book, Line(delivery=delivery, log_id=settling.log.id))
            settled = await stores.deliveries.settle(settling)
            _note(book, Line(delivery=delivery, log_id=settling.log.id, answer=settled.name))
            if next(answered) == answers:
                os.write(begun, b"!")

    # Opening the connection recovers the write-ahead log of the previous process. The timer starts after it.
    await stores.directory.organizations()
    if not answers:
        os.write(begun, b"!")
    await asyncio.gather(*(work() for _ in range(_AT_ONCE)))


def _settlement(prepared: _Prepared, delivery: str, ids: RandomIds) -> Settlement:
    repository = prepared.acme.repository
    outcome = Processed(
        event=push(f"feat: {delivery}"),
        delivery_id=delivery,
        repository_id=repository.id,
        repository=repository.full_name,
    )
    settling = settlement(outcome, prepared.hook, at=START, new_id=ids.new_id)
    assert settling is not None
    return settling


def _note(book: int, line: Line) -> None:
    os.write(book, msgspec.json.encode(line) + b"\n")
    os.fdatasync(book)


def _drop_torn_line(ledger: Path) -> None:
    """Remove an incomplete last line: a kill may come between two pages of the file.

    The line has no effect: an attempt without it was not begun, and a result without it was not sent.
    """
    text = ledger.read_bytes()
    os.truncate(ledger, text.rfind(b"\n") + 1)


def read_ledger(ledger: Path) -> list[Line]:
    """Read a ledger; an incomplete last line is ignored."""
    text, _, _ = ledger.read_bytes().rpartition(b"\n")
    return [msgspec.json.decode(line, type=Line) for line in text.split(b"\n") if line]


def _unacknowledged(lines: Iterable[Line]) -> list[str]:
    answered: dict[str, bool] = {}
    for line in lines:
        answered[line.delivery] = answered.get(line.delivery, False) or bool(line.answer)
    return [delivery for delivery, is_answered in answered.items() if not is_answered]


def _judge(file: Path, ledger: Path, report: StoreReport) -> None:
    """Compare the stored data with the ledger."""
    lines = read_ledger(ledger)
    attempts = {line.log_id: line.delivery for line in lines}
    answers: dict[str, str] = {line.log_id: line.answer for line in lines if line.answer}
    report.attempts += len(attempts)
    report.deliveries += len(set(attempts.values()))
    report.acknowledged += len(answers)
    with closing(sqlite3.connect(file)) as disk:
        titles = dict(disk.execute("SELECT id, title FROM log_entries"))
        events = dict(disk.execute("SELECT id, delivery_id FROM events"))
        contexts = dict(disk.execute("SELECT event_id, custom_id FROM context_records"))
        runs = Counter(event for (event,) in disk.execute("SELECT event_id FROM workflow_runs"))
        claims = Counter(log for (log,) in disk.execute("SELECT log_id FROM claims"))
        (sound,) = disk.execute("PRAGMA integrity_check").fetchone()
    if sound != "ok":
        report.partial.append(f"{file.name}: {sound}")
    processed: dict[str, list[str]] = defaultdict(list)
    for log_id in {*titles, *events, *contexts, *runs, *claims}:
        delivery = attempts.get(log_id)
        if delivery is None:
            report.partial.append(f"{log_id}: it was never sent")
            continue
        left = (log_id in titles, log_id in events, log_id in contexts, runs[log_id], claims[log_id])
        if left == (True, True, True, _TRIGGERS, 1) and titles[log_id].startswith("Processed"):
            processed[delivery].append(log_id)
        elif left != (True, False, False, 0, 0) or not titles[log_id].startswith("Duplicate"):
            report.partial.append(f"{delivery}: of {log_id} there is {left}, {titles.get(log_id)!r}")
    for log_id, answer in answers.items():
        if log_id not in titles:
            report.lost.append(f"{attempts[log_id]}: {log_id} was answered {answer}, and is not there")
        elif (answer == Settled.AS_DECIDED.name) != titles[log_id].startswith("Processed"):
            report.partial.append(f"{attempts[log_id]}: {log_id} was answered {answer}, and is {titles[log_id]!r}")
        if not processed[attempts[log_id]]:
            report.lost.append(f"{attempts[log_id]} was answered {answer}, and was never processed")
    report.doubled += [f"{delivery}: processed as {logs}" for delivery, logs in processed.items() if len(logs) > 1]
