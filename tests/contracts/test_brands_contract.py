"""``BrandIdentities``: unique names, one default, and the effects of a removal."""

import asyncio
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from attrs import evolve
from contract_values import IDS, RotatingSealer, Tenant, a_trigger, later, tenant
from sqlalchemy import update
from test_schedules_contract import a_schedule
from tests import builders

from contentsvc_adapters.sql import Database, sql_stores
from contentsvc_adapters.sql.schema.automation import brand_identities
from contentsvc_core.content.brand import BrandIdentity, ToneProfile, no_such_brand
from contentsvc_core.content.brand_changes import (
    BRAND_NAME_TAKEN,
    DELETES_DEFAULT_BRAND,
    UNKNOWN_BRAND,
    BrandChange,
)
from contentsvc_core.errors import Unstorable
from contentsvc_core.webhooks.settlement import Settled
from contentsvc_core.workflows.removals import Disabled, Removed
from contentsvc_core.workflows.runs import RunStatus


def a_brand(organization_id: str, name: str = "Lighthouse", **changes: Any) -> BrandIdentity:
    brand = builders.a_brand(id=IDS.new_id("brand_"), organization_id=organization_id, name=name)
    return evolve(brand, **changes)


async def added(acme: Tenant, name: str = "Lighthouse", **changes: Any) -> BrandIdentity:
    brand = await acme.stores.brands.add(a_brand(acme.id, name, **changes))
    assert isinstance(brand, BrandIdentity)
    return brand


def change(**values: Any) -> BrandChange:
    return BrandChange(values=values, at=later(hours=1))


async def test_an_identity_reads_back_as_it_was(acme: Tenant) -> None:
    brand = a_brand(
        acme.id,
        "Leuchtturm ⚓",
        company_name="Acme & Söhne",
        company_description="two\nlines",
        tone_profile=ToneProfile.CASUAL,
        custom_tone="like the sea",
        custom_instructions="never shout",
        audience="sailors",
        language="German",
    )

    assert await acme.stores.brands.add(brand) == evolve(brand, is_default=True)

    assert await acme.stores.brands.identity(acme.id, brand.id) == evolve(brand, is_default=True)
    assert await acme.stores.brands.identity(acme.id, "brand_unknown") is None


async def test_an_unreadable_identity_fails_its_own_organization_alone(database: Database) -> None:
    stores = sql_stores(database, RotatingSealer())
    acme, zenith = await tenant(stores), await tenant(stores, "zenith")
    brand, other = await added(acme), await added(zenith)
    # As after a restart with an earlier version.
    newer = update(brand_identities).where(brand_identities.c.id == brand.id)
    await database.change(newer.values(tone_profile="pirate"))

    # At once, so that one statement finds all of them.
    found = await asyncio.gather(
        *(stores.brands.identity(each.id, id_) for each in (zenith, acme) for id_ in (brand.id, other.id)),
        return_exceptions=True,
    )

    assert found[:2] == [None, other]
    assert isinstance(found[2], ValueError)
    assert found[3] is None


async def test_the_first_identity_is_the_default_and_a_later_one_is_not(acme: Tenant) -> None:
    brands = acme.stores.brands
    assert await brands.default(acme.id) is None

    first = await added(acme, "first")
    second = await added(acme, "second", is_default=True, created_at=later(hours=1))

    assert [first.is_default, second.is_default] == [True, False]
    assert await brands.default(acme.id) == first
    assert await brands.identities(acme.id) == [first, second]


async def test_names_are_unique_in_an_organization_in_any_case(acme: Tenant) -> None:
    brands = acme.stores.brands
    zenith = await tenant(acme.stores, "zenith")
    first = await added(acme, "Straße é")

    for same in ("STRASSE É", "straße e\u0301"):
        assert await brands.add(a_brand(acme.id, same)) is BRAND_NAME_TAKEN
    assert isinstance(await brands.add(a_brand(zenith.id, "Straße é")), BrandIdentity)
    assert await brands.identities(acme.id) == [first]


async def test_of_concurrent_identities_one_has_the_name_and_one_is_the_default(acme: Tenant) -> None:
    rivals = [a_brand(acme.id, name) for name in ("Acme", "ACME", "acme", "b", "c", "d")]

    answers = await asyncio.gather(*(acme.stores.brands.add(rival) for rival in rivals))

    created = [answer for answer in answers if isinstance(answer, BrandIdentity)]
    assert len(created) == 4
    assert sorted(await acme.stores.brands.identities(acme.id), key=lambda each: each.id) == sorted(
        created, key=lambda each: each.id
    )
    assert [each.is_default for each in created].count(True) == 1


