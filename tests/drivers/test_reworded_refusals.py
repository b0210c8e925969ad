"""Statuses, positions in forms and exit codes depend on the kind and the field of a refusal, never on its text."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.agents.agent import agent_of
from tests.api.world import ApiWorld, Caller
from tests.dashboard.browsing import Browsing

from contentsvc_cli.main import main
from contentsvc_core.refusals import Refusal

WORDS = "anything at all"
TRIGGERS, SCHEDULES, ENDPOINTS = "/v1/event-triggers", "/v1/schedules", "/v1/webhook-endpoints"
TRIGGER: dict[str, Any] = {"targets": {"repositoryIds": ["1"]}}
WEEKLY: dict[str, Any] = {"frequency": "weekly", "hour": 9, "minute": 0}
SCHEDULE: dict[str, Any] = {
    "name": "Weekly",
    "outputType": "changelog",
    "sourceConfig": {"cron": {**WEEKLY, "dayOfWeek": 1}},
    **TRIGGER,
}


@pytest.fixture(autouse=True)
def reworded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the reason of every refusal, including the constants."""

    def words(_: Refusal) -> str:
        return WORDS

    def ignore(_: Refusal, __: str) -> None:
        pass

    monkeypatch.setattr(Refusal, "reason", property(words, ignore))


@pytest.fixture
def world() -> ApiWorld:
    return ApiWorld()


@pytest.fixture
async def acme(world: ApiWorld) -> Caller:
    return await world.caller()


async def test_the_api_answers_with_the_status_of_the_kind(acme: Caller) -> None:
    assert (await acme("POST", TRIGGERS, TRIGGER)).status_code == 201
    await acme.push("d-1", "feat: turn the lamp")
    await acme.world.perform()
    (post,) = (await acme("GET", "/v1/posts")).json()["posts"]
    (entry,) = (await acme("GET", "/v1/webhook-logs")).json()["logs"]
    headers = {"If-Match": '"other"'}
    answers = (
        (400, "", await acme("POST", TRIGGERS, {"targets": {"repositoryIds": ["7"]}})),
        (400, "", await acme("POST", TRIGGERS, {**TRIGGER, "outputConfig": {"brandIdentityId": "brand_7"}})),
        (409, "", await acme("POST", TRIGGERS, TRIGGER)),
        (404, "", await acme("PATCH", f"{TRIGGERS}/trg_7", {"name": "x"})),
        (404, "", await acme("PATCH", f"{SCHEDULES}/sch_7", {"name": "x"})),
        (400, "Invalid request: ", await acme("POST", SCHEDULES, {**SCHEDULE, "name": " "})),
        (400, "Invalid request: ", await acme("POST", ENDPOINTS, {"url": "http://example.org/"})),
        (404, "", await acme("POST", f"{ENDPOINTS}/whe_7/test", {})),
        (400, "Invalid request: ", await acme("PATCH", f"/v1/posts/{post['id']}", {"title": " "})),
        (412, "", await acme("PATCH", f"/v1/posts/{post['id']}", {"title": "x"}, headers=headers)),
        (404, "", await acme("DELETE", "/v1/posts/post_7")),
        (400, "", await acme("GET", "/v1/posts?page=9")),
        (400, "", await acme("GET", "/v1/posts?sort=up")),
        (400, "", await acme("GET", "/v1/context?content=maybe")),
        (404, "", await acme("POST", "/v1/webhook-logs/log_7/replay", {})),
        (404, "", await acme("PATCH", "/v1/brand-identities/brand_7", {"name": "x"})),
        (400, "Invalid request: ", await acme("POST", "/v1/brand-identities/generate", {"websiteUrl": "ftp://x"})),
    )
    assert [(answer.status_code, answer.json()["error"]) for _, _, answer in answers] == [
        (status, f"{prefix}{WORDS}") for status, prefix, _ in answers
    ]
    await acme.world.stores.directory.enable_integration(
        acme.organization.id, acme.connection.integration.id, enabled=False
    )
    assert (await acme("POST", f"/v1/webhook-logs/{entry['id']}/replay", {})).status_code == 403


