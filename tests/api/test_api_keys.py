"""API keys: the time of their last use."""

import asyncio
from datetime import timedelta

from tests.api.world import ApiWorld, Caller


async def test_a_use_is_noted_and_a_refused_one_is_not(world: ApiWorld, acme: Caller) -> None:
    async def used() -> object:
        # The time is stored after the answer.
        await asyncio.gather(*(task for task in asyncio.all_tasks() if task is not asyncio.current_task()))
        key = await world.stores.keys.key(acme.record.prefix)
        assert key is not None
        return key.last_used_at

    await world.send("GET", "/v1/posts", headers={"Authorization": f"Bearer {acme.key[:-1]}!"})
    assert await used() is None
    world.clock.advance(timedelta(hours=1))
    await acme("GET", "/v1/posts")
    assert await used() == world.clock.now()
