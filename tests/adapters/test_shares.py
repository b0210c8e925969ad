"""The shares of organizations: concurrency, order, and cancelled calls."""

import asyncio
import threading
from collections.abc import Awaitable, Callable

import pytest

from contentsvc_adapters.offload import (
    HEAVY_CONCURRENCY,
    LISTS_CONCURRENCY,
    PER_ORGANIZATION,
    FairShare,
    in_thread,
    shares,
    threads,
)
from contentsvc_adapters.sql import Database
from contentsvc_core.errors import Overloaded


class Work:
    """Pieces of work that a test ends."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.gates: dict[str, asyncio.Event] = {}

    def __call__(self, name: str) -> Callable[[], Awaitable[str]]:
        self.gates[name] = asyncio.Event()

        async def work() -> str:
            self.begun.append(name)
            await self.gates[name].wait()
            return name

        return work

    async def end(self, *names: str) -> None:
        for name in names:
            self.gates[name].set()
        await settled()


async def settled() -> None:
    """Run the loop until all tasks wait for the test."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_an_organization_runs_no_more_than_its_share_and_the_next_one_begins_at_once() -> None:
    share, work = FairShare(concurrency=3, per_organization=2, waiting=8), Work()
    calls = [asyncio.create_task(share("org_a", work(f"a{number}"))) for number in range(4)]
    await settled()
    assert work.begun == ["a0", "a1"]

    calls.append(asyncio.create_task(share("org_b", work("b0"))))
    await settled()
    assert work.begun == ["a0", "a1", "b0"]

    await work.end("a1")
    assert work.begun == ["a0", "a1", "b0", "a2"]
    await work.end("a0", "a2", "b0", "a3")
    assert [await call for call in calls] == ["a0", "a1", "a2", "a3", "b0"]


async def test_organizations_that_wait_are_served_in_turns_and_each_in_the_order_of_its_calls() -> None:
    share, work = FairShare(concurrency=1, per_organization=1, waiting=8), Work()
    names = ["a0", "a1", "a2", "b0", "b1", "c0"]
    calls = [asyncio.create_task(share(f"org_{name[0]}", work(name))) for name in names]
    await settled()

    for name in ("a0", "b0", "c0", "a1", "b1", "a2"):
        assert work.begun[-1] == name
        await work.end(name)

    assert work.begun == ["a0", "b0", "c0", "a1", "b1", "a2"]
    await asyncio.gather(*calls)


async def test_a_full_queue_refuses_its_organization_and_no_other() -> None:
    share, work = FairShare(concurrency=3, per_organization=1, waiting=1), Work()
    calls = [asyncio.create_task(share("org_a", work(name))) for name in ("a0", "a1")]
    await settled()

    with pytest.raises(Overloaded):
        await share("org_a", work("a2"))
    calls.append(asyncio.create_task(share("org_b", work("b0"))))
    await settled()

    assert work.begun == ["a0", "b0"]
    await work.end("a0", "a1", "b0")
    assert [await call for call in calls] == ["a0", "a1", "b0"]
    # The refused call holds no place.
    calls = [asyncio.create_task(share("org_a", work(name))) for name in ("a3", "a4")]
    await settled()
    await work.end("a3", "a4")
    assert [await call for call in calls] == ["a3", "a4"]


async def test_a_call_that_is_cancelled_while_it_waits_frees_its_place_in_the_queue() -> None:
    share, work = FairShare(concurrency=1, per_organization=1, waiting=1), Work()
    first = asyncio.create_task(share("org_a", work("a0")))
    waiting = asyncio.create_task(share("org_a", work("a1")))
    await settled()

    waiting.cancel()
    await settled()
    last = asyncio.create_task(share("org_a", work("a2")))
    await settled()
    await work.end("a0", "a2")

    assert waiting.cancelled()
    assert work.begun == ["a0", "a2"]
    assert (await first, await last) == ("a0", "a2")


async def test_a_call_that_is_cancelled_at_its_turn_admits_the_next_call() -> None:
    share, work = FairShare(concurrency=1, per_organization=1, waiting=2), Work()
    calls = [asyncio.create_task(share("org_a", work(f"a{number}"))) for number in range(3)]
    await settled()

    work.gates["a0"].set()
    # The end of a0 has admitted a1, which has not continued yet.
    while not calls[0].done():
        await asyncio.sleep(0)
    calls[1].cancel()
    await settled()
    await work.end("a1", "a2")

    assert await calls[2] == "a2"
    assert work.begun[-1] == "a2"


async def test_work_of_a_cancelled_call_counts_until_it_ends() -> None:
    share, work = FairShare(concurrency=1, per_organization=1, waiting=1), Work()
    cancelled = asyncio.create_task(share("org_a", work("a0")))
    await settled()
    cancelled.cancel()
    other = asyncio.create_task(share("org_b", work("b0")))
    await settled()
    assert cancelled.cancelled()
    assert work.begun == ["a0"]

    await work.end("a0", "b0")
    assert await other == "b0"


async def test_work_that_fails_raises_its_fault_and_admits_the_next_call() -> None:
    share = FairShare(concurrency=1, per_organization=1, waiting=1)

    async def fails() -> None:
        message = "no"
        raise LookupError(message)

    with pytest.raises(LookupError):
        await share("org_a", fails)
    work = Work()
    call = asyncio.create_task(share("org_a", work("a0")))
    await settled()
    await work.end("a0")
    assert await call == "a0"


@pytest.mark.parametrize("connections", range(3, 20))
def test_the_shares_never_hold_the_last_connection(connections: int) -> None:
    created = shares(connections=connections)

    assert isinstance(created.heavy, FairShare)
    assert isinstance(created.lists, FairShare)
    assert created.heavy.concurrency >= 1
    assert created.lists.concurrency >= 1
    assert created.heavy.concurrency + created.lists.concurrency < connections


@pytest.mark.parametrize("url", ["sqlite+aiosqlite:///contentsvc.db", "postgresql+asyncpg://us@host/contentsvc"])
def test_with_the_usual_connections_and_threads_one_organization_never_holds_all_places(url: str) -> None:
    created = shares(connections=Database(url).dialect.readers)
    assert isinstance(created.heavy, FairShare)
    assert isinstance(created.lists, FairShare)

    assert (created.heavy.concurrency, created.lists.concurrency) == (HEAVY_CONCURRENCY, LISTS_CONCURRENCY)
    assert min(HEAVY_CONCURRENCY, LISTS_CONCURRENCY) > PER_ORGANIZATION


async def test_work_in_all_places_leaves_threads_for_everything_else() -> None:
    asyncio.get_running_loop().set_default_executor(threads())
    created = shares(connections=10)
    release = asyncio.Event()
    loop = asyncio.get_running_loop()
    held: list[asyncio.Future[bool]] = []

    def hold() -> bool:
        return asyncio.run_coroutine_threadsafe(release.wait(), loop).result()

    for organization in ("org_a", "org_b", "org_c"):
        for share in (created.heavy, created.lists):
            held += [
                asyncio.ensure_future(share(organization, lambda: asyncio.to_thread(hold)))
                for _ in range(PER_ORGANIZATION)
            ]
    # With all threads occupied, this would never end.
    assert await asyncio.to_thread(lambda: "free") == "free"
    release.set()
    assert all(await asyncio.gather(*held))


async def test_what_is_done_aside_gives_its_result_or_raises() -> None:
    assert await in_thread(lambda: 7) == 7
    with pytest.raises(OSError, match="x"):
        await in_thread(lambda: (_ for _ in ()).throw(OSError("x")))
    over = threading.Event()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(in_thread(over.wait), 0.01)
    over.set()