async def test_adding_again_changes_nothing_also_after_a_change(acme: Tenant) -> None:
    brand = await added(acme)
    changed = await acme.stores.brands.change(acme.id, brand.id, change(name="Renamed"))

    # As a repeated run does.
    assert await acme.stores.brands.add(evolve(brand, created_at=later(days=1))) == changed

    zenith = await tenant(acme.stores, "zenith")
    with pytest.raises(Unstorable):
        await acme.stores.brands.add(evolve(brand, organization_id=zenith.id))
    with pytest.raises(Unstorable):
        await acme.stores.brands.add(a_brand("org_unknown"))


async def test_concurrent_changes_of_an_identity_are_both_kept(acme: Tenant) -> None:
    brands = acme.stores.brands
    brand = await added(acme, audience="sailors", language="German")
    other = await added(acme, "Other")

    await asyncio.gather(
        brands.change(acme.id, brand.id, change(audience=None)),
        brands.change(acme.id, brand.id, change(name="LIGHTHOUSE", tone_profile=ToneProfile.FORMAL)),
    )

    changed = evolve(
        brand, audience=None, name="LIGHTHOUSE", tone_profile=ToneProfile.FORMAL, updated_at=later(hours=1)
    )
    assert await brands.identity(acme.id, brand.id) == changed
    assert await brands.identities(acme.id) == [changed, other]


async def test_there_is_one_default_at_any_time(acme: Tenant) -> None:
    brands = acme.stores.brands
    created = [await added(acme, f"brand {number}") for number in range(4)]

    answers = await asyncio.gather(*(brands.change(acme.id, each.id, change(is_default=True)) for each in created))

    assert all(isinstance(answer, BrandIdentity) and answer.is_default for answer in answers)
    now = [each for each in await brands.identities(acme.id) if each.is_default]
    assert now == [await brands.default(acme.id)]


async def test_removing_an_identity_disables_its_triggers_and_schedules(acme: Tenant) -> None:
    brands, triggers, schedules = acme.stores.brands, acme.stores.triggers, acme.stores.schedules
    default = await added(acme)
    brand = await added(acme, "Other", created_at=later(hours=1))
    named = [
        evolve(a_trigger(acme.id, 1, event_types=kinds), brand_identity_id=brand.id)
        for kinds in (["push"], ["release"])
    ]
    off = evolve(a_trigger(acme.id, 1), brand_identity_id=brand.id, enabled=False)
    for trigger in (*named, off):
        await triggers.add(trigger)
    scheduled = a_schedule(acme.id, brand_identity_id=brand.id)
    others = a_schedule(acme.id, brand_identity_id=default.id)
    for schedule in (scheduled, others):
        assert await schedules.add(schedule)
    settling = await acme.processed("d-1")

    assert await brands.remove(acme.id, default.id) is DELETES_DEFAULT_BRAND
    removed = await brands.remove(acme.id, brand.id)

    assert removed == Removed(disabled_events=named, disabled_schedules=[scheduled])
    assert await brands.identities(acme.id) == [default]
    assert [each.enabled for each in await triggers.all_of(acme.id)] == [True, True, False, False, False]
    # They keep the identity, so that no two of them become equal.
    assert {each.brand_identity_id for each in await triggers.all_of(acme.id)} >= {brand.id}
    assert await schedules.all_of(acme.id) == [evolve(scheduled, enabled=False, due_at=None), others]
    # A delivery that was decided earlier would still start them.
    assert await acme.stores.deliveries.settle(settling) is Settled.STALE
    assert await brands.remove(acme.id, brand.id) is UNKNOWN_BRAND


async def test_an_unknown_identity_is_refused_by_triggers_and_schedules(acme: Tenant) -> None:
    brands, triggers, schedules = acme.stores.brands, acme.stores.triggers, acme.stores.schedules
    zenith = await tenant(acme.stores, "zenith")
    foreign = await brands.add(a_brand(zenith.id))
    assert isinstance(foreign, BrandIdentity)
    default = await added(acme)
    trigger, schedule = acme.triggers[0], a_schedule(acme.id)
    assert await schedules.add(schedule)
    version = (await acme.hook()).version

    for unknown in ("brand_unknown", "no id", foreign.id):
        refused = no_such_brand(unknown)
        new = evolve(a_trigger(acme.id, 1), brand_identity_id=unknown)
        assert await triggers.add(new, checks_brand=True) == refused
        assert await schedules.add(a_schedule(acme.id, brand_identity_id=unknown), checks_brand=True) == refused
        for change in (triggers.change, schedules.change):
            current: Any = trigger if change == triggers.change else schedule

            def named(each: Any, _zone: ZoneInfo, unknown: str = unknown) -> Any:
                return evolve(each, brand_identity_id=unknown)

            assert await change(acme.id, current.id, named, checks_brand=True) == refused  # pyright: ignore[reportArgumentType]
    assert await triggers.all_of(acme.id) == list(acme.triggers)
    assert await schedules.all_of(acme.id) == [schedule]
    assert (await acme.hook()).version == version
    # An existing identity, or none, is accepted.
    for known in (default.id, None):
        new = evolve(a_trigger(acme.id, 2), brand_identity_id=known)
        assert await triggers.add(new, checks_brand=True) == new
        named_so = a_schedule(acme.id, brand_identity_id=known, repository_ids=(2,))
        assert await schedules.add(named_so, checks_brand=True) == named_so


