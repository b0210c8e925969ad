"""``Triggers``: what deliveries and runs see of them. ``TRIGGERS`` has their contract."""

import asyncio

from attrs import evolve
from contract_values import IDS, Tenant, a_trigger, an_integration, later

from contentsvc_core.content.windows import LookbackWindow
from contentsvc_core.testing import START
from contentsvc_core.webhooks.settlement import Settled
from contentsvc_core.workflows.causes import Generation, Source
from contentsvc_core.workflows.filters import Batch, TriggerOptions
from contentsvc_core.workflows.triggers import ANY_SOURCE, Trigger, collecting
from contentsvc_core.zones import DEFAULT_ZONE


async def test_each_change_of_a_trigger_raises_the_version_and_a_refused_or_repeated_one_does_not(acme: Tenant) -> None:
    triggers, one = acme.stores.triggers, acme.triggers[0]
    versions = [(await acme.hook()).version]
    same = evolve(acme.triggers[1], id="trg_same")

    for call in (
        triggers.add(a_trigger(acme.id, 2)),
        triggers.change(acme.id, one.id, lambda each, _: evolve(each, name="new")),
        triggers.remove(acme.id, one.id),
        # From here on, nothing changes.
        triggers.add(acme.triggers[1]),
        triggers.add(same),
        triggers.add(a_trigger(acme.id, 3), at_most=2),
        triggers.change(acme.id, one.id, lambda each, _: evolve(each, name="gone")),
        triggers.remove(acme.id, one.id),
    ):
        await call
        versions.append((await acme.hook()).version)

    first = versions[0]
    assert versions == [first, first + 1, first + 2, *[first + 3] * 6]
    assert Trigger.at_most == 200


async def test_a_removed_trigger_leaves_its_runs(acme: Tenant) -> None:
    run = await acme.taken()

    assert await acme.stores.triggers.remove(acme.id, acme.triggers[0].id)

    assert run in await acme.stores.ledger.runs(acme.id)
    assert await acme.stores.directory.owner_of(acme.triggers[0].id) is None
    assert [each.cause.started_by for each in (await acme.processed("d-2")).runs] == [acme.triggers[1].id]


async def test_removing_an_integration_leaves_triggers_that_can_be_changed(acme: Tenant) -> None:
    directory = acme.stores.directory
    triggers = acme.stores.triggers
    assert await directory.add_integration(an_integration(acme.id, (2, "acme/buoy")), "other")
    await directory.remove_integration(acme.id, acme.integration.id)
    one = acme.triggers[0]

    changed = await triggers.change(acme.id, one.id, lambda each, _: evolve(each, repository_ids=(2,), enabled=True))

    assert changed == evolve(one, repository_ids=(2,))


async def test_a_trigger_of_all_repositories_applies_to_each(acme: Tenant) -> None:
    options = TriggerOptions(all_repositories=True)
    trigger = evolve(a_trigger(acme.id, at=later(hours=1)), source_type=ANY_SOURCE, options=options)
    assert await acme.stores.triggers.add(trigger) == trigger

    assert (await acme.hook()).triggers == (*acme.triggers, trigger)


async def test_a_window_becomes_one_run_and_no_decision_on_a_delivery_depends_on_it(acme: Tenant) -> None:
    triggers = acme.stores.triggers
    daily = collecting(evolve(acme.triggers[0], options=TriggerOptions(batch=Batch.DAILY)), START, DEFAULT_ZONE)
    await triggers.change(acme.id, daily.id, lambda _, _zone: daily)
    assert daily.due_at is not None
    settling = await acme.processed("d-1")
    source = Source(provider="codehost", repository_id=1, full_name="acme/lighthouse")
    rivals = [daily.firing(daily.due_at, DEFAULT_ZONE, sources=[source], run_id=IDS.new_id("")) for _ in range(8)]

    fired = await asyncio.gather(*(triggers.fire(each) for each in rivals if each is not None))

    winner = rivals[fired.index(True)]
    assert winner is not None
    assert await acme.stores.ledger.runs(acme.id) == [winner.run]
    assert isinstance(winner.run.cause, Generation)
    assert winner.run.cause.window == LookbackWindow(since=START, until=daily.due_at)
    assert await triggers.fire(winner)
    assert len(await acme.stores.ledger.runs(acme.id)) == 1
    assert await acme.stores.deliveries.settle(settling) is Settled.AS_DECIDED
