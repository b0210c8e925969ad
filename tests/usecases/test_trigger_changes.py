"""Triggers and schedules that change while their resources change concurrently."""

from typing import Any
from zoneinfo import ZoneInfo

import pytest
from attrs import evolve
from tests.golden import REPOSITORY, REPOSITORY_ID
from tests.refusals import accepted, existing, message_of, the_refusal
from tests.usecases.conftest import Between, World, a_brand
from tests.usecases.test_schedule import planned, standing

from contentsvc_core import ContentType, Trigger, TriggerEditor
from contentsvc_core.content.brand import no_such_brand
from contentsvc_core.refusals import Refusal
from contentsvc_core.usecases.plan import Planner
from contentsvc_core.usecases.triggers import SEVERAL_PROVIDERS, provider_of
from contentsvc_core.workflows.filters import Batch
from contentsvc_core.workflows.schedules import ChangeSchedule, CreateSchedule
from contentsvc_core.workflows.slots import Cron, Frequency
from contentsvc_core.workflows.triggers import (
    DUPLICATE_TRIGGER,
    TRIGGER_CHANGED,
    UNKNOWN_TRIGGER,
    ChangeTrigger,
    CreateTrigger,
)
from contentsvc_core.zones import DEFAULT_ZONE, stored_zone

_TOKYO = ZoneInfo("Asia/Tokyo")
_DAILY = Cron(frequency=Frequency.DAILY, hour=9, minute=0)


async def the_trigger(world: World) -> Trigger:
    return existing(await world.stores.triggers.find(world.organization.id, world.trigger.id))


def editor(world: World, *, triggers: Any = None, directory: Any = None) -> TriggerEditor:
    stores = world.stores
    return TriggerEditor(triggers or stores.triggers, directory or stores.directory, world.clock, world.ids)


async def test_a_trigger_is_switched_on_for_the_repositories_that_it_has_by_then(world: World) -> None:
    await world.connected("acme/buoy", 2, "github")
    owner, trigger = world.organization.id, world.trigger
    await world.triggers.change(owner, trigger.id, ChangeTrigger(enabled=False))

    async def beside() -> None:
        assert isinstance(await world.triggers.change(owner, trigger.id, ChangeTrigger(repository_ids=[2])), Trigger)

    between = Between(world.stores.directory, "integrations", beside)
    changed = await editor(world, directory=between).change(owner, trigger.id, ChangeTrigger(enabled=True))

    assert between.left == 0
    assert changed == await the_trigger(world)
    assert isinstance(changed, Trigger)
    assert (changed.source_type, changed.repository_ids, changed.enabled) == ("github_webhook", (2,), True)


async def test_a_change_of_a_constantly_changing_trigger_is_refused(world: World) -> None:
    owner, trigger = world.organization.id, world.trigger

    async def beside() -> None:
        now = await the_trigger(world)
        more = (*now.repository_ids, max(now.repository_ids) + 1)
        await world.stores.triggers.change(owner, trigger.id, lambda each, _: evolve(each, repository_ids=more))

    between = Between(world.stores.directory, "integrations", beside, times=100)
    named = await editor(world, directory=between).change(
        owner, trigger.id, ChangeTrigger(repository_ids=[REPOSITORY_ID], name="x")
    )

    assert named is TRIGGER_CHANGED
    assert between.left == 95
    assert (await the_trigger(world)).name == trigger.name
    # Changes without a check of repositories do not wait for this.
    assert isinstance(await world.triggers.change(owner, trigger.id, ChangeTrigger(name="x")), Trigger)


@pytest.mark.parametrize("what", ["triggers", "schedules"])
async def test_times_are_in_the_time_zone_that_the_organization_has_by_then(world: World, what: str) -> None:
    owner, stores, now = world.organization.id, world.stores, world.clock.now()

    def moving(method: str, zone: ZoneInfo) -> Any:
        async def beside() -> None:
            await stores.directory.change(owner, now, time_zone=zone)

        store = Between(getattr(stores, what), method, beside)
        if what == "triggers":
            return editor(world, triggers=store)
        schedules: Any = store
        return Planner(schedules, stores.directory, world.clock, world.ids)

    of_trigger: Any = {"batch": Batch.DAILY}, ChangeTrigger(batch=Batch.WEEKLY)
    daily = {"name": "Daily", "cron": _DAILY, "output_type": ContentType.CHANGELOG}
    of_schedule: Any = daily, ChangeSchedule(cron=evolve(_DAILY, hour=23))
    fields, change = of_trigger if what == "triggers" else of_schedule
    command = CreateTrigger if what == "triggers" else CreateSchedule
    created = await moving("add", _TOKYO).create(owner, command(repository_ids=[REPOSITORY_ID], **fields))
    assert created.due_at == created.due_from(now, _TOKYO) != created.due_from(now, DEFAULT_ZONE)
    changed = await moving("change", DEFAULT_ZONE).change(owner, created.id, change)
    assert changed.due_at == changed.due_from(now, DEFAULT_ZONE) != changed.due_from(now, _TOKYO)


