"""The check of a store of rate limits, for any database."""

from collections.abc import Awaitable, Callable, Coroutine
from datetime import timedelta
from typing import Any

from contentsvc_core.access.rates import Bucket, Rate
from contentsvc_core.access.window import Verdict, Window, hit
from contentsvc_core.ports import RateLimitStore
from contentsvc_core.testing.checking import TURNS, answers, called, cancelled_at, expect
from contentsvc_core.testing.parts import START
from contentsvc_core.timestamps import to_ms


async def check_rate_limits(
    store: RateLimitStore, *, reopen: "Callable[[], Awaitable[RateLimitStore]] | None" = None
) -> None:
    """Check the guarantees of a store without windows. The check deletes the windows that it makes.

    Args:
        store: A store without windows.
        reopen: Opens the store anew, as after a restart, and returns it. Without it, a store may forget its windows.

    Raises:
        AssertionError: The store breaks a guarantee; the message names the guarantee.
    """
    rate = Rate(method="POST", template="/lamps", limit=3)
    one, case = Bucket(rate=rate, client="ada"), Bucket(rate=rate, client="Ada")
    elsewhere = Bucket(rate=Rate(method="POST", template="/horns", limit=3), client="ada")
    # Its windows are kept for an hour.
    hourly = Bucket(rate=Rate(method="POST", template="/buoys", limit=3, window_ms=3_600_000), client="ada")
    both = "of 8 concurrent requests, as many as the limit are admitted"

    def updated(bucket: Bucket, after_ms: int = 0) -> Coroutine[Any, Any, Verdict]:
        now = START + timedelta(milliseconds=after_ms)
        return store.update(bucket, lambda window: hit(window, bucket.rate, now))

    async def expect_remaining(guarantee: str, expected: list[int], *updates: Coroutine[Any, Any, Verdict]) -> None:
        found = await answers(guarantee, *updates)
        remaining = sorted(each.remaining for each in found if isinstance(each, Verdict) and each.admitted)
        raised = next((each for each in found if isinstance(each, BaseException)), None)
        expect(guarantee, raised or f"{remaining}, not {expected}", holds=raised is None and remaining == expected)

    async def expect_windows(guarantee: str, **hits_ms: tuple[int, ...]) -> None:
        buckets = {"one": one, "case": case, "elsewhere": elsewhere, "hourly": hourly}
        expected = {buckets[name]: Window(hits_ms=[to_ms(START) + ms for ms in each]) for name, each in hits_ms.items()}
        found = await called(guarantee, store.windows([*buckets.values()]))
        expect(guarantee, f"{found}, not {expected}", holds=found == expected)

    await expect_windows("windows leaves out buckets without a window")
    await expect_remaining(f"{both}: of a new bucket", [0, 1, 2], *(updated(one) for _ in range(8)))
    for bucket in (case, elsewhere, hourly):
        await expect_remaining("each bucket has a window of its own", [2], updated(bucket))
    again = (updated(one, rate.window_ms) for _ in range(8))
    await expect_remaining(f"{both}: of a bucket with a window", [0, 1, 2], *again)
    ones = (rate.window_ms,) * 3
    await expect_windows(
        "windows returns the last window of a bucket", one=ones, case=(0,), elsewhere=(0,), hourly=(0,)
    )
    if reopen is not None:
        store = await reopen()
        await expect_windows("windows are kept at a restart", one=ones, case=(0,), elsewhere=(0,), hourly=(0,))
    for turn in range(TURNS):
        # The limit is spent, so that a cancelled request changes nothing.
        answer = await cancelled_at(turn, updated(one, rate.window_ms))
        await expect_remaining("a cancelled request holds up no other", [], updated(one, rate.window_ms))
        if isinstance(answer, Verdict):
            break
    expired = START + timedelta(milliseconds=rate.window_ms)
    keeps, deletes = (
        "sweep keeps windows whose last request still counts",
        "sweep deletes up to its limit, and returns the number",
    )
    early = await called(keeps, store.sweep(before=expired - timedelta(milliseconds=1), limit=9))
    expect(keeps, early, holds=early == 0)
    swept = [await called(deletes, store.sweep(before=expired, limit=1)) for _ in range(3)]
    expect(deletes, swept, holds=swept == [1, 1, 0])
    await expect_windows("sweep deletes the windows whose last request has left", one=ones, hourly=(0,))
    await store.sweep(before=expired + timedelta(milliseconds=rate.window_ms), limit=9)
    await expect_windows("the window of a bucket is as long as that of its rate", hourly=(0,))
    await store.sweep(before=START + timedelta(milliseconds=hourly.rate.window_ms), limit=9)
    await expect_windows("sweep deletes the windows whose last request has left")
