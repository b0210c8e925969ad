"""From a delivery of GitLab or Bitbucket to the written post: a real server, a fake API, both stores."""

import json
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from attrs import frozen
from tests import postgres
from tests.golden import OTHERS, Golden
from tests.scripted_api import ScriptedApi
from tests.server_process import PATIENCE_S, PLAIN, Installation, prepare, serving

from contentsvc_core.webhooks.providers import provider_named

TOKEN: Final = "hunter2-hunter2"


@frozen(kw_only=True)
class World:
    installation: Installation
    api: ScriptedApi


@pytest.fixture(params=["sqlite", "postgresql"])
def world(tmp_path: Path, request: pytest.FixtureRequest) -> Generator[World]:
    with ExitStack() as stack:
        api = stack.enter_context(ScriptedApi())
        settings = {"gitlab_api_url": api.url, "bitbucket_api_url": api.url}
        if request.param == "postgresql":
            settings["database_url"] = stack.enter_context(postgres.database(migrated=False))
        yield World(installation=prepare(tmp_path, **settings).installation, api=api)


def golden(provider: str, name: str) -> Golden:
    (found,) = (each for each in OTHERS if (each.provider, each.name) == (provider, name))
    return found


def deliver(server: str, provider: str, created: dict[str, Any], secret: str, sent: Golden, delivery: str) -> Any:
    """Send a delivery as the code host does; return the answer."""
    known = provider_named(provider)
    assert known is not None
    headers = known.headers(sent.event, delivery, sent.body, secret) | {"Content-Type": "application/json"}
    path = httpx.URL(created["webhookUrl"]).path
    answered = httpx.post(
        f"{server}{path}", content=sent.body, headers=headers, trust_env=False, verify=PLAIN, timeout=PATIENCE_S
    )
    return {"status": answered.status_code, **answered.json()}


@pytest.mark.slow("starts a server")
def test_a_cut_push_of_gitlab_becomes_a_post_about_all_its_commits(world: World) -> None:
    sent, project = golden("gitlab", "push__cut"), "/projects/acme%2Fharbour%2Flighthouse"
    world.api.prepare(
        f"GET {project}", {"id": 4242, "path_with_namespace": "acme/harbour/lighthouse", "default_branch": "main"}
    )
    world.api.prepare(f"POST {project}/hooks", {"id": 9}, status=201)

    def listed(id_: str, message: str) -> dict[str, object]:
        known = {"author_name": "Grace Example", "author_email": "grace@example.com", "web_url": "https://x.example"}
        return {"id": id_, "message": message, "authored_date": "2026-03-04T05:06:07+01:00", **known}

    delivered = [(each["id"], each["message"]) for each in json.loads(sent.body)["commits"]]
    older = [(f"{number:040x}", f"feat: foghorn {number}") for number in range(1, 14)]
    newest_first = [listed(*each) for each in reversed([*older, *delivered])]
    world.api.prepare(f"GET {project}/repository/commits", newest_first)
    created = world.installation.command(
        *("integration", "connect", "acme/harbour/lighthouse", "--organization", "acme"),
        *("--provider", "gitlab", "--token", TOKEN),
    )
    (hook,) = (request.body for request in world.api.requests if request.method == "POST")
    world.installation.command(
        *("trigger", "create", "--organization", "acme", "--name", "gitlab", "--provider", "gitlab"),
        *("--repository-id", "4242", "--event", "push"),
    )

    with serving(world.installation) as server:
        wrong = deliver(server.url, "gitlab", created, "another", sent, "g-0")
        first = deliver(server.url, "gitlab", created, hook["token"], sent, "g-1")
        again = deliver(server.url, "gitlab", created, hook["token"], sent, "g-1")
        world.installation.until_runs_ended()

    assert (created["createdAtHost"], hook["url"]) == (True, created["webhookUrl"])
    assert (wrong["status"], wrong["error"]) == (401, "Invalid webhook signature")
    assert (first["status"], first["message"]) == (200, "Processed push event (pushed)")
    assert (again["status"], again["data"]["duplicate"]) == (200, True)
    (post,) = world.installation.rows("SELECT markdown, source_metadata FROM posts WHERE markdown LIKE '%oghorn%'")
    for number in (1, 13):
        assert f"oghorn {number}" in post["markdown"]
    assert "warnings" not in json.loads(post["source_metadata"])
    stored = world.installation.rows("SELECT * FROM log_entries")
    assert hook["token"] not in repr(stored)
    assert TOKEN not in repr(stored)


@pytest.mark.slow("starts a server")
def test_a_branch_and_its_version_of_bitbucket_become_two_posts(world: World) -> None:
    sent = golden("bitbucket", "push__with_a_tag")
    repository = json.loads(sent.body)["repository"]
    world.api.prepare(
        "GET /repositories/acme/lighthouse",
        {"uuid": repository["uuid"], "full_name": "acme/lighthouse", "mainbranch": {"name": "main"}},
    )
    world.api.prepare("POST /repositories/acme/lighthouse/hooks", {"uuid": "{9}"}, status=201)
    commits = "GET /repositories/acme/lighthouse/commits/" + "0e" * 20
    world.api.prepare(commits, {"error": {"message": "No access"}}, status=403)
    created = world.installation.command(
        *("integration", "connect", "acme/lighthouse", "--organization", "acme"),
        *("--provider", "bitbucket", "--token", TOKEN),
    )
    (hook,) = (request.body for request in world.api.requests if request.method == "POST")
    world.installation.trigger("acme", "bitbucket", int(created["repositoryId"]))

    with serving(world.installation) as server:
        wrong = deliver(server.url, "bitbucket", created, "another", sent, "b-0")
        first = deliver(server.url, "bitbucket", created, hook["secret"], sent, "b-1")
        again = deliver(server.url, "bitbucket", created, hook["secret"], sent, "b-1")
        cut = deliver(server.url, "bitbucket", created, hook["secret"], golden("bitbucket", "push__cut"), "b-2")
        world.installation.until_runs_ended()

    assert wrong["status"] == 401
    assert (first["status"], first["message"]) == (200, "Processed push event (pushed)")
    assert (again["status"], again["data"]["duplicate"]) == (200, True)
    assert cut["message"] == "Processed push event (pushed)"
    rows = world.installation.rows("SELECT release_tag, markdown, source_metadata FROM posts")
    (release,) = (row for row in rows if row["release_tag"] is not None)
    assert release["release_tag"] == "v1.2.0"
    # The release reads the push of its own delivery.
    assert "urn the beam" in release["markdown"]
    metadata = [json.loads(row["source_metadata"]) for row in rows]
    assert {tuple(each["deliveryIds"]) for each in metadata} == {("b-1",), ("b-1.1",), ("b-2",)}
    (warned,) = (each["warnings"] for each in metadata if "warnings" in each)
    assert warned == [
        "the code host listed only the newest commits of 1 push; with a token for the repository, the others are read"
    ]
    titles = [row["title"] for row in world.installation.rows("SELECT title FROM log_entries ORDER BY id")]
    assert titles.count("Processed release event") == 1
    assert titles.count("Duplicate release delivery") == 1
    assert "Commit lookup" in titles
