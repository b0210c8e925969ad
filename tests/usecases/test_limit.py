"""The limiter: the cost of a full bucket, and the cached refusals."""

import asyncio
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.forwarding import Forwarding

from contentsvc_adapters.memory import memory_stores
from contentsvc_adapters.sealing import FernetSealer
from contentsvc_core.access.keys import ApiKey, Scope
from contentsvc_core.access.rates import Bucket, Rate
from contentsvc_core.access.window import Verdict, Window
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.ports import RateLimitStore
from contentsvc_core.ports.access import Transition
from contentsvc_core.testing import ManualClock
from contentsvc_core.timestamps import to_ms
from contentsvc_core.usecases.limit import RateLimiter

RATE = Rate(method="POST", template="/v1/posts/generate", limit=10)
BUCKET = Bucket.of_key(RATE, "csk_0000000001")


class CountedStore(Forwarding):
    """Counts the calls of a store, and the calls that change a window."""

    def __init__(self, store: RateLimitStore) -> None:
        super().__init__(store)
        self.calls = 0
        self.written = 0
        self.away: StoreUnavailable | None = None

    async def update(self, bucket: Bucket, transition: Transition) -> Verdict:
        self.calls += 1
        if self.away is not None:
            raise self.away

        def counted(window: Window) -> tuple[Window, Verdict]:
            after, verdict = transition(window)
            self.written += after != window
            return after, verdict

        return await self.real.update(bucket, counted)

    async def windows(self, buckets: Collection[Bucket]) -> Mapping[Bucket, Window]:
        self.calls += 1
        return await self.real.windows(buckets)


class World:
    def __init__(self) -> None:
        self.clock = ManualClock()
        self.stores = memory_stores(FernetSealer("a secret of at least 32 characters"))
        self.store: Any = CountedStore(self.stores.rate_limits)
        self.limiter = self.process()

    def process(self, **options: int) -> RateLimiter:
        """Return the limiter of another process over the same store."""
        return RateLimiter(self.store, self.clock, **options)

    def at(self, seconds: float) -> None:
        """Set the clock to a time after the start."""
        self.clock.advance(timedelta(seconds=seconds) - (self.clock.now() - ManualClock().now()))

    async def ask(self, times: int, limiter: RateLimiter | None = None, bucket: Bucket = BUCKET) -> list[bool]:
        return [(await (limiter or self.limiter).hit(bucket)).admitted for _ in range(times)]


@pytest.fixture
def world() -> World:
    return World()


async def test_a_closed_bucket_asks_the_store_once_and_writes_nothing_until_it_frees(world: World) -> None:
    await world.ask(10)
    assert (world.store.calls, world.store.written) == (10, 10)

    for second in range(60):
        world.at(second)
        assert await world.ask(20) == [False] * 20
    assert (world.store.calls, world.store.written) == (11, 10)

    world.at(60)
    assert await world.ask(11) == [True] * 10 + [False]
    assert (world.store.calls, world.store.written) == (22, 20)


async def test_looking_counts_nothing_and_writes_nothing(world: World) -> None:
    assert await world.limiter.used([BUCKET]) == {BUCKET: 0}
    await world.ask(3)
    world.at(40)
    await world.ask(2)

    for second, used in ((40, 5), (59, 5), (60, 2), (99, 2), (100, 0)):
        world.at(second)
        assert await world.limiter.used([BUCKET]) == {BUCKET: used}
    assert world.store.written == 5
    assert await world.ask(11) == [True] * 10 + [False]


async def test_the_wait_of_any_process_is_enough(world: World) -> None:
    await world.ask(4)
    world.at(17.3)
    await world.ask(6)
    other = world.process()
    for _ in range(2):
        world.at(20.001)
        for limiter in (world.limiter, other):
            refused = await limiter.hit(BUCKET)
            assert not refused.admitted
            assert refused.retry_after_s == 40
    world.at(20.001 + 40)

    assert await world.ask(4, other) == [True] * 4
    assert await world.ask(1) == [False]


async def test_the_cache_of_closed_buckets_is_bounded(world: World) -> None:
    limiter = world.process(cache_size=2)
    buckets = [Bucket.of_address(RATE, f"192.0.2.{number}") for number in range(3)]
    for bucket in buckets:
        await world.ask(11, limiter, bucket)
    before = world.store.calls

    # The cache drops the oldest full bucket; the store still refuses it.
    for bucket in reversed(buckets):
        assert await world.ask(2, limiter, bucket) == [False, False]
    assert world.store.calls == before + 1