async def test_no_enabled_trigger_or_schedule_keeps_a_concurrently_removed_identity(acme: Tenant) -> None:
    brands, triggers, schedules = acme.stores.brands, acme.stores.triggers, acme.stores.schedules
    await added(acme)
    trigger, schedule = acme.triggers[0], a_schedule(acme.id)
    assert await schedules.add(schedule)
    for number in range(4):
        brand = await added(acme, f"brand {number}")
        new = evolve(a_trigger(acme.id, 2), brand_identity_id=brand.id)

        def spoken(each: Any, _zone: ZoneInfo, brand: BrandIdentity = brand) -> Any:
            return evolve(each, brand_identity_id=brand.id)

        work: list[Any] = [
            triggers.change(acme.id, trigger.id, spoken, checks_brand=True),
            schedules.change(acme.id, schedule.id, spoken, checks_brand=True),
            triggers.add(new, checks_brand=True),
        ]
        work.insert(number, brands.remove(acme.id, brand.id))
        answers = await asyncio.gather(*work)

        (removed,) = [answer for answer in answers if isinstance(answer, Removed)]
        named = [each for each in await triggers.all_of(acme.id) if each.brand_identity_id == brand.id]
        # Triggers that were added first are disabled, and later ones were refused.
        assert [each.enabled for each in named] == [False] * len(named)
        assert {each.id for each in named} == {each.id for each in removed.disabled_events}
        current = await schedules.find(acme.id, schedule.id)
        assert current is not None
        disabled = (Disabled(schedule.id, schedule.name),) if current.brand_identity_id == brand.id else ()
        assert removed.disabled_schedules == disabled
        assert answers.count(no_such_brand(brand.id)) == 3 - len(named) - len(removed.disabled_schedules)
        await triggers.change(acme.id, trigger.id, lambda each, _: evolve(each, enabled=True))
        await schedules.change(acme.id, schedule.id, lambda _, _zone: schedule)


async def test_a_run_leaves_its_identity_as_it_ends_or_none_at_all(acme: Tenant) -> None:
    brands, ledger = acme.stores.brands, acme.stores.ledger
    first, second, third = [await acme.taken() for _ in range(3)]

    brand = await brands.complete(first, a_brand(acme.id))
    assert isinstance(brand, BrandIdentity)
    assert await brands.identities(acme.id) == [brand]
    # The run has ended: no process changes it, including the one that took it.
    assert await brands.complete(first, a_brand(acme.id, "Other")) is None
    assert await brands.complete(second, a_brand(acme.id, brand.name)) is BRAND_NAME_TAKEN
    assert await ledger.owns(second)
    assert await ledger.cancel(acme.id, third.id, "cancelled")
    assert await brands.complete(third, a_brand(acme.id, "Third")) is None
    answers = await asyncio.gather(
        brands.complete(second, a_brand(acme.id, "Second")), ledger.cancel(acme.id, second.id, "cancelled")
    )

    assert [isinstance(answers[0], BrandIdentity), answers[1]] in ([True, False], [False, True])
    stood = {run.id: run for run in await ledger.runs(acme.id)}
    assert (stood[first.id].status, stood[first.id].error) == (RunStatus.COMPLETED, None)
    assert (stood[second.id].status is RunStatus.COMPLETED) == isinstance(answers[0], BrandIdentity)
    assert len(await brands.identities(acme.id)) == 1 + isinstance(answers[0], BrandIdentity)


async def test_nothing_of_another_organization_is_seen_or_changed(acme: Tenant) -> None:
    brands = acme.stores.brands
    zenith = await tenant(acme.stores, "zenith")
    await added(acme)
    brand = await added(acme, "Other")

    assert await brands.identity(zenith.id, brand.id) is None
    assert await brands.identities(zenith.id) == []
    assert await brands.default(zenith.id) is None
    assert await brands.change(zenith.id, brand.id, change(is_default=True)) is UNKNOWN_BRAND
    assert await brands.remove(zenith.id, brand.id) is UNKNOWN_BRAND
    assert await acme.stores.directory.owner_of(brand.id) == acme.id
    assert await brands.identity(acme.id, brand.id) == brand
