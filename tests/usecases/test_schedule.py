"""Schedules: creation, changes, firing on any number of nodes, and posts."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from attrs import evolve
from tests.forwarding import Forwarding
from tests.golden import REPOSITORY, REPOSITORY_ID
from tests.refusals import accepted, existing, message_of, the_refusal
from tests.usecases.conftest import World, a_brand
from tests.usecases.test_perform import perform_all, pushed

from contentsvc_core import ContentType, PostStatus, StoreUnavailable, UnreadableRow, WorkflowRun
from contentsvc_core.content.style_fields import read_style
from contentsvc_core.content.windows import Lookback
from contentsvc_core.ports import Schedules
from contentsvc_core.usecases.plan import Planner
from contentsvc_core.usecases.schedule import BATCH_SIZE, Scheduler
from contentsvc_core.workflows.causes import Generation, Source
from contentsvc_core.workflows.runs import SCHEDULE_DISABLED, RunStatus
from contentsvc_core.workflows.schedules import (
    NO_REPOSITORY,
    UNKNOWN_SCHEDULE,
    ChangeSchedule,
    CreateSchedule,
    Schedule,
)
from contentsvc_core.workflows.slots import Cron, Frequency
from contentsvc_core.zones import start_of_day, stored_zone

_DAILY = Cron(frequency=Frequency.DAILY, hour=9, minute=0)
_SOURCE = Source(provider="codehost", repository_id=REPOSITORY_ID, full_name=REPOSITORY)


def planner(world: World, schedules: Any = None) -> Planner:
    stores = world.stores
    return Planner(schedules or stores.schedules, stores.directory, world.clock, world.ids)


async def planned(world: World, **fields: Any) -> Schedule:
    arguments: dict[str, Any] = {
        "name": "Every morning",
        "cron": _DAILY,
        "repository_ids": [REPOSITORY_ID],
        "output_type": ContentType.CHANGELOG,
        "lookback": Lookback.LAST_7_DAYS,
        **fields,
    }
    return accepted(await planner(world).create(world.organization.id, CreateSchedule(**arguments)))


class Node:
    """A node with a scheduler that records its faults."""

    def __init__(
        self,
        world: World,
        *,
        schedules: Schedules | None = None,
        batch_size: int = BATCH_SIZE,
    ) -> None:
        self.faults: list[Exception] = []
        stores = world.stores
        self.scheduler = Scheduler(
            schedules or stores.schedules,
            stores.triggers,
            stores.directory,
            world.clock,
            world.ids,
            on_fault=self.faults.append,
            batch_size=batch_size,
        )

    async def turn(self) -> int:
        return await self.scheduler.turn()


def move_to(world: World, text: str) -> None:
    world.clock.advance(datetime.fromisoformat(text).replace(tzinfo=UTC) - world.clock.now())


async def runs(world: World) -> list[WorkflowRun]:
    """Return the runs of schedules, oldest first."""
    found = await world.stores.ledger.runs(world.organization.id)
    return [run for run in reversed(found) if isinstance(run.cause, Generation)]


async def slots(world: World) -> list[str]:
    """Return the ends of the requested windows."""
    causes = [run.cause for run in await runs(world)]
    return [f"{cause.window.until:%Y-%m-%dT%H:%M}" for cause in causes if isinstance(cause, Generation)]


async def standing(world: World, schedule: Schedule) -> Schedule:
    return existing(await world.stores.schedules.find(world.organization.id, schedule.id))


async def test_a_slot_becomes_a_post_about_the_records_before_it(world: World) -> None:
    style = read_style({"hide": ["api"]})
    schedule = await planned(world, auto_publish=True, house_style=style)
    await pushed(world, "d-1", "feat: a lamp", "fix(api): the hinge")
    await perform_all(world)
    node = Node(world)

    move_to(world, "2026-01-01T08:59:59.999")
    assert await node.turn() == 0
    move_to(world, "2026-01-01T09:00:02")
    assert await node.turn() == 1
    assert await node.turn() == 0
    await pushed(world, "d-2", "feat: too late for this one")
    await perform_all(world)

    (run,) = await runs(world)
    assert isinstance(run.cause, Generation)
    assert run.cause.sources == (_SOURCE,)
    assert run.status is RunStatus.COMPLETED
    (post,) = [
        post
        for post in await world.stores.posts.posts(world.organization.id)
        if (post.source_metadata or {}).get("scheduleId") == schedule.id
    ]
    assert post.status is PostStatus.PUBLISHED
    assert "lamp" in post.markdown
    assert "hinge" not in post.markdown
    assert "too late" not in post.markdown
    assert (await standing(world, schedule)).due_at == datetime(2026, 1, 2, 9, tzinfo=UTC)


async def test_a_schedule_fires_and_writes_in_the_time_zone_of_the_organization(world: World) -> None:
    zone = ZoneInfo("Asia/Tokyo")
    await world.stores.directory.change(world.organization.id, world.clock.now(), time_zone=zone)
    schedule = await planned(
        world, output_type=ContentType.INVESTOR_UPDATE, lookback=Lookback.YESTERDAY, cron=evolve(_DAILY, hour=8)
    )
    assert schedule.due_at == datetime(2026, 1, 1, 23, tzinfo=UTC)
    await pushed(world, "d-1", "feat: a lamp")
    await perform_all(world)

    move_to(world, "2026-01-01T23:00")
    assert await Node(world).turn() == 1
    await perform_all(world)

    (run,) = await runs(world)
    assert isinstance(run.cause, Generation)
    assert run.cause.window.since == datetime(2025, 12, 31, 15, tzinfo=UTC)
    assert run.cause.window.until == datetime(2026, 1, 1, 15, tzinfo=UTC)
    (post,) = [
        post
        for post in await world.stores.posts.posts(world.organization.id)
        if (post.source_metadata or {}).get("scheduleId") == schedule.id
    ]
    assert "1 January 2026" in post.markdown
    assert "December" not in post.markdown


async def test_a_run_of_a_schedule_that_is_gone_by_then_is_skipped(world: World) -> None:
    disabled = await planned(world)
    deleted = await planned(world, lookback=Lookback.YESTERDAY)
    await pushed(world, "d-1", "feat: a lamp")
    await perform_all(world)
    move_to(world, "2026-01-01T09:00")
    assert await Node(world).turn() == 2
    await planner(world).change(world.organization.id, disabled.id, ChangeSchedule(enabled=False))
    await world.stores.schedules.remove(world.organization.id, deleted.id)
    await perform_all(world)

    assert [(run.status, run.error) for run in await runs(world)] == [(RunStatus.SKIPPED, SCHEDULE_DISABLED)] * 2


async def test_a_schedule_reports_the_repositories_connected_at_its_firing(world: World) -> None:
    created = await world.connected("acme/buoy", 2, "github")
    both = await planned(world, repository_ids=[REPOSITORY_ID, 2])
    buoy = await planned(world, repository_ids=[2])
    await world.stores.directory.remove_integration(world.organization.id, created.integration.id)
    # Its schedules were disabled; one is enabled again directly in the store.
    due_at = both.due_at
    for schedule in (both, buoy):
        assert not (await standing(world, schedule)).enabled
        refused = await planner(world).change(world.organization.id, schedule.id, ChangeSchedule(enabled=True))
        assert message_of(refused) == "Unknown repository: 2 is not connected"
        await world.stores.schedules.change(world.organization.id, schedule.id, lambda each, _: _awake(each, due_at))
    move_to(world, "2026-01-01T09:00")

    assert await Node(world).turn() == 2
    found = {run.cause.started_by: run for run in await runs(world)}
    cause = found[both.id].cause
    assert isinstance(cause, Generation)
    assert cause.sources == (_SOURCE,)
    assert (found[buoy.id].status, found[buoy.id].error) == (RunStatus.SKIPPED, NO_REPOSITORY)


def _awake(schedule: Schedule, due_at: datetime | None) -> Schedule:
    return evolve(schedule, enabled=True, due_at=due_at)


class Broken(Forwarding):
    """Schedules of which some raise."""

    def __init__(self, world: World, broken: Sequence[str], exc: Exception) -> None:
        super().__init__(world.stores.schedules)
        self._broken = broken
        self._exc = exc

    async def find(self, organization_id: str, schedule_id: str) -> Schedule | None:
        if schedule_id in self._broken:
            raise self._exc
        return await self.real.find(organization_id, schedule_id)


async def test_an_unreadable_schedule_does_not_delay_others(world: World) -> None:
    broken = await planned(world)
    await planned(world, lookback=Lookback.YESTERDAY)
    unreadable, away = UnreadableRow("no JSON"), StoreUnavailable("away")
    faulty: Any = Broken(world, [broken.id], unreadable)
    node = Node(world, schedules=faulty)
    move_to(world, "2026-01-01T09:00")

    assert await node.turn() == 1
    assert node.faults == [unreadable]
    # An unavailable store is another fault: the turn raises, and the next turn tries again.
    unavailable: Any = Broken(world, [broken.id], away)
    with pytest.raises(StoreUnavailable):
        await Node(world, schedules=unavailable).turn()
    assert await Node(world).turn() == 1


async def test_many_unreadable_schedules_do_not_delay_others(world: World) -> None:
    created = [await planned(world, lookback=lookback) for lookback in Lookback]
    unreadable = UnreadableRow("no JSON")
    broken: Any = Broken(world, [each.id for each in created[:-1]], unreadable)
    node = Node(world, schedules=broken, batch_size=2)
    move_to(world, "2026-01-01T09:00")

    assert await node.turn() == 1
    assert node.faults == [unreadable] * (len(created) - 1)
    assert (await standing(world, created[-1])).last_slot is not None
    # Each turn reads them again.
    assert await node.turn() == 0
    assert len(node.faults) == 2 * (len(created) - 1)


async def test_a_schedule_in_an_unknown_time_zone_waits_and_is_reported_once(world: World) -> None:
    schedule = await planned(world)
    directory, organization = world.stores.directory, world.organization
    assert await directory.change(organization.id, world.clock.now(), time_zone=stored_zone("Mars/Base"))
    node = Node(world)
    move_to(world, "2026-01-01T09:00")

    assert [await node.turn(), await node.turn()] == [0, 0]
    (fault,) = map(str, node.faults)
    assert fault.startswith(f"the organization '{organization.id}' starts no runs at fixed times: ")
    assert fault.endswith("this machine does not know the time zone 'Mars/Base'")
    # Days are those of UTC.
    found = existing(await directory.organization_of(organization.id))
    assert start_of_day(found.time_zone, date(2026, 1, 1)) == datetime(2026, 1, 1, tzinfo=UTC)
    assert await directory.change(organization.id, world.clock.now(), time_zone=ZoneInfo("UTC"))
    assert await node.turn() == 1
    assert (await standing(world, schedule)).last_slot is not None


async def test_no_slot_is_computed_in_a_time_zone_that_the_machine_does_not_know(world: World) -> None:
    running, off = await planned(world), await planned(world, enabled=False, lookback=Lookback.YESTERDAY)
    owner = world.organization.id
    assert await world.stores.directory.change(owner, world.clock.now(), time_zone=stored_zone("Mars/Base"))
    other = evolve(_DAILY, hour=10)
    change = planner(world).change
    another: dict[str, Any] = {
        "name": "Every evening",
        "cron": _DAILY,
        "repository_ids": [REPOSITORY_ID],
        "output_type": ContentType.BLOG_POST,
        "lookback": Lookback.YESTERDAY,
    }

    for refused in (
        await planner(world).create(owner, CreateSchedule(**another)),
        await change(owner, running.id, ChangeSchedule(cron=other)),
        await change(owner, off.id, ChangeSchedule(enabled=True)),
    ):
        assert "this machine does not know the time zone 'Mars/Base'" in message_of(refused)
    assert await world.stores.schedules.all_of(owner) == [running, off]
    # Without a new slot, everything can be changed.
    assert (await planned(world, **another, enabled=False)).due_at is None
    assert isinstance(await change(owner, off.id, ChangeSchedule(cron=other)), Schedule)
    assert isinstance(await change(owner, running.id, ChangeSchedule(name="Mornings")), Schedule)
    assert isinstance(await change(owner, running.id, ChangeSchedule(enabled=False)), Schedule)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"name": " \t"}, "a schedule needs a name"),
        ({"name": "x" * 121}, "a schedule's name has at most 120 characters"),
        ({"repository_ids": []}, "a schedule needs a repository"),
        ({"repository_ids": [REPOSITORY_ID, 99]}, "Unknown repository: 99 is not connected"),
        ({"brand_identity_id": "brand_unknown"}, "Unknown brand identity: 'brand_unknown'"),
        ({"brand_identity_id": "no id"}, "Unknown brand identity: 'no id'"),
    ],
)
async def test_invalid_fields_are_refused_by_name(world: World, fields: dict[str, Any], reason: str) -> None:
    arguments: dict[str, Any] = {
        "name": "Every morning",
        "cron": _DAILY,
        "repository_ids": [REPOSITORY_ID],
        "output_type": ContentType.CHANGELOG,
    }
    plan = planner(world)

    refused = the_refusal(await plan.create(world.organization.id, CreateSchedule(**{**arguments, **fields})))
    assert (refused.message(), {refused.field}) == (reason, set(fields))
    assert await world.stores.schedules.all_of(world.organization.id) == []
    schedule = await planned(world)
    assert message_of(await plan.change(world.organization.id, schedule.id, ChangeSchedule(**fields))) == reason
    assert await standing(world, schedule) == schedule


async def test_a_schedule_has_the_fields_of_its_command(world: World) -> None:
    brand = await a_brand(world, "Acme")
    now = world.clock.now()
    created = await planned(
        world,
        name=" Every\nmorning ",
        output_type=ContentType.TWITTER_POST,
        brand_identity_id=brand.id,
        auto_publish=True,
        lookback=Lookback.YESTERDAY,
    )
    assert created == Schedule(
        id=created.id,
        organization_id=world.organization.id,
        name="Every morning",
        cron=_DAILY,
        repository_ids=[REPOSITORY_ID],
        output_type=ContentType.TWITTER_POST,
        brand_identity_id=brand.id,
        enabled=True,
        auto_publish=True,
        lookback=Lookback.YESTERDAY,
        created_at=now,
        updated_at=now,
        due_at=now.replace(hour=9, second=0, microsecond=0),
    )
    assert created.id.startswith("sch_")
    world.clock.advance(timedelta(minutes=1))
    change = ChangeSchedule(name="x" * 120, auto_publish=False)
    changed = await planner(world).change(world.organization.id, created.id, change)
    assert changed == evolve(created, name="x" * 120, auto_publish=False, updated_at=world.clock.now())
    assert await planner(world).change(world.organization.id, "sch_unknown", change) is UNKNOWN_SCHEDULE


@pytest.mark.parametrize(("method", "answer"), [("find", None), ("fire", False)])
async def test_a_schedule_that_is_deleted_or_fired_meanwhile_starts_nothing(
    world: World, method: str, answer: object
) -> None:
    await planned(world)

    async def answered(*_: object) -> object:
        return answer

    schedules: Any = Forwarding(world.stores.schedules)
    setattr(schedules, method, answered)
    node = Node(world, schedules=schedules)
    move_to(world, "2026-01-01T09:00")
    assert (await node.turn(), node.faults) == (0, [])
