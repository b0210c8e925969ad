"""The limits of ``/v1``, on pages: what a key may do so often, its session may do no more often."""

from collections.abc import Collection, Mapping, Sequence
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

    async def used(self, prefixes: Collection[str]) -> Mapping[str, Sequence[tuple[Rate, int]]]:
        """Return how much of each limit each key has used now, by the key's prefix."""
        buckets = {(prefix, rate): Bucket.of_key(rate, prefix) for prefix in prefixes for rate in RATES}
        found = await self._limiter.used(buckets.values())
        return {prefix: [(rate, found[buckets[prefix, rate]]) for rate in RATES] for prefix in prefixes}
