"""What SQLite alone promises: durability on each connection, whole transactions, several processes on one file."""

import asyncio
import sqlite3
import sys
from collections.abc import AsyncGenerator
from contextlib import closing
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from contract_values import CHECKING, REFUSED, SECRET, Left, RotatingSealer, Tenant, a_post, tenant
from sqlalchemy import Connection, event, text

from contentsvc_adapters.sql import Database, SqlStores, sql_stores, upgrade
from contentsvc_core.errors import SecretUnreadable, StoreUnavailable
from contentsvc_core.organizations import Organization
from contentsvc_core.testing import START
from contentsvc_core.webhooks.outcomes import Outcome
from contentsvc_core.webhooks.settlement import Settled


@pytest.fixture
async def acme(database: Database) -> Tenant:
    return await tenant(sql_stores(database, RotatingSealer()))


@pytest.fixture
async def beside(database: Database, acme: Tenant) -> AsyncGenerator[SqlStores]:
    """The same file, opened once more, as an operator's command does; it waits for nobody."""
    stores = sql_stores(Database(f"sqlite:///{_file(database)}", busy_timeout_ms=0), RotatingSealer())
    yield stores
    await stores.close()


def _file(database: Database) -> Path:
    return database.dialect.path


def _pragmas(connection: Connection) -> dict[str, Any]:
    names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout", "query_only")
    return {name: connection.execute(text(f"PRAGMA {name}")).scalar() for name in names}


async def test_every_connection_is_durable_and_checks_references(database: Database) -> None:
    common = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 5000}

    assert await database.write(_pragmas) == {**common, "query_only": 0}
    # All of the readers, held open at once.
    readers = [await database._reader.connect() for _ in range(database._reader.pool.size())]  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue, reportUnknownArgumentType, reportUnknownMemberType, reportUnknownVariableType]
    for reader in readers:
        assert await reader.run_sync(_pragmas) == {**common, "query_only": 1}
        await reader.close()
    assert len(readers) == 4


async def test_a_reader_cannot_write(database: Database) -> None:
    with pytest.raises(StoreUnavailable, match="readonly"):
        await database.read(lambda connection: connection.execute(text("DELETE FROM claims")))


class _Faults:
    """Fails one statement of the writer: the n-th that writes, after the database has executed it; or the commit."""

    def __init__(self, database: Database) -> None:
        self._engine = database._writer.sync_engine  # pyright: ignore[reportPrivateUsage]
        self._left: int | None = None
        self._after_commit = False
        self.struck = False
        self._commit = self._engine.dialect.do_commit
        event.listen(self._engine, "after_cursor_execute", self._executed)
        self._engine.dialect.do_commit = self._committing

    def arm(self, nth: int, *, after_commit: bool = False) -> None:
        self._left, self._after_commit, self.struck = nth, after_commit, False

    def disarm(self) -> None:
        self._left = None

    def _executed(self, *details: Any) -> None:
        if self._left is not None and not self._after_commit and not details[2].startswith(("BEGIN", "SELECT")):
            self._strike()

    def _committing(self, dbapi_connection: Any) -> None:
        if self._left is not None and not self._after_commit:
            self._strike()
        self._commit(dbapi_connection)
        if self._left is not None and self._after_commit:
            self._strike()

    def _strike(self) -> None:
        assert self._left is not None
        self._left -= 1
        if self._left == 0:
            self.struck = True
            message = "disk I/O error"
            raise sqlite3.OperationalError(message)


@pytest.mark.parametrize(
    ("outcome", "copies", "writes"),
    [
        # claim, event, context record, runs, log entry, commit
        (None, 0, 6),
        (None, 1, 2),
        (CHECKING[0], 0, 2),
        (REFUSED, 0, 2),
    ],
    ids=["processed", "duplicate", "filtered", "refused"],
)
async def test_a_failure_after_any_statement_leaves_nothing(
    database: Database, acme: Tenant, outcome: Outcome | None, copies: int, writes: int
) -> None:
    for _ in range(copies):
        await acme.stores.deliveries.settle(await acme.processed("d"))
    before = await acme.left()
    settling = await acme.processed("d") if outcome is None else await acme.decided(outcome)
    faults = _Faults(database)

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

    # Every write was tried, and the settlement that failed so often is settled in the end, once.
    assert nth == writes + 1
    assert answer is (Settled.ALREADY_CLAIMED if copies else Settled.AS_DECIDED)
    faults.disarm()
    after = await acme.left()
    assert len(after.log) == len(before.log) + 1
    assert await acme.stores.deliveries.settle(settling) is answer
    assert await acme.left() == after


