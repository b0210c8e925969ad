"""``Schedules``: additions, and slots that fire once."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from attrs import evolve
from contract_values import IDS, Stores, Tenant, due, later, tenant
from tests import builders
from tests.refusals import existing

from contentsvc_core.content.house_style import HouseStyle
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.windows import Lookback
from contentsvc_core.errors import Unstorable
from contentsvc_core.ports import Automations
from contentsvc_core.testing import START
from contentsvc_core.workflows.automations import Firing
from contentsvc_core.workflows.causes import Source
from contentsvc_core.workflows.filters import Batch, TriggerOptions
from contentsvc_core.workflows.runs import RunStatus
from contentsvc_core.workflows.schedules import (
    UNKNOWN_SCHEDULE,
    Schedule,
    changed,
    disabled,
)
from contentsvc_core.workflows.slots import Cron, Frequency, next_slot
from contentsvc_core.workflows.triggers import Trigger, collecting, window_end
from contentsvc_core.zones import DEFAULT_ZONE

_CRON = Cron(frequency=Frequency.DAILY, hour=9, minute=0)
_TOKYO = ZoneInfo("Asia/Tokyo")
_SLOT = next_slot(_CRON, START, DEFAULT_ZONE)
_SOURCE = Source(provider="codehost", repository_id=1, full_name="acme/lighthouse")


def a_schedule(organization_id: str, **fields: Any) -> Schedule:
    values: dict[str, Any] = {
        "id": IDS.new_id("sch_"),
        "organization_id": organization_id,
        "cron": _CRON,
        "due_at": _SLOT,
    }
    return builders.a_schedule(**values | fields)


def a_firing(schedule: Schedule, *sources: Source, late: timedelta = timedelta()) -> Firing:
    created = schedule.firing(_SLOT + late, DEFAULT_ZONE, sources=sources or (_SOURCE,), run_id=IDS.new_id(""))
    assert created is not None
    return created


async def added(stores: Stores, organization_id: str, **changes: Any) -> Schedule:
    schedule = a_schedule(organization_id, **changes)
    assert await stores.schedules.add(schedule)
    return schedule


async def test_a_schedule_reads_back_as_it_was(acme: Tenant) -> None:
    schedules = acme.stores.schedules
    weekly = Cron(frequency=Frequency.WEEKLY, hour=0, minute=59, day_of_week=0)
    rich = await added(
        acme.stores,
        acme.id,
        name="öffnen ⚓",
        cron=weekly,
        repository_ids=(2**63 - 1, 1),
        output_type=ContentType.INVESTOR_UPDATE,
        brand_identity_id="brand_1",
        auto_publish=True,
        lookback=Lookback.LAST_30_DAYS,
        house_style=HouseStyle({"links": False, "headings": {"added": "New ⚓"}}),
        created_at=later(hours=2),
        last_slot=later(hours=1),
    )
    asleep = await added(acme.stores, acme.id, enabled=False, due_at=None, created_at=later(hours=1))

    assert await schedules.find(acme.id, rich.id) == rich
    assert await schedules.all_of(acme.id) == [asleep, rich]
    assert await acme.stores.directory.owner_of(rich.id) == acme.id
    # Repeated after an unknown outcome.
    assert await schedules.add(rich)
    assert await schedules.all_of(acme.id) == [asleep, rich]


async def test_another_organization_may_do_the_same(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith")
    own = await added(acme.stores, acme.id)
    others = await added(acme.stores, zenith.id)
    schedules = acme.stores.schedules

    assert await schedules.all_of(acme.id) == [own]
    assert await schedules.find(zenith.id, own.id) is None
    assert await schedules.change(zenith.id, own.id, _disabled) is UNKNOWN_SCHEDULE
    assert not await schedules.remove(zenith.id, own.id)
    foreign = evolve(a_firing(own).run, organization_id=zenith.id)
    assert not await schedules.fire(evolve(a_firing(own), run=foreign))
    assert await schedules.find(acme.id, own.id) == own
    assert await schedules.all_of(zenith.id) == [others]
    assert await acme.stores.ledger.runs(zenith.id) == []
    with pytest.raises(Unstorable):
        await schedules.add(evolve(own, organization_id=zenith.id, lookback=Lookback.YESTERDAY))
    with pytest.raises(Unstorable):
        await schedules.add(a_schedule("org_unknown"))
    assert await schedules.change("org_unknown", own.id, _disabled) is UNKNOWN_SCHEDULE


async def test_schedules_that_are_due_at_the_same_time_follow_each_other_also_a_deleted_one(acme: Tenant) -> None:
    schedules = acme.stores.schedules
    for lookback in (Lookback.YESTERDAY, Lookback.LAST_7_DAYS, Lookback.LAST_30_DAYS):
        await added(acme.stores, acme.id, lookback=lookback)
    first, second, third = await schedules.due(_SLOT, limit=9)

    assert await schedules.remove(acme.id, first.id)

    assert await schedules.due(_SLOT, limit=9, after=first) == [second, third]
    assert await schedules.due(_SLOT, limit=9, after=second) == [third]


async def test_of_firings_of_one_slot_one_starts_a_run(acme: Tenant) -> None:
    schedule = await added(acme.stores, acme.id)
    rivals = [a_firing(schedule, late=timedelta(seconds=number)) for number in range(8)]

    answers = await asyncio.gather(*(acme.stores.schedules.fire(rival) for rival in rivals))

    assert answers.count(True) == 1
    winner = rivals[answers.index(True)]
    assert await acme.stores.ledger.runs(acme.id) == [winner.run]
    assert await due(acme.stores, winner.run.due_at) == [winner.run.id]
    assert await acme.stores.schedules.find(acme.id, schedule.id) == evolve(
        schedule, due_at=_SLOT + timedelta(days=1), last_slot=_SLOT
    )
    # Each is repeated after an unknown outcome: the answers stay, and nothing is doubled.
    assert [await acme.stores.schedules.fire(rival) for rival in rivals] == answers
    assert await acme.stores.ledger.runs(acme.id) == [winner.run]


async def test_a_schedule_changed_meanwhile_does_not_fire(acme: Tenant) -> None:
    schedules = acme.stores.schedules
    version = (await acme.hook()).version
    lookbacks = (Lookback.YESTERDAY, Lookback.LAST_7_DAYS, Lookback.LAST_14_DAYS)
    created = [a_firing(await added(acme.stores, acme.id, lookback=lookback)) for lookback in lookbacks]
    at_ten = {"cron": evolve(_CRON, hour=10)}

    await schedules.change(acme.id, created[0].automation_id, _disabled)
    assert await schedules.remove(acme.id, created[1].automation_id)
    await schedules.change(acme.id, created[2].automation_id, lambda each, zone: changed(each, START, zone, at_ten))

    assert [await schedules.fire(each) for each in created] == [False] * 3
    assert await acme.stores.ledger.runs(acme.id) == []
    # No delivery is decided again because of these changes.
    assert (await acme.hook()).version == version


async def test_a_run_that_ended_at_firing_is_stored_unchanged(acme: Tenant) -> None:
    schedule = await added(acme.stores, acme.id)
    created = existing(schedule.firing(_SLOT, DEFAULT_ZONE, sources=(), run_id=IDS.new_id("")))

    assert await acme.stores.schedules.fire(created)
    # Its runs stay.
    assert await acme.stores.schedules.remove(acme.id, schedule.id)

    assert await acme.stores.ledger.runs(acme.id) == [created.run]
    assert created.run.status is RunStatus.SKIPPED
    assert await due(acme.stores, later(days=9)) == []


async def test_a_firing_and_changes_at_once_lose_nothing(acme: Tenant) -> None:
    schedules = acme.stores.schedules
    schedule = await added(acme.stores, acme.id)
    created = a_firing(schedule)

    await asyncio.gather(
        *(
            schedules.change(acme.id, schedule.id, lambda each, _, number=number: evolve(each, name=f"name {number}"))
            for number in range(3)
        ),
        schedules.fire(created),
        schedules.change(acme.id, schedule.id, lambda each, _: evolve(each, auto_publish=True)),
    )

    current = existing(await schedules.find(acme.id, schedule.id))
    assert (current.due_at, current.last_slot, current.auto_publish) == (created.next_due_at, created.slot, True)
    assert await schedules.due(created.run.created_at, limit=9) == []


async def test_schedules_and_windows_move_with_the_time_zone_of_their_organization(acme: Tenant) -> None:
    schedules, directory, triggers = acme.stores.schedules, acme.stores.directory, acme.stores.triggers
    zenith = await tenant(acme.stores, "zenith")
    ahead = await added(acme.stores, acme.id)
    is_due = await added(acme.stores, acme.id, lookback=Lookback.YESTERDAY, due_at=START)
    off = await added(acme.stores, acme.id, lookback=Lookback.LAST_14_DAYS, enabled=False, due_at=None)
    foreign = await added(acme.stores, zenith.id)
    stale = a_firing(ahead)
    daily = collecting(evolve(acme.triggers[0], options=TriggerOptions(batch=Batch.DAILY)), START, DEFAULT_ZONE)
    await triggers.change(acme.id, daily.id, lambda _, _zone: daily)
    version = (await acme.hook()).version

    assert await directory.change(acme.id, START, time_zone=_TOKYO)

    found = existing(await directory.organization_of(acme.id))
    assert found.time_zone == _TOKYO
    assert found in await directory.organizations()
    assert await schedules.all_of(acme.id) == [
        evolve(ahead, due_at=next_slot(_CRON, START, _TOKYO)),
        is_due,
        off,
    ]
    assert await schedules.all_of(zenith.id) == [foreign]
    assert await triggers.find(acme.id, daily.id) == evolve(daily, due_at=window_end(Batch.DAILY, START, _TOKYO))
    assert (await acme.hook()).version > version
    assert not await schedules.fire(stale)
    assert not await directory.change("org_unknown", START, time_zone=_TOKYO)


def _disabled(schedule: Schedule, _zone: ZoneInfo) -> Schedule:
    return disabled(schedule)


async def _a_due_schedule(acme: Tenant) -> tuple[Automations[Schedule], Schedule, Firing]:
    current = await added(acme.stores, acme.id)
    return acme.stores.schedules, a_schedule(acme.id, lookback=Lookback.YESTERDAY), a_firing(current)


async def _a_due_window(acme: Tenant) -> tuple[Automations[Trigger], Trigger, Firing]:
    daily = collecting(evolve(acme.triggers[0], options=TriggerOptions(batch=Batch.DAILY)), START, DEFAULT_ZONE)
    await acme.stores.triggers.change(acme.id, daily.id, lambda _, _zone: daily)
    assert daily.due_at is not None
    created = existing(daily.firing(daily.due_at, DEFAULT_ZONE, sources=[_SOURCE], run_id=IDS.new_id("")))
    return acme.stores.triggers, evolve(daily, id=IDS.new_id("trg_"), event_types=("release",)), created


@pytest.mark.parametrize("a_due_one", [_a_due_schedule, _a_due_window])
async def test_slots_and_windows_are_in_the_time_zone_of_their_organization(
    acme: Tenant, a_due_one: Callable[[Tenant], Awaitable[tuple[Automations[Any], Any, Firing]]]
) -> None:
    automations, other, before = await a_due_one(acme)
    id_ = before.automation_id
    stored = await automations.all_of(acme.id)
    await acme.stores.directory.change(acme.id, before.due_at, time_zone=_TOKYO)

    # Its due time is the same, but the next one differs.
    assert not await automations.fire(before)
    assert await acme.stores.ledger.runs(acme.id) == []
    assert await automations.all_of(acme.id) == stored
    zones: set[ZoneInfo] = set()

    def noted(each: Any, zone: ZoneInfo) -> Any:
        zones.add(zone)
        return evolve(each, auto_publish=True)

    assert await automations.add(other, timed=noted) == evolve(other, auto_publish=True)
    assert await automations.change(acme.id, id_, noted) == await automations.find(acme.id, id_)
    assert zones == {_TOKYO}
