"""PostgreSQL: transactions that wait for each other."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest
from contract_lanes import until_they_wait
from contract_values import (
    CHANGES,
    CHECKING,
    REFUSED,
    RotatingSealer,
    Tenant,
    a_post,
    a_trigger,
    an_integration,
    change,
    ending,
    later,
    release,
    take,
    tenant,
)
from sqlalchemy import Connection, event, text
from sqlalchemy.util import await_only
from tests import postgres

from contentsvc_adapters.sql import Database, SqlStores
from contentsvc_adapters.sql.settling.batch_writer import BatchItem
from contentsvc_adapters.sql.settling.postgresql import PostgresqlBatchWriter
from contentsvc_core.content.posts import PostStatus
from contentsvc_core.testing import START, switched
from contentsvc_core.webhooks.outcomes import Outcome
from contentsvc_core.webhooks.settlement import DEDUPE_WINDOW, Settled, Settlement
from contentsvc_core.workflows.context import custom_id
from contentsvc_core.workflows.triggers import Trigger

pytestmark = pytest.mark.slow("races two processes on PostgreSQL")


@pytest.fixture
async def acme(postgresql: Database) -> Tenant:
    return await tenant(SqlStores(postgresql, RotatingSealer()))


def _settled_slowly(
    settlement: Settlement, database: Database, reached: asyncio.Event, go_on: asyncio.Event, connection: Connection
) -> Settled:
    """Settle, and stop before the commit."""
    # After its beginning, the statement belongs to the transaction.
    connection.execute(text("SELECT 1"))
    driver: Any = connection.connection.driver_connection

    async def fetch(statement: str, arguments: Sequence[object]) -> Any:
        return await driver.fetch(statement, *arguments)

    (answer,) = await_only(PostgresqlBatchWriter(database).settled([BatchItem(settlement=settlement)], fetch))
    asyncio.get_running_loop().call_soon(reached.set)
    while not go_on.is_set():
        connection.execute(text("SELECT pg_sleep(0.02)"))
    return answer


def _deadlocks(url: str) -> int:
    return postgres.rows(url, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")[0][0]


@pytest.mark.parametrize("outcome", [None, CHECKING[0], REFUSED], ids=ending)
async def test_one_settlement_sent_many_times_at_once_is_written_once(
    acme: Tenant, beside: Tenant, outcome: Outcome | None
) -> None:
    for number in range(8):
        settling = await (acme.processed(f"d-{number}") if outcome is None else acme.decided(outcome))
        answers = await asyncio.gather(
            *((acme, beside)[number % 2].stores.deliveries.settle(settling) for number in range(16))
        )

        assert answers == [Settled.AS_DECIDED] * 16

    assert (await acme.left()).counts == ((8, 16, 8) if outcome is None else (0, 0, 8))


async def test_a_settlement_sent_twice_keeps_its_first_answer(
    acme: Tenant, beside: Tenant, postgresql: Database, postgres_url: str
) -> None:
    checking = await acme.decided(CHECKING[0])
    reached, go_on = asyncio.Event(), asyncio.Event()
    first = asyncio.create_task(postgresql.write(partial(_settled_slowly, checking, postgresql, reached, go_on)))
    await reached.wait()
    # The id is claimed between the two settlements: the second one alone would be a duplicate.
    assert await beside.stores.deliveries.settle(await beside.processed("d")) is Settled.AS_DECIDED
    second = asyncio.create_task(beside.stores.deliveries.settle(checking))
    await until_they_wait([second], postgres_url)
    go_on.set()

    assert await asyncio.gather(first, second) == [Settled.AS_DECIDED] * 2
    assert sorted((await acme.left()).log) == [checking.log.title, "Processed push event"]


async def test_a_copy_that_is_sent_many_times_at_once_is_logged_once(acme: Tenant, beside: Tenant) -> None:
    await acme.stores.deliveries.settle(await acme.processed("d"))
    copy = await acme.processed("d")

    answers = await asyncio.gather(*((acme, beside)[number % 2].stores.deliveries.settle(copy) for number in range(16)))

    assert answers == [Settled.ALREADY_CLAIMED] * 16
    assert (await acme.left()).counts == (1, 2, 2)


@pytest.mark.parametrize("commits", [True, False])
async def test_a_twin_waits_for_the_first_ones_fate(
    acme: Tenant, postgresql: Database, postgres_url: str, commits: bool
) -> None:
    first, second = await acme.processed("d"), await acme.processed("d")
    reached, go_on = asyncio.Event(), asyncio.Event()

    def half_way(connection: Connection) -> Settled:
        answer = _settled_slowly(first, postgresql, reached, go_on, connection)
        if not commits:
            raise LookupError
        return answer

    taking = asyncio.create_task(postgresql.write(half_way))
    await reached.wait()
    waiting = asyncio.create_task(acme.stores.deliveries.settle(second))
    await until_they_wait([waiting], postgres_url)
    go_on.set()

    assert await waiting is (Settled.ALREADY_CLAIMED if commits else Settled.AS_DECIDED)
    (outcome,) = await asyncio.gather(taking, return_exceptions=True)
    assert (outcome is Settled.AS_DECIDED) is commits
    assert (await acme.left()).counts == (1, 2, 2 if commits else 1)


async def test_of_many_that_take_an_old_claim_over_one_does(acme: Tenant, beside: Tenant) -> None:
    await acme.stores.deliveries.settle(await acme.processed("d"))
    early = await acme.processed("d", at=later(days=1, milliseconds=-1))
    again = [await acme.processed("d", at=START + DEDUPE_WINDOW) for _ in range(16)]

    assert await acme.stores.deliveries.settle(early) is Settled.ALREADY_CLAIMED
    answers = await asyncio.gather(
        *((acme, beside)[number % 2].stores.deliveries.settle(copy) for number, copy in enumerate(again))
    )

    assert answers.count(Settled.AS_DECIDED) == 1
    assert answers.count(Settled.ALREADY_CLAIMED) == 15


async def test_a_sweep_leaves_a_claim_that_is_being_taken_over(
    acme: Tenant, beside: Tenant, postgresql: Database, postgres_url: str
) -> None:
    await acme.stores.deliveries.settle(await acme.processed("d"))
    reached, go_on = asyncio.Event(), asyncio.Event()
    again = await acme.processed("d", at=START + DEDUPE_WINDOW)
    taking = asyncio.create_task(postgresql.write(partial(_settled_slowly, again, postgresql, reached, go_on)))
    await reached.wait()

    assert await beside.stores.journal.sweep_claims(before=START, limit=9) == 0

    go_on.set()
    assert await taking is Settled.AS_DECIDED
    assert postgres.rows(postgres_url, "SELECT log_id FROM claims") == [(again.log.id,)]
    assert await beside.stores.deliveries.settle(await beside.processed("d", at=again.at)) is Settled.ALREADY_CLAIMED


async def test_sweeps_at_once_share_the_work(acme: Tenant, beside: Tenant, postgres_url: str) -> None:
    for number in range(60):
        await acme.stores.deliveries.settle(await acme.processed(f"d-{number}"))

    entries = await asyncio.gather(
        *((acme, beside)[n % 2].stores.journal.sweep(acme.id, before=later(hours=1), limit=20) for n in range(8))
    )
    claims = await asyncio.gather(
        *((acme, beside)[n % 2].stores.journal.sweep_claims(before=later(hours=1), limit=20) for n in range(8))
    )

    assert max(*entries, *claims) == 20
    while await acme.stores.journal.sweep(acme.id, before=later(hours=1), limit=20):
        pass
    while await acme.stores.journal.sweep_claims(before=later(hours=1), limit=20):
        pass
    assert postgres.rows(postgres_url, "SELECT (SELECT count(*) FROM claims), (SELECT count(*) FROM log_entries)") == [
        (0, 0)
    ]
    await beside.stores.close()
    assert _deadlocks(postgres_url) == 0


async def test_concurrent_changes_each_raise_the_version_without_deadlock(
    acme: Tenant, beside: Tenant, postgres_url: str
) -> None:
    before = (await acme.hook()).version
    forth = an_integration(acme.id, *((number, f"acme/{number}") for number in range(10, 40)))
    back = an_integration(acme.id, *((number, f"acme/{number}") for number in reversed(range(10, 40))))
    changes: list[Any] = [
        acme.stores.directory.add_integration(forth, "one"),
        beside.stores.directory.add_integration(back, "two"),
        *(
            (acme, beside)[number % 2].stores.triggers.change(
                acme.id, acme.triggers[number % 2].id, switched(enabled=number % 3 == 0)
            )
            for number in range(10)
        ),
        *((acme, beside)[number % 2].stores.triggers.add(a_trigger(acme.id, 1)) for number in range(10)),
        acme.stores.directory.enable_integration(acme.id, "int_unknown", enabled=True),
    ]
    settling = [await acme.processed(f"d-{number}") for number in range(20)]

    answers = await asyncio.gather(*changes, *map(acme.stores.deliveries.settle, settling))

    assert sorted(answers[:2]) == [False, True]
    assert all(isinstance(each, Trigger) for each in answers[2:12])
    assert answers[22] is False
    assert set(answers[23:]) <= {Settled.AS_DECIDED, Settled.STALE}
    assert (await acme.hook()).version == before + 21
    await beside.stores.close()
    await acme.stores.close()
    assert _deadlocks(postgres_url) == 0


@pytest.mark.parametrize("what", CHANGES)
async def test_changes_wait_for_each_other_at_the_version_before_they_hold_anything(
    acme: Tenant, postgresql: Database, what: str
) -> None:
    """Two transactions with a key each that wait for the other's key would be a deadlock."""
    statements: list[str] = []
    writer = postgresql._writer.sync_engine  # pyright: ignore[reportPrivateUsage]
    event.listen(writer, "before_cursor_execute", lambda *details: statements.append(details[2]))
    await change(acme, what)

    assert statements[0].startswith("UPDATE organizations SET version")
    assert len(statements) > 1


async def test_a_push_and_its_release_in_two_processes_are_one_story(acme: Tenant, beside: Tenant) -> None:
    settlements = [await acme.processed(f"d-{number}") for number in range(8)]
    for settling in settlements:
        await acme.stores.deliveries.settle(settling)
    runs = await take(acme.stores, [settling.runs[0].id for settling in settlements])
    runs.sort(key=lambda run: run.id)
    keys = [custom_id("codehost", acme.repository.id, f"d-{number}") for number in range(8)]
    releasing = [await acme.taken(release()) for _ in range(8)]
    posts = [a_post(acme.id, status=PostStatus.PUBLISHED) for _ in keys]
    finals = [a_post(acme.id, status=PostStatus.PUBLISHED, release_tag="v1") for _ in releasing]

    for number, final in enumerate(finals):
        ledgers = acme.stores.ledger, beside.stores.ledger
        await asyncio.gather(
            ledgers[number % 2].complete(releasing[number], final, once=None, pushes=keys[number : number + 1]),
            ledgers[1 - number % 2].complete(runs[number], posts[number], once=None),
        )

    found = {post.id: post.contained_in for post in await acme.stores.posts.posts(acme.id)}
    assert [found[post.id] for post in posts] == [final.id for final in finals]