async def test_a_failure_after_any_statement_leaves_a_run_without_a_post(database: Database, acme: Tenant) -> None:
    run = await acme.taken()
    before = await acme.left()
    faults = _Faults(database)
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
    assert nth == 4
    assert len(await acme.stores.posts.posts(acme.id)) == 1


@pytest.mark.parametrize("outcome", [None, CHECKING[0], REFUSED], ids=["take", "check", "none"])
async def test_an_answer_that_was_lost_after_the_commit_is_given_again(
    database: Database, acme: Tenant, outcome: Outcome | None
) -> None:
    settling = await acme.processed("d") if outcome is None else await acme.decided(outcome)
    faults = _Faults(database)
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


async def test_an_event_is_stored_once(database: Database, acme: Tenant) -> None:
    await acme.stores.deliveries.settle(await acme.processed("d-1"))

    needle = await database.read(lambda connection: list(connection.execute(text("SELECT data FROM events"))))

    assert len(needle) == 1
    dumped = await database.read(partial(_dump, "feat: lamp"))
    assert dumped == ["events.data"]


def _dump(needle: str, connection: Connection) -> list[str]:
    """Name every column in which a text stands."""
    tables = connection.scalars(text("SELECT name FROM sqlite_master WHERE type = 'table'")).all()
    found: list[str] = []
    for table in tables:
        for row in connection.execute(text(f"SELECT * FROM {table}")).mappings():  # noqa: S608  # our own tables
            found += [f"{table}.{name}" for name, value in row.items() if needle in str(value)]
    return found


async def test_a_secret_is_nowhere_in_clear(database: Database, acme: Tenant) -> None:
    # Before the database is closed, too: the write-ahead log is a file of its own.
    folder = _file(database).parent
    raw = b"".join(path.read_bytes() for path in folder.iterdir())
    assert acme.integration.id.encode() in raw
    assert SECRET.encode() not in raw

    await database.dispose()
    raw = b"".join(path.read_bytes() for path in folder.iterdir())
    assert acme.integration.id.encode() in raw
    assert SECRET.encode() not in raw


async def test_an_unreadable_secret_is_an_error_of_its_own(database: Database, acme: Tenant) -> None:
    await database.write(lambda connection: connection.execute(text("UPDATE webhook_secrets SET sealed = 'x:y'")))

    with pytest.raises(SecretUnreadable):
        await acme.stores.deliveries.endpoint(acme.address)


async def test_two_processes_see_each_others_writes_at_once(acme: Tenant, beside: SqlStores) -> None:
    there = evolve(acme, stores=beside)
    settling = await acme.processed("d-1")
    assert await beside.directory.enable_trigger(acme.id, acme.triggers[0].id, enabled=False)

    assert await acme.stores.deliveries.settle(settling) is Settled.STALE
    assert (await acme.endpoint()).triggers == acme.triggers[1:]
    assert await acme.stores.deliveries.settle(await acme.processed("d-1")) is Settled.AS_DECIDED
    assert (await there.left()).counts == (1, 1, 1)
    assert await beside.deliveries.settle(await there.processed("d-1")) is Settled.ALREADY_CLAIMED
    assert (await acme.left()).counts == (1, 1, 2)


async def test_of_two_processes_one_takes_a_run(database: Database, acme: Tenant) -> None:
    other = sql_stores(Database(f"sqlite:///{_file(database)}"), RotatingSealer())
    settling = [await acme.processed(f"d-{number}") for number in range(8)]
    for each in settling:
        await acme.stores.deliveries.settle(each)
    ids = [run.id for each in settling for run in each.runs]

    hands = await asyncio.gather(*(stores.ledger.take(ids) for stores in (acme.stores, other) for _ in range(4)))

    assert sorted(run.id for hand in hands for run in hand) == sorted(ids)
    await other.close()


async def test_of_two_processes_one_claims_a_delivery(database: Database, acme: Tenant) -> None:
    other = sql_stores(Database(f"sqlite:///{_file(database)}"), RotatingSealer())
    copies = [await acme.processed("d-1") for _ in range(32)]

    answers = await asyncio.gather(
        *((acme.stores, other)[number % 2].deliveries.settle(copy) for number, copy in enumerate(copies))
    )

    assert answers.count(Settled.AS_DECIDED) == 1
    assert (await acme.left()).counts == (1, 2, 32)
    await other.close()


