"""``DeliveryStore.settle``: all of it or nothing, once."""

from datetime import datetime

import pytest
from attrs import evolve
from contract_values import (
    CHANGES,
    CHECKING,
    REFUSED,
    Left,
    Tenant,
    a_trigger,
    an_integration,
    change,
    due,
    ending,
    later,
    take,
    tenant,
)

from contentsvc_core.journal import LogEntry
from contentsvc_core.received import Match, Received
from contentsvc_core.testing import START, check_store, switched
from contentsvc_core.webhooks.outcomes import Outcome
from contentsvc_core.webhooks.settlement import DEDUPE_WINDOW, Settled
from contentsvc_core.workflows.context import ContextRecord
from contentsvc_core.workflows.runs import WorkflowRun


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


@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.parametrize("outcome", [None, CHECKING[0], REFUSED], ids=["take", "check", "none"])
async def test_a_decision_on_an_older_configuration_is_stale(acme: Tenant, outcome: Outcome | None, what: str) -> None:
    settling = await acme.processed("d") if outcome is None else await acme.decided(outcome)
    await change(acme, what)

    assert await acme.stores.deliveries.settle(settling) is Settled.STALE

    assert await acme.left() == Left()
    anew = await acme.processed("d") if outcome is None else await acme.decided(outcome)
    assert await acme.stores.deliveries.settle(anew) is Settled.AS_DECIDED


async def test_a_change_of_another_organization_makes_nothing_stale(acme: Tenant) -> None:
    settling = await acme.processed("d-1")
    await tenant(acme.stores, "zenith")

    assert await acme.stores.deliveries.settle(settling) is Settled.AS_DECIDED


async def test_the_published_check_passes(acme: Tenant) -> None:
    buoy = evolve(acme, integration=an_integration(acme.id, (2, "acme/buoy")))
    await acme.stores.directory.add_integration(buoy.integration, "other")
    fork = await tenant(acme.stores, "fork", triggers=0, secret="third")

    async def log() -> dict[str, LogEntry]:
        rows = [entry for id_ in (fork.id, acme.id) for entry in await acme.stores.journal.entries(id_)]
        return {entry.id: entry for entry in sorted(rows, key=lambda entry: entry.created_at, reverse=True)}

    async def runs() -> dict[str, WorkflowRun]:
        return {run.id: run for run in await acme.stores.ledger.runs(acme.id)}

    async def contexts() -> dict[str, ContextRecord]:
        rows = [record for id_ in (fork.id, acme.id) for record in await acme.stores.contexts.records(id_)]
        return {record.id: record for record in rows}

    async def change() -> datetime:
        end = later(hours=1)
        await acme.stores.hooks.rotate_secret(acme.id, acme.integration.id, "new", at=START, overlap_until=end)
        return end

    await check_store(
        acme.stores.deliveries,
        acme.address,
        log_ids=log,
        run_ids=runs,
        context_ids=contexts,
        others=[buoy.address, fork.address],
        change=change,
    )
