"""The facts that the receiver stores of refused deliveries, and their bounds."""

from datetime import timedelta

import pytest
from attrs import evolve
from tests.golden import REPOSITORY_ID
from tests.usecases.conftest import World

from contentsvc_core import Delivery, Fault, Headers, LogEntry, Receiver
from contentsvc_core.journal import DESCRIBED, FACTS_COST, FailureBudget
from contentsvc_core.received import Match, SignatureHeader, received_to_json
from contentsvc_core.testing import START, push_body, signed
from contentsvc_core.usecases.receive import LARGE_BODY
from contentsvc_core.webhooks.diagnosis import DiagnosisCause, diagnose
from contentsvc_core.webhooks.examination import STORED_BYTES


def push(world: World, message: str = "feat: x", *, secret: str | None = None, delivery_id: str = "d-1") -> Delivery:
    body = push_body(message, repository_id=REPOSITORY_ID)
    return signed(body, at=world.at, secret=secret or world.secret, delivery_id=delivery_id)


def receiver_of(world: World, rows: int = 1000) -> Receiver:
    stores = world.stores
    return Receiver(stores.deliveries, stores.journal, world.clock, world.ids, failed_rows_per_minute=rows)


async def entries(world: World) -> list[LogEntry]:
    return list(await world.stores.journal.entries(world.organization.id))


async def test_a_refused_delivery_leaves_its_facts_and_an_accepted_one_none(world: World) -> None:
    receiver = receiver_of(world)

    await receiver.receive(evolve(push(world, secret="wrong"), peer="192.0.2.7"))
    await receiver.receive(push(world))

    accepted, refused = await entries(world)
    assert accepted.received is None
    assert refused.received is not None
    assert refused.received.source == "192.0.2.7"
    assert (refused.received.signature, refused.received.match) == (SignatureHeader.PRESENT, None)


@pytest.mark.parametrize("size", [10, LARGE_BODY])
async def test_after_a_rotation_the_previous_secret_explains_a_refusal(world: World, size: int) -> None:
    old = push(world, "x" * size)
    hooks, now = world.stores.hooks, world.clock.now()
    await hooks.rotate_secret(world.organization.id, world.at.integration_id, "new", at=now, overlap_until=now)

    assert (await receiver_of(world).receive(old)).status == 401

    (entry,) = await entries(world)
    assert entry.received is not None
    assert entry.received.match is Match.PREVIOUS_SECRET
    assert getattr(diagnose(entry), "cause", None) is DiagnosisCause.PREVIOUS_SECRET


async def test_a_body_that_is_refused_before_its_end_has_no_size(world: World) -> None:
    receiver = receiver_of(world)

    refused = await receiver.refuse(push(world), Fault.BODY_LATE, "The body did not arrive in time")
    await receiver.preflight(evolve(push(world), headers=Headers.of([(b"content-length", b"99999999999")]), body=b""))

    assert (refused.status, refused.error) == (408, "The body did not arrive in time")
    late, large = await entries(world)
    for entry in (late, large):
        assert entry.received is not None
        assert entry.received.size is None


async def test_a_flood_of_forged_deliveries_stores_no_more_than_rows_alone(world: World) -> None:
    """The facts take the place of rows: rows and facts together never exceed the rows of the budget."""
    limit = 60
    receiver = receiver_of(world, limit)
    long = (b"user-agent", b"x" * 4000)

    for number in range(2 * limit):
        body = push_body("x", repository_id=REPOSITORY_ID)
        forged = signed(body, at=world.at, secret="wrong", delivery_id=f"bad-{number}", headers=(long,))
        assert (await receiver.receive(forged)).status == 401

    found = await entries(world)
    facts = [received_to_json(entry.received) for entry in found if entry.received is not None]
    assert len(facts) == DESCRIBED == 8
    assert len(found) == limit - DESCRIBED * FACTS_COST
    assert max(map(len, facts)) <= STORED_BYTES
    # Signed deliveries are not affected, and the next minute has facts again.
    world.clock.advance(timedelta(minutes=1))
    await receiver.receive(push(world, secret="wrong", delivery_id="next"))
    assert (await entries(world))[0].received is not None


def test_without_budget_for_facts_a_row_is_written_without_them() -> None:
    budget, granted = FailureBudget(limit=FACTS_COST).spend(START)
    assert granted
    assert budget.describe() is None
