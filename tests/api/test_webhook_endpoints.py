"""``/v1/webhook-endpoints`` over HTTP, and the log of sent messages."""

from datetime import timedelta
from typing import Any

from tests.api.world import ApiWorld, Caller
from tests.endpoints import tokens_of

from contentsvc_core import IssuedKey, Scope
from contentsvc_http.settings import Settings

PATH = "/v1/webhook-endpoints"
URL = "https://acme.example/hook"


async def made(acme: Caller, **fields: Any) -> dict[str, Any]:
    answer = await acme("POST", PATH, {"url": URL, **fields})
    assert answer.status_code == 201, answer.text
    return answer.json()


async def test_an_endpoint_is_made_read_changed_and_deleted(acme: Caller) -> None:
    first = await made(acme)
    second = await made(
        acme, description="Deploys", eventTypes=["run.failed", "post.published", "run.failed"], enabled=False
    )
    endpoint = second["webhookEndpoint"]

    assert first["secret"].startswith("whsec_")
    assert first["secret"] != second["secret"]
    assert endpoint == {
        "id": endpoint["id"],
        "url": URL,
        "description": "Deploys",
        "format": "standard",
        "eventTypes": ["post.published", "run.failed"],
        "enabled": False,
        "disabledReason": None,
        "consecutiveFailures": 0,
        "previousSecretUntil": None,
        "createdAt": "2026-01-01T00:00:00.000Z",
        "recipients": [],
    }
    listed = await acme("GET", PATH)
    assert listed.json() == {"webhookEndpoints": [first["webhookEndpoint"], endpoint]}
    assert first["secret"] not in listed.text
    changed = await acme("PATCH", f"{PATH}/{endpoint['id']}", {"enabled": True, "eventTypes": []})
    assert changed.json() == {"webhookEndpoint": {**endpoint, "enabled": True, "eventTypes": []}}
    assert (await acme("GET", f"{PATH}/{endpoint['id']}")).json() == changed.json()
    assert (await acme("DELETE", f"{PATH}/{endpoint['id']}")).json() == {"id": endpoint["id"]}


async def test_a_change_is_checked_alike(acme: Caller) -> None:
    endpoint = (await made(acme))["webhookEndpoint"]
    refused = await acme("PATCH", f"{PATH}/{endpoint['id']}", {"url": "https://10.0.0.1/"})
    assert (refused.status_code, "public site" in refused.json()["error"]) == (400, True)


async def test_a_rotated_secret_is_shown_once_and_overlaps(acme: Caller) -> None:
    first = await made(acme)
    path = f"{PATH}/{first['webhookEndpoint']['id']}/rotate-secret"

    rotated = (await acme("POST", path)).json()
    assert rotated["webhookEndpoint"]["previousSecretUntil"] == "2026-01-02T00:00:00.000Z"
    assert rotated["secret"] != first["secret"]
    at_once = (await acme("POST", path, {"overlapHours": 0})).json()
    assert at_once["webhookEndpoint"]["previousSecretUntil"] == "2026-01-01T00:00:00.000Z"
    for wrong in ({"overlapHours": -1}, {"overlapHours": 721}, {"hours": 1}):
        assert (await acme("POST", path, wrong)).status_code == 400


async def test_an_endpoint_that_is_off_is_not_tried(acme: Caller) -> None:
    endpoint = (await made(acme, enabled=False))["webhookEndpoint"]

    refused = await acme("POST", f"{PATH}/{endpoint['id']}/test")

    assert refused.status_code == 409
    assert "disabled" in refused.json()["error"]


async def test_the_host_chooses_the_format_and_only_standard_messages_have_a_secret(acme: Caller) -> None:
    chat = await made(acme, url="https://hooks.slack.com/services/T0/B0/x")
    own = f"{PATH}/{chat['webhookEndpoint']['id']}"

    assert (chat["webhookEndpoint"]["format"], chat["secret"]) == ("slack", None)
    refused = await acme("PATCH", own, {"format": "standard"})
    assert (refused.status_code, refused.json()["error"].partition(":")[0]) == (400, "Invalid request")
    assert "format must be slack, or none" in refused.json()["error"]
    rotated = await acme("POST", f"{own}/rotate-secret")
    assert rotated.status_code == 409
    assert "standard format" in rotated.json()["error"]
    moved = await acme("PATCH", own, {"url": "https://acme.example/chat", "format": "teams"})
    assert moved.json()["webhookEndpoint"]["format"] == "teams"
    assert (await acme("PATCH", own, {"format": None})).json()["webhookEndpoint"]["format"] == "standard"
    mail = await acme("POST", PATH, {"url": "mailto:ops@acme.example"})
    assert mail.status_code == 400
    assert "CONTENTSVC_SMTP_URL" in mail.json()["error"]


async def test_the_secret_url_of_a_chat_is_shown_to_keys_that_may_write(acme: Caller) -> None:
    urls = ["https://hooks.slack.com/services/T0/B0/secret", "https://acme.example/hook"]
    paths = [f"{PATH}/{(await made(acme, url=url))['webhookEndpoint']['id']}" for url in urls]
    issued = await acme.world.operator.issue_key(acme.organization, scopes=[Scope.READ])
    assert isinstance(issued, IssuedKey)
    reader = Caller(acme.world, acme.organization, acme.connection, issued)
    seen = {
        caller: [(await caller("GET", path)).json()["webhookEndpoint"]["url"] for path in paths]
        for caller in (acme, reader)
    }

    assert seen == {acme: urls, reader: ["https://hooks.slack.com/…", urls[1]]}
    listed = (await reader("GET", PATH)).json()["webhookEndpoints"]
    assert sorted(each["url"] for each in listed) == sorted(seen[reader])


async def test_addresses_are_asked_shown_with_their_state_and_asked_again() -> None:
    world = ApiWorld(Settings(smtp_url="smtp://mail.acme.example", mail_from="alerts@acme.example"))
    acme = await world.caller()
    endpoint = (await made(acme, url="Ops@acme.example, dev@acme.example"))["webhookEndpoint"]
    own = f"{PATH}/{endpoint['id']}"

    assert endpoint["recipients"] == [
        {"address": "ops@acme.example", "status": "unconfirmed"},
        {"address": "dev@acme.example", "status": "unconfirmed"},
    ]
    refused = await acme("POST", f"{own}/test")
    assert refused.status_code == 409
    assert refused.json() == {"error": "No address of the webhook endpoint is confirmed yet"}
    tokens = await tokens_of(world.stores, world.clock)
    assert await world.use_cases.consents.confirm(tokens["ops@acme.example"])
    shown = (await acme("GET", own)).json()["webhookEndpoint"]
    assert (await acme("GET", PATH)).json()["webhookEndpoints"] == [shown]
    assert [each["status"] for each in shown["recipients"]] == ["confirmed", "unconfirmed"]
    assert (await acme("POST", f"{own}/test")).status_code == 202

    too_soon = await acme("POST", f"{own}/confirmations")
    assert (too_soon.status_code, too_soon.json()["asked"]) == (202, [])
    assert too_soon.json()["notAsked"][0] == {"address": "ops@acme.example", "reason": "it is confirmed already"}
    world.clock.advance(timedelta(hours=1))
    assert (await acme("POST", f"{own}/confirmations")).json()["asked"] == ["dev@acme.example"]
