"""The pages of webhook endpoints, and of sent messages."""

import re
from datetime import timedelta
from typing import Any

from attrs import evolve
from tests.api.world import ApiWorld, Caller
from tests.dashboard.browsing import Browsing, Seen
from tests.dashboard.conftest import signed_in
from tests.dashboard.contents import beside
from tests.endpoints import Receiver, dispatch, tokens_of

from contentsvc_core import Scope
from contentsvc_core.outgoing.endpoints import DESCRIPTION_LIMIT, WebhookEndpoint
from contentsvc_core.outgoing.formats import EndpointFormat
from contentsvc_http.settings import Settings

PATH = "/dashboard/endpoints"
URL = "https://acme.example/hook"


async def dispatched(acme: Caller, status: int = 200) -> None:
    world = acme.world
    await dispatch(world.stores, world.clock, world.ids, Receiver(status, "<b>no</b>"))


async def standing(acme: Caller) -> WebhookEndpoint:
    (endpoint,) = await acme.world.stores.endpoints.endpoints(acme.organization.id)
    return endpoint


async def created(browsing: Browsing, **fields: Any) -> Seen:
    return await browsing.send((await browsing.open(PATH)).form(PATH), **{"url": URL, **fields})


async def test_an_endpoint_is_created_and_its_secret_is_shown_once(acme: Caller, browsing: Browsing) -> None:
    form, fields = (await browsing.open(PATH)).form(PATH), {"url": URL, "description": "<i>Deploys"}
    page = await browsing.send(form, **fields, event=["post.published", "nonsense"])

    assert (page.status, page.heading) == (201, "The endpoint is created")
    secret = page.tree.one("code", class_="secret").text
    assert secret.startswith("whsec_")
    acme.world.clock.advance(timedelta(seconds=3))
    reloaded = await browsing.send(form, **fields, event=["post.published", "nonsense"])
    assert "This form was sent before" in reloaded.text
    (endpoint,) = await acme.world.stores.endpoints.endpoints(acme.organization.id)
    assert (endpoint.url, endpoint.description) == (URL, "<i>Deploys")
    assert [kind.value for kind in endpoint.event_types] == ["post.published"]
    for path in (PATH, f"{PATH}/{endpoint.id}"):
        seen = await browsing.open(path)
        assert secret not in seen.response.text
        assert "<i>" not in seen.response.text
        assert "&lt;i&gt;Deploys" in seen.response.text


async def test_an_endpoint_is_changed_switched_and_deleted(acme: Caller, browsing: Browsing) -> None:
    await created(browsing)
    endpoint = await standing(acme)
    own = f"{PATH}/{endpoint.id}"

    wrong = await browsing.send(
        (await browsing.open(own)).form(own), url="https://localhost/", description="x" * (DESCRIPTION_LIMIT + 1)
    )
    assert wrong.status == 422
    assert wrong.tree.one(id="url-fault").text.startswith("The address")
    assert wrong.tree.one(id="description-fault").text.startswith("The description")
    no_mail = await browsing.send((await browsing.open(own)).form(own), url="ops", format="email")
    assert no_mail.tree.one(id="url-fault").text == "The address has 'ops', which is no e-mail address."
    saved = await browsing.send((await browsing.open(own)).form(own), description="Chat", event=["post.created"])
    assert saved.heading == "Chat"
    off = await browsing.send((await browsing.open(own)).form(f"{own}/switch"))
    assert "Switched off." in off.response.text
    assert not (await standing(acme)).enabled
    await browsing.send((await browsing.open(PATH)).form(f"{own}/switch"))
    assert (await standing(acme)).enabled
    gone = await browsing.send((await browsing.open(own)).form(f"{own}/delete"))
    assert "Deleted." in gone.response.text
    assert "No endpoint yet" in gone.response.text
    assert (await browsing.open(own)).status == 404


async def test_a_secret_is_rotated_with_an_overlap(acme: Caller, browsing: Browsing) -> None:
    await created(browsing)
    own = f"{PATH}/{(await standing(acme)).id}"

    form = (await browsing.open(own)).form(f"{own}/rotate")
    page = await browsing.send(form, overlap="1")

    assert page.heading == "The secret was replaced"
    assert "signs, too, until" in page.response.text
    rotated = await standing(acme)
    assert rotated.previous_secret_until is not None
    acme.world.clock.advance(timedelta(seconds=3))
    reloaded = await browsing.send(form, overlap="1")
    assert "This form was sent before" in reloaded.text
    assert await standing(acme) == rotated
    wrong = await browsing.send((await browsing.open(own)).form(f"{own}/rotate"), overlap="2")
    assert wrong.status == 422


