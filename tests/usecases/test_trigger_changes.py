"""Triggers and schedules that change while their resources change concurrently."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, final

import pytest
from attrs import evolve
from tests.golden import REPOSITORY_ID
from tests.refusals import message_of
from tests.usecases.conftest import World
from tests.usecases.test_schedule import planned, standing

from contentsvc_core import Trigger, TriggerEditor
from contentsvc_core.content.brand import BrandIdentity, no_such_brand
from contentsvc_core.refusals import Refusal
from contentsvc_core.usecases.plan import Planner
from contentsvc_core.workflows.schedules import ChangeSchedule, CreateSchedule
from contentsvc_core.workflows.slots import Cron, Frequency
from contentsvc_core.workflows.triggers import TRIGGER_CHANGED, ChangeTrigger, CreateTrigger

_DAILY = Cron(frequency=Frequency.DAILY, hour=9, minute=0)


@final
class Between:
    """A store; when one of its methods is called, something else happens first, so often."""

    def __init__(self, store: object, method: str, happens: Callable[[], Awaitable[object]], *, times: int = 1) -> None:
        self._store = store
        self._method = method
        self._happens = happens
        self.left = times

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if name != self._method:
            return found

        async def call(*given: Any, **more: Any) -> Any:
            if self.left:
                self.left -= 1
                await self._happens()
            return await found(*given, **more)

        return call


async def on_github(world: World, repository_id: int = 2) -> None:
    made = await world.operator.connect(
        world.organization, full_name="acme/buoy", repository_id=repository_id, provider="github", branch=None
    )
    assert not isinstance(made, Refusal)


async def the_trigger(world: World) -> Trigger:
    found = await world.stores.directory.trigger(world.organization.id, world.trigger.id)
    assert found is not None
    return found


def editor(world: World, directory: Any) -> TriggerEditor:
    return TriggerEditor(directory, world.stores.brands, world.clock, world.ids)


async def test_a_trigger_is_switched_on_for_the_repositories_that_it_has_by_then(world: World) -> None:
    await on_github(world)
    owner, trigger = world.organization.id, world.trigger
    await world.triggers.change(owner, trigger.id, ChangeTrigger(enabled=False))

    async def beside() -> None:
        assert isinstance(await world.triggers.change(owner, trigger.id, ChangeTrigger(repository_ids=[2])), Trigger)

    between = Between(world.stores.directory, "integrations", beside)
    changed = await editor(world, between).change(owner, trigger.id, ChangeTrigger(enabled=True))

    assert between.left == 0
    assert changed == await the_trigger(world)
    assert isinstance(changed, Trigger)
    assert (changed.source_type, changed.repository_ids, changed.enabled) == ("github_webhook", (2,), True)


async def test_a_trigger_that_changes_again_and_again_is_left_to_who_does_that(world: World) -> None:
    owner, trigger = world.organization.id, world.trigger

    async def beside() -> None:
        now = await the_trigger(world)
        more = (*now.repository_ids, max(now.repository_ids) + 1)
        await world.stores.directory.change_trigger(owner, trigger.id, lambda each: evolve(each, repository_ids=more))

    between = Between(world.stores.directory, "integrations", beside, times=100)
    named = await editor(world, between).change(
        owner, trigger.id, ChangeTrigger(repository_ids=[REPOSITORY_ID], name="x")
    )

    assert named is TRIGGER_CHANGED
    assert 0 < between.left < 100
    assert (await the_trigger(world)).name == trigger.name
    # What needs no look at the repositories is not held up by this.
    assert isinstance(await world.triggers.change(owner, trigger.id, ChangeTrigger(name="x")), Trigger)


async def a_brand(world: World, name: str) -> BrandIdentity:
    brand = await world.stores.brands.add(
        BrandIdentity(
            id=world.ids.new_id("brand_"),
            organization_id=world.organization.id,
            name=name,
            website_url="https://acme.example",
            created_at=world.clock.now(),
            updated_at=world.clock.now(),
        )
    )
    assert isinstance(brand, BrandIdentity)
    world.clock.advance(timedelta(seconds=1))
    return brand


@pytest.mark.parametrize("what", ["trigger", "schedule"])
@pytest.mark.parametrize("named_before", [False, True])
async def test_an_identity_that_goes_while_it_is_named_is_as_unknown_as_one_that_was_never_there(
    world: World, what: str, *, named_before: bool
) -> None:
    await a_brand(world, "default")
    brand = await a_brand(world, "other")
    owner, stores = world.organization.id, world.stores
    schedule = await planned(world)
    changes: dict[str, Any] = {"enabled": True} if named_before else {"brand_identity_id": brand.id}
    if named_before:
        # Off, so that removing the identity leaves them as they are: to be switched on beside that.
        off: dict[str, Any] = {"brand_identity_id": brand.id, "enabled": False}
        assert isinstance(await world.triggers.change(owner, world.trigger.id, ChangeTrigger(**off)), Trigger)
        await Planner(stores.schedules, stores.directory, stores.brands, world.clock, world.ids).change(
            owner, schedule.id, ChangeSchedule(**off)
        )
    before = await the_trigger(world), await standing(world, schedule)

    async def beside() -> None:
        await stores.brands.remove(owner, brand.id)

    directory: Any = Between(stores.directory, "change_trigger", beside)
    schedules: Any = Between(stores.schedules, "change", beside)
    planner = Planner(schedules, stores.directory, stores.brands, world.clock, world.ids)
    refused = no_such_brand(brand.id)

    if what == "trigger":
        assert await editor(world, directory).change(owner, world.trigger.id, ChangeTrigger(**changes)) == refused
    else:
        assert await planner.change(owner, schedule.id, ChangeSchedule(**changes)) == refused

    assert (await the_trigger(world), await standing(world, schedule)) == before


async def test_an_identity_that_goes_while_something_is_made_that_names_it(world: World) -> None:
    await a_brand(world, "default")
    brands = [await a_brand(world, name) for name in ("one", "other")]
    owner, stores = world.organization.id, world.stores

    async def beside() -> None:
        for brand in brands:
            await stores.brands.remove(owner, brand.id)

    directory: Any = Between(stores.directory, "add_trigger", beside)
    made = await editor(world, directory).create(
        owner, CreateTrigger(repository_ids=[REPOSITORY_ID], brand_identity_id=brands[0].id)
    )
    assert message_of(made) == f"Unknown brand identity: '{brands[0].id}'"
    assert await stores.directory.triggers(owner) == [world.trigger]

    again = await a_brand(world, "again")
    brands.append(again)
    schedules: Any = Between(stores.schedules, "add", beside)
    planner = Planner(schedules, stores.directory, stores.brands, world.clock, world.ids)
    planned_so = await planner.create(
        owner,
        CreateSchedule(name="Every morning", cron=_DAILY, repository_ids=[REPOSITORY_ID], brand_identity_id=again.id),
    )
    assert message_of(planned_so) == f"Unknown brand identity: '{again.id}'"
    assert await stores.schedules.schedules(owner) == []
