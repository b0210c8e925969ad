"""``/v1/event-triggers`` over HTTP."""

from typing import Any

import pytest
from msgspec import to_builtins
from tests.api.world import ApiWorld, Caller
from tests.builders import a_brand

from contentsvc_core.workflows.bodies import TriggerBody

PATH = "/v1/event-triggers"


def new_body(**fields: Any) -> dict[str, Any]:
    return {"targets": {"repositoryIds": ["1"]}, **fields}


async def new_trigger(acme: Caller, **fields: Any) -> dict[str, Any]:
    answer = await acme("POST", PATH, new_body(**fields))
    assert answer.status_code == 201, answer.text
    return answer.json()["eventTrigger"]


@pytest.fixture
async def brand(world: ApiWorld, acme: Caller) -> str:
    identity = a_brand(organization_id=acme.organization.id, name="Acme")
    await world.stores.brands.add(identity)
    return identity.id


async def test_a_trigger_is_made_read_changed_and_deleted(acme: Caller, brand: str) -> None:
    trigger = await new_trigger(acme)
    other = await new_trigger(
        acme,
        name="Posts",
        sourceType="codehost_webhook",
        targets={"repositoryIds": [1, "1"]},
        sourceConfig={"eventTypes": ["release", "push"]},
        outputType="blog_post",
        # Some typed clients send null for a field that is not set.
        outputConfig={"brandVoiceId": brand, "brandIdentityId": None},
        autoPublish=True,
        enabled=False,
    )

    (stored, _) = await acme.world.stores.triggers.all_of(acme.organization.id)
    assert trigger == to_builtins(TriggerBody.of(stored))
    assert other == trigger | {
        "id": other["id"],
        "name": "Posts",
        "enabled": False,
        "sourceConfig": {"eventTypes": ["push", "release"]},
        "outputType": "blog_post",
        "outputConfig": {"brandIdentityId": brand},
        "autoPublish": True,
    }
    assert (await acme("GET", PATH)).json() == {"eventTriggers": [trigger, other]}
    assert (await acme("GET", f"{PATH}/{other['id']}")).json() == {"eventTrigger": other}

    changes = {
        "name": "Letters",
        "sourceConfig": {"eventTypes": ["release"]},
        "outputType": "investor_update",
        "outputConfig": None,
        "autoPublish": False,
        "enabled": True,
    }
    changed = await acme("PATCH", f"{PATH}/{other['id']}", changes)
    assert (changed.status_code, changed.json()["eventTrigger"]) == (200, other | changes)
    # Missing fields stay unchanged.
    renamed = await acme("PATCH", f"{PATH}/{other['id']}", {"name": ""})
    assert renamed.json()["eventTrigger"] == other | changes | {"name": ""}
    assert (await acme("DELETE", f"{PATH}/{trigger['id']}")).json() == {"id": trigger["id"]}
    assert (await acme("GET", PATH)).json() == {"eventTriggers": [renamed.json()["eventTrigger"]]}


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"targets": {"repositoryIds": []}}, "Invalid request: targets.repositoryIds must have at least 1 item"),
        (
            {"sourceType": "cron"},
            "sourceType: 'cron' is not one of codehost_webhook, github_webhook, gitlab_webhook, bitbucket_webhook, ",
        ),
        ({"sourceConfig": {"eventTypes": ["ping"]}}, "sourceConfig.eventTypes[0]: 'ping' is not one of push, release"),
        (
            {"outputConfig": {"brandIdentityId": "a", "brandVoiceId": "b"}},
            "brandVoiceId is an alias of brandIdentityId",
        ),
    ],
)
async def test_a_faulty_trigger_is_refused_by_the_name_of_its_fault(
    acme: Caller, fields: dict[str, Any], error: str
) -> None:
    current = await new_trigger(acme, outputType="twitter_post")

    for method, path, body in (("POST", PATH, new_body(**fields)), ("PATCH", f"{PATH}/{current['id']}", fields)):
        refused = await acme(method, path, body)
        assert refused.status_code == 400
        assert error in refused.json()["error"]
    assert (await acme("GET", PATH)).json() == {"eventTriggers": [current]}


async def test_a_trigger_may_have_filters_and_a_batch(acme: Caller) -> None:
    options = {
        "allRepositories": True,
        "branches": ["release/*", "!release/0.x"],
        "tags": ["pkg@*"],
        "paths": ["pkg/**"],
        "scopes": ["api"],
        "preReleases": False,
        "batch": "daily",
    }
    answer = await acme("POST", PATH, {**options, "outputType": "blog_post"})

    assert answer.status_code == 201, answer.text
    trigger = answer.json()["eventTrigger"]
    assert {name: trigger[name] for name in options} == options
    assert (trigger["sourceType"], trigger["targets"]) == ("any_webhook", {"repositoryIds": []})
    path = f"{PATH}/{trigger['id']}"
    assert (await acme("GET", f"{PATH}?repositoryIds=1")).json()["eventTriggers"] == [trigger]
    assert (await acme("PATCH", path, {**options, "sourceType": "any_webhook"})).json()["eventTrigger"] == trigger
    one = (await acme("PATCH", path, {"sourceType": "codehost_webhook"})).json()["eventTrigger"]
    assert one == {**trigger, "sourceType": "codehost_webhook"}
    again = await acme("PATCH", path, {"sourceType": "any_webhook"})
    assert (again.status_code, again.json()) == (200, {"eventTrigger": trigger})
    # Options that are not set are not shown.
    plain: dict[str, Any] = {name: [] for name in ("branches", "tags", "paths", "scopes")}
    plain |= {"preReleases": True, "batch": "none", "targets": {"repositoryIds": ["1"]}}
    changed = (await acme("PATCH", path, plain)).json()["eventTrigger"]
    assert changed == {name: value for name, value in trigger.items() if name not in options} | {
        "sourceType": "codehost_webhook",
        "targets": {"repositoryIds": ["1"]},
    }


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({}, "Invalid request: targets is missing: name repositories, or send allRepositories"),
        ({"allRepositories": True, "targets": {"repositoryIds": ["1"]}}, "together with all repositories"),
    ],
)
async def test_a_faulty_option_is_refused_by_its_name(acme: Caller, fields: dict[str, Any], error: str) -> None:
    refused = await acme("POST", PATH, fields)

    assert refused.status_code == 400
    assert error in refused.json()["error"]
