"""``DeliveryStore.settle``: all of it or nothing, once."""

import asyncio
from datetime import timedelta

import pytest
from attrs import evolve
from contract_values import (
    CHECKING,
    REFUSED,
    Left,
    Stores,
    Tenant,
    a_trigger,
    an_integration,
    due,
    ending,
    later,
    push,
    release,
    take,
    tenant,
)
from tests.golden import delivered

from contentsvc_core.events.normalized import Event
from contentsvc_core.received import Match, Received
from contentsvc_core.testing import START, check_store, switched
from contentsvc_core.webhooks.outcomes import Outcome
from contentsvc_core.webhooks.settlement import DEDUPE_WINDOW, Claim, Settled
from contentsvc_core.workflows.context import custom_id


async def test_a_processed_delivery_leaves_context_runs_and_log_entry(acme: Tenant) -> None:
    settling = await acme.processed("d-1")

    assert await acme.stores.deliveries.settle(settling) is Settled.AS_DECIDED

    assert await acme.stores.contexts.records(acme.id) == [settling.context]
    assert sorted(run.id for run in await acme.stores.ledger.runs(acme.id)) == [run.id for run in settling.runs]
    assert set(await acme.stores.ledger.runs(acme.id)) == set(settling.runs)
    assert await acme.stores.journal.entries(acme.id) == [settling.log]
    assert len(settling.runs) == 2


@pytest.mark.parametrize("outcome", [*CHECKING, REFUSED], ids=ending)
async def test_another_ending_leaves_its_log_entry_alone(acme: Tenant, outcome: Outcome) -> None:
    settling = await acme.decided(outcome)

    assert await acme.stores.deliveries.settle(settling) is Settled.AS_DECIDED

    assert await acme.left() == Left(log=(settling.log.title,))
    assert await acme.stores.journal.entries(acme.id) == [settling.log]


async def test_the_facts_of_a_refused_delivery_are_stored_with_its_log_entry(acme: Tenant) -> None:
    facts = Received(headers=(("User-Agent", "it's \u20ac 5"),), size=7, source="192.0.2.7", match=Match.CHANGED_BODY)
    settling = await acme.decided(REFUSED)
    settling = evolve(settling, received=facts)
    other = evolve(settling.log, id=f"{settling.log.id}0")

    assert await acme.stores.deliveries.settle(settling) is Settled.AS_DECIDED
    await acme.stores.journal.append(other)

    assert {entry.received for entry in await acme.stores.journal.entries(acme.id)} == {facts}
    listed = await acme.stores.read_model.entry(acme.id, other.id)
    assert listed is not None
    assert listed.received == facts
    # A duplicate was not refused.
    assert settling.duplicate_log.received is None


async def test_of_64_concurrent_copies_one_is_processed(acme: Tenant) -> None:
    copies = [await acme.processed("d-1") for _ in range(64)]

    answers = await asyncio.gather(*(acme.stores.deliveries.settle(copy) for copy in copies))

    assert answers.count(Settled.AS_DECIDED) == 1
    assert answers.count(Settled.ALREADY_CLAIMED) == 63
    left = await acme.left()
    assert left.counts == (1, len(acme.triggers), 64)
    assert left.log.count("Processed push event") == 1
    assert left.log.count("Duplicate push delivery") == 63
    winner = copies[answers.index(Settled.AS_DECIDED)]
    assert left.contexts == (winner.context,)
    assert set(left.runs) == set(winner.runs)


async def test_a_duplicate_leaves_its_own_log_entry(acme: Tenant) -> None:
    await acme.stores.deliveries.settle(await acme.processed("d-1"))
    copy = await acme.processed("d-1", at=later(seconds=1))

    assert await acme.stores.deliveries.settle(copy) is Settled.ALREADY_CLAIMED

    assert (await acme.stores.journal.entries(acme.id))[0] == copy.duplicate_log


@pytest.mark.parametrize(
    ("after", "answer"),
    [
        (timedelta(), Settled.ALREADY_CLAIMED),
        (timedelta(seconds=86_399), Settled.ALREADY_CLAIMED),
        (DEDUPE_WINDOW - timedelta(milliseconds=1), Settled.ALREADY_CLAIMED),
        (timedelta(seconds=86_400), Settled.AS_DECIDED),
        (DEDUPE_WINDOW + timedelta(milliseconds=1), Settled.AS_DECIDED),
        (timedelta(seconds=86_401), Settled.AS_DECIDED),
        # A clock that was stepped back does not free a new claim.
        (timedelta(seconds=-5), Settled.ALREADY_CLAIMED),
    ],
)
@pytest.mark.parametrize("outcome", [None, CHECKING[1]], ids=["take", "check"])
async def test_a_claim_is_free_again_exactly_a_day_later(
    acme: Tenant, after: timedelta, answer: Settled, outcome: Outcome | None
) -> None:
    first = await acme.processed("d", at=later(milliseconds=7))
    await acme.stores.deliveries.settle(first)
    at = first.at + after
    copy = await acme.processed("d", at=at) if outcome is None else await acme.decided(outcome, at)

    assert await acme.stores.deliveries.settle(copy) is answer


