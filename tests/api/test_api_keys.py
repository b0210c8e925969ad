"""API keys: scopes, expiry, and their wire form (decisions, ``/v1``, "Keys")."""

import asyncio
from datetime import timedelta

from tests.api.world import ApiWorld, Caller

from contentsvc_core import IssuedKey, Scope

READING = [
    "/v1/posts",
    "/v1/posts/post_1",
    "/v1/event-triggers",
    "/v1/event-triggers/trg_1",
    "/v1/webhook-logs",
]
WRITING = [
    ("PATCH", "/v1/posts/post_1"),
    ("DELETE", "/v1/posts/post_1"),
    ("POST", "/v1/event-triggers"),
    ("PATCH", "/v1/event-triggers/trg_1"),
    ("DELETE", "/v1/event-triggers/trg_1"),
    ("POST", "/v1/webhook-logs/log_1/replay"),
]
OPERATIONS = [*(("GET", path) for path in READING), *WRITING]


async def test_reading_needs_one_scope_and_everything_else_the_other(world: ApiWorld) -> None:
    reader, writer = await world.caller("Reader", Scope.READ), await world.caller("Writer", Scope.WRITE)

    for method, path in OPERATIONS:
        able, unable = (reader, writer) if method == "GET" else (writer, reader)
        refused = await unable(method, path, {})
        assert (refused.status_code, refused.json()) == (403, {"error": "Insufficient scope"}), (method, path)
        assert "WWW-Authenticate" not in refused.headers
        assert (await able(method, path, {})).status_code in {200, 400, 404}, (method, path)


async def test_a_missing_key_and_an_invalid_one_are_the_only_distinct_refusals(world: ApiWorld, acme: Caller) -> None:
    soon = world.clock.now() + timedelta(days=1)
    expiring = await world.operator.issue_key(acme.organization, expires_at=soon)
    assert isinstance(expiring, IssuedKey)
    unknown = acme.key[:-1] + ("a" if acme.key[-1] != "a" else "b")
    world.clock.advance(timedelta(days=1))
    await world.stores.keys.revoke(acme.record.prefix, world.clock.now())
    presented = (*(f"Bearer {key}" for key in (unknown, acme.key, expiring.key, "", "csk_x")), f"Basic {acme.key}")

    for method, path in OPERATIONS:
        missing = await world.send(method, path)
        assert (missing.status_code, missing.json()) == (401, {"error": "Missing API key"})
        assert missing.headers["WWW-Authenticate"] == "Bearer"
        for header in presented:
            refused = await world.send(method, path, headers={"Authorization": header})
            assert (refused.status_code, refused.json()) == (401, {"error": "Invalid API key"}), (method, path, header)
            assert refused.headers["WWW-Authenticate"] == "Bearer"


async def test_a_use_is_noted_and_a_refused_one_is_not(world: ApiWorld, acme: Caller) -> None:
    async def used() -> object:
        # It is noted beside the answer.
        await asyncio.gather(*(task for task in asyncio.all_tasks() if task is not asyncio.current_task()))
        key = await world.stores.keys.key(acme.record.prefix)
        assert key is not None
        return key.last_used_at

    await world.send("GET", "/v1/posts", headers={"Authorization": f"Bearer {acme.key[:-1]}!"})
    assert await used() is None
    world.clock.advance(timedelta(hours=1))
    await acme("GET", "/v1/posts")
    assert await used() == world.clock.now()
