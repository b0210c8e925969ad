"""``Triggers``: additions, changes, removals and duplicates."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from attrs import evolve
from contract_values import IDS, Tenant, a_trigger, an_integration, later, tenant

from contentsvc_core.content.house_style import HouseStyle
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.windows import LookbackWindow
from contentsvc_core.errors import Unstorable
from contentsvc_core.refusals import too_many
from contentsvc_core.testing import START
from contentsvc_core.webhooks.settlement import Settled
from contentsvc_core.workflows.automations import DueAutomation
from contentsvc_core.workflows.batches import batch_firing
from contentsvc_core.workflows.causes import Generation, Source
from contentsvc_core.workflows.filters import NO_OPTIONS, Batch, TriggerOptions
from contentsvc_core.workflows.triggers import (
    ANY_SOURCE,
    DUPLICATE_TRIGGER,
    UNKNOWN_TRIGGER,
    Trigger,
    collecting,
)
from contentsvc_core.zones import DEFAULT_ZONE


def named(name: str) -> Callable[[Trigger, ZoneInfo], Trigger]:
    return lambda trigger, _: evolve(trigger, name=name)


async def test_of_triggers_that_do_the_same_one_is_added(acme: Tenant) -> None:
    triggers = acme.stores.triggers
    pattern = a_trigger(acme.id, 1, 2, at=later(seconds=1))
    rivals = [
        evolve(pattern, id=f"{pattern.id}-{number}", name=f"{number}", enabled=number % 2 == 0, auto_publish=number > 4)
        for number in range(8)
    ]

    answers = await asyncio.gather(*(triggers.add(rival) for rival in rivals))

    (winner,) = (each for each in answers if isinstance(each, Trigger))
    assert answers.count(DUPLICATE_TRIGGER) == 7
    assert await triggers.all_of(acme.id) == [*acme.triggers, winner]
    version = (await acme.hook()).version
    # Repeated after an unknown outcome.
    assert await triggers.add(winner)
    assert (await acme.hook()).version == version
    zenith = await tenant(acme.stores, "zenith")
    assert await triggers.add(evolve(pattern, id="trg_theirs", organization_id=zenith.id))


async def test_a_change_applies_to_the_stored_trigger(acme: Tenant) -> None:
    triggers = acme.stores.triggers
    one, two = acme.triggers
    settling = await acme.processed("d-1")

    def change(trigger: Trigger, _zone: ZoneInfo = DEFAULT_ZONE) -> Trigger:
        return evolve(
            trigger,
            name="öffnen ⚓",
            source_type="github_webhook",
            enabled=False,
            repository_ids=(7, 2**63 - 1),
            event_types=("release",),
            output_type=ContentType.TWITTER_POST,
            brand_identity_id=None,
            auto_publish=True,
        )

    assert await triggers.change(acme.id, one.id, change) == change(one)
    assert await triggers.find(acme.id, one.id) == change(one)
    assert await triggers.all_of(acme.id) == [change(one), two]
    # It applies from the next delivery on.
    assert await acme.stores.deliveries.settle(settling) is Settled.STALE
    assert (await acme.hook()).triggers == (two,)
    assert await triggers.change(acme.id, "trg_unknown", change) is UNKNOWN_TRIGGER
    with pytest.raises(Unstorable):
        await triggers.change(acme.id, two.id, named("\ud800"))
    assert await triggers.find(acme.id, two.id) == two


async def test_a_trigger_does_not_become_a_duplicate_of_another(acme: Tenant) -> None:
    triggers = acme.stores.triggers
    one, two = acme.triggers
    settling = await acme.processed("d-1")

    double = await triggers.change(
        acme.id, one.id, lambda trigger, _: evolve(trigger, name="x", brand_identity_id=two.brand_identity_id)
    )

    assert double is DUPLICATE_TRIGGER
    assert await triggers.all_of(acme.id) == [one, two]
    assert await acme.stores.deliveries.settle(settling) is Settled.AS_DECIDED


async def test_changes_at_once_lose_nothing(acme: Tenant) -> None:
    triggers = acme.stores.triggers
    one = acme.triggers[0]

    def also(number: int) -> Callable[[Trigger, ZoneInfo], Trigger]:
        return lambda trigger, _: evolve(trigger, repository_ids=(*trigger.repository_ids, number))

    await asyncio.gather(*(triggers.change(acme.id, one.id, also(number)) for number in range(10, 20)))

    changed = await triggers.find(acme.id, one.id)
    assert changed == evolve(one, repository_ids=(1, *range(10, 20)))


async def test_a_trigger_is_removed_once(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith")
    directory = acme.stores.directory
    triggers = acme.stores.triggers
    one, two = acme.triggers
    settling = await acme.processed("d-1")
    run = await acme.taken()

    for organization_id, trigger_id in ((zenith.id, one.id), (acme.id, "trg_unknown")):
        assert not await triggers.remove(organization_id, trigger_id)
        assert await triggers.change(organization_id, trigger_id, named("x")) is UNKNOWN_TRIGGER
    answers = await asyncio.gather(*(triggers.remove(acme.id, one.id) for _ in range(5)))
    assert sorted(answers) == [False] * 4 + [True]

    assert await triggers.all_of(acme.id) == [two]
    assert await directory.owner_of(one.id) is None
    assert await acme.stores.deliveries.settle(settling) is Settled.STALE
    assert [each.id for each in (await acme.processed("d-2")).runs] != []
    # Its runs stay.
    assert run in await acme.stores.ledger.runs(acme.id)
    # Another trigger may have its work now.
    assert await triggers.add(evolve(one, id="trg_again"))


async def test_removing_an_integration_leaves_triggers_that_can_be_changed(acme: Tenant) -> None:
    directory = acme.stores.directory
    triggers = acme.stores.triggers
    assert await directory.add_integration(an_integration(acme.id, (2, "acme/buoy")), "other")
    await directory.remove_integration(acme.id, acme.integration.id)
    one = acme.triggers[0]

    changed = await triggers.change(acme.id, one.id, lambda each, _: evolve(each, repository_ids=(2,), enabled=True))

    assert changed == evolve(one, repository_ids=(2,))


async def test_an_organization_has_a_bounded_number_of_triggers(acme: Tenant) -> None:
    triggers, zenith = acme.stores.triggers, await tenant(acme.stores, "zenith")
    pattern = a_trigger(acme.id, 1, at=later(seconds=1))
    rivals = [evolve(pattern, id=f"trg_{number}", repository_ids=(10 + number,)) for number in range(5)]
    most = len(acme.triggers) + 2
    assert Trigger.at_most == 200
    before = (await acme.hook()).version

    answers = await asyncio.gather(*(triggers.add(rival, at_most=most) for rival in rivals))

    assert answers.count(too_many("event triggers", most)) == 3
    assert (await acme.hook()).version == before + 2
    assert len(await triggers.all_of(acme.id)) == most
    # A repetition does not count, and other organizations have limits of their own.
    winner = next(each for each in answers if isinstance(each, Trigger))
    assert await triggers.add(winner, at_most=most) == winner
    foreign = evolve(pattern, id="trg_t", organization_id=zenith.id)
    assert await triggers.add(foreign, at_most=most) == foreign


_OPTIONS = TriggerOptions(
    all_repositories=True,
    branches=("release/*", "!release/0.x"),
    tags=("öffnen@*",),
    paths=("pkg/**", "a*" * 100),
    scopes=("api",),
    pre_releases=False,
    batch=Batch.WEEKLY,
)


async def test_a_trigger_with_options_reads_back_as_it_was(acme: Tenant) -> None:
    triggers = acme.stores.triggers
    rich = evolve(
        a_trigger(acme.id, at=later(hours=1)),
        source_type=ANY_SOURCE,
        options=_OPTIONS,
        house_style=HouseStyle({"links": False}),
        since=START,
        due_at=later(hours=2),
    )

    assert await triggers.add(rich) == rich

    assert await triggers.find(acme.id, rich.id) == rich
    # It applies to each repository of the organization.
    assert (await acme.hook()).triggers == (*acme.triggers, rich)
    plain = evolve(rich, options=NO_OPTIONS, since=None, due_at=None)
    assert await triggers.change(acme.id, rich.id, lambda _, _zone: plain) == plain
    assert await triggers.find(acme.id, rich.id) == plain


async def test_a_window_becomes_one_run(acme: Tenant) -> None:
    triggers = acme.stores.triggers
    daily = collecting(evolve(acme.triggers[0], options=TriggerOptions(batch=Batch.DAILY)), START, DEFAULT_ZONE)
    await triggers.change(acme.id, daily.id, lambda _, _zone: daily)
    weekly = collecting(evolve(acme.triggers[1], options=TriggerOptions(batch=Batch.WEEKLY)), START, DEFAULT_ZONE)
    await triggers.change(acme.id, weekly.id, lambda _, _zone: weekly)
    assert daily.due_at is not None
    assert weekly.due_at is not None
    settling = await acme.processed("d-1")

    assert await triggers.due(daily.due_at - timedelta(milliseconds=1), limit=9) == []
    one = DueAutomation(id=daily.id, organization_id=acme.id, due_at=daily.due_at)
    two = DueAutomation(id=weekly.id, organization_id=acme.id, due_at=weekly.due_at)
    assert await triggers.due(weekly.due_at, limit=9) == [one, two]
    assert await triggers.due(weekly.due_at, limit=1, after=one) == [two]
    source = Source(provider="codehost", repository_id=1, full_name="acme/lighthouse")
    rivals = [
        batch_firing(daily, daily.due_at, DEFAULT_ZONE, sources=[source], run_id=IDS.new_id("")) for _ in range(8)
    ]
    fired = await asyncio.gather(*(triggers.fire(each) for each in rivals if each is not None))

    assert fired.count(True) == 1
    winner = rivals[fired.index(True)]
    assert winner is not None
    assert await acme.stores.ledger.runs(acme.id) == [winner.run]
    assert isinstance(winner.run.cause, Generation)
    assert winner.run.cause.window == LookbackWindow(since=START, until=daily.due_at)
    current = await triggers.find(acme.id, daily.id)
    assert current == evolve(daily, since=daily.due_at, due_at=daily.due_at + timedelta(days=1))
    # The same firing, repeated after an unknown outcome.
    assert await triggers.fire(winner)
    assert len(await acme.stores.ledger.runs(acme.id)) == 1
    # No decision on a delivery depends on it.
    assert await acme.stores.deliveries.settle(settling) is Settled.AS_DECIDED
    await triggers.change(acme.id, weekly.id, lambda trigger, _: evolve(trigger, enabled=False))
    late = batch_firing(weekly, weekly.due_at, DEFAULT_ZONE, sources=[source], run_id=IDS.new_id(""))
    assert late is not None
    assert not await triggers.fire(late)
    assert [each.id for each in await triggers.due(weekly.due_at, limit=9)] == [daily.id]
