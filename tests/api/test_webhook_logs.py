"""``/v1/webhook-logs`` over HTTP: the list, and replays of deliveries."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

from attrs import evolve
from tests.api.world import ApiWorld, Caller
from tests.builders import an_entry

from contentsvc_adapters.offload import LISTS_WAITING, PER_ORGANIZATION
from contentsvc_core.journal import Direction, LogEntry, LogStatus, log_body
from contentsvc_core.testing import push_body
from contentsvc_core.workflows.causes import Delivered

PATH = "/v1/webhook-logs"


async def logs(acme: Caller, **parameters: Any) -> list[dict[str, Any]]:
    answer = await acme("GET", PATH, params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()["logs"]


async def noted(acme: Caller, number: int, **fields: Any) -> LogEntry:
    """Write an entry of another kind than those of deliveries."""
    values: dict[str, Any] = {
        "id": f"log_{number}",
        "organization_id": acme.organization.id,
        "integration_id": "int_gone",
        "title": "Webhook created",
        "direction": Direction.OUTGOING,
        "status": LogStatus.PENDING,
        "status_code": None,
        "detail": {"operation": "create", "repository": "acme/lighthouse"},
    }
    entry = an_entry(acme.world.clock.now() + timedelta(seconds=number), **values | fields)
    await acme.world.stores.journal.append(entry)
    return entry


async def test_the_log_is_listed_newest_first_with_the_specified_fields(world: ApiWorld, acme: Caller) -> None:
    await acme.push("d-1", "feat: a lamp")
    await noted(acme, 1)
    await noted(acme, 2, status=LogStatus.FAILED, status_code=502, error_message="away", integration_id="int_other")

    failed, pending, processed = await logs(acme)

    assert [failed, pending, processed] == list(map(log_body, await world.stores.journal.entries(acme.organization.id)))
    assert processed["referenceId"] == "d-1"
    assert pending["payload"] == {"operation": "create", "repository": "acme/lighthouse"}
    assert (failed["status"], failed["statusCode"], failed["errorMessage"]) == ("failed", 502, "away")
    assert await logs(acme, status="failed, pending") == [failed, pending]
    assert await logs(acme, integrationId="int_gone,int_other", status="failed") == [failed]
    assert await logs(acme, integrationId=acme.connection.integration.id) == [processed]
    # An unknown integration, or that of another organization, has no entries here.
    assert await logs(await world.caller("Other"), integrationId=acme.connection.integration.id) == []
    assert await logs(acme, since=pending["createdAt"], until=failed["createdAt"]) == [pending]
    second = (await acme("GET", PATH, params={"limit": "2", "page": "2"})).json()
    assert second["logs"] == [processed]
    assert (second["pagination"]["previousPage"], second["pagination"]["totalItems"]) == (1, 3)


async def test_a_delivery_is_replayed_as_one_of_its_own(world: ApiWorld, acme: Caller) -> None:
    await acme("POST", "/v1/event-triggers", {"targets": {"repositoryIds": [1]}})
    await acme.release("d-1", "v1")
    await world.perform()
    (entry,) = await logs(acme)
    world.clock.advance(timedelta(days=3))

    answer = await acme("POST", f"{PATH}/{entry['id']}/replay")

    assert answer.status_code == 202
    delivery_id = answer.json()["deliveryId"]
    assert answer.json() == {"deliveryId": str(UUID(delivery_id))}
    assert world.nudged == 1
    replay, first = await logs(acme)
    assert first == entry
    assert replay == entry | {"id": replay["id"], "referenceId": delivery_id, "createdAt": "2026-01-04T00:00:00.001Z"}
    newest, _ = await world.stores.journal.entries(acme.organization.id)
    assert newest.reason == f"1 workflow run started; replay of {entry['id']}"
    run, _ = await world.stores.ledger.runs(acme.organization.id)
    assert isinstance(run.cause, Delivered)
    assert (run.cause.delivery_id, run.cause.replayed, run.cause.repository) == (delivery_id, True, "acme/lighthouse")
    # The replay reports the same changes again, and can be replayed itself.
    await world.perform()
    posts = (await acme("GET", "/v1/posts")).json()["posts"]
    assert [post["sourceMetadata"]["deliveryIds"] for post in posts] == [[delivery_id], ["d-1"]]
    assert (await acme("POST", f"{PATH}/{replay['id']}/replay")).status_code == 202
    assert len(await logs(acme)) == 3


async def test_an_entry_that_cannot_be_replayed_is_refused_with_its_reason(acme: Caller) -> None:
    await acme.push("d-1", "feat: a lamp")
    await acme.push("d-1", "feat: a lamp")
    duplicate, processed = before = await logs(acme)
    integration = acme.connection.integration
    await acme.world.stores.directory.enable_integration(acme.organization.id, integration.id, enabled=False)

    for log_id, status, error in (
        ("log_unknown", 404, "Webhook log not found"),
        ("x%20y", 404, "Webhook log not found"),
        (duplicate["id"], 409, "Only a processed delivery can be replayed: this entry has no event"),
        (processed["id"], 403, "Integration is disabled"),
    ):
        refused = await acme("POST", f"{PATH}/{log_id}/replay")
        assert (refused.status_code, refused.json()) == (status, {"error": error})
    assert await logs(acme) == before


async def test_the_payloads_of_a_page_are_bounded_and_a_single_entry_has_its_payload(acme: Caller) -> None:
    for number, size in enumerate((2_600_000, 2_500_000, 100)):
        await acme.push(f"d-{number}", "feat: a lamp\n\n" + "x" * size)
        acme.world.clock.advance(timedelta(seconds=1))

    page = await logs(acme)

    assert [each["referenceId"] for each in page if each["payload"] is None] == ["d-0"]
    assert [sorted(each) for each in page] == [sorted(page[0])] * 3
    (alone,) = await logs(acme, limit=1, page=3)
    assert alone["referenceId"] == "d-0"
    assert len(alone["payload"]["data"]["commits"][0]["message"]) > 2_600_000


async def test_one_entry_is_explained(acme: Caller) -> None:
    forged = acme.signed(push_body("x", repository_id=acme.repository_id), secret="wrong")
    await acme.world.receiver.receive(evolve(forged, peer="192.0.2.7"))
    (listed,) = await logs(acme)

    answer = await acme("GET", f"{PATH}/{listed['id']}")

    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert body["log"] == listed
    explained = body["explanation"]
    assert (explained["outcome"], explained["reason"]) == ("refused", "Invalid webhook signature")
    assert explained["similar"] == {"number": 0, "since": listed["createdAt"]}
    assert (explained["diagnosis"]["cause"], explained["diagnosis"]["remedy"]) == ("wrongSecret", "rotateSecret")
    received = explained["received"]
    assert (received["source"], received["size"]) == ("192.0.2.7", len(forged.body))
    assert (received["signature"], received["signatureLength"], received["match"]) == ("present", 71, None)
    assert "X-Hub-Signature-256" not in received["headers"]
    assert (await acme("GET", f"{PATH}/log_unknown")).status_code == 404


async def test_the_entries_of_a_filter_are_counted_and_not_replayed(acme: Caller) -> None:
    await acme.push("d-1", "feat: a lamp")
    await noted(acme, 2, direction=Direction.INCOMING, status=LogStatus.FAILED, status_code=401)

    counts = [
        (await acme("GET", f"{PATH}/replay", params=parameters)).json()
        for parameters in (
            {},
            {"outcomes": "processed,refused", "since": "2026-01-01", "until": "2999-01-01"},
            {"outcomes": ["processed", "refused"]},
            {"statuses": "failed"},
            {"event": "release"},
            {"integrationId": acme.connection.integration.id, "event": "push"},
        )
    ]

    assert [(count["replayable"], count["notKept"]) for count in counts] == [
        *((1, 1), (1, 1), (1, 1)),
        *((0, 1), (0, 0), (1, 0)),
    ]
    assert not any(count["more"] for count in counts)
    assert len(await logs(acme)) == 2
    for parameters in (
        {"outcomes": "lost"},
        {"statuses": "lost"},
        {"integrationId": "no id"},
        {"since": "yesterday"},
        {"until": "later"},
    ):
        wrong = await acme("GET", f"{PATH}/replay", params=parameters)
        assert (wrong.status_code, next(iter(parameters)) in wrong.text) == (400, True), wrong.text


async def test_a_bulk_replay_is_refused_while_the_share_of_its_organization_is_full(acme: Caller) -> None:
    let_go = asyncio.Event()
    held = [
        asyncio.create_task(acme.world.shares.lists(acme.organization.id, let_go.wait)) for _ in range(PER_ORGANIZATION)
    ]
    await asyncio.sleep(0)
    full = [
        asyncio.create_task(acme.world.shares.lists(acme.organization.id, let_go.wait)) for _ in range(LISTS_WAITING)
    ]
    await asyncio.sleep(0)

    refused = await acme("POST", f"{PATH}/replay", {"requestId": "r-1", "text": "lamp"})

    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
    let_go.set()
    await asyncio.gather(*held, *full)
    assert (await acme("POST", f"{PATH}/replay", {"requestId": "r-1", "text": "lamp"})).status_code == 202
