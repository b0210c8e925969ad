"""``DeliveryStore.configuration`` and ``Directory``: the hook at an address, and its changes."""

import asyncio
from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from attrs import evolve
from contract_values import IDS, SECRET, RotatingSealer, Stores, Tenant, a_trigger, an_integration, later, tenant
from sqlalchemy import update
from tests.refusals import existing

from contentsvc_adapters.sql import Database, SqlStores
from contentsvc_adapters.sql.schema.directory import organizations
from contentsvc_core.content.house_style import HouseStyle
from contentsvc_core.errors import Unstorable
from contentsvc_core.organizations import Organization
from contentsvc_core.testing import START, switched
from contentsvc_core.webhooks.delivery import Belonging, HookConfiguration
from contentsvc_core.webhooks.settlement import Settled
from contentsvc_core.workflows.triggers import DUPLICATE_TRIGGER, UNKNOWN_TRIGGER


async def test_an_endpoint_is_all_that_a_delivery_is_decided_on(acme: Tenant) -> None:
    hook = existing(await acme.stores.deliveries.configuration(acme.address, START))

    assert hook == HookConfiguration(
        address=acme.address,
        enabled=True,
        secrets=(SECRET,),
        repository=Belonging.THIS_INTEGRATION,
        triggers=acme.triggers,
        version=hook.version,
        branch="main",
    )


@pytest.mark.parametrize("part", ["organization_id", "integration_id", "provider"])
async def test_nothing_is_known_elsewhere(acme: Tenant, part: str) -> None:
    zenith = await tenant(acme.stores, "zenith")
    others = {"organization_id": zenith.id, "integration_id": zenith.integration.id, "provider": "github"}

    for value in (others[part], "unknown", ""):
        assert await acme.stores.deliveries.configuration(evolve(acme.address, **{part: value}), START) is None


async def test_a_repository_belongs_to_the_integration_that_connected_it(acme: Tenant) -> None:
    directory = acme.stores.directory
    await tenant(acme.stores, "zenith", repository_id=4)
    assert await directory.add_integration(an_integration(acme.id, (2, "acme/buoy")), "other")
    assert await directory.add_integration(an_integration(acme.id, (3, "acme/mast"), provider="github"), "third")

    known = {
        id_: await acme.stores.deliveries.configuration(evolve(acme.address, repository_id=id_), START)
        for id_ in (1, 2, 3, 4, 2**63 - 1)
    }

    assert {id_: hook and hook.repository for id_, hook in known.items()} == {
        1: Belonging.THIS_INTEGRATION,
        2: Belonging.ANOTHER_INTEGRATION,
        # A repository at another provider, or of another organization, does not conflict with this one.
        3: Belonging.UNKNOWN,
        4: Belonging.UNKNOWN,
        2**63 - 1: Belonging.UNKNOWN,
    }


async def test_an_endpoint_has_the_triggers_that_may_match_there(acme: Tenant) -> None:
    triggers = acme.stores.triggers
    zenith = await tenant(acme.stores, "zenith")
    await triggers.add(a_trigger(acme.id, 1, provider="github"))
    await triggers.change(acme.id, acme.triggers[0].id, switched(enabled=False))

    assert (await acme.hook()).triggers == acme.triggers[1:]
    assert (await zenith.hook()).triggers == zenith.triggers


async def test_a_disabled_integration_refuses_at_once(acme: Tenant) -> None:
    assert await acme.stores.directory.enable_integration(acme.id, acme.integration.id, enabled=False)
    assert not (await acme.hook()).enabled
    assert await acme.stores.directory.integrations(acme.id) == [evolve(acme.integration, enabled=False)]
    assert await acme.stores.directory.enable_integration(acme.id, acme.integration.id, enabled=True)
    assert (await acme.hook()).enabled


