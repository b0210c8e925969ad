"""``/v1/posts/generate`` over HTTP."""

from typing import Any

import pytest
from msgspec import to_builtins
from tests.api.world import ApiWorld, Caller
from tests.builders import TOO_DEEP

from contentsvc_core import StoreUnavailable
from contentsvc_core.organizations import Organization
from contentsvc_core.workflows.jobs import GenerationJobBody
from contentsvc_http.settings import Settings
from contentsvc_http.v1.hosted import Organizations

PATH = "/v1/posts/generate"
NO_ID = "is neither a repository id nor the id of an integration"


async def test_a_post_is_requested_followed_and_read(world: ApiWorld, acme: Caller) -> None:
    await acme.push("d-1", "feat: a lamp")
    await world.perform()

    answer = await acme("POST", PATH, {"contentType": "changelog", "lookbackWindow": "current_day"})

    assert answer.status_code == 202
    job = answer.json()["job"]
    stored = await world.stores.jobs.job(acme.organization.id, job["id"])
    assert stored is not None
    assert job == to_builtins(GenerationJobBody.of(stored))
    assert (job["status"], job["repositoryIds"], job["organizationId"]) == ("queued", ["1"], acme.organization.id)
    assert world.nudged == 1

    await world.perform()
    followed = (await acme("GET", f"{PATH}/{job['id']}")).json()
    assert followed["job"]["status"] == "completed"
    assert [event["type"] for event in followed["events"]][-2:] == ["post_created", "completed"]
    posts = (await acme("GET", "/v1/posts")).json()["posts"]
    assert followed["job"]["postId"] in {post["id"] for post in posts}


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({}, "Invalid request: contentType is missing"),
        (
            {"contentType": "changelog", "repositoryIds": ["9223372036854775808"]},
            f"Invalid request: repositoryIds[0]: '9223372036854775808' {NO_ID}",
        ),
        (
            {"contentType": "changelog", "codehost": {"repositories": [{"owner": "a b", "repo": "c"}]}},
            "Invalid request: codehost.repositories[0]: 'a b/c' is not a repository name",
        ),
        (
            {"contentType": "changelog", "github": {"repositories": [{"owner": "acme", "repo": "lighthouse"}]}},
            "Unknown repository: 'acme/lighthouse' is not connected at github",
        ),
    ],
)
async def test_a_faulty_request_is_refused_by_the_name_of_its_fault(acme: Caller, body: Any, error: str) -> None:
    answer = await acme("POST", PATH, body)

    assert (answer.status_code, answer.json()) == (400, {"error": error})
    assert await acme.world.stores.ledger.runs(acme.organization.id) == []


@pytest.mark.parametrize(
    ("raw", "fault"),
    [
        (b"", "the body is empty: send a JSON object"),
        (b"{", "the body is not valid JSON (Input data was truncated)"),
        (b'{"x": 1,}', "the body is not valid JSON (trailing comma in object (byte 8))"),
        (b'{"x": "\xff"}', "the body is not UTF-8 (byte 7)"),
        # An emoji, and half of one: the end of a text that was cut by its length.
        (rb'{"x": "\ud83d\ude00 \ud83d"}', "the body is not valid JSON (half of a surrogate pair (byte 20))"),
        (rb'{"x": "\ud83d\ude00 \ud83d and"}', "the body is not valid JSON (half of a surrogate pair (byte 20))"),
        (b'{"contentType": "changelog", "x": ' + b"[" * TOO_DEEP, "the body is nested too deep"),
        # Well-formed.
        (b'{"x": ' + b"[" * TOO_DEEP + b"]" * TOO_DEEP + b"}", "the body is nested too deep"),
    ],
)
async def test_a_body_that_is_not_json_is_refused_with_its_fault(acme: Caller, raw: bytes, fault: str) -> None:
    answer = await acme("POST", PATH, content=raw)

    assert (answer.status_code, answer.json()) == (400, {"error": f"Invalid request: {fault}"})


@pytest.mark.parametrize(("encoding", "status"), [("gzip", 415), ("identity", 202)])
async def test_an_encoded_body_is_refused_and_identity_is_no_encoding(acme: Caller, encoding: str, status: int) -> None:
    body = b'{"contentType": "changelog"}'
    answer = await acme("POST", PATH, content=body, headers={"Content-Encoding": encoding})

    assert answer.status_code == status


async def test_a_byte_order_mark_before_a_body_is_ignored(acme: Caller) -> None:
    answer = await acme("POST", PATH, content=b'\xef\xbb\xbf{"contentType": "changelog"}')

    assert answer.status_code == 202


async def test_a_charset_has_no_effect(acme: Caller) -> None:
    for charset, status in (("utf-8", 201), ("latin-1", 400), ("utf-16", 400)):
        content = '{"title": "é", "markdown": "é"}'.encode(charset)
        headers = {"Content-Type": f"application/json; charset={charset}"}
        assert (await acme("POST", "/v1/posts", content=content, headers=headers)).status_code == status


async def test_a_result_survives_a_failed_read_of_the_organization(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = ApiWorld(Settings(hosted_client="on"))
    acme = await world.caller()
    await acme("GET", "/v1/posts")

    read = world.stores.directory.organization_of

    async def away(organization_id: str) -> Organization | None:
        if await world.stores.ledger.runs(organization_id):
            raise StoreUnavailable("gone")  # noqa: EM101
        return await read(organization_id)

    monkeypatch.setattr(world.stores.directory, "organization_of", away)
    started = await acme("POST", PATH, {"contentType": "changelog"})

    assert started.status_code == 202
    assert started.json()["organization"]["slug"] == "acme"


async def test_hosted_answers_have_the_current_name_of_the_organization() -> None:
    world = ApiWorld(Settings(hosted_client="on"))
    acme = await world.caller()
    for name in ("Tea", "Coffee"):
        await acme("PATCH", "/v1/organization", {"name": name})
        assert (await acme("GET", "/v1/posts")).json()["organization"]["name"] == name


async def test_the_organizations_of_running_requests_are_kept_for_their_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("contentsvc_http.v1.hosted._ORGANIZATIONS_LIMIT", 3)
    world = ApiWorld()
    organizations = Organizations(world.stores.directory)
    acme, buoy, coast, dune = [(await world.caller(name)).organization for name in ("Acme", "Buoy", "Coast", "Dune")]
    for each in (acme, buoy, coast, acme, dune):
        await organizations.prepare(each.id)

    assert [each.name for each in (acme, buoy, coast, dune) if organizations.beside({}, each.id)] == [
        "Acme",
        "Coast",
        "Dune",
    ]
