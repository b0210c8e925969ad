"""``check_rate_limits`` names the guarantee that a store of rate limits breaks."""

import asyncio
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta

import pytest
from attrs import evolve

from contentsvc_adapters.memory import memory_stores
from contentsvc_adapters.sealing import FernetSealer
from contentsvc_core import Bucket, Verdict, Window
from contentsvc_core.ports import Transition
from contentsvc_core.testing import check_rate_limits


class Sound:
    def __init__(self) -> None:
        self.store = memory_stores(FernetSealer("x" * 32)).rate_limits

    async def update(self, bucket: Bucket, transition: Transition) -> Verdict:
        return await self.store.update(bucket, transition)

    async def windows(self, buckets: Collection[Bucket]) -> Mapping[Bucket, Window]:
        return await self.store.windows(buckets)

    async def sweep(self, *, before: datetime, limit: int) -> int:
        return await self.store.sweep(before=before, limit=limit)


class Racing(Sound):
    """Reads the window of a bucket in another transaction than it writes the window."""

    hits = 0

    async def update(self, bucket: Bucket, transition: Transition) -> Verdict:
        found = (await self.windows([bucket])).get(bucket, Window())
        if len(found.hits_ms) != self.hits:
            return await super().update(bucket, transition)
        await asyncio.sleep(0)
        window, verdict = transition(found)
        await super().update(bucket, lambda _: (window, verdict))
        return verdict


class RacingLater(Racing):
    hits = 3


class IgnoringCase(Sound):
    async def update(self, bucket: Bucket, transition: Transition) -> Verdict:
        return await super().update(evolve(bucket, client=bucket.client.title()), transition)

    async def windows(self, buckets: Collection[Bucket]) -> Mapping[Bucket, Window]:
        named = {bucket: evolve(bucket, client=bucket.client.title()) for bucket in buckets}
        found = await super().windows(named.values())
        return {bucket: found[name] for bucket, name in named.items() if name in found}


class ReturningEmptyWindows(Sound):
    async def windows(self, buckets: Collection[Bucket]) -> Mapping[Bucket, Window]:
        return {bucket: Window() for bucket in buckets} | dict(await super().windows(buckets))


class SweepingEarly(Sound):
    async def sweep(self, *, before: datetime, limit: int) -> int:
        return await super().sweep(before=before + timedelta(milliseconds=1), limit=limit)


class SweepingLate(Sound):
    async def sweep(self, *, before: datetime, limit: int) -> int:
        return await super().sweep(before=before - timedelta(milliseconds=1), limit=limit)


class SweepingAll(Sound):
    async def sweep(self, *, before: datetime, limit: int) -> int:
        return await super().sweep(before=before, limit=limit * 9)


class ForgettingOlderHits(Sound):
    async def windows(self, buckets: Collection[Bucket]) -> Mapping[Bucket, Window]:
        return {
            bucket: Window(hits_ms=found.hits_ms[-1:]) for bucket, found in (await super().windows(buckets)).items()
        }


async def test_a_store_with_all_guarantees_passes() -> None:
    await check_rate_limits(Sound())


@pytest.mark.parametrize(
    ("broken", "guarantee"),
    [
        (Racing, "of 8 concurrent requests, as many as the limit are admitted: of a new bucket"),
        (RacingLater, "of 8 concurrent requests, as many as the limit are admitted: of a bucket with a window"),
        (IgnoringCase, "each bucket has a window of its own"),
        (ReturningEmptyWindows, "windows leaves out buckets without a window"),
        (ForgettingOlderHits, "windows returns the last window of a bucket"),
        (SweepingEarly, "sweep keeps windows whose last request still counts"),
        (SweepingLate, "sweep deletes up to its limit, and returns the number"),
        (SweepingAll, "sweep deletes up to its limit, and returns the number"),
    ],
)
async def test_the_broken_guarantee_of_rate_limits_is_named(broken: type[Sound], guarantee: str) -> None:
    with pytest.raises(AssertionError) as raised:
        await check_rate_limits(broken())

    assert str(raised.value).startswith(f"the store breaks a guarantee: {guarantee} (got")
