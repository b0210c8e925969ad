"""The pages for links in mails to recipients of alerts, without a browser."""

from typing import Final

from tests.api.world import ApiWorld
from tests.dashboard.browsing import Seen
from tests.endpoints import tokens_of

from contentsvc_core import CreateEndpoint
from contentsvc_core.usecases.webhook_endpoints import NewSecret
from contentsvc_http.settings import Settings

_ROOT: Final = "/changelog/-/alerts"
_ADDRESS: Final = "ops@acme.example"


async def asked() -> tuple[ApiWorld, str, str]:
    """Create an endpoint by mail; return its organization and the token of its address."""
    world = ApiWorld(Settings(smtp_url="smtp://mail.acme.example", mail_from="alerts@acme.example"))
    acme = await world.caller()
    created = await world.use_cases.endpoint_editor.create(acme.organization.id, CreateEndpoint(url=_ADDRESS))
    assert isinstance(created, NewSecret)
    return world, acme.organization.id, (await tokens_of(world.stores, world.clock))[_ADDRESS]


async def status(world: ApiWorld, organization_id: str) -> str:
    (recipient,) = await world.stores.recipients.recipients(organization_id)
    return recipient.status.value


async def test_a_link_asks_and_a_button_confirms() -> None:
    world, owner, token = await asked()
    link = f"{_ROOT}/confirm?token={token}"

    # Programs open links in mails to check them.
    page = await world.send("GET", link)
    assert (page.status_code, await status(world, owner)) == (200, "unconfirmed")
    assert page.headers["Cache-Control"] == "no-store"
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert page.headers["X-Robots-Tag"] == "noindex"
    assert Seen(page).heading == "Confirm your address"
    assert Seen(await world.send("POST", link)).heading == "Your address is confirmed"
    assert await status(world, owner) == "confirmed"
    again = await world.send("POST", link)
    assert (again.status_code, Seen(again).heading) == (410, "This link does not work any more")


async def test_a_mail_program_removes_an_address_with_one_request_and_its_owner_brings_it_back() -> None:
    world, owner, first = await asked()
    await world.send("POST", f"{_ROOT}/confirm?token={first}")
    (endpoint,) = await world.stores.endpoints.endpoints(owner)
    assert isinstance(await world.use_cases.endpoint_editor.test(owner, endpoint.id), str)
    link = f"{_ROOT}/leave?token={(await tokens_of(world.stores, world.clock))[_ADDRESS]}"

    offered = Seen(await world.send("GET", link))
    assert (offered.heading, await status(world, owner)) == ("Get no more alerts", "confirmed")
    # As in RFC 8058: no cookie, no earlier page, and this body.
    left = Seen(await world.send("POST", link, data={"List-Unsubscribe": "One-Click"}))
    assert (left.status, left.heading, await status(world, owner)) == (200, "Your address is removed", "removed")
    back = left.form(link.replace("leave", "confirm"))
    assert Seen(await world.send("POST", back.action)).heading == "Your address is confirmed"
    assert await status(world, owner) == "confirmed"


async def test_pages_without_a_token_do_not_exist() -> None:
    world = ApiWorld()

    for page in ("confirm", "leave"):
        assert (await world.send("GET", f"{_ROOT}/{page}")).status_code == 404
        # Unknown tokens and known ones get the same answer.
        assert (await world.send("GET", f"{_ROOT}/{page}?token=x")).status_code == 200
    assert (await world.send("POST", f"{_ROOT}/confirm?token=x")).status_code == 410
    assert (await world.send("POST", f"{_ROOT}/leave?token=x")).status_code == 200
