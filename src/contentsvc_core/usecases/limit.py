from collections.abc import Collection, Mapping
from typing import Final, final

from contentsvc_core.access.keys import ApiKey
from contentsvc_core.access.rates import Bucket, Rate
from contentsvc_core.access.window import Verdict, Window, hit, refused_until, unknown, used
from contentsvc_core.ports import Clock, RateLimitStore

#: The most full buckets in memory. Beyond it, the oldest one is read from the store again.
_CACHE_SIZE: Final = 10_000


@final
class RateLimiter:
    """Counts requests. A refusal writes nothing, and is cached until the window frees: nothing opens it before."""

    def __init__(self, store: RateLimitStore, clock: Clock, *, cache_size: int = _CACHE_SIZE) -> None:
        self._store = store
        self._clock = clock
        self._cache_size = cache_size
        #: The time at which each full bucket frees, in Unix milliseconds; oldest entry first.
        self._closed: dict[Bucket, int] = {}

    async def hit_by(self, key: ApiKey, rate: Rate) -> Verdict:
        """Count a request of a key, then of its organization. Requests over the key's limit do not count there."""
        organization = Bucket.of_organization(rate, key.organization_id)
        if rate.is_shared:
            return await self.hit(organization)
        bucket = Bucket.of_key(rate, key.prefix)
        # A request that the organization's bucket refuses does not use the key's.
        refused = self._remembered_refusal(bucket) or self._remembered_refusal(organization)
        if refused is not None:
            return refused
        own = await self.hit(bucket)
        if not own.admitted:
            return own
        together = await self.hit(organization)
        return own if together.admitted else together

    async def hit(self, bucket: Bucket) -> Verdict:
        """Count a request, before its operation begins; do not admit the request after ``StoreUnavailable``."""
        refused = self._remembered_refusal(bucket)
        if refused is not None:
            return refused

        def transition(window: Window) -> tuple[Window, Verdict]:
            # Read inside the transaction, so that hits are counted in the order of their times.
            return hit(window, bucket.rate, self._clock.now())

        verdict = await self._store.update(bucket, transition)
        if not verdict.admitted:
            self._remember(bucket, verdict.reset_at_ms)
        return verdict

    async def used(self, buckets: Collection[Bucket]) -> Mapping[Bucket, int]:
        """Return how many requests of each bucket count now, in one read; nothing is counted or written."""
        windows = await self._store.windows(buckets)
        now = self._clock.now()
        return {bucket: used(windows[bucket], bucket.rate, now) if bucket in windows else 0 for bucket in buckets}

    def unknown(self, rate: Rate) -> Verdict:
        """Return the verdict for a request whose window cannot be read."""
        return unknown(rate, self._clock.now())

    def _remembered_refusal(self, bucket: Bucket) -> Verdict | None:
        reset_at_ms = self._closed.get(bucket)
        if reset_at_ms is None:
            return None
        refused = refused_until(bucket.rate, reset_at_ms, self._clock.now())
        if refused is None:
            del self._closed[bucket]
        return refused

    def _remember(self, bucket: Bucket, reset_at_ms: int) -> None:
        self._closed.pop(bucket, None)
        self._closed[bucket] = reset_at_ms
        if len(self._closed) > self._cache_size:
            del self._closed[next(iter(self._closed))]
