"""Leases and backoffs of messages and mails end by the database's clock: the clocks of its processes may differ."""

from collections.abc import AsyncGenerator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from attrs import evolve
from contract_values import IDS, SHARED_CLOCK, RotatingSealer, later, tenant
from test_mailing_contract import changelog_of, requested
from test_outbox_contract import ended, taken_at, waiting
from test_webhook_endpoints_contract import added
from tests.endpoints import PLACES, Receiver, dispatch

from contentsvc_adapters.sql import Database, SqlStores
from contentsvc_core.outgoing.messages import MessageStatus
from contentsvc_core.outgoing.retries import Answer, NotSent
from contentsvc_core.outgoing.subscribers import MailOutcome
from contentsvc_core.testing import START, ManualClock

_LEASE: Final = timedelta(minutes=1)
#: The lead of the clock of the process that leases a row.
_CLOCKS: Final = pytest.mark.parametrize("ahead", [timedelta(minutes=-9), timedelta(minutes=9)], ids=["slow", "fast"])


@_CLOCKS
@pytest.mark.usefixtures("shared_clock")
async def test_a_message_is_leased_until_the_database_says_otherwise(databases: SqlStores, ahead: timedelta) -> None:
    acme, outbox = await tenant(databases), databases.outbox
    message = await waiting(await added(acme), databases, later(minutes=-9))
    (lost,) = await outbox.take([message.id], now=START + ahead, lease=_LEASE)

    async def number_of_due(now: datetime) -> int:
        return len(await outbox.due(now, PLACES))

    SHARED_CLOCK.at = later(milliseconds=59_999)
    assert await number_of_due(later(minutes=9)) == 0
    assert not await outbox.take([message.id], now=later(minutes=9), lease=_LEASE)
    SHARED_CLOCK.at = later(minutes=1)
    assert await number_of_due(later(minutes=1)) == 1
    (taken,) = await outbox.take([message.id], now=later(minutes=1), lease=_LEASE)
    await outbox.record(ended(lost))
    assert (taken.message.takes, await databases.journal.entries(acme.id)) == (2, [])
    await outbox.record(ended(taken, MessageStatus.PENDING, at=later(seconds=5)))
    assert await outbox.take([message.id], now=later(seconds=5), lease=_LEASE)


@_CLOCKS
@pytest.mark.usefixtures("shared_clock")
async def test_a_mail_is_leased_until_the_database_says_otherwise(databases: SqlStores, ahead: timedelta) -> None:
    acme, mailbox = await tenant(databases), databases.mailbox
    await changelog_of(acme)
    await requested(acme, "ann@example.org", at=later(minutes=-9))
    assert await mailbox.take(limit=9, now=START + ahead, lease=_LEASE)

    SHARED_CLOCK.at = later(milliseconds=59_999)
    assert not await mailbox.take(limit=9, now=later(minutes=9), lease=_LEASE)
    SHARED_CLOCK.at = later(minutes=1)
    (taken,) = await mailbox.take(limit=9, now=later(minutes=1), lease=_LEASE)
    outcome = MailOutcome(status=MessageStatus.PENDING, at=later(seconds=5), due_at=later(seconds=5), error="not now")
    await mailbox.record(taken, outcome)
    (again,) = await mailbox.take(limit=9, now=later(seconds=5), lease=_LEASE)
    await mailbox.requeue(again, due_at=START)
    assert await mailbox.take(limit=9, now=START, lease=_LEASE)


@_CLOCKS
@pytest.mark.usefixtures("shared_clock")
async def test_backoffs_end_by_the_databases_clock(databases: SqlStores, ahead: timedelta) -> None:
    acme, outbox, mailbox = await tenant(databases), databases.outbox, databases.mailbox
    await changelog_of(acme)
    await requested(acme, "ann@example.org", at=later(minutes=-9))
    endpoint = await added(acme)
    messages = [await waiting(endpoint, databases, later(minutes=-9)) for _ in range(2)]
    ids = [message.id for message in messages]
    SHARED_CLOCK.at = START
    (taken,) = await outbox.take(ids[:1], now=START, lease=_LEASE)
    (mail,) = await mailbox.take(limit=9, now=START, lease=_LEASE)

    at, again = START + ahead, START + ahead + timedelta(seconds=5)
    failed = evolve(ended(taken, MessageStatus.PENDING, at=at), due_at=again, busy_until=again)
    await outbox.record(failed)
    await mailbox.record(mail, MailOutcome(status=MessageStatus.PENDING, at=at, due_at=again, error="not now"))

    SHARED_CLOCK.at = later(milliseconds=4_999)
    assert not await outbox.take(ids, now=later(minutes=9), lease=_LEASE)
    assert not await mailbox.take(limit=9, now=later(minutes=9), lease=_LEASE)
    SHARED_CLOCK.at = later(seconds=5)
    assert len(await outbox.take(ids, now=later(seconds=5), lease=_LEASE)) == 2
    assert len(await mailbox.take(limit=9, now=later(seconds=5), lease=_LEASE)) == 1


@pytest.mark.usefixtures("shared_clock")
async def test_a_busy_answer_to_a_process_whose_clock_is_ahead_ends_no_lease(databases: SqlStores) -> None:
    acme = await tenant(databases)
    endpoint = await added(acme)
    for _ in range(2):
        await waiting(endpoint, databases)
    first, second = await taken_at(databases, START)

    busy = evolve(ended(first, MessageStatus.PENDING), at=later(minutes=9), busy_until=later(minutes=9))
    await databases.outbox.record(busy)
    await databases.outbox.record(ended(second))

    found = await databases.outbox.message(acme.id, second.message.id)
    assert found is not None
    assert found.status is MessageStatus.DELIVERED


@pytest.fixture
async def nodes(postgres_url: str) -> AsyncGenerator[Mapping[int, SqlStores]]:
    """The stores of three nodes, by the lead of their clocks in minutes."""
    stores = {ahead: SqlStores(Database(postgres_url), RotatingSealer()) for ahead in (-9, 0, 9)}
    yield stores
    for each in stores.values():
        await each.close()


async def test_of_nodes_whose_clocks_differ_one_sends_each_message(nodes: Mapping[int, SqlStores]) -> None:
    acme = await tenant(nodes[0])
    message = await waiting(await added(acme), nodes[0])

    async def turn(ahead: int, receiver: Receiver) -> None:
        clock = ManualClock(datetime.now(UTC) + timedelta(minutes=ahead))
        await dispatch(nodes[ahead], clock, IDS, receiver)

    class Watched(Receiver):
        async def send(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer | NotSent:
            for ahead in nodes:
                await turn(ahead, others)
            return await super().send(url, headers, body)

    for ahead in nodes:
        assert await nodes[ahead].outbox.resend(acme.id, message.id, due_at=START)
        others, watched = Receiver(), Watched()
        await turn(ahead, watched)
        assert (len(watched.came), len(others.came)) == (1, 0)