async def test_a_renewed_claim_is_held_for_another_day(acme: Tenant) -> None:
    settle = acme.stores.deliveries.settle
    await settle(await acme.processed("d-1"))
    again = START + DEDUPE_WINDOW
    assert await settle(await acme.processed("d-1", at=again)) is Settled.AS_DECIDED

    almost = again + DEDUPE_WINDOW - timedelta(milliseconds=1)
    assert await settle(await acme.processed("d-1", at=almost)) is Settled.ALREADY_CLAIMED
    assert await settle(await acme.processed("d-1", at=again + DEDUPE_WINDOW)) is Settled.AS_DECIDED


@pytest.mark.parametrize("outcome", CHECKING, ids=ending)
async def test_a_check_of_a_held_claim_is_a_duplicate(acme: Tenant, outcome: Outcome) -> None:
    await acme.stores.deliveries.settle(await acme.processed("d"))
    checking = await acme.decided(outcome)
    assert checking.claim is Claim.CHECK

    assert await acme.stores.deliveries.settle(checking) is Settled.ALREADY_CLAIMED

    assert (await acme.left()).log == (checking.duplicate_log.title, "Processed push event")


@pytest.mark.parametrize("outcome", [*CHECKING, REFUSED], ids=ending)
async def test_only_a_take_claims_the_id(acme: Tenant, outcome: Outcome) -> None:
    await acme.stores.deliveries.settle(await acme.decided(outcome))
    await acme.stores.deliveries.settle(await acme.decided(outcome))

    assert await acme.stores.deliveries.settle(await acme.processed("d")) is Settled.AS_DECIDED


async def test_a_settlement_without_a_claim_is_never_a_duplicate(acme: Tenant) -> None:
    await acme.stores.deliveries.settle(await acme.processed("d"))
    refused = await acme.decided(REFUSED)
    assert refused.claim is Claim.NONE

    assert await acme.stores.deliveries.settle(refused) is Settled.AS_DECIDED
    assert await acme.stores.deliveries.settle(evolve(refused, id="log_2")) is Settled.AS_DECIDED


@pytest.mark.parametrize("outcome", [None, *CHECKING, REFUSED], ids=ending)
async def test_settling_again_writes_nothing_twice(acme: Tenant, outcome: Outcome | None) -> None:
    settling = await acme.processed("d") if outcome is None else await acme.decided(outcome)
    assert await acme.stores.deliveries.settle(settling) is Settled.AS_DECIDED
    left = await acme.left()

    assert await acme.stores.deliveries.settle(settling) is Settled.AS_DECIDED

    assert await acme.left() == left


@pytest.mark.parametrize("outcome", [None, *CHECKING], ids=ending)
async def test_settling_a_duplicate_again_writes_nothing_twice(acme: Tenant, outcome: Outcome | None) -> None:
    await acme.stores.deliveries.settle(await acme.processed("d"))
    copy = await acme.processed("d") if outcome is None else await acme.decided(outcome)
    assert await acme.stores.deliveries.settle(copy) is Settled.ALREADY_CLAIMED
    left = await acme.left()

    assert await acme.stores.deliveries.settle(copy) is Settled.ALREADY_CLAIMED

    assert await acme.left() == left


@pytest.mark.parametrize("outcome", [None, CHECKING[0], REFUSED], ids=["take", "check", "none"])
async def test_the_first_answer_is_kept_after_any_change(acme: Tenant, outcome: Outcome | None) -> None:
    settling = await acme.processed("d") if outcome is None else await acme.decided(outcome)
    assert await acme.stores.deliveries.settle(settling) is Settled.AS_DECIDED
    await acme.stores.triggers.change(acme.id, acme.triggers[0].id, switched(enabled=False))
    await acme.stores.deliveries.settle(await acme.processed("d", at=START + DEDUPE_WINDOW))
    left = await acme.left()

    assert await acme.stores.deliveries.settle(settling) is Settled.AS_DECIDED

    assert await acme.left() == left


async def test_the_first_answer_is_kept_after_its_claim_is_swept(acme: Tenant) -> None:
    settling = await acme.processed("d")
    assert await acme.stores.deliveries.settle(settling) is Settled.AS_DECIDED
    assert await acme.stores.journal.sweep_claims(before=later(seconds=1), limit=10) == 1
    await acme.stores.triggers.add(a_trigger(acme.id, 1))
    left = await acme.left()

    assert await acme.stores.deliveries.settle(settling) is Settled.AS_DECIDED

    assert await acme.left() == left


