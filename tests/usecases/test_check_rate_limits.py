"""``check_rate_limits`` names the guarantee that a store of rate limits breaks."""

import asyncio
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta

import pytest
from attrs import evolve

from contentsvc_adapters.memory import memory_stores
from contentsvc_adapters.sealing import FernetSealer
from contentsvc_core import Bucket, Rate, Verdict, Window, to_ms
from contentsvc_core.ports import Transition
from contentsvc_core.testing import check_rate_limits, checking


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


class SweepingByTheMinute(Sound):
    """Sweeps all windows as if each of them had a minute."""

    async def sweep(self, *, before: datetime, limit: int) -> int:
        hourly = Bucket(rate=Rate(method="POST", template="/buoys", limit=3, window_ms=3_600_000), client="ada")
        minute = timedelta(milliseconds=hourly.rate.window_ms - 60_000)
        windows = await self.windows([hourly])
        swept = await super().sweep(before=before, limit=limit)
        at_once = [window.hits_ms[-1] + 60_000 <= to_ms(before) for window in windows.values()]
        return swept + (await super().sweep(before=before + minute, limit=limit - swept) if any(at_once) else 0)


class Deadlocked(Sound):
    """Keeps its lock if a request is cancelled."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = asyncio.Lock()

    async def update(self, bucket: Bucket, transition: Transition) -> Verdict:
        await self.lock.acquire()
        await asyncio.sleep(0)
        verdict = await super().update(bucket, transition)
        self.lock.release()
        return verdict


class Raising(Sound):
    """Raises the exception of its driver, if it is busy."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = asyncio.Lock()

    async def update(self, bucket: Bucket, transition: Transition) -> Verdict:
        if self.lock.locked():
            message = "busy"
            raise OSError(message)
        async with self.lock:
            await asyncio.sleep(0)
            return await super().update(bucket, transition)


class NeedingAWindow(Sound):
    async def windows(self, buckets: Collection[Bucket]) -> Mapping[Bucket, Window]:
        found = await super().windows(buckets)
        return {bucket: found[bucket] for bucket in buckets}


class NeedingAWindowToSweep(Sound):
    async def sweep(self, *, before: datetime, limit: int) -> int:
        return await super().sweep(before=before, limit=limit) or 1 // 0


class ForgettingOlderHits(Sound):
    async def windows(self, buckets: Collection[Bucket]) -> Mapping[Bucket, Window]:
        return {
            bucket: Window(hits_ms=found.hits_ms[-1:]) for bucket, found in (await super().windows(buckets)).items()
        }


async def test_a_store_with_all_guarantees_passes() -> None:
    store = Sound()

    async def reopen() -> Sound:
        return store

    await check_rate_limits(Sound())
    await check_rate_limits(store, reopen=reopen)


async def test_a_store_that_forgets_its_windows_at_a_restart_is_named() -> None:
    async def reopen() -> Sound:
        return Sound()

    with pytest.raises(AssertionError, match="windows are kept at a restart"):
        await check_rate_limits(Sound(), reopen=reopen)


@pytest.mark.parametrize(
    ("broken", "guarantee"),
    [
        (Racing, "of 8 concurrent requests, as many as the limit are admitted: of a new bucket"),
        (RacingLater, "of 8 concurrent requests, as many as the limit are admitted: of a bucket with a window"),
        (Raising, "of 8 concurrent requests, as many as the limit are admitted: of a new bucket (got OSError('busy')"),
        (Deadlocked, "a cancelled request holds up no other (got no answer in 1 seconds"),
        (SweepingByTheMinute, "sweep deletes up to its limit, and returns the number"),
        (IgnoringCase, "each bucket has a window of its own"),
        (ReturningEmptyWindows, "windows leaves out buckets without a window"),
        (NeedingAWindow, "windows leaves out buckets without a window (got KeyError(Bucket("),
        (NeedingAWindowToSweep, "sweep keeps windows whose last request still counts (got ZeroDivisionError("),
        (ForgettingOlderHits, "windows returns the last window of a bucket"),
        (SweepingEarly, "sweep keeps windows whose last request still counts"),
        (SweepingLate, "sweep deletes up to its limit, and returns the number"),
        (SweepingAll, "sweep deletes up to its limit, and returns the number"),
    ],
)
async def test_the_broken_guarantee_of_rate_limits_is_named(
    broken: type[Sound], guarantee: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "PATIENCE_S", 1.0)

    with pytest.raises(AssertionError) as raised:
        await check_rate_limits(broken())

    assert str(raised.value).startswith(f"the store breaks a guarantee: {guarantee}")
