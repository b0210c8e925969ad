"""``BrandIdentities``: what runs and deliveries see of them. ``BRANDS`` has their contract."""

import asyncio
from typing import Any

from attrs import evolve
from contract_values import IDS, RotatingSealer, Tenant, a_trigger, tenant
from sqlalchemy import update
from tests import builders
from tests.refusals import accepted, existing

from contentsvc_adapters.sql import Database, SqlStores
from contentsvc_adapters.sql.schema.automation import brand_identities
from contentsvc_core.content.brand import BrandIdentity
from contentsvc_core.content.brand_changes import (
    BRAND_NAME_TAKEN,
)
from contentsvc_core.webhooks.settlement import Settled
from contentsvc_core.workflows.runs import RunStatus


def a_brand(organization_id: str, name: str = "Lighthouse", **changes: Any) -> BrandIdentity:
    brand = builders.a_brand(id=IDS.new_id("brand_"), organization_id=organization_id, name=name)
    return evolve(brand, **changes)


async def added(acme: Tenant, name: str = "Lighthouse", **changes: Any) -> BrandIdentity:
    return accepted(await acme.stores.brands.add(a_brand(acme.id, name, **changes)))


async def test_an_unreadable_identity_fails_its_own_organization_alone(database: Database) -> None:
    stores = SqlStores(database, RotatingSealer())
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


async def test_removing_an_identity_makes_earlier_decisions_stale(acme: Tenant) -> None:
    brands = acme.stores.brands
    await added(acme)
    brand = await added(acme, "Other")
    await acme.stores.triggers.add(evolve(a_trigger(acme.id, 1), brand_identity_id=brand.id))
    settling = await acme.processed("d-1")

    await brands.remove(acme.id, brand.id)

    assert await acme.stores.deliveries.settle(settling) is Settled.STALE


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