async def test_a_locked_file_is_unavailable_for_all_who_wait_and_then_available_again(
    database: Database, acme: Tenant, beside: SqlStores
) -> None:
    there = evolve(acme, stores=beside)
    settling = [await there.processed(f"d-{number}") for number in range(16)]
    with closing(sqlite3.connect(_file(database), isolation_level=None)) as locking:
        locking.execute("BEGIN IMMEDIATE")

        answers = await asyncio.gather(*map(beside.deliveries.settle, settling), return_exceptions=True)
        # Readers do not care.
        assert await there.left() == Left()

    assert all(type(answer) is StoreUnavailable and "locked" in str(answer) for answer in answers)
    assert [await beside.deliveries.settle(each) for each in settling] == [Settled.AS_DECIDED] * 16


async def test_who_waits_for_a_locked_file_gets_it(acme: Tenant, database: Database) -> None:
    with closing(sqlite3.connect(_file(database), isolation_level=None, check_same_thread=False)) as locking:
        locking.execute("BEGIN IMMEDIATE")
        waiting = asyncio.create_task(acme.stores.deliveries.settle(await acme.processed("d-1")))
        # A reader's answer, while the writer waits: the event loop is not blocked.
        assert await acme.left() == Left()
        assert not waiting.done()
        locking.execute("COMMIT")

        assert await waiting is Settled.AS_DECIDED


async def test_a_full_disk_is_unavailable_and_leaves_nothing(database: Database, acme: Tenant) -> None:
    def fill(connection: Connection) -> None:
        pages = connection.execute(text("PRAGMA page_count")).scalar_one()
        connection.execute(text(f"PRAGMA max_page_count = {pages}"))

    await database.write(fill)
    settling = await acme.processed("d-1", None)
    huge = evolve(settling, log=evolve(settling.log, reason="x" * 100_000))

    with pytest.raises(StoreUnavailable, match="full"):
        await acme.stores.deliveries.settle(huge)

    assert await acme.left() == Left()
    await database.write(lambda connection: connection.execute(text("PRAGMA max_page_count = 1000000")))
    assert await acme.stores.deliveries.settle(huge) is Settled.AS_DECIDED


async def test_a_file_that_is_no_database_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_text("Dear diary, " * 1000)
    database = Database(f"sqlite:///{tmp_path / 'notes.db'}")

    with pytest.raises(StoreUnavailable, match=r"notes\.db"):
        await upgrade(database)

    await database.dispose()
    assert (tmp_path / "notes.db").read_text().startswith("Dear diary")


async def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'missing' / 'store.db'}")

    with pytest.raises(StoreUnavailable, match=r"missing/store\.db.*folder does not exist"):
        await upgrade(database)

    await database.dispose()
    assert not list(tmp_path.iterdir())  # noqa: ASYNC240  # a test may wait for the disk


@pytest.mark.parametrize(
    "url", ["sqlite://", "sqlite:///:memory:", "sqlite:///x.db?mode=ro", "mysql://u:hush@host/db", "contentsvc.db"]
)
def test_another_url_is_refused_in_a_sentence(url: str) -> None:
    with pytest.raises(ValueError, match="sqlite:///") as refusal:
        Database(url)

    assert "hush" not in str(refusal.value)


async def test_what_is_under_way_is_finished_before_the_database_closes(database: Database, acme: Tenant) -> None:
    settling = [await acme.processed(f"d-{number}") for number in range(8)]
    crowd = [asyncio.create_task(acme.stores.deliveries.settle(each)) for each in settling]
    await asyncio.sleep(0)
    for leaving in crowd:
        leaving.cancel()

    await database.dispose()

    await asyncio.gather(*crowd, return_exceptions=True)
    with closing(sqlite3.connect(_file(database))) as file:
        assert file.execute("SELECT count(*) FROM log_entries").fetchone() == (8,)
    assert not _file(database).with_name("store.db-wal").exists()
    with pytest.raises(StoreUnavailable, match="closed"):
        await acme.left()