async def test_a_run_that_went_on_is_not_set_back_by_settling_again(acme: Tenant) -> None:
    settling = await acme.processed("d-1")
    await acme.stores.deliveries.settle(settling)
    await take(acme.stores, [run.id for run in settling.runs])

    await acme.stores.deliveries.settle(settling)

    assert not await due(acme.stores, START)


@pytest.mark.parametrize("change", ["integration", "trigger", "switch integration", "switch trigger"])
@pytest.mark.parametrize("outcome", [None, CHECKING[0], REFUSED], ids=["take", "check", "none"])
async def test_a_decision_on_an_older_configuration_is_stale(
    acme: Tenant, outcome: Outcome | None, change: str
) -> None:
    settling = await acme.processed("d") if outcome is None else await acme.decided(outcome)
    directory = acme.stores.directory
    triggers = acme.stores.triggers
    match change:
        case "integration":
            assert await directory.add_integration(an_integration(acme.id, (2, "acme/buoy")), "other")
        case "trigger":
            await triggers.add(a_trigger(acme.id, 1))
        case "switch integration":
            assert await directory.enable_integration(acme.id, acme.integration.id, enabled=False)
        case _:
            assert await triggers.change(acme.id, acme.triggers[0].id, switched(enabled=False))

    assert await acme.stores.deliveries.settle(settling) is Settled.STALE

    assert await acme.left() == Left()
    anew = await acme.processed("d") if outcome is None else await acme.decided(outcome)
    assert await acme.stores.deliveries.settle(anew) is Settled.AS_DECIDED


async def test_a_change_of_another_organization_makes_nothing_stale(acme: Tenant) -> None:
    settling = await acme.processed("d-1")
    await tenant(acme.stores, "zenith")

    assert await acme.stores.deliveries.settle(settling) is Settled.AS_DECIDED


async def test_a_settlement_of_no_organization_is_stale(acme: Tenant) -> None:
    settling = await acme.processed("d-1")
    address = evolve(settling.hook.address, organization_id="org_unknown")
    settling = evolve(settling, hook=evolve(settling.hook, address=address))

    assert await acme.stores.deliveries.settle(settling) is Settled.STALE

    assert await acme.left() == Left()


async def test_a_context_is_replaced_and_keeps_its_id_and_time(acme: Tenant) -> None:
    first = await acme.processed("d-1", push("old"))
    await acme.stores.deliveries.settle(first)
    second = await acme.processed("d-1", release("v2"), at=START + DEDUPE_WINDOW)
    assert await acme.stores.deliveries.settle(second) is Settled.AS_DECIDED
    assert first.context is not None

    (record,) = await acme.stores.contexts.records(acme.id)

    assert record == evolve(first.context, event=release("v2"))
    assert record == await acme.stores.contexts.record(acme.id, custom_id("codehost", 1, "d-1"))
    # The older runs and the older log entry keep their events.
    runs = await acme.stores.ledger.runs(acme.id)
    assert [delivered(run).event for run in runs] == [release("v2")] * 2 + [push("old")] * 2
    assert [entry.detail for entry in await acme.stores.journal.entries(acme.id)] == [release("v2"), push("old")]


async def test_a_delivery_id_is_claimed_for_one_address_alone(stores: Stores) -> None:
    acme = await tenant(stores)
    zenith = await tenant(stores, "zenith")
    buoy = evolve(acme, integration=an_integration(acme.id, (2, "acme/buoy"), (3, "acme/mast")))
    await stores.directory.add_integration(buoy.integration, "other")
    mast = evolve(buoy, integration=evolve(buoy.integration, repositories=buoy.integration.repositories[1:]))

    for each in (acme, zenith, buoy, mast):
        assert await stores.deliveries.settle(await each.processed("d-1")) is Settled.AS_DECIDED
        assert await stores.deliveries.settle(await each.processed("d-1")) is Settled.ALREADY_CLAIMED

    assert (await zenith.left()).counts == (1, 2, 2)
    assert (await acme.left()).counts == (3, 2, 6)


async def test_the_published_check_passes(acme: Tenant) -> None:
    buoy = evolve(acme, integration=an_integration(acme.id, (2, "acme/buoy")))
    await acme.stores.directory.add_integration(buoy.integration, "other")

    async def log() -> dict[str, str]:
        return {entry.id: entry.title for entry in await acme.stores.journal.entries(acme.id)}

    async def runs() -> dict[str, str | None]:
        return {run.id: run.cause.started_by for run in await acme.stores.ledger.runs(acme.id)}

    async def contexts() -> dict[str, Event]:
        return {record.id: record.event for record in await acme.stores.contexts.records(acme.id)}

    async def change() -> None:
        await acme.stores.triggers.change(acme.id, acme.triggers[0].id, switched(enabled=False))

    await check_store(
        acme.stores.deliveries,
        acme.address,
        log_ids=log,
        run_ids=runs,
        context_ids=contexts,
        other=buoy.address,
        change=change,
    )
