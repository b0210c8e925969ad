"""The limits of ``/v1``, on pages: what a key may do so often, its session may do no more often."""

from typing import final

from contentsvc_core.access.rates import RATES, Bucket, Rate, rate_of
from contentsvc_core.access.window import WINDOW_MS
from contentsvc_core.usecases.limit import RateLimiter
from contentsvc_http.dashboard.context import Dashboard
from contentsvc_http.dashboard.visits import Visit

WINDOW_S = WINDOW_MS // 1000


@final
class Counting:
    """Counts what sessions do in the buckets of their keys, and tells what is in them."""

    def __init__(self, dashboard: Dashboard) -> None:
        """Take the ports."""
        self._limiter = RateLimiter(dashboard.limits, dashboard.clock)

    async def refusal(self, found: Visit, method: str, template: str) -> str | None:
        """Count an operation of ``/v1`` before a page does the same; ``None``: go on. Else, why not, in words.

        Raises:
            StoreUnavailable: Nobody can tell.
        """
        rate = rate_of(method, template)
        assert rate is not None  # pages name operations that are limited
        verdict = await self._limiter.hit(Bucket.of_key(rate, found.signed_in.key.prefix))
        if verdict.admitted:
            return None
        return (
            f"Too often: with one key, this can be done {rate.limit} times in {WINDOW_S} seconds. "
            f"Send it again in {verdict.retry_after_s} s."
        )

    async def used(self, prefix: str) -> list[tuple[Rate, int]]:
        """Tell how much of each limit a key has used now."""
        return [(rate, await self._limiter.used(Bucket.of_key(rate, prefix))) for rate in RATES]
