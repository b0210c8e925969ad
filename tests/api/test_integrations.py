"""``/v1/integrations``: what clients send and read."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest
from tests.api.world import ApiWorld, Caller
from tests.code_host_server import READER, REPOSITORY, TOKEN, CodeHostServer, Fault, at_github

from contentsvc_adapters.codehosts.rest import RestCodeHost
from contentsvc_http.settings import Settings

GITHUB = "/v1/integrations/github"
NEW: dict[str, Any] = {"owner": "acme", "repo": "lighthouse"}


@pytest.fixture
async def server() -> AsyncGenerator[CodeHostServer]:
    with CodeHostServer() as serving:
        yield serving


@pytest.fixture
async def world(server: CodeHostServer) -> AsyncGenerator[ApiWorld]:
    host = RestCodeHost(server.api_url)
    yield ApiWorld(Settings(base_url="https://contentsvc.example"), hosts=at_github(host))
    await host.close()


async def test_a_repository_is_connected_with_a_hook_and_the_secret_is_not_shown(
    server: CodeHostServer, acme: Caller
) -> None:
    answered = await acme("POST", GITHUB, {**NEW, "token": TOKEN})

    assert answered.status_code == 201
    body = answered.json()
    id_ = body["github"]["id"]
    assert body == {
        "github": {
            "id": id_,
            "displayName": REPOSITORY,
            "owner": "acme",
            "repo": "lighthouse",
            "defaultBranch": "trunk",
            "repositoryId": "4242",
        },
        "webhook": {
            "url": f"https://contentsvc.example/api/webhooks/github/{acme.organization.id}/{id_}/4242",
            "secret": None,
            "createdAtHost": True,
        },
    }
    assert server.hook.url == body["webhook"]["url"]
    assert server.hook.secret not in answered.text


async def test_without_a_token_the_secret_is_shown_once(acme: Caller) -> None:
    answered = await acme(
        "POST", "/v1/integrations/codehost", {"owner": "acme", "repo": "buoy", "repositoryId": "77", "branch": "stable"}
    )

    assert answered.status_code == 201
    body = answered.json()
    assert body["webhook"]["createdAtHost"] is False
    assert body["webhook"]["secret"].startswith("whsec_")
    assert body["webhook"]["url"].endswith(f"/{body['codehost']['id']}/77")
    listed = await acme("GET", "/v1/integrations")
    assert listed.json()["codehost"][1] == {
        "id": body["codehost"]["id"],
        "displayName": "acme/buoy",
        "owner": "acme",
        "repo": "buoy",
        "defaultBranch": "stable",
        "repositoryId": "77",
    }
    assert body["webhook"]["secret"] not in listed.text
    number = await acme("POST", "/v1/integrations/codehost", {"owner": "acme", "repo": "mast", "repositoryId": 78})
    assert number.json()["webhook"]["url"].endswith("/78")


async def test_the_list_has_a_key_for_each_provider(acme: Caller) -> None:
    listed = (await acme("GET", "/v1/integrations")).json()

    assert {name: len(each) for name, each in listed.items()} == {
        "codehost": 1,
        "github": 0,
        "gitlab": 0,
        "bitbucket": 0,
    }


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({**NEW, "token": READER}, "Webhooks: read and write"),
    ({**NEW, "repo": "unknown"}, "give a token that may read it, or the repository's id"),
    ({**NEW, "token": "two words"}, "the token must be"),
    ({**NEW, "repo": ".."}, "OWNER/NAME"),
    ({**NEW, "repositoryId": 0}, "Invalid request: repositoryId"),
    ({**NEW, "branch": "a\nb", "repositoryId": 1}, "a branch's name"),
    ({"owner": "acme"}, "Invalid request"),
    ({**NEW, "provider": "github"}, "provider"),
]


async def test_an_invalid_connection_is_refused_with_its_reason(
    world: ApiWorld, server: CodeHostServer, acme: Caller
) -> None:
    for body, error in REFUSED:
        answered = await acme("POST", GITHUB, body)

        assert answered.status_code == 400, body
        assert list(answered.json()) == ["error"]
        assert error in answered.json()["error"]
        assert str(body.get("token")) not in answered.text
    assert server.hooks == {}
    assert (await acme("GET", "/v1/integrations")).json()["github"] == []


async def test_a_code_host_that_does_not_answer_is_no_fault_of_the_client(server: CodeHostServer, acme: Caller) -> None:
    for fault, status, retry_after in (
        (Fault(status=503), 502, None),
        (Fault(status=200, body=b"<html>"), 502, None),
        (Fault(status=429, headers={"Retry-After": "23"}), 503, "23"),
    ):
        server.fault = fault
        answered = await acme("POST", GITHUB, {**NEW, "token": TOKEN})

        assert answered.status_code == status
        assert answered.headers.get("Retry-After") == retry_after
        assert "the code host answered" in answered.json()["error"]


async def test_missed_deliveries_are_named_and_requested_again(server: CodeHostServer, acme: Caller) -> None:
    made = (await acme("POST", GITHUB, {**NEW, "token": TOKEN})).json()["github"]["id"]
    server.hook.sent["d-lost"] = ("push", b"{}")
    server.note(server.hook, "d-lost", status=504)
    path = f"/v1/integrations/{made}/reconcile"

    found = (await acme("POST", path, {"dryRun": True, "lookBackHours": 1})).json()

    assert found == {
        "deliveries": [
            {
                "deliveryId": "d-lost",
                "repository": REPOSITORY,
                "event": "push",
                "action": None,
                "statusCode": 504,
                "deliveredAt": found["deliveries"][0]["deliveredAt"],
                "result": "would be asked",
                "error": None,
            }
        ],
        "complete": True,
    }
    assert server.hook.deliveries[0]["status_code"] == 504
    server.fault = Fault(status=429, headers={"Retry-After": "23"}, method="POST", path="/attempts$")
    (refused,) = (await acme("POST", path)).json()["deliveries"]
    assert (refused["result"], "the code host answered 429" in refused["error"]) == ("refused", True)
    server.fault, server.hook.url = None, server.url
    assert (await acme("POST", path)).json()["deliveries"][0]["result"] == "redelivery asked"
    for body in ({"lookBackHours": 0}, {"lookBackHours": 169}, {"hours": 1}):
        assert (await acme("POST", path, body)).status_code == 400


async def test_reconciling_needs_a_token_and_an_answer_of_the_code_host(server: CodeHostServer, acme: Caller) -> None:
    made = (await acme("POST", GITHUB, {**NEW, "token": TOKEN})).json()["github"]["id"]
    server.fault = Fault(status=503)
    answered = await acme("POST", f"/v1/integrations/{made}/reconcile")
    assert (answered.status_code, "the code host answered 503" in answered.text) == (502, True)

    by_hand = (await acme("POST", "/v1/integrations/codehost", {**NEW, "repo": "buoy", "repositoryId": 7})).json()[
        "codehost"
    ]["id"]
    answered = await acme("POST", f"/v1/integrations/{by_hand}/reconcile")
    assert (answered.status_code, "the integration has no token" in answered.text) == (400, True)
