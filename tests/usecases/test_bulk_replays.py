"""Bulk replays: batches of a filter, each entry once for a request, and the reasons of refused entries."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec
import pytest
from attrs import evolve
from tests.golden import REPOSITORY_ID
from tests.refusals import accepted, message_of, the_refusal
from tests.usecases.conftest import World
from tests.usecases.test_perform import pushed
from tests.usecases.test_replays import replayer

from contentsvc_core.journal import LogOutcome, LogStatus
from contentsvc_core.refusals import RefusalKind
from contentsvc_core.testing import START, push_body, signed
from contentsvc_core.usecases.replay import BODY_NOT_STORED
from contentsvc_core.usecases.replay_many import (
    BATCH,
    BulkReplayer,
    ReplayCount,
    ReplayDeliveries,
    ReplayedBatch,
    read_replay_filter,
)


def bulk(world: World) -> BulkReplayer:
    return BulkReplayer(replayer(world), world.stores.read_model, world.clock)


def asked(**fields: Any) -> ReplayDeliveries:
    return msgspec.structs.replace(ReplayDeliveries(request_id="r-1"), **fields)


async def replay(world: World, command: ReplayDeliveries) -> ReplayedBatch:
    return accepted(await bulk(world).replay(world.organization.id, command))


async def deliveries(world: World, number: int) -> None:
    for index in range(number):
        world.clock.advance(timedelta(seconds=1))
        await pushed(world, f"d-{index}", f"feat: lamp {index}")


async def test_every_entry_of_a_filter_is_replayed_once_in_batches(world: World) -> None:
    await deliveries(world, BATCH + 2)

    first = await replay(world, asked(outcomes=(LogOutcome.PROCESSED,)))
    rest = await replay(world, asked(outcomes=(LogOutcome.PROCESSED,), cursor=first.next))

    assert (len(first.replayed), len(rest.replayed), rest.repeated, rest.next) == (25, 2, (), None)
    assert first.runs == 25
    assert len(await world.stores.ledger.runs(world.organization.id)) == 2 * (BATCH + 2)
    # Replays themselves are not replayed.
    counted = await bulk(world).count(world.organization.id, asked())
    assert counted == ReplayCount(replayable=BATCH + 2, not_kept=0, is_more=False)


async def test_a_repeated_request_replays_nothing_twice_and_another_one_does(world: World) -> None:
    await deliveries(world, 2)
    done = await replay(world, asked())
    first, second = (
        each.id for each in await world.stores.journal.entries(world.organization.id) if each.id in done.replayed
    )
    # The oldest first, as they arrived.
    assert done.replayed == (second, first)
    runs = len(await world.stores.ledger.runs(world.organization.id))

    again = await replay(world, asked())

    assert (again.replayed, set(again.repeated)) == ((), set(done.replayed))
    assert len(await world.stores.ledger.runs(world.organization.id)) == runs
    assert len((await replay(world, asked(request_id="r-2"))).replayed) == 2


async def test_an_interrupted_request_goes_on_where_it_ended(world: World) -> None:
    await deliveries(world, 2)
    newest = (await world.stores.journal.entries(world.organization.id))[0]
    done = accepted(await replayer(world).replay(world.organization.id, newest.id, request="r-1"))
    assert str(UUID(done.delivery_id)) == done.delivery_id

    found = await replay(world, asked())

    assert (found.repeated, len(found.replayed)) == ((newest.id,), 1)


async def test_refused_deliveries_are_named_with_the_reason(world: World) -> None:
    await deliveries(world, 1)
    forged = signed(push_body("x", repository_id=REPOSITORY_ID), at=world.at, secret="wrong", delivery_id="bad")
    await world.receiver.receive(forged)
    refused = (await world.stores.journal.entries(world.organization.id))[0]

    world.clock.advance(timedelta(seconds=1))
    found = await replay(world, asked(statuses=(LogStatus.FAILED,)))

    assert (found.replayed, [(each.log_id, each.reason) for each in found.refused]) == (
        (),
        [(refused.id, BODY_NOT_STORED.message())],
    )
    counted = await bulk(world).count(world.organization.id, asked())
    assert counted == ReplayCount(replayable=1, not_kept=1, is_more=False)


async def test_one_refusal_does_not_keep_the_others_from_being_replayed(world: World) -> None:
    await deliveries(world, 2)
    entry = (await world.stores.journal.entries(world.organization.id))[-1]
    gone = evolve(entry, id="log_2", reference_id="d-lost")
    await world.stores.journal.append(gone)

    found = await replay(world, asked())

    assert [each.log_id for each in found.refused] == [gone.id]
    assert len(found.replayed) == 2


async def test_filters_restrict_a_replay(world: World) -> None:
    await deliveries(world, 3)
    now = world.clock.now()

    for none in ({"event": "release"}, {"integration_id": "int_other"}, {"text": "d-9"}):
        counted = await bulk(world).count(world.organization.id, asked(**none))
        assert counted == ReplayCount(replayable=0, not_kept=0, is_more=False)
    assert len((await replay(world, asked(since=now - timedelta(seconds=1)))).replayed) == 2
    assert (await replay(world, asked(text="d-0"))).repeated == ()
    other = the_refusal(await bulk(world).replay(world.organization.id, asked(integration_id="not an id")))
    assert (other.kind, other.field) == (RefusalKind.INVALID, "integration_id")
    wrong = the_refusal(await bulk(world).replay(world.organization.id, asked(cursor="x")))
    assert wrong.field == "cursor"


@pytest.mark.parametrize(
    "body", [{}, {"requestId": ""}, {"requestId": "a b"}, {"requestId": "a", "since": "2026-01-01T00:00:00"}]
)
def test_a_request_needs_an_id_and_times_with_an_offset(body: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(body, ReplayDeliveries)


def test_a_filter_reads_as_one_of_query_parameters() -> None:
    parameters = {
        "outcomes": "processed,filtered",
        "statuses": "failed",
        "integrationId": "int_1",
        "event": "push",
        "text": "lamp",
        "since": "2026-01-01T00:00:00Z",
    }

    assert read_replay_filter({}) == ReplayDeliveries(request_id="count")
    assert read_replay_filter(parameters) == ReplayDeliveries(
        request_id="count",
        outcomes=(LogOutcome.PROCESSED, LogOutcome.FILTERED),
        statuses=(LogStatus.FAILED,),
        integration_id="int_1",
        event="push",
        text="lamp",
        since=START,
    )
    for name, value in {"outcomes": "processed,lost", "statuses": "x", "event": "x" * 201, "since": "today"}.items():
        refused = the_refusal(read_replay_filter({name: value}))
        assert refused.field == name
    unknown = read_replay_filter({"statuses": "failed,lost"})
    assert message_of(unknown) == "Invalid statuses: 'lost' is not one of success, failed, pending"
