"""``DeliveryStore.settle``: all or nothing, for values that cannot be stored and for clients that disconnect."""

import asyncio

import pytest
from attrs import evolve
from contract_values import IDS, Left, Tenant, later

from contentsvc_core.errors import Unstorable
from contentsvc_core.webhooks.settlement import Settled


@pytest.mark.parametrize("bad", ["log", "context", "second run", "number"])
async def test_an_unstorable_settlement_leaves_nothing(acme: Tenant, bad: str) -> None:
    settling = await acme.processed("d-1")
    surrogate = "\ud800"
    match bad:
        case "log":
            broken = evolve(settling, note=surrogate)
        case "context":
            broken = evolve(settling, context_id=surrogate)
        case "second run":
            first, (run_id, trigger) = settling.started
            broken = evolve(settling, started=(first, (run_id, evolve(trigger, id=surrogate))))
        case _:
            broken = evolve(settling, outcome=evolve(settling.outcome, repository_id=2**70))

    with pytest.raises(Unstorable):
        await acme.stores.deliveries.settle(broken)

    assert await acme.left() == Left()
    # The claim was not stored either.
    assert await acme.stores.deliveries.settle(settling) is Settled.AS_DECIDED
    assert (await acme.left()).counts == (1, 2, 1)


async def test_neither_do_clients_that_go_away_in_a_crowd(acme: Tenant) -> None:
    settling = [await acme.processed(f"d-{number}") for number in range(50)]
    crowd = [asyncio.create_task(acme.stores.deliveries.settle(each)) for each in settling]
    await asyncio.sleep(0)
    for leaving in crowd[::2]:
        leaving.cancel()

    answers = await asyncio.gather(*crowd, return_exceptions=True)

    assert answers[1::2] == [Settled.AS_DECIDED] * 25
    # A repetition completes the interrupted calls, for any outcome.
    for each in settling:
        assert await acme.stores.deliveries.settle(each) is Settled.AS_DECIDED
    assert (await acme.left()).counts == (50, 100, 50)


async def test_ids_need_no_order(acme: Tenant) -> None:
    late = evolve(await acme.processed("d-1"), at=later(hours=1))
    early = await acme.processed("d-2")
    assert late.log.id < early.log.id < IDS.new_id("log_")
    for settling in (early, late):
        assert await acme.stores.deliveries.settle(settling) is Settled.AS_DECIDED
    assert (await acme.left()).counts == (2, 4, 2)