async def test_no_batch_begins_in_a_time_zone_that_the_machine_does_not_know(world: World) -> None:
    owner, editing = world.organization.id, editor(world)
    create, ids = editing.create, [REPOSITORY_ID]
    at_once = accepted(await create(owner, CreateTrigger(repository_ids=ids, output_type=ContentType.BLOG_POST)))
    assert await world.stores.directory.change(owner, world.clock.now(), time_zone=stored_zone("Mars/Base"))

    for refused in (
        await create(owner, CreateTrigger(repository_ids=ids, batch=Batch.DAILY)),
        await editing.change(owner, at_once.id, ChangeTrigger(batch=Batch.DAILY)),
    ):
        assert "this machine does not know the time zone 'Mars/Base'" in message_of(refused)
    assert at_once in await world.stores.triggers.all_of(owner)
    # Triggers that start runs at once need no time zone.
    other = CreateTrigger(repository_ids=ids, output_type=ContentType.INVESTOR_UPDATE)
    assert isinstance(await create(owner, other), Trigger)
    assert isinstance(await editing.change(owner, at_once.id, ChangeTrigger(name="At once")), Trigger)


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
        # Disabled, so that the removal of the identity does not change them; they are enabled concurrently.
        off: dict[str, Any] = {"brand_identity_id": brand.id, "enabled": False}
        assert isinstance(await world.triggers.change(owner, world.trigger.id, ChangeTrigger(**off)), Trigger)
        await Planner(stores.schedules, stores.directory, world.clock, world.ids).change(
            owner, schedule.id, ChangeSchedule(**off)
        )
    before = await the_trigger(world), await standing(world, schedule)

    async def beside() -> None:
        await stores.brands.remove(owner, brand.id)

    triggers: Any = Between(stores.triggers, "change", beside)
    schedules: Any = Between(stores.schedules, "change", beside)
    planner = Planner(schedules, stores.directory, world.clock, world.ids)
    refused = no_such_brand(brand.id)

    if what == "trigger":
        assert (
            await editor(world, triggers=triggers).change(owner, world.trigger.id, ChangeTrigger(**changes)) == refused
        )
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

    triggers: Any = Between(stores.triggers, "add", beside)
    created = await editor(world, triggers=triggers).create(
        owner, CreateTrigger(repository_ids=[REPOSITORY_ID], brand_identity_id=brands[0].id)
    )
    assert message_of(created) == f"Unknown brand identity: '{brands[0].id}'"
    assert await stores.triggers.all_of(owner) == [world.trigger]

    again = await a_brand(world, "again")
    brands.append(again)
    schedules: Any = Between(stores.schedules, "add", beside)
    planner = Planner(schedules, stores.directory, world.clock, world.ids)
    planned_so = await planner.create(
        owner,
        CreateSchedule(name="Every morning", cron=_DAILY, repository_ids=[REPOSITORY_ID], brand_identity_id=again.id),
    )
    assert message_of(planned_so) == f"Unknown brand identity: '{again.id}'"
    assert await stores.schedules.all_of(owner) == []