async def test_a_change_without_effect_makes_no_configuration_stale(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith")
    settling = await acme.processed("d-1")
    directory = acme.stores.directory
    triggers = acme.stores.triggers

    assert await triggers.change(acme.id, zenith.triggers[0].id, switched(enabled=False)) is UNKNOWN_TRIGGER
    assert not await directory.enable_integration(acme.id, zenith.integration.id, enabled=False)
    assert not await directory.add_integration(an_integration(acme.id, (1, "acme/new")), "other")

    assert await acme.stores.deliveries.settle(settling) is Settled.AS_DECIDED
    assert (await zenith.hook()).enabled
    assert (await zenith.hook()).triggers == zenith.triggers


async def test_a_slug_is_taken_once(stores: Stores) -> None:
    rivals = [
        Organization(id=IDS.new_id("org_"), slug="acme", name=f"Acme {number}", created_at=START) for number in range(8)
    ]

    answers = await asyncio.gather(*(stores.directory.add_organization(rival) for rival in rivals))

    assert answers.count(True) == 1
    winner = rivals[answers.index(True)]
    assert await stores.directory.organization("acme") == winner
    assert await stores.directory.organizations() == [winner]
    # Repeated after an unknown outcome.
    assert await stores.directory.add_organization(winner)


async def test_organizations_are_listed_by_slug(stores: Stores) -> None:
    created = {
        slug: Organization(id=IDS.new_id("org_"), slug=slug, name=slug, retention_days=7, created_at=START)
        for slug in ("b", "a-b", "a", "aa", "a0")
    }
    for organization in created.values():
        await stores.directory.add_organization(organization)

    assert await stores.directory.organizations() == [created[slug] for slug in ("a", "a-b", "a0", "aa", "b")]
    assert await stores.directory.organization("c") is None


@pytest.mark.parametrize(
    ("repository", "provider", "added"),
    [
        ((1, "acme/renamed"), "codehost", False),
        ((9, "acme/lighthouse"), "codehost", False),
        ((9, "ACME/LightHouse"), "codehost", False),
        ((9, "acme/other"), "codehost", True),
        ((1, "acme/lighthouse"), "github", True),
    ],
)
async def test_a_repository_is_connected_once(
    acme: Tenant, repository: tuple[int, str], provider: str, *, added: bool
) -> None:
    # Also with a free repository, the whole integration is refused.
    integration = an_integration(acme.id, (8, "acme/free"), repository, provider=provider, at=later(seconds=1))

    assert await acme.stores.directory.add_integration(integration, "other") is added

    assert await acme.stores.directory.integrations(acme.id) == [acme.integration, *([integration] if added else [])]
    assert await acme.stores.directory.secrets(acme.id, integration.id, START) == (("other",) if added else ())
    assert await acme.stores.directory.owner_of(integration.id) == (acme.id if added else None)


async def test_of_concurrent_connections_of_one_repository_one_is_made(acme: Tenant) -> None:
    rivals = [an_integration(acme.id, (10 + number, "acme/buoy"), at=later(seconds=1)) for number in range(8)]

    answers = await asyncio.gather(*(acme.stores.directory.add_integration(rival, "secret") for rival in rivals))

    assert answers.count(True) == 1
    winner = rivals[answers.index(True)]
    assert await acme.stores.directory.integrations(acme.id) == [acme.integration, winner]
    # Repeated after an unknown outcome: neither refused nor doubled.
    assert await acme.stores.directory.add_integration(winner, "secret")
    assert await acme.stores.directory.secrets(acme.id, winner.id, START) == ("secret",)


async def test_one_integration_does_not_connect_a_repository_twice(acme: Tenant) -> None:
    twice = an_integration(acme.id, (2, "acme/buoy"), (3, "acme/Buoy"))

    assert not await acme.stores.directory.add_integration(twice, "secret")


async def test_repositories_keep_their_order(acme: Tenant) -> None:
    integration = an_integration(acme.id, (5, "acme/e"), (3, "acme/c"), (4, "acme/d"), at=later(seconds=1))
    assert await acme.stores.directory.add_integration(integration, "secret")

    assert (await acme.stores.directory.integrations(acme.id))[1] == integration


async def test_integrations_are_listed_oldest_first(acme: Tenant) -> None:
    directory = acme.stores.directory
    integrations = [an_integration(acme.id, (10 + n, f"acme/{n}"), at=later(hours=n % 2)) for n in range(4)]
    for integration in reversed(integrations):
        assert await directory.add_integration(integration, "secret")

    assert await directory.integrations(acme.id) == [acme.integration, *integrations[::2], *integrations[1::2]]


async def test_nothing_of_another_organization_is_seen(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith")
    directory = acme.stores.directory
    triggers = acme.stores.triggers

    assert await triggers.find(zenith.id, acme.triggers[0].id) is None
    assert await directory.secrets(zenith.id, acme.integration.id, START) == ()
    assert await triggers.all_of(zenith.id) == list(zenith.triggers)
    assert await directory.integrations("org_unknown") == []


async def test_an_id_is_not_given_away_twice(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith")

    with pytest.raises(Unstorable):
        await acme.stores.triggers.add(evolve(acme.triggers[0], organization_id=zenith.id))
    with pytest.raises(Unstorable):
        await acme.stores.directory.add_integration(evolve(acme.integration, organization_id=zenith.id), "secret")
    assert await acme.stores.directory.owner_of(acme.triggers[0].id) == acme.id
    assert await acme.stores.directory.secrets(acme.id, acme.integration.id, START) == (SECRET,)


async def test_nothing_can_belong_to_an_unknown_organization(stores: Stores) -> None:
    with pytest.raises(Unstorable):
        await stores.triggers.add(a_trigger("org_unknown", 1))
    with pytest.raises(Unstorable):
        await stores.directory.add_integration(an_integration("org_unknown", (1, "a/b")), "secret")


async def test_the_owner_of_an_id_is_found(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith")
    owner_of = acme.stores.directory.owner_of

    assert await owner_of(acme.integration.id) == acme.id
    assert await owner_of(acme.triggers[1].id) == acme.id
    assert await owner_of(zenith.integration.id) == zenith.id
    assert await owner_of(zenith.triggers[1].id) == zenith.id
    assert await owner_of((await zenith.taken()).id) == zenith.id
    assert await owner_of("int_unknown") is None


async def test_the_name_and_the_plan_of_an_organization_change_and_raise_no_version(acme: Tenant) -> None:
    directory = acme.stores.directory
    zenith = await tenant(acme.stores, "zenith")
    version = (await acme.hook()).version
    before = existing(await directory.organization_of(acme.id))
    other = await directory.organization_of(zenith.id)

    assert await directory.change(acme.id, START, name="Acme ✓", retention_days=7)
    assert await directory.organization_of(acme.id) == evolve(before, name="Acme ✓", retention_days=7)
    assert (await directory.retention_days())[acme.id] == 7
    assert await directory.change(acme.id, START)
    assert (await acme.hook()).version == version
    assert await directory.organization_of(zenith.id) == other
    assert not await directory.change("org_unknown", START, name="Acme")
    assert not await directory.change("org_unknown", START)


async def test_a_house_style_is_kept_with_its_organization_and_raises_no_version(acme: Tenant) -> None:
    directory = acme.stores.directory
    zenith = await tenant(acme.stores, "zenith")
    version, style = (await acme.hook()).version, HouseStyle({"hide": ["docs ✓"], "headings": {"added": "New"}})

    assert await directory.set_house_style(acme.id, style)
    found = existing(await directory.organization_of(acme.id))
    assert found.house_style == style
    assert await directory.organization(found.slug) == found
    assert found in await directory.organizations()
    assert (await acme.hook()).version == version
    other = existing(await directory.organization_of(zenith.id))
    assert other.house_style is None

    assert await directory.set_house_style(acme.id, None)
    assert await directory.organization_of(acme.id) == evolve(found, house_style=None)
    assert not await directory.set_house_style("org_unknown", style)


async def test_triggers_keep_their_house_style(acme: Tenant) -> None:
    triggers = acme.stores.triggers
    plain = a_trigger(acme.id, 1)
    style = HouseStyle({"links": False})
    styled = evolve(plain, id=IDS.new_id("trg_"), house_style=style)

    # Each writes other posts.
    assert await triggers.add(plain)
    assert await triggers.add(styled)
    assert await triggers.find(acme.id, styled.id) == styled
    assert styled in (await acme.hook()).triggers
    double = await triggers.change(acme.id, styled.id, lambda each, _: evolve(each, house_style=None))
    assert double is DUPLICATE_TRIGGER
    changed = await triggers.change(acme.id, plain.id, lambda each, _: evolve(each, house_style=HouseStyle({})))
    assert changed == evolve(plain, house_style=HouseStyle({}))
    assert await triggers.find(acme.id, plain.id) == changed


async def test_an_organization_in_a_zone_that_this_machine_does_not_know_has_the_days_of_utc(
    database: Database,
) -> None:
    acme = await tenant(SqlStores(database, RotatingSealer()))
    directory = acme.stores.directory
    await database.change(update(organizations).values(time_zone="Mars/Base"))

    (listed,) = await directory.organizations()
    assert (listed.time_zone.key, listed.created_at.astimezone(listed.time_zone).utcoffset()) == (
        "Mars/Base",
        timedelta(),
    )
    assert await directory.organization_of(acme.id) == listed
    trigger = a_trigger(acme.id, 1)
    added = await acme.stores.triggers.add(trigger, timed=lambda each, zone: evolve(each, name=zone.key))
    assert added == evolve(trigger, name="Mars/Base")
    assert await directory.change(acme.id, START, time_zone=ZoneInfo("Europe/Berlin"))
    assert (await directory.organizations())[0].time_zone == ZoneInfo("Europe/Berlin")
