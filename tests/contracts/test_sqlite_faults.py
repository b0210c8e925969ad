"""SQLite: a failure or a kill at any point leaves complete transactions."""

import asyncio
import sqlite3
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Iterable
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Self, final

import pytest
from contract_values import CHECKING, REFUSED, RotatingSealer, Tenant, a_post, tenant
from sqlalchemy import text
from sqlite_files import file_of

from contentsvc_adapters.sql import Database, SqlStores, upgrade
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.webhooks.outcomes import Outcome
from contentsvc_core.webhooks.settlement import Settled

pytestmark = pytest.mark.slow("fails after each statement in turn")


@final
class _Faults:
    """Fails one statement: the n-th write, after its execution, or the commit."""

    def __init__(self) -> None:
        self._left: int | None = None
        self._after_commit = False
        self.struck = False

    def arm(self, nth: int, *, after_commit: bool = False) -> None:
        self._left, self._after_commit, self.struck = nth, after_commit, False

    def disarm(self) -> None:
        self._left = None

    def executed(self, statement: str) -> None:
        if self._left is not None and not self._after_commit and not statement.startswith(("BEGIN", "SELECT")):
            self._strike()

    def committing(self, commit: Callable[[], None]) -> None:
        if self._left is not None and not self._after_commit:
            self._strike()
        commit()
        if self._left is not None and self._after_commit:
            self._strike()

    def _strike(self) -> None:
        assert self._left is not None
        self._left -= 1
        if self._left == 0:
            self.struck = True
            message = "disk I/O error"
            raise sqlite3.OperationalError(message)


def _is_writer() -> bool:
    return threading.current_thread().name == "SQLite writer"


@pytest.fixture
def faults(monkeypatch: pytest.MonkeyPatch) -> _Faults:
    """Faults of the writer of each database that is opened from now on; lanes use the driver directly."""
    created = _Faults()

    class Cursor(sqlite3.Cursor):
        def execute(self, sql: str, *parameters: Any) -> Self:
            super().execute(sql, *parameters)
            if _is_writer():
                created.executed(sql)
            return self

        def executemany(self, sql: str, rows: Iterable[Any]) -> Self:
            some = [*rows]
            super().executemany(sql, some)
            if some:
                created.executed(sql)
            return self

    class FaultyConnection(sqlite3.Connection):
        def cursor(self, factory: Any = Cursor) -> Any:
            return super().cursor(factory)

        def commit(self) -> None:
            if _is_writer():
                created.committing(super().commit)
            else:
                super().commit()

    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=FaultyConnection))
    return created


@pytest.fixture
async def database(tmp_path: Path, faults: _Faults) -> AsyncGenerator[Database]:
    created = Database(f"sqlite:///{tmp_path / 'store.db'}")
    await upgrade(created)
    yield created
    await created.dispose()


@pytest.fixture
async def acme(database: Database) -> Tenant:
    return await tenant(SqlStores(database, RotatingSealer()))


@pytest.mark.slow("fails each statement in turn")
@pytest.mark.parametrize(
    ("outcome", "copies", "writes"),
    [
        # claim, event, context record, runs, log entry, counts, note for search, commit
        (None, 0, 8),
        (None, 1, 3),
        (CHECKING[0], 0, 3),
        (REFUSED, 0, 3),
    ],
    ids=["processed", "duplicate", "filtered", "refused"],
)
async def test_a_failure_after_any_statement_leaves_nothing(
    faults: _Faults, database: Database, acme: Tenant, outcome: Outcome | None, copies: int, writes: int
) -> None:
    for _ in range(copies):
        await acme.stores.deliveries.settle(await acme.processed("d"))
    before = await acme.left()
    settling = await acme.processed("d") if outcome is None else await acme.decided(outcome)

    nth, answer = 0, None
    for nth in count(1):  # the number at which nothing fails any more
        faults.arm(nth)
        try:
            answer = await acme.stores.deliveries.settle(settling)
        except StoreUnavailable:
            assert faults.struck
            assert await acme.left() == before
            assert await _claims(database) == copies
        else:
            assert not faults.struck
            break

    # Each write has failed once, and finally the settlement is stored once.
    assert nth == writes + 1
    assert answer is (Settled.ALREADY_CLAIMED if copies else Settled.AS_DECIDED)
    faults.disarm()
    after = await acme.left()
    assert len(after.log) == len(before.log) + 1
    assert await acme.stores.deliveries.settle(settling) is answer
    assert await acme.left() == after


async def test_a_failure_after_any_statement_leaves_a_run_without_a_post(faults: _Faults, acme: Tenant) -> None:
    run = await acme.taken()
    before = await acme.left()
    nth = 0
    for nth in count(1):  # the number at which nothing fails any more
        faults.arm(nth)
        try:
            await acme.stores.ledger.complete(run, a_post(acme.id), once="v1")
        except StoreUnavailable:
            assert await acme.left() == before
            assert not await acme.stores.posts.posts(acme.id)
        else:
            break
    # run, its steps, post, the posts that it contains, commit; and the turn without a failure
    assert nth == 6
    assert len(await acme.stores.posts.posts(acme.id)) == 1


@pytest.mark.parametrize("outcome", [None, CHECKING[0], REFUSED], ids=["take", "check", "none"])
async def test_an_answer_that_was_lost_after_the_commit_is_given_again(
    faults: _Faults, acme: Tenant, outcome: Outcome | None
) -> None:
    settling = await acme.processed("d") if outcome is None else await acme.decided(outcome)
    faults.arm(1, after_commit=True)
    with pytest.raises(StoreUnavailable):
        await acme.stores.deliveries.settle(settling)
    assert faults.struck
    faults.disarm()
    left = await acme.left()
    assert len(left.log) == 1

    assert await acme.stores.deliveries.settle(settling) is Settled.AS_DECIDED

    assert await acme.left() == left


async def _claims(database: Database) -> int:
    return await database.read(lambda connection: connection.execute(text("SELECT count(*) FROM claims")).scalar_one())


@pytest.mark.slow("starts several processes")
async def test_a_process_that_is_killed_while_it_writes_leaves_whole_settlements(
    database: Database, acme: Tenant
) -> None:
    """Each delivery has all of its rows or none; the next process continues with the same file."""
    script = f"""
import asyncio, os, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from contract_values import *
from contentsvc_adapters.sql import *
from contentsvc_core.webhooks.settlement import Settled
async def main():
    database = Database("sqlite:///{file_of(database)}")
    stores = SqlStores(database, RotatingSealer())
    organization = await stores.directory.organization("acme")
    (integration,) = await stores.directory.integrations(organization.id)
    acme = Tenant(stores=stores, organization=organization, integration=integration, triggers=())
    IDS._numbers = count(10**6)
    for number in range(3):
        assert await stores.deliveries.settle(await acme.processed(f"d-{{number}}")) is Settled.AS_DECIDED
    def killed(statement):
        if statement.startswith("INSERT INTO log_entries"):
            os.kill(os.getpid(), 9)
    database._writer._driver.set_trace_callback(killed)
    await stores.deliveries.settle(await acme.processed("d-3"))
asyncio.run(main())
"""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stderr=asyncio.subprocess.PIPE)
    _, errors = await process.communicate()
    assert process.returncode == -9, errors.decode()

    assert (await acme.left()).counts == (3, 6, 3)
    assert await acme.stores.deliveries.settle(await acme.processed("d-2")) is Settled.ALREADY_CLAIMED
    assert await acme.stores.deliveries.settle(await acme.processed("d-3")) is Settled.AS_DECIDED