async def test_an_errors_text_tells_nothing_of_the_tenants_data(database: Database, acme: Tenant) -> None:
    settling = await acme.processed("d-1")
    with pytest.raises(Exception, match="refuses") as refusal:
        await acme.stores.deliveries.settle(evolve(settling, runs=(settling.runs[0], settling.runs[0])))

    assert acme.triggers[0].id not in f"{refusal.value} {refusal.value.__cause__}"


_PLANS = {
    "pending": "ix_workflow_runs_pending",
    "posts": "ix_posts_organization_id_created_at_id",
    "before": "ix_context_records_repository",
    "records": "ix_context_records_organization_id_created_at_id",
    "runs": "ix_workflow_runs_organization_id_created_at_id",
    "entries": "PRIMARY KEY",
    "sweep": "PRIMARY KEY",
    "claims": "ix_claims_claimed_at",
}


def _plan(asked: list[tuple[str, Any]], connection: Connection) -> str:
    return "\n".join(
        str(row[-1])
        for sql, parameters in asked
        for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", parameters)
    )


@pytest.mark.parametrize("question", _PLANS)
async def test_an_index_serves(database: Database, acme: Tenant, question: str) -> None:
    """No list is sorted, and no table is read whole, however long it gets."""
    statements: list[tuple[str, Any]] = []
    for engine in (database._reader, database._writer):  # pyright: ignore[reportPrivateUsage]
        event.listen(
            engine.sync_engine,
            "after_cursor_execute",
            lambda *details: statements.append((details[2], details[3])),
        )
    run = await acme.taken()
    (record,) = await acme.stores.contexts.records(acme.id)
    statements.clear()
    stores = acme.stores
    match question:
        case "pending":
            await stores.ledger.pending(START, limit=5)
        case "posts":
            await stores.posts.posts(run.organization_id, limit=5)
        case "before":
            await stores.contexts.before(record, limit=5)
        case "records":
            await stores.contexts.records(acme.id, limit=5)
        case "runs":
            await stores.ledger.runs(acme.id, limit=5)
        case "entries":
            await stores.journal.entries(acme.id, limit=5)
        case "sweep":
            await stores.journal.sweep(acme.id, before=START, limit=5)
        case _:
            await stores.journal.sweep_claims(before=START, limit=5)
    asked = [(sql, parameters) for sql, parameters in statements if not sql.startswith("BEGIN")]

    plan = await database.read(partial(_plan, asked))

    assert _PLANS[question] in plan
    assert "TEMP B-TREE" not in plan
    assert not [line for line in plan.splitlines() if line.startswith("SCAN") and "INDEX" not in line]


async def test_a_process_that_is_killed_while_it_writes_leaves_whole_settlements(
    database: Database, acme: Tenant
) -> None:
    """Each delivery has either all of its rows or none; the next process goes on with the same file."""
    script = f"""
import asyncio, os, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from sqlalchemy import event
from contract_values import *
from contentsvc_adapters.sql import *
from contentsvc_core.webhooks.settlement import Settled
async def main():
    database = Database("sqlite:///{_file(database)}")
    stores = sql_stores(database, RotatingSealer())
    organization = await stores.directory.organization("acme")
    (integration,) = await stores.directory.integrations(organization.id)
    acme = Tenant(stores=stores, organization=organization, integration=integration, triggers=())
    IDS._numbers = count(10**6)
    for number in range(3):
        assert await stores.deliveries.settle(await acme.processed(f"d-{{number}}")) is Settled.AS_DECIDED
    writes = []
    def killed(connection, cursor, statement, *rest):
        writes.append(statement)
        if statement.startswith("INSERT INTO log_entries"):
            os.kill(os.getpid(), 9)
    event.listen(database._writer.sync_engine, "after_cursor_execute", killed)
    await stores.deliveries.settle(await acme.processed("d-3"))
asyncio.run(main())
"""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stderr=asyncio.subprocess.PIPE)
    _, errors = await process.communicate()
    assert process.returncode == -9, errors.decode()

    assert (await acme.left()).counts == (3, 6, 3)
    assert await acme.stores.deliveries.settle(await acme.processed("d-2")) is Settled.ALREADY_CLAIMED
    assert await acme.stores.deliveries.settle(await acme.processed("d-3")) is Settled.AS_DECIDED


async def test_a_new_organization_of_another_process_is_there_at_once(acme: Tenant, beside: SqlStores) -> None:
    new = Organization(id="org_new", slug="new", name="New", created_at=START)
    assert await beside.directory.add_organization(new)

    assert await acme.stores.directory.organization("new") == new