async def test_a_test_is_sent_shown_with_its_fault_and_sent_again(acme: Caller, browsing: Browsing) -> None:
    await created(browsing, description="Deploys")
    endpoint = await standing(acme)
    own = f"{PATH}/{endpoint.id}"
    answer = await browsing.send((await browsing.open(own)).form(f"{own}/test"))
    assert "The test message is sent" in answer.response.text
    await dispatched(acme, 500)

    (entry,) = await acme.world.stores.journal.entries(acme.organization.id)
    listed = await browsing.open(PATH)
    assert "The last attempt failed" in listed.response.text
    assert re.search(r'class="state bad">.*failing</span>', listed.response.text)
    log = await browsing.open("/dashboard/integrations/logs")
    assert "Outgoing endpoint.test message" in log.response.text
    assert f'href="{own}">Deploys' in log.response.text
    shown = await browsing.open(f"/dashboard/integrations/logs/{entry.id}")
    assert "to the endpoint" in shown.response.text
    assert "the endpoint answered with status 500" in shown.response.text
    assert "&lt;b&gt;no&lt;/b&gt;" in shown.response.text
    assert "What it led to" not in shown.response.text

    again = await browsing.send(shown.form(f"/dashboard/integrations/logs/{entry.id}/replay"))
    assert "The message is sent again" in again.response.text
    await dispatched(acme)
    (entry,) = await acme.world.stores.journal.entries(acme.organization.id)
    assert entry.status.value == "success"
    # Sent messages are not counted as deliveries.
    overview = await browsing.open("/dashboard")
    assert "deliveries in 14 days" not in overview.text


async def test_a_disabled_endpoint_shows_the_reason_and_no_test(acme: Caller, browsing: Browsing) -> None:
    await created(browsing)
    endpoint = await standing(acme)
    await browsing.send((await browsing.open(f"{PATH}/{endpoint.id}")).form(f"{PATH}/{endpoint.id}/test"))
    await dispatched(acme, 410)

    page = await browsing.open(f"{PATH}/{endpoint.id}")

    assert "by itself: it answered 410 Gone" in page.response.text
    assert "Send a test message" not in page.response.text


async def test_a_chat_has_a_format_and_a_share_of_delivered_messages_and_no_secret(
    acme: Caller, browsing: Browsing
) -> None:
    page = await created(browsing, url="https://hooks.slack.com/services/x", format="")
    endpoint = await standing(acme)
    own = f"{PATH}/{endpoint.id}"

    assert (page.heading, endpoint.format.value) == ("https://hooks.slack.com/…", "slack")
    assert endpoint.url in page.response.text
    assert f"{own}/rotate" not in page.response.text
    await browsing.send(page.form(f"{own}/test"))
    await acme.world.stores.endpoints.change(
        acme.organization.id, endpoint.id, lambda each: evolve(each, format=EndpointFormat.STANDARD)
    )
    await dispatched(acme)
    assert "100 % of 1" in (await browsing.open(own)).response.text
    assert "100 % of 1" in (await browsing.open(PATH)).response.text
    wrong = await browsing.send((await browsing.open(own)).form(own), format="discord")
    assert wrong.status == 422
    assert wrong.tree.one(id="format-fault").text.startswith("The format must be slack")


async def test_the_secret_url_of_a_chat_is_shown_to_keys_that_may_write(acme: Caller, browsing: Browsing) -> None:
    url = "https://hooks.slack.com/services/secret"
    await created(browsing, url=url, format="")
    own = f"{PATH}/{(await standing(acme)).id}"
    await browsing.send((await browsing.open(own)).form(f"{own}/test"))
    reader, _ = await beside(acme, Scope.READ)

    assert url in (await browsing.open(own)).response.text
    for path in (PATH, own, "/dashboard", "/dashboard/integrations/logs"):
        page = await reader.open(path)
        assert (page.status, "services/secret" in page.response.text) == (200, False), path


async def test_addresses_have_a_state_and_unconfirmed_ones_are_asked_again() -> None:
    world = ApiWorld(Settings(smtp_url="smtp://mail.acme.example", mail_from="alerts@acme.example"))
    acme = await world.caller()
    browsing = await signed_in(world, acme)
    page = await created(browsing, url="ops@acme.example, dev@acme.example, cto@acme.example")
    endpoint = await standing(acme)
    own = f"{PATH}/{endpoint.id}"

    addresses = [row for row in page.rows if "@" in row[0]]
    assert addresses == [[f"{name}@acme.example", "unconfirmed"] for name in ("ops", "dev", "cto")]
    # No message can be sent yet.
    assert f"{own}/test" not in page.response.text
    assert "3 of 3 addresses not confirmed" in (await browsing.open(PATH)).response.text
    tokens = await tokens_of(world.stores, world.clock)
    await world.use_cases.consents.confirm(tokens["ops@acme.example"])
    await world.use_cases.consents.leave(tokens["dev@acme.example"])
    page = await browsing.open(own)
    assert [row[1].split()[0] for row in page.rows if "@" in row[0]] == ["confirmed", "removed", "unconfirmed"]
    assert "The test message is sent" in (await browsing.send(page.form(f"{own}/test"))).response.text

    too_soon = await browsing.send(page.form(f"{own}/confirmations"))
    assert too_soon.status == 429
    assert "cto@acme.example was not asked: it got a confirmation mail within the last hour." in too_soon.text
    world.clock.advance(timedelta(hours=1))
    assert "The confirmation mail is sent." in (await browsing.send(page.form(f"{own}/confirmations"))).text
    await world.use_cases.consents.confirm((await tokens_of(world.stores, world.clock))["cto@acme.example"])
    assert f"{own}/confirmations" not in (await browsing.open(own)).response.text
    await browsing.send((await browsing.open(own)).form(f"{own}/switch"), to="off")
    refused = await browsing.send(page.form(f"{own}/confirmations"))
    assert (refused.status, "disabled: enable it first" in refused.text) == (409, True)
