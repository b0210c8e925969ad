"""``/v1/event-triggers`` over HTTP."""

import asyncio
from typing import Any

import pytest
from attrs import evolve
from click import ClickException
from tests.api.world import ApiWorld, Caller
from tests.builders import a_brand

from contentsvc_cli.wiring import accepted
from contentsvc_core.refusals import too_many
from contentsvc_core.workflows.triggers import MAX_TRIGGERS

PATH = "/v1/event-triggers"


def new_body(**fields: Any) -> dict[str, Any]:
    return {"targets": {"repositoryIds": ["1"]}, **fields}


async def new_trigger(acme: Caller, **fields: Any) -> dict[str, Any]:
    answer = await acme("POST", PATH, new_body(**fields))
    assert answer.status_code == 201, answer.text
    return answer.json()["eventTrigger"]


async def runs(acme: Caller) -> int:
    return len(await acme.world.stores.ledger.runs(acme.organization.id))


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
        outputConfig={"brandVoiceId": brand},
        autoPublish=True,
        enabled=False,
    )

    assert trigger == {
        "id": trigger["id"],
        "organizationId": acme.organization.id,
        "name": "",
        "sourceType": "codehost_webhook",
        "enabled": True,
        "targets": {"repositoryIds": ["1"]},
        "sourceConfig": {"eventTypes": []},
        "outputType": "changelog",
        "outputConfig": None,
        "autoPublish": False,
        "createdAt": "2026-01-01T00:00:00.000Z",
    }
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
    for method, body in (("GET", None), ("PATCH", {"name": "x"}), ("DELETE", None)):
        for gone in (trigger["id"], "a%20b"):
            answer = await acme(method, f"{PATH}/{gone}", body)
            assert (answer.status_code, answer.json()) == (404, {"error": "Event trigger not found"})
    assert (await acme("GET", PATH)).json() == {"eventTriggers": [renamed.json()["eventTrigger"]]}


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"targets": {"repositoryIds": []}}, "Invalid request: targets.repositoryIds must have at least 1 item"),
        ({"targets": {"repositoryIds": [True]}}, "repositoryIds[0] must be an integer or a string"),
        (
            {"targets": {"repositoryIds": ["01"]}},
            "repositoryIds[0]: '01' is neither a repository id nor the id of an integration",
        ),
        ({"targets": {"repositoryIds": [2**63]}}, "repositoryIds[0] must be at most"),
        ({"targets": {"repositoryIds": ["9223372036854775808"]}}, "'9223372036854775808' is neither a repository id"),
        (
            {"sourceType": "cron"},
            "sourceType: 'cron' is not one of codehost_webhook, github_webhook, gitlab_webhook, bitbucket_webhook, ",
        ),
        ({"sourceConfig": {"eventTypes": ["ping"]}}, "sourceConfig.eventTypes[0]: 'ping' is not one of push, release"),
        (
            {"outputType": "poem"},
            "Invalid request: outputType: 'poem' is not one of blog_post, ",
        ),
        (
            {"outputConfig": {"brandIdentityId": "a", "brandVoiceId": "b"}},
            "brandVoiceId is an alias of brandIdentityId",
        ),
        ({"enabled": "yes"}, "Invalid request: enabled must be a boolean"),
        ({"name": "x" * 101}, "Invalid request: name must have at most 100 characters"),
        ({"mood": 1}, "Invalid request: mood is an unknown field"),
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
    assert (await acme("PATCH", f"{PATH}/{current['id']}", {})).json() == {
        "error": "Invalid request: there is nothing to change"
    }
    assert (await acme("GET", PATH)).json() == {"eventTriggers": [current]}


async def test_an_organization_has_a_bounded_number_of_triggers(world: ApiWorld, acme: Caller) -> None:
    first = await new_trigger(acme)
    current = await world.stores.directory.trigger(acme.organization.id, first["id"])
    assert current is not None
    for number in range(1, MAX_TRIGGERS):
        added = evolve(current, id=f"trg_{number}", repository_ids=(number + 1,))
        assert await world.stores.directory.add_trigger(added) == added

    answer = await acme("POST", PATH, new_body(outputType="blog_post"))

    assert answer.status_code == 409
    assert answer.json() == {"error": "An organization has at most 200 event triggers"}
    with pytest.raises(ClickException, match="at most 200 event triggers"):
        accepted(too_many("event triggers", MAX_TRIGGERS))


async def test_two_triggers_that_do_the_same_are_refused(acme: Caller, brand: str) -> None:
    await new_trigger(acme, name="one")
    duplicate = (409, {"error": "Duplicate event trigger"})

    # Neither a name nor switches make a difference, and to name every event is to name none.
    for same in (
        {"name": "two", "enabled": False, "autoPublish": True},
        {"sourceConfig": {"eventTypes": ["push", "release"]}},
        {"targets": {"repositoryIds": [1]}, "outputConfig": {"brandIdentityId": None}},
    ):
        answer = await acme("POST", PATH, new_body(**same))
        assert (answer.status_code, answer.json()) == duplicate
    pushes = await new_trigger(acme, sourceConfig={"eventTypes": ["push"]})
    await new_trigger(acme, outputConfig={"brandIdentityId": brand})
    answer = await acme("PATCH", f"{PATH}/{pushes['id']}", {"sourceConfig": {}})
    assert (answer.status_code, answer.json()) == duplicate

    answers = await asyncio.gather(*(acme("POST", PATH, new_body(outputType="blog_post")) for _ in range(5)))
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409, 409]
    assert len((await acme("GET", PATH)).json()["eventTriggers"]) == 4
    # Of another organization it is no business.
    other = await acme.world.caller("Other")
    assert (await other("POST", PATH, {"targets": {"repositoryIds": [other.repository_id]}})).status_code == 201


async def test_a_change_counts_from_the_next_delivery(acme: Caller) -> None:
    trigger = await new_trigger(acme, sourceConfig={"eventTypes": ["push"]})
    path = f"{PATH}/{trigger['id']}"

    await acme.push("d-1", "feat: a lamp")
    assert await runs(acme) == 1
    await acme("PATCH", path, {"sourceConfig": {"eventTypes": ["release"]}})
    await acme.push("d-2", "feat: a lamp")
    assert await runs(acme) == 1
    await acme.release("d-3", "v1")
    assert await runs(acme) == 2
    await acme("DELETE", path)
    await acme.release("d-4", "v2")
    assert await runs(acme) == 2
    # What had been started and not begun ends as skipped.
    await acme.world.perform()
    assert {run.status.value for run in await acme.world.stores.ledger.runs(acme.organization.id)} == {"skipped"}


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
        ({"allRepositories": True, "paths": ["/src"]}, "paths has the pattern '/src'"),
        ({"allRepositories": True, "batch": "hourly"}, "batch: 'hourly' is not one of daily, none, weekly"),
        ({"allRepositories": True, "scopes": "api"}, "scopes must be an array"),
    ],
)
async def test_a_faulty_option_is_refused_by_its_name(acme: Caller, fields: dict[str, Any], error: str) -> None:
    refused = await acme("POST", PATH, fields)

    assert refused.status_code == 400
    assert error in refused.json()["error"]
