"""``BrandIdentities``: unique names, one default, and the effects of a removal."""

import asyncio
from typing import Any

from attrs import evolve
from contract_values import IDS, RotatingSealer, Tenant, a_trigger, later, tenant
from sqlalchemy import update
from test_schedules_contract import a_schedule
from tests import builders
from tests.refusals import accepted, existing

from contentsvc_adapters.sql import Database, sql_stores
from contentsvc_adapters.sql.schema.automation import brand_identities
from contentsvc_core.content.brand import BrandIdentity
from contentsvc_core.content.brand_changes import (
    BRAND_NAME_TAKEN,
    DELETES_DEFAULT_BRAND,
    UNKNOWN_BRAND,
)
from contentsvc_core.webhooks.settlement import Settled
from contentsvc_core.workflows.removals import Removed
from contentsvc_core.workflows.runs import RunStatus


def a_brand(organization_id: str, name: str = "Lighthouse", **changes: Any) -> BrandIdentity:
    brand = builders.a_brand(id=IDS.new_id("brand_"), organization_id=organization_id, name=name)
    return evolve(brand, **changes)


async def added(acme: Tenant, name: str = "Lighthouse", **changes: Any) -> BrandIdentity:
    return accepted(await acme.stores.brands.add(a_brand(acme.id, name, **changes)))


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


async def test_a_run_leaves_its_identity_as_it_ends_or_none_at_all(acme: Tenant) -> None:
    brands, ledger = acme.stores.brands, acme.stores.ledger
    first, second, third = [await acme.taken() for _ in range(3)]

    brand = existing(accepted(await brands.complete(first, a_brand(acme.id))))
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
