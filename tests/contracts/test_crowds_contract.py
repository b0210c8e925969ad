"""``DeliveryStore.settle``: crowds of deliveries, of one id and of many, good and bad."""

import asyncio
from collections import Counter

import pytest
from attrs import evolve
from contract_values import CHECKING, IDS, REFUSED, Tenant, later, push, release, tenant
from tests.refusals import existing

from contentsvc_core.webhooks.outcomes import Processed
from contentsvc_core.webhooks.settlement import Claim, Settled, Settlement, settlement

_ROUNDS = 4


@pytest.mark.slow("runs crowds of concurrent deliveries")
async def test_of_64_copies_one_is_processed_again_and_again(acme: Tenant) -> None:
    for number in range(_ROUNDS):
        copies = [await acme.processed(f"d-{number}", at=later(seconds=copy)) for copy in range(64)]

        answers = await asyncio.gather(*map(acme.stores.deliveries.settle, copies))

        assert Counter(answers) == {Settled.AS_DECIDED: 1, Settled.ALREADY_CLAIMED: 63}
    assert (await acme.left()).counts == (_ROUNDS, 2 * _ROUNDS, 64 * _ROUNDS)


async def test_good_malformed_filtered_and_refused_copies_of_one_id(acme: Tenant) -> None:
    """One copy takes the claim; checking copies find it free before and held after; the others do not check."""
    outcomes = [*CHECKING, REFUSED]
    for number in range(_ROUNDS):
        mixed = [
            await (acme.processed("d") if copy % 6 == 5 else acme.decided(evolve(outcomes[copy % 6], delivery_id="d")))
            for copy in range(36)
        ]
        mixed = [evolve(each, key=each.key and each.hook.claim_key(f"d-{number}")) for each in mixed]

        answers = await asyncio.gather(*map(acme.stores.deliveries.settle, mixed))

        counted = Counter(zip((each.claim for each in mixed), answers, strict=True))
        assert counted[Claim.TAKE, Settled.AS_DECIDED] == 1
        assert counted[Claim.TAKE, Settled.ALREADY_CLAIMED] == 5
        assert counted[Claim.NONE, Settled.AS_DECIDED] == 6
        # Once the claim is taken, every later check finds it held.
        for late in [each for each in mixed if each.claim is not Claim.NONE][:3]:
            copy = evolve(late, id=f"{late.id}-again")
            assert await acme.stores.deliveries.settle(copy) is Settled.ALREADY_CLAIMED
    left = await acme.left()
    assert len(left.log) == (36 + 3) * _ROUNDS
    assert left.log.count("Processed push event") == _ROUNDS


async def test_concurrent_hooks_of_one_event_share_one_context_record(acme: Tenant) -> None:
    """The delivery id is the event's: each hook claims it for itself, and the record has id and time of the first."""
    # After one crowd, the queue settles the next one as one batch.
    await asyncio.gather(*[acme.stores.deliveries.settle(await acme.processed(f"d-{number}")) for number in range(8)])
    settling = [await acme.processed("d", push(f"feat: {n} lamps"), at=later(seconds=n)) for n in range(12)]
    hooks = [
        evolve(each.hook, address=evolve(each.hook.address, integration_id=f"int_{number}"))
        for number, each in enumerate(settling)
    ]
    settlements = [evolve(each, hook=hook, key=hook.claim_key("d")) for each, hook in zip(settling, hooks, strict=True)]

    assert await asyncio.gather(*map(acme.stores.deliveries.settle, settlements)) == [Settled.AS_DECIDED] * 12
    assert (await acme.left()).counts == (1 + 8, 24 + 16, 12 + 8)
    first = existing(settling[0].context)
    record = await acme.stores.contexts.record(acme.id, first.custom_id)
    assert record == evolve(first, event=push("feat: 11 lamps"))


async def test_deliveries_that_are_nearly_alike_keep_the_values_in_which_they_differ(acme: Tenant) -> None:
    tenants = acme, await tenant(acme.stores, "zenith")
    hooks = [await each.hook() for each in tenants]

    def settling(number: int) -> Settlement:
        hook = hooks[number % 9 == 8]
        repository = acme.repository
        outcome = Processed(
            event=release(f"v1.{number}.0") if number % 6 == 5 else push(f"feat: lamp {number}", f"fix: beam {number}"),
            delivery_id=f"d-{number}",
            repository_id=repository.id,
            repository=repository.full_name if number % 4 else "acme/renamed",
        )
        note = "" if number % 5 else "3 earlier failures were not logged"
        made = existing(
            settlement(outcome, hook, at=later(seconds=number), new_id=IDS.new_id, note=note, replayed=number % 7 == 6)
        )
        # A filter leaves a trigger out; a context record may be older than its delivery.
        if number % 8 == 3:
            return evolve(made, started=made.started[1:], context_at=later(seconds=-number))
        if number % 8 == 6:
            # The value allows this, although no decision creates it.
            return evolve(made, claim=Claim.NONE, key=None)
        return evolve(made, started=made.started[::-1]) if number % 8 == 4 else made

    crowd = [settling(number) for number in range(48)]

    assert await asyncio.gather(*map(acme.stores.deliveries.settle, crowd)) == [Settled.AS_DECIDED] * len(crowd)

    stores = acme.stores
    for each, hook in zip(tenants, hooks, strict=True):
        own = [settled for settled in crowd if settled.hook is hook]
        entries = await stores.journal.entries(each.id)
        assert {entry.id: entry for entry in entries} == {settled.id: settled.log for settled in own}
        records = await stores.contexts.records(each.id)
        assert {record.id: record for record in records} == {settled.context_id: settled.context for settled in own}
        runs = await stores.ledger.runs(each.id)
        assert {run.id: run for run in runs} == {run.id: run for settled in own for run in settled.runs}