async def test_a_trigger_has_the_fields_of_its_command(world: World) -> None:
    brand = await a_brand(world, "Acme")
    owner, edit = world.organization.id, world.triggers
    created = await edit.create(
        owner,
        CreateTrigger(
            repository_ids=[REPOSITORY_ID],
            event_types=["release"],
            output_type=ContentType.BLOG_POST,
            brand_identity_id=brand.id,
            auto_publish=True,
            enabled=False,
            name=" For\nlamps ",
        ),
    )
    assert isinstance(created, Trigger)
    assert created == Trigger(
        id=created.id,
        organization_id=owner,
        name="For lamps",
        source_type="codehost_webhook",
        enabled=False,
        repository_ids=[REPOSITORY_ID],
        event_types=["release"],
        output_type=ContentType.BLOG_POST,
        brand_identity_id=brand.id,
        auto_publish=True,
        created_at=world.clock.now(),
    )
    assert created.id.startswith("trg_")
    changed = await edit.change(
        owner, created.id, ChangeTrigger(name=" Other\nlamps ", event_types=[], brand_identity_id=None)
    )
    assert changed == evolve(created, name="Other lamps", event_types=(), brand_identity_id=None)
    assert await world.stores.triggers.find(owner, created.id) == changed
    plain = accepted(await edit.create(owner, CreateTrigger(repository_ids=[REPOSITORY_ID], event_types=["push"])))
    assert (plain.output_type, plain.enabled, plain.auto_publish, plain.name) == (
        ContentType.CHANGELOG,
        True,
        False,
        "",
    )
    assert (
        await edit.create(owner, CreateTrigger(repository_ids=[REPOSITORY_ID], event_types=["push"]))
        is DUPLICATE_TRIGGER
    )
    for unknown in ("trg_unknown", "no id"):
        assert await edit.change(owner, unknown, ChangeTrigger(enabled=False)) is UNKNOWN_TRIGGER


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"name": "x" * 101}, "a trigger's name has at most 100 characters"),
        ({"event_types": ["push", "pi\nng"]}, "unknown event type 'pi ng': push, release"),
        ({"event_types": ["x" * 65]}, f"unknown event type '{'x' * 63}…': push, release"),
        ({"brand_identity_id": "brand_x"}, "Unknown brand identity: 'brand_x'"),
        ({"repository_ids": []}, "a trigger needs a repository"),
        ({"repository_ids": [REPOSITORY_ID, 8]}, "Unknown repository: 8 is not connected"),
        (
            {"repository_ids": [REPOSITORY_ID], "provider": "github"},
            f"Unknown repository: {REPOSITORY_ID} is not connected at github",
        ),
        ({"repository_ids": [REPOSITORY_ID, 2]}, SEVERAL_PROVIDERS.message()),
    ],
)
async def test_an_invalid_trigger_is_refused(world: World, fields: dict[str, Any], reason: str) -> None:
    await world.connected("acme/buoy", 2, "github")
    owner, edit = world.organization.id, world.triggers
    arguments: dict[str, Any] = {"repository_ids": [REPOSITORY_ID], **fields}
    refused = the_refusal(await edit.create(owner, CreateTrigger(**arguments)))
    assert refused.message() == reason
    assert refused.field in fields
    assert message_of(await edit.change(owner, world.trigger.id, ChangeTrigger(**fields))) == reason
    assert await world.stores.triggers.all_of(owner) == [world.trigger]


async def test_the_references_of_a_trigger_are_checked_when_it_is_enabled(
    world: World,
) -> None:
    stores, owner = world.stores, world.organization.id
    await a_brand(world, "Acme")
    brand = await a_brand(world, "Gone")
    named = accepted(await world.triggers.change(owner, world.trigger.id, ChangeTrigger(brand_identity_id=brand.id)))
    await stores.brands.remove(owner, brand.id)

    assert (await the_trigger(world)).enabled is False
    enabled = ChangeTrigger(enabled=True)
    assert await world.triggers.change(owner, named.id, enabled) == no_such_brand(brand.id)
    assert isinstance(await world.triggers.change(owner, named.id, ChangeTrigger(name="Renamed")), Trigger)
    plain = ChangeTrigger(enabled=True, brand_identity_id=None)
    assert isinstance(await world.triggers.change(owner, named.id, plain), Trigger)

    await stores.directory.remove_integration(owner, world.connection.integration.id)

    assert (await the_trigger(world)).enabled is False
    assert message_of(await world.triggers.change(owner, named.id, enabled)) == (
        f"Unknown repository: {REPOSITORY_ID} is not connected"
    )


async def test_a_repository_at_two_providers_keeps_the_provider_of_its_trigger(world: World) -> None:
    await world.connected(REPOSITORY, REPOSITORY_ID, "github")
    owner, edit = world.organization.id, world.triggers
    ambiguous = await edit.create(owner, CreateTrigger(repository_ids=[REPOSITORY_ID], event_types=["push"]))
    assert isinstance(ambiguous, Refusal)
    choices = "(sourceType codehost_webhook or github_webhook)"
    assert (ambiguous.message(), ambiguous.field) == (
        f"the repository is connected at codehost and github: choose a provider {choices}",
        "provider",
    )
    assert await edit.change(owner, world.trigger.id, ChangeTrigger(enabled=True)) == world.trigger
    moved = await edit.change(owner, world.trigger.id, ChangeTrigger(provider="github"))
    assert moved == evolve(world.trigger, source_type="github_webhook")
    assert await edit.change(owner, world.trigger.id, ChangeTrigger(repository_ids=[REPOSITORY_ID])) == moved
    assert await edit.change(owner, world.trigger.id, ChangeTrigger(name="x" * 100)) == evolve(
        world.trigger, source_type="github_webhook", name="x" * 100
    )
    assert [provider_of(source) for source in ("github_webhook", "codehost_webhook", "cron")] == [
        "github",
        "codehost",
        None,
    ]