class ClosedStore:
    """Has only full windows."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self.calls = 0

    async def update(self, bucket: Bucket, transition: Transition) -> Verdict:
        self.calls += 1
        # A concurrent request changes the window in between.
        await asyncio.sleep(0)
        return transition(Window(hits_ms=[to_ms(self.clock.now())] * bucket.rate.limit))[1]

    async def windows(self, buckets: Collection[Bucket]) -> Mapping[Bucket, Window]:
        raise AssertionError(buckets)

    async def sweep(self, *, before: datetime, limit: int) -> int:
        raise AssertionError(before, limit)


async def test_the_default_cache_has_10000_closed_buckets() -> None:
    store = ClosedStore(ManualClock())
    limiter = RateLimiter(store, store.clock)
    buckets = [Bucket.of_address(RATE, str(number)) for number in range(10_001)]
    for bucket in buckets:
        await limiter.hit(bucket)

    for bucket in buckets[1:]:
        await limiter.hit(bucket)
    assert store.calls == 10_001
    await limiter.hit(buckets[0])
    assert store.calls == 10_002


async def test_a_bucket_that_is_closed_by_two_at_once_is_the_last_that_was_closed() -> None:
    store = ClosedStore(ManualClock())
    limiter = RateLimiter(store, store.clock, cache_size=2)
    first, second, third = (Bucket.of_address(RATE, str(number)) for number in range(3))
    # The first bucket is full again after the second one.
    await asyncio.gather(limiter.hit(first), limiter.hit(second), limiter.hit(first))
    await limiter.hit(third)
    assert store.calls == 4

    await limiter.hit(first)
    assert store.calls == 4
    await limiter.hit(second)
    assert store.calls == 5


async def test_a_refusal_that_was_over_is_forgotten_and_does_not_come_back_with_the_clock(world: World) -> None:
    await world.ask(11)
    world.at(60)
    assert await world.ask(1) == [True]

    world.at(30)
    assert await world.ask(1) == [True]


async def test_an_unknown_state_refuses_for_a_second(world: World) -> None:
    world.at(7)

    assert world.limiter.unknown(RATE) == Verdict(False, 10, 0, to_ms(world.clock.now()) + 1000, 1)


async def test_an_unavailable_store_admits_no_request(world: World) -> None:
    world.store.away = StoreUnavailable("away")
    with pytest.raises(StoreUnavailable):
        await world.ask(1)

    world.store.away = None
    await world.ask(11)
    # A bucket that is known to be full is refused without the store.
    world.store.away = StoreUnavailable("away")
    assert await world.ask(1) == [False]


def key_of(organization_id: str, prefix: str) -> ApiKey:
    return ApiKey(
        prefix=prefix,
        organization_id=organization_id,
        name="",
        digest="0" * 64,
        scopes=[Scope.WRITE],
        created_at=ManualClock().now(),
    )


async def test_all_keys_of_an_organization_share_ten_times_the_limit_of_one(world: World) -> None:
    admitted = 0
    for number in range(12):
        key = key_of("org_1", f"csk_{number:010}")
        verdicts = [await world.limiter.hit_by(key, RATE) for _ in range(11)]
        admitted += sum(verdict.admitted for verdict in verdicts)

    assert admitted == 100
    # The limit of the organization's bucket shows the client that another key does not help.
    refused = await world.limiter.hit_by(key_of("org_1", "csk_0000000099"), RATE)
    assert (refused.admitted, refused.limit, refused.remaining, refused.retry_after_s) == (False, 100, 0, 60)
    # Only the first refused request of a key counts, because it found the bucket full.
    buckets = [Bucket.of_key(RATE, f"csk_{number:010}") for number in (9, 10, 11, 99)]
    assert list((await world.limiter.used(buckets)).values()) == [10, 1, 0, 0]
    other = await world.limiter.hit_by(key_of("org_2", "csk_other00000"), RATE)
    assert (other.admitted, other.limit, other.remaining) == (True, 10, 9)


async def test_a_key_over_its_limit_uses_nothing_of_its_organizations_bucket_up(world: World) -> None:
    key = key_of("org_1", "csk_0000000001")

    verdicts = [await world.limiter.hit_by(key, RATE) for _ in range(30)]

    assert [verdict.admitted for verdict in verdicts] == [True] * 10 + [False] * 20
    bucket = Bucket.of_organization(RATE, "org_1")
    assert await world.limiter.used([bucket]) == {bucket: 10}
    # When both buckets are full, the answer is about the key's.
    for _ in range(91):
        await world.limiter.hit(bucket)
    assert (await world.limiter.hit_by(key, RATE)).limit == 10


async def test_a_shared_limit_counts_all_keys_of_an_organization_together(world: World) -> None:
    first, second = key_of("org_1", "csk_0000000001"), key_of("org_1", "csk_0000000002")
    rate = Rate(method="GET", template="/v1/context", limit=2, is_shared=True)

    verdicts = [await world.limiter.hit_by(key, rate) for key in (first, second, first, second)]

    assert [verdict.admitted for verdict in verdicts] == [True, True, False, False]
    assert (await world.limiter.hit_by(key_of("org_2", "csk_0000000003"), rate)).admitted