@pytest.mark.parametrize(
    ("path", "fields", "at_fault"),
    [
        ("/triggers/new", {"repositories": "codehost:7"}, "repositories"),
        ("/triggers/new", {"repositories": "codehost:1", "brand": "brand_7"}, "brand"),
        ("/triggers/new", {"repositories": "codehost:1", "name": "x" * 101}, "name"),
        ("/schedules/new", {"name": "Weekly", "repositories": "7"}, "repositories"),
        ("/schedules/new", {"name": "Weekly", "repositories": "1", "hour": "99"}, "hour"),
        ("/schedules/new", {"name": "", "repositories": "1"}, "name"),
        ("/endpoints", {"url": "ftp://example.org/"}, "url"),
        ("/endpoints", {"url": "https://example.org/", "description": "x" * 201}, "description"),
        ("/brands", {"websiteUrl": "ftp://example.org/"}, "websiteUrl"),
        ("/changelog", {"slug": "Not a slug"}, "slug"),
        ("/changelog", {"productUrl": "ftp://example.org/"}, "productUrl"),
        ("/changelog", {"accent": "dark"}, "accent"),
        ("/integrations", {"repository": "acme", "repository_id": "7"}, "repository"),
        ("/integrations", {"repository": "acme/x", "repository_id": "7", "branch": "x" * 256}, "branch"),
        ("/integrations", {"repository": "acme/x", "repository_id": "7", "token": "a b"}, "token"),
    ],
)
async def test_a_page_shows_a_refusal_at_its_field(
    world: ApiWorld, acme: Caller, path: str, fields: Mapping[str, str], at_fault: str
) -> None:
    browsing = Browsing(world)
    await browsing.sign_in(acme.key)
    page = await browsing.open(f"/dashboard{path}")
    answer = await browsing.send(page.form(f"/dashboard{path}"), **fields)

    assert answer.status == 422
    assert {attributes["id"] for _, attributes in answer.elements if attributes.get("id", "").endswith("-fault")} == {
        f"{at_fault}-fault"
    }


async def test_a_tool_answers_in_its_own_words_by_kind(acme: Caller) -> None:
    await acme("POST", TRIGGERS, TRIGGER)
    await acme.push("d-1", "feat: turn the lamp")
    await acme.world.perform()
    (post,) = (await acme("GET", "/v1/posts")).json()["posts"]
    async with agent_of(acme) as agent:
        assert "search_posts" in await agent.refusal("publish_post", postId="post_7", version="x")
        assert "Call read_post" in await agent.refusal("publish_post", postId=post["id"], version="x")
        assert "Page 9 does not exist" in await agent.refusal("list_posts", page=9)
        assert WORDS in await agent.refusal("search_posts", query="!")
        assert WORDS in await agent.refusal("generate_post", contentType="changelog", brandIdentityId="brand_7")


def test_a_command_ends_with_the_code_of_the_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("DATABASE_URL", "SECRET_KEY"):
        monkeypatch.delenv(f"CONTENTSVC_{name}", raising=False)

    def ended(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(main, arguments)
        return done.exit_code, done.stderr.strip().splitlines()[-1]

    assert CliRunner().invoke(main, ("organization", "create", "Acme")).exit_code == 0
    new = ("--organization", "acme", "--repository-id", "7")
    assert ended("trigger", "create", *new) == (1, f"Error: {WORDS}")
    assert ended("organization", "create", "Acme") == (1, f"Error: {WORDS}")
    assert ended("trigger", "edit", "trg_7", "--name", "x") == (1, "Error: there is no trigger 'trg_7'")
    assert ended("schedule", "enable", "sch_7") == (1, "Error: there is no schedule 'sch_7'")
    assert ended("brand", "delete", "brand_7") == (1, "Error: there is no brand identity 'brand_7'")
    assert ended("post", "publish", "post_7") == (1, "Error: there is no post 'post_7'")
    assert ended("log", "replay", "log_7") == (1, "Error: there is no log entry 'log_7'")
    assert ended("post", "search", "!", "--organization", "acme") == (2, f"Error: {WORDS}")
    weekly = ("schedule", "create", *new, "--name", "x", "--frequency", "weekly", "--at", "09:00")
    assert ended(*weekly) == (2, "Error: a weekly schedule needs --day-of-week")
    assert json.loads(CliRunner().invoke(main, ("trigger", "list", "--organization", "acme", "--json")).stdout) == []
