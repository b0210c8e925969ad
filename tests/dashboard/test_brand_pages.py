"""The pages of brand identities."""

from datetime import timedelta

from tests.api.world import Caller
from tests.dashboard.browsing import Browsing, Seen
from tests.dashboard.contents import branded

from contentsvc_core.content.brand import LONG_TEXT_LIMIT, TEXT_LIMIT, BrandIdentity, ToneProfile
from contentsvc_core.ports.brands import NotRead, SiteFault, SitePage

BRANDS = "/dashboard/brands"
EVIL = '"><script>alert(1)</script>'


class Site:
    """A site that may be missing."""

    def __init__(self, html: str | None) -> None:
        self.html = html

    async def read(self, url: str) -> SitePage | NotRead:
        if self.html is None:
            return NotRead(fault=SiteFault.LASTING, error="it answers 404")
        return SitePage(url=url, html=self.html)


async def found(acme: Caller, brand: BrandIdentity) -> BrandIdentity:
    stored = await acme.world.stores.brands.identity(acme.organization.id, brand.id)
    assert stored is not None
    return stored


async def test_identities_are_listed_and_the_default_is_marked(acme: Caller, browsing: Browsing) -> None:
    assert "No brand identities yet" in (await browsing.open(BRANDS)).text
    first = await branded(acme, f"Light {EVIL}", audience=EVIL)
    await branded(acme, "Keeper")

    page = await browsing.open(BRANDS)

    assert [row[0] for row in page.rows[1:]] == [f"{first.name} default", "Keeper"]
    assert page.links[first.name] == f"{BRANDS}/{first.id}"
    assert all(script["src"] for script in page.tree.all("script"))


async def test_one_is_made_from_a_website(acme: Caller, browsing: Browsing) -> None:
    form = (await browsing.open(BRANDS)).form(BRANDS)

    page = await browsing.send(form, websiteUrl="https://acme.example/", name="Lighthouse")

    assert (page.heading, page.links["Reload"]) == ("Reading a website", page.path)
    await acme.world.perform(Site("<title>Acme</title>"))
    page = await browsing.open(page.path)
    (brand,) = await acme.world.stores.brands.identities(acme.organization.id)
    assert page.links["See the brand identity"] == f"{BRANDS}/{brand.id}"
    assert (await browsing.open(f"{BRANDS}/{brand.id}")).heading == "Lighthouse"


async def test_one_is_made_by_hand(acme: Caller, browsing: Browsing) -> None:
    old = await branded(acme, "Acme")
    page = await browsing.open((await browsing.open(BRANDS)).links["Write one by hand"])
    assert page.heading == "New brand identity"
    typed = {"websiteUrl": "https://light.example/", "toneProfile": "Casual", "audience": "keepers"}

    refused = await browsing.send(page.form(f"{BRANDS}/new"), name="acme", **typed)
    assert refused.status == 422
    assert "Another brand identity has this name." in refused.text
    assert refused.form(f"{BRANDS}/new").fields["websiteUrl"] == ["https://light.example/"]

    faulty = await browsing.send(page.form(f"{BRANDS}/new"), name=" ", websiteUrl="ftp://light.example/")
    assert [faulty.tree.one(id=f"{name}-fault").text.split(" must ")[0] for name in ("name", "websiteUrl")] == [
        "The name",
        "The address",
    ]

    longest = "💡" * LONG_TEXT_LIMIT
    typed |= {"customInstructions": longest, "companyDescription": longest, "customTone": "💡" * TEXT_LIMIT}
    created = await browsing.send(refused.form(f"{BRANDS}/new"), name="Lighthouse", isDefault="yes", **typed)
    assert created.heading == "Lighthouse"
    first, second = await acme.world.stores.brands.identities(acme.organization.id)
    assert {first.name: first.is_default, second.name: second.is_default} == {old.name: False, "Lighthouse": True}
    (brand,) = (each for each in (first, second) if each.is_default)
    assert (brand.tone_profile, brand.audience) == (ToneProfile.CASUAL, "keepers")
    assert brand.custom_instructions == brand.company_description == longest
    assert created.path == f"{BRANDS}/{brand.id}"


async def test_an_unreadable_website_is_shown_as_failed(acme: Caller, browsing: Browsing) -> None:
    page = await browsing.send((await browsing.open(BRANDS)).form(BRANDS), websiteUrl="https://acme.example/")
    await acme.world.perform(Site(None))

    page = await browsing.open(page.path)

    assert "It failed: https://acme.example/ cannot be read: it answers 404" in page.text
    assert "See the brand identity" not in page.links


async def test_an_identity_is_changed(acme: Caller, browsing: Browsing) -> None:
    await branded(acme)
    brand = await branded(acme, "Keeper", audience="sailors", custom_tone="dry")
    path = f"{BRANDS}/{brand.id}"
    form = (await browsing.open(path)).form(path)
    assert (form.fields["audience"], form.fields["toneProfile"]) == (["sailors"], ["Professional"])
    acme.world.clock.advance(timedelta(seconds=1))

    page = await browsing.send(
        form, name=" The  keeper ", toneProfile="Casual", audience="", customTone="dry\r\nbut kind", isDefault="yes"
    )

    assert (page.path, page.tree.one(role="status").text) == (path, "Saved.")
    changed = await found(acme, brand)
    assert (changed.name, changed.tone_profile, changed.audience) == ("The keeper", ToneProfile.CASUAL, None)
    assert (changed.custom_tone, changed.is_default) == ("dry\nbut kind", True)
    # It becomes the default, and stays it.
    assert "isDefault" not in page.form(path).fields
    await browsing.send(page.form(path))
    assert (await found(acme, brand)).is_default


async def test_deleting_an_identity_disables_its_triggers_and_schedules(acme: Caller, browsing: Browsing) -> None:
    await branded(acme)
    brand = await branded(acme, "Keeper")
    body = {
        "name": "Each push",
        "sourceType": "codehost_webhook",
        "sourceConfig": {"eventTypes": ["push"]},
        "targets": {"repositoryIds": [str(acme.repository_id)]},
        "outputType": "twitter_post",
        "outputConfig": {"brandIdentityId": brand.id},
    }
    trigger = (await acme("POST", "/v1/event-triggers", body)).json()["eventTrigger"]["id"]
    path = f"{BRANDS}/{brand.id}"
    page = await browsing.open(path)
    assert page.links["Each push"] == f"/dashboard/triggers/{trigger}"
    assert "cannot be undone" in page.tree.one("form", action=f"{path}/delete")["data-confirm"]

    page = await browsing.send(page.form(f"{path}/delete"))

    assert page.path == BRANDS
    assert "switched off" in page.tree.one(role="status").text
    (remaining,) = await acme.world.stores.triggers.all_of(acme.organization.id)
    assert not remaining.enabled
    assert (await browsing.open(path)).status == 404


async def test_a_script_knows_which_text_is_not_saved(acme: Caller, browsing: Browsing) -> None:
    brand = await branded(acme, "Light")
    path = f"{BRANDS}/{brand.id}"

    def guard(page: Seen) -> str | None:
        return next(
            attrs.get("data-guard") for tag, attrs in page.elements if tag == "form" and attrs["action"] == path
        )

    page = await browsing.open(path)
    assert guard(page) == ""
    # The refused text is only on the page, and not saved.
    assert guard(await browsing.send(page.form(path), name="")) == "unsaved"
