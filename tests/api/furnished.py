"""An organization with one object of each kind."""

from datetime import timedelta
from typing import Any, Final

from tests.api.world import ApiWorld, Caller
from tests.builders import a_brand

_ENDPOINT_PATHS: Final = tuple(
    f"/v1/webhook-endpoints/{{endpointId}}{operation}"
    for operation in ("", "/rotate-secret", "/test", "/confirmations")
)
_INTEGRATION_PATHS: Final = tuple(
    f"/v1/integrations/{{integrationId}}{operation}" for operation in ("", "/rotate-secret", "/reconcile")
)
_POST_PATHS: Final = tuple(
    f"/v1/posts/{{postId}}{operation}"
    for operation in ("", "/versions", "/versions/{number}", "/versions/{number}/restore")
)
_CHANGELOG_PATHS: Final = tuple(
    f"/v1/changelogs/{{changelogId}}{operation}" for operation in ("", "/exposure", "/images/{kind}")
)


async def furnish(world: ApiWorld, caller: Caller) -> dict[str, str]:
    """Create one object of each kind for an organization; return the ids, by the path of their operation."""
    await caller.push("d-1", "feat: a lamp")
    await caller.release("d-2", "v1.0.0")
    brand = await _brand(world, caller)
    schedule = await _created(
        caller,
        "/v1/schedules",
        {
            "name": "Weekly",
            "sourceType": "cron",
            "sourceConfig": {"cron": {"frequency": "weekly", "hour": 9, "minute": 0, "dayOfWeek": 1}},
            "targets": {"repositoryIds": [caller.repository_id]},
            "outputType": "changelog",
            "outputConfig": {"brandIdentityId": brand},
            "lookbackWindow": "last_7_days",
        },
    )
    trigger = await _created(
        caller,
        "/v1/event-triggers",
        {
            "name": "Each push",
            "sourceType": "codehost_webhook",
            "sourceConfig": {"eventTypes": ["push"]},
            "targets": {"repositoryIds": [str(caller.repository_id)]},
            "outputType": "twitter_post",
            "outputConfig": {"brandIdentityId": brand},
        },
    )
    await caller.push("d-3", "fix: the lens")
    await world.perform()
    job = await _created(caller, "/v1/posts/generate", {"contentType": "blog_post", "brandIdentityId": brand})
    reading = await _created(caller, "/v1/brand-identities/generate", {"websiteUrl": "https://acme.example/"})
    endpoint = await _created(
        caller, "/v1/webhook-endpoints", {"url": "https://acme.example/hook", "eventTypes": ["post.published"]}
    )
    changelog = await _created(caller, "/v1/changelogs", {"slug": f"{caller.organization.slug}-lens", "title": "Lens"})
    # So that later rows have another time.
    world.clock.advance(timedelta(seconds=1))
    post = (await caller("GET", "/v1/posts?status=draft,published")).json()["posts"][0]
    entry = (await caller("GET", "/v1/webhook-logs")).json()["logs"][0]
    run = (await caller("GET", "/v1/runs")).json()["runs"][0]
    return {
        **dict.fromkeys(_POST_PATHS, str(post["id"])),
        "/v1/posts/generate/{jobId}": job["job"]["id"],
        "/v1/brand-identities/{brandIdentityId}": brand,
        "/v1/brand-identities/generate/{jobId}": reading["job"]["id"],
        **dict.fromkeys(_INTEGRATION_PATHS, caller.connection.integration.id),
        "/v1/schedules/{scheduleId}": schedule["schedule"]["id"],
        "/v1/event-triggers/{triggerId}": trigger["eventTrigger"]["id"],
        **dict.fromkeys(("/v1/webhook-logs/{logId}", "/v1/webhook-logs/{logId}/replay"), entry["id"]),
        **dict.fromkeys(("/v1/runs/{runId}", "/v1/runs/{runId}/cancel", "/v1/runs/{runId}/retry"), run["id"]),
        "/v1/context/{customId}": f"codehost:{caller.repository_id}:d-1",
        **dict.fromkeys(_CHANGELOG_PATHS, str(changelog["changelog"]["id"])),
        **dict.fromkeys(_ENDPOINT_PATHS, str(endpoint["webhookEndpoint"]["id"])),
    }


async def _created(caller: Caller, path: str, body: dict[str, Any]) -> Any:
    answer = await caller("POST", path, body)
    assert answer.is_success, answer.text
    return answer.json()


async def _brand(world: ApiWorld, caller: Caller) -> str:
    now = world.clock.now()
    for name in ("Lighthouse", "Keeper"):
        brand = a_brand(now, id=world.ids.new_id("brand_"), organization_id=caller.organization.id, name=name)
        await world.stores.brands.add(brand)
    # The second one: the first is the default, which cannot be deleted.
    return (await world.stores.brands.identities(caller.organization.id))[-1].id


async def operations(world: ApiWorld) -> list[tuple[str, str, dict[str, Any]]]:
    """Return method, path and description of every documented operation of ``/v1`` that needs a key."""
    document = (await world.send("GET", "/schema/openapi.json")).json()
    return [
        (method.upper(), path, operation)
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if operation.get("security")
    ]
