"""The check of a store of rate limits, for any database."""

import asyncio
from datetime import timedelta

from contentsvc_core.access.rates import Bucket, Rate
from contentsvc_core.access.window import Verdict, Window, hit
from contentsvc_core.ports import RateLimitStore
from contentsvc_core.testing.parts import START
from contentsvc_core.timestamps import to_ms


async def check_rate_limits(store: RateLimitStore) -> None:
    """Check the guarantees of a store without windows. The check deletes the windows that it makes.

    Raises:
        AssertionError: The store breaks a guarantee; the message names the guarantee.
    """
    rate = Rate(method="POST", template="/lamps", limit=3)
    one, case = Bucket(rate=rate, client="ada"), Bucket(rate=rate, client="Ada")
    elsewhere = Bucket(rate=Rate(method="POST", template="/horns", limit=3), client="ada")
    both = "of 8 concurrent requests, as many as the limit are admitted"

    async def hits(bucket: Bucket, number: int, *, after_ms: int = 0) -> list[Verdict]:
        now = START + timedelta(milliseconds=after_ms)
        return await asyncio.gather(
            *(store.update(bucket, lambda window: hit(window, bucket.rate, now)) for _ in range(number))
        )

    def expect(guarantee: str, got: object, expected: object) -> None:
        if got != expected:
            message = f"the store breaks a guarantee: {guarantee} (got {got}, not {expected})"
            raise AssertionError(message)

    async def expect_windows(guarantee: str, **hits_ms: tuple[int, ...]) -> None:
        buckets = {"one": one, "case": case, "elsewhere": elsewhere}
        expected = {buckets[name]: Window(hits_ms=[to_ms(START) + ms for ms in each]) for name, each in hits_ms.items()}
        expect(guarantee, dict(await store.windows([one, case, elsewhere])), expected)

    await expect_windows("windows leaves out buckets without a window")
    remaining = sorted(verdict.remaining for verdict in await hits(one, 8) if verdict.admitted)
    expect(f"{both}: of a new bucket", remaining, [0, 1, 2])
    for bucket in (case, elsewhere):
        expect("each bucket has a window of its own", [each.remaining for each in await hits(bucket, 1)], [2])
    remaining = sorted(verdict.remaining for verdict in await hits(one, 8, after_ms=rate.window_ms) if verdict.admitted)
    expect(f"{both}: of a bucket with a window", remaining, [0, 1, 2])
    await expect_windows(
        "windows returns the last window of a bucket", one=(rate.window_ms,) * 3, case=(0,), elsewhere=(0,)
    )
    expired = START + timedelta(milliseconds=rate.window_ms)
    early = await store.sweep(before=expired - timedelta(milliseconds=1), limit=9)
    expect("sweep keeps windows whose last request still counts", early, 0)
    swept = [await store.sweep(before=expired, limit=1) for _ in range(3)]
    expect("sweep deletes up to its limit, and returns the number", swept, [1, 1, 0])
    await expect_windows("sweep deletes the windows whose last request has left", one=(rate.window_ms,) * 3)
    await store.sweep(before=expired + timedelta(milliseconds=rate.window_ms), limit=9)
    await expect_windows("sweep deletes the windows whose last request has left")
