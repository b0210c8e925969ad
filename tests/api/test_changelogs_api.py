"""``/v1/changelogs``: the settings of public changelogs."""

from typing import Any

import pytest
from attrs import evolve
from msgspec import to_builtins
from tests.api.world import ApiWorld, Caller
from tests.core.test_changelog_facets import png

from contentsvc_core.content.public.changelogs import ChangelogBody, PublicChangelog


@pytest.fixture
async def acme() -> Caller:
    return await ApiWorld().caller()


async def test_an_organization_has_its_first_changelog_before_it_is_set_up(acme: Caller) -> None:
    (first,) = (await acme("GET", "/v1/changelogs")).json()["changelogs"]

    shown = PublicChangelog.first(acme.organization, acme.world.clock.now())
    url = "http://127.0.0.1:8000/changelog/acme"
    assert first == to_builtins(ChangelogBody.of(evolve(shown, id=first["id"]), url=url))
    for name in (first["id"], "acme"):
        assert (await acme("GET", f"/v1/changelogs/{name}")).json()["changelog"] == first


async def test_changelogs_are_created_changed_and_deleted(acme: Caller) -> None:
    fields: dict[str, Any] = {
        "slug": "lens",
        "title": "Lens",
        "description": "Glass",
        "productUrl": "https://lens.example/",
        "contentTypes": ["changelog"],
        "repositories": ["acme/lens"],
        "scopes": ["Beam"],
        "accent": "#0B6B63",
        "headerLinks": [{"label": "Docs", "url": "https://docs.example/"}],
        "showDetails": True,
        "isPublic": True,
    }
    answer = await acme("POST", "/v1/changelogs", fields)
    assert answer.status_code == 201, answer.text
    created = answer.json()["changelog"]
    expected: dict[str, Any] = fields | {"scopes": ["beam"], "accent": "#0b6b63", "images": {}}
    assert created == expected | {"id": created["id"], "url": "http://127.0.0.1:8000/changelog/lens"}
    assert (await acme.world.send("GET", "/changelog/lens")).status_code == 200

    where = f"/v1/changelogs/{created['id']}"
    changed = await acme("PATCH", where, {"accent": None, "productUrl": None, "repositories": []})
    assert changed.json()["changelog"] == created | {"accent": None, "productUrl": None, "repositories": []}
    assert [each["slug"] for each in (await acme("GET", "/v1/changelogs")).json()["changelogs"]] == ["acme", "lens"]
    assert (await acme("DELETE", where)).json() == {"id": created["id"]}
    assert (await acme("GET", where)).status_code == 404
    assert (await acme.world.send("GET", "/changelog/lens")).status_code == 404


async def test_the_document_has_the_bounds_of_a_link(acme: Caller) -> None:
    document = (await acme.world.send("GET", "/schema/openapi.json")).json()
    label, url = (document["components"]["schemas"]["LinkBody"]["properties"][name] for name in ("label", "url"))
    site = "https://docs.example/"
    longest = {"label": "d" * label["maxLength"], "url": site.ljust(url["maxLength"], "d")}

    assert (label["minLength"], url["minLength"]) == (1, 1)
    answer = await acme("PATCH", "/v1/changelogs/acme", {"headerLinks": [longest]})
    assert answer.json()["changelog"]["headerLinks"] == [longest]
    for name, value in longest.items():
        for wrong in ("", value + "d"):
            link = {"label": "Docs", "url": site, name: wrong}
            refused = await acme("PATCH", "/v1/changelogs/acme", {"headerLinks": [link]})
            assert (refused.status_code, "headerLinks" in refused.json()["error"]) == (400, True), link


async def test_the_first_one_is_hidden_and_not_deleted(acme: Caller) -> None:
    assert (await acme("PATCH", "/v1/changelogs/acme", {"isPublic": True})).status_code == 200
    refused = await acme("DELETE", "/v1/changelogs/acme")

    assert (refused.status_code, "cannot be deleted: hide it" in refused.json()["error"]) == (400, True)
    hidden = await acme("PATCH", "/v1/changelogs/acme", {"isPublic": False})
    assert hidden.json()["changelog"]["isPublic"] is False


async def test_pictures_are_set_and_deleted(acme: Caller) -> None:
    where = "/v1/changelogs/acme/images/logo"
    headers = {"Content-Type": "image/png"}
    answer = await acme("PUT", where, headers=headers, content=png(64, 32))

    assert answer.status_code == 200, answer.text
    assert len(answer.json()["changelog"]["images"]["logo"]) == 16
    assert (await acme("DELETE", where)).json()["changelog"]["images"] == {}
    for content, fault in ((b"<svg/>", "PNG, JPEG or WebP"), (b"\0" * 600_000, "at most 512 KiB")):
        refused = await acme("PUT", where, headers=headers, content=content)
        assert (refused.status_code, fault in refused.json()["error"]) == (400, True)
    unknown = await acme("PUT", "/v1/changelogs/acme/images/hat", headers=headers, content=png(1, 1))
    error = "Picture not found: 'hat' is not one of logo, icon, card"
    assert (unknown.status_code, unknown.json()) == (404, {"error": error})


async def test_the_address_of_the_first_one_is_its_own_before_it_is_set_up(acme: Caller) -> None:
    error = {"error": "slug is or was the address of another changelog of yours: choose another one"}
    lens = (await acme("POST", "/v1/changelogs", {"slug": "lens", "title": "Lens"})).json()["changelog"]["id"]

    for method, path in (("POST", "/v1/changelogs"), ("PATCH", f"/v1/changelogs/{lens}")):
        refused = await acme(method, path, {"slug": "acme", "title": "A"})
        assert (refused.status_code, refused.json()) == (409, error)

    assert [each["slug"] for each in (await acme("GET", "/v1/changelogs")).json()["changelogs"]] == ["acme", "lens"]


async def test_the_posts_that_would_become_public_can_be_previewed(acme: Caller) -> None:
    assert (await acme("GET", "/v1/changelogs/acme/exposure")).json() == {"posts": 0, "repositories": [], "newest": []}


@pytest.mark.parametrize(
    ("body", "fault"), [({"slug": "lens"}, "title"), ({"slug": "lens", "title": "L", "hat": 1}, "hat")]
)
async def test_invalid_fields_are_refused_by_name(acme: Caller, body: Any, fault: str) -> None:
    assert (await acme("PATCH", "/v1/changelogs/acme", {"isPublic": True})).status_code == 200
    refused = await acme("POST", "/v1/changelogs", body)

    assert (refused.status_code, fault in refused.text) == (400, True), refused.text
    assert len((await acme("GET", "/v1/changelogs")).json()["changelogs"]) == 1
