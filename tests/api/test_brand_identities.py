"""``/v1/brand-identities``: each answer and each named error."""

from typing import Any

from msgspec import to_builtins
from tests.api.world import Caller
from tests.builders import a_brand

from contentsvc_core.content.brand import BrandBody, BrandIdentity

BASE = "/v1/brand-identities"


async def new_identity(acme: Caller, **changes: Any) -> BrandIdentity:
    world = acme.world
    now = world.clock.now()
    brand = await world.stores.brands.add(
        a_brand(now, id=world.ids.new_id("brand_"), organization_id=acme.organization.id, **changes)
    )
    assert isinstance(brand, BrandIdentity)
    return brand


async def test_identities_are_listed_and_shown(acme: Caller) -> None:
    brand = await new_identity(acme, audience="sailors")

    listed = await acme("GET", BASE)
    shown = await acme("GET", f"{BASE}/{brand.id}")

    body = to_builtins(BrandBody.of(brand))
    assert (listed.status_code, listed.json()) == (200, {"brandIdentities": [body]})
    assert (shown.status_code, shown.json()) == (200, {"brandIdentity": body})


async def test_fields_are_changed_and_taken_away(acme: Caller) -> None:
    brand = await new_identity(acme, audience="sailors", language="German")
    changes = {
        "name": "  New\n name ",
        "websiteUrl": "https://other.example/a",
        "companyName": "Acme",
        "customInstructions": " never\r\nshout\u0000 ",
        "toneProfile": "Casual",
        "audience": None,
    }

    changed = await acme("PATCH", f"{BASE}/{brand.id}", changes)

    assert changed.status_code == 200
    body = changed.json()["brandIdentity"]
    assert {name: body[name] for name in (*changes, "language")} == {
        **changes,
        "name": "New name",
        "customInstructions": "never\nshout\ufffd",
        "language": "German",
    }
    assert (await acme("GET", f"{BASE}/{brand.id}")).json() == {"brandIdentity": body}


NO_CHANGES: tuple[tuple[Any, str], ...] = (
    ({"colour": "red"}, "colour"),
    ({"isDefault": False}, "make another one the default"),
)


async def test_an_invalid_change_is_400_and_changes_nothing(acme: Caller) -> None:
    brand = await new_identity(acme)

    for body, words in NO_CHANGES:
        refused = await acme("PATCH", f"{BASE}/{brand.id}", body)
        assert (refused.status_code, words in refused.json()["error"]) == (400, True), (body, refused.text)

    assert await acme.world.stores.brands.identities(acme.organization.id) == [brand]


async def test_an_unreadable_website_is_400_at_once(acme: Caller) -> None:
    for body, words in (({}, "websiteUrl"), ({"websiteUrl": "http://127.0.0.1/"}, "websiteUrl must be the address of")):
        refused = await acme("POST", f"{BASE}/generate", body)
        assert (refused.status_code, words in refused.json()["error"]) == (400, True), (body, refused.text)

    assert await acme.world.stores.ledger.runs(acme.organization.id) == []
