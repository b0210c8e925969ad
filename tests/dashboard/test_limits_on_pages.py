"""Limits beside the specified ones: an operation counts in one bucket of the organization, wherever it is asked for."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest
from tests.api.world import ApiWorld, Caller
from tests.dashboard.browsing import Browsing, Seen

from contentsvc_core import ApiKey
from contentsvc_core.access.rates import (
    CREATING_ENDPOINTS,
    ISSUING_KEYS,
    PREVIEWING,
    REPLAYING,
    ROTATING,
    SEARCHING,
    TESTING_ENDPOINTS,
    Bucket,
    Rate,
)
from contentsvc_core.usecases.limit import RateLimiter
from contentsvc_mcp.calling import call
from contentsvc_mcp.toolbox import ToolRefused
from contentsvc_mcp.tools import TOOLS

KEYS = "/dashboard/keys"
ENDPOINTS = "/dashboard/endpoints"


async def used_up(world: ApiWorld, acme: Caller, rate: Rate) -> None:
    """Use a limit up but for one."""
    limiter = RateLimiter(world.stores.rate_limits, world.clock)
    for _ in range(rate.limit - 1):
        assert (await limiter.hit(Bucket.of_organization(rate, acme.organization.id))).admitted


async def issued(browsing: Browsing) -> Seen:
    return await browsing.send((await browsing.open(KEYS)).form(KEYS), name="x")


async def previewed(page: str, browsing: Browsing) -> Seen:
    # A post is edited where it is: another form of the session will do.
    form = "/dashboard/triggers/new" if page == "posts" else f"/dashboard/{page}/new"
    fields = (await browsing.open(form)).form(form).fields
    return await browsing.post(f"/dashboard/{page}/preview", fields, headers={"HX-Request": "true"})


async def created(browsing: Browsing) -> Seen:
    form = (await browsing.open(ENDPOINTS)).form(ENDPOINTS)
    return await browsing.send(form, url="https://hooks.example.com/", event="post.published")


ASKED: dict[str, tuple[Rate, Callable[[Browsing], Awaitable[Seen]]]] = {
    "search": (SEARCHING, lambda browsing: browsing.open("/dashboard/search?query=lamp")),
    "post preview": (PREVIEWING, lambda browsing: previewed("posts", browsing)),
    "trigger preview": (PREVIEWING, lambda browsing: previewed("triggers", browsing)),
    "schedule preview": (PREVIEWING, lambda browsing: previewed("schedules", browsing)),
    "issue": (ISSUING_KEYS, issued),
    "endpoint": (CREATING_ENDPOINTS, created),
}


@pytest.mark.parametrize(("rate", "ask"), ASKED.values(), ids=ASKED)
async def test_a_page_is_admitted_up_to_its_limit_and_then_names_the_wait(
    world: ApiWorld, acme: Caller, browsing: Browsing, rate: Rate, ask: Callable[[Browsing], Awaitable[Seen]]
) -> None:
    await used_up(world, acme, rate)

    assert (await ask(browsing)).status in {200, 201}
    refused = await ask(browsing)

    assert refused.status == 429
    assert f"{rate.limit} times in 60 seconds" in refused.text
    assert refused.response.headers["Retry-After"] == "60"
    world.clock.advance(timedelta(seconds=60))
    assert (await ask(browsing)).status in {200, 201}


async def test_a_search_counts_in_one_bucket_on_pages_in_v1_and_for_agents(
    world: ApiWorld, acme: Caller, browsing: Browsing
) -> None:
    await used_up(world, acme, SEARCHING)

    async def caller() -> ApiKey:
        return acme.record

    assert (await acme("GET", "/v1/context")).headers["RateLimit-Remaining"] == "0"
    assert (await acme("GET", "/v1/context")).status_code == 429
    assert (await browsing.open("/dashboard/search?query=lamp")).status == 429
    for tool in TOOLS:
        if tool.name in {"search_context", "search_posts"}:
            with pytest.raises(ToolRefused, match="at most 60 such calls in 60 seconds"):
                await call(world.use_cases, caller, tool, {"query": "lamp"})
    # The form alone, a record and another organization are not affected.
    assert (await browsing.open("/dashboard/search")).status == 200
    other = await world.caller("Other")
    assert (await other("GET", "/v1/context")).status_code == 200


async def test_a_test_message_counts_in_one_bucket_on_pages_and_in_v1(
    world: ApiWorld, acme: Caller, browsing: Browsing
) -> None:
    created = (await acme("POST", "/v1/webhook-endpoints", {"url": "https://hooks.example.com/"})).json()
    endpoint_id = created["webhookEndpoint"]["id"]
    await used_up(world, acme, TESTING_ENDPOINTS)

    assert (await acme("POST", f"/v1/webhook-endpoints/{endpoint_id}/test")).status_code == 202
    page = await browsing.open(f"{ENDPOINTS}/{endpoint_id}")
    refused = await browsing.send(page.form(f"{ENDPOINTS}/{endpoint_id}/test"))

    assert refused.status == 429
    assert (await acme("POST", f"/v1/webhook-endpoints/{endpoint_id}/test")).status_code == 429


async def test_a_batch_of_a_replay_counts_in_one_bucket_on_pages_and_in_v1(
    world: ApiWorld, acme: Caller, browsing: Browsing
) -> None:
    await acme.push("d-1", "feat: a lamp")
    await used_up(world, acme, REPLAYING)
    path = "/dashboard/integrations/logs/replay"
    page = await browsing.open(f"{path}?outcome=processed")

    assert (await acme("POST", "/v1/webhook-logs/replay", {"requestId": "r-1"})).status_code == 202
    assert (await browsing.send(page.form(path))).status == 429
    assert (await acme("POST", "/v1/webhook-logs/replay", {"requestId": "r-1"})).status_code == 429


async def test_a_rotation_counts_in_one_bucket_on_pages_and_in_v1(
    world: ApiWorld, acme: Caller, browsing: Browsing
) -> None:
    id_ = acme.connection.integration.id
    await used_up(world, acme, ROTATING)
    page = await browsing.open(f"/dashboard/integrations/{id_}")

    assert (await acme("POST", f"/v1/integrations/{id_}/rotate-secret")).status_code == 200
    assert (await browsing.send(page.form(f"/dashboard/integrations/{id_}/rotate"))).status == 429
    assert (await acme("POST", f"/v1/integrations/{id_}/rotate-secret")).status_code == 429
