"""Joined transactions: each has the result that it would have alone."""

import asyncio
from collections.abc import Sequence

import pytest

from contentsvc_adapters.sql.batcher import Batcher
from contentsvc_core.errors import StoreUnavailable, Unstorable


class Store:
    """Doubles numbers; some numbers fail, and calls wait while it is closed."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.away = False

    async def double(self, numbers: Sequence[int]) -> Sequence[int]:
        self.batches.append(list(numbers))
        await self.gate.wait()
        if self.away:
            message = "away"
            raise StoreUnavailable(message)
        if 13 in numbers:
            message = "thirteen"
            raise Unstorable(message)
        return [2 * number for number in numbers]


async def test_simultaneous_calls_form_one_batch() -> None:
    store = Store()
    batcher: Batcher[int, int] = Batcher(store.double)

    assert await asyncio.gather(*(batcher(number) for number in (3, 1, 2))) == [6, 2, 4]
    assert await batcher(4) == 8

    assert store.batches == [[3, 1, 2], [4]]


async def test_calls_during_a_batch_form_the_next_one() -> None:
    store = Store()
    batcher: Batcher[int, int] = Batcher(store.double)
    store.gate.clear()
    first = asyncio.create_task(batcher(1))
    while not store.batches:
        await asyncio.sleep(0)
    later = [asyncio.create_task(batcher(number)) for number in (2, 3)]
    await asyncio.sleep(0)
    store.gate.set()

    assert await asyncio.gather(first, *later) == [2, 4, 6]
    assert store.batches == [[1], [2, 3]]


async def test_one_that_cannot_be_answered_takes_no_other_down() -> None:
    store = Store()
    batcher: Batcher[int, int] = Batcher(store.double)

    answers = await asyncio.gather(*(batcher(number) for number in (1, 13, 2)), return_exceptions=True)

    assert [answers[0], answers[2]] == [2, 4]
    assert isinstance(answers[1], Unstorable)
    assert store.batches == [[1, 13, 2], [1], [13], [2]]


async def test_an_unavailable_store_fails_all_calls_of_the_batch_at_once() -> None:
    store = Store()
    batcher: Batcher[int, int] = Batcher(store.double)
    store.away = True

    answers = await asyncio.gather(*(batcher(number) for number in (1, 2)), return_exceptions=True)

    assert [(type(each), str(each)) for each in answers] == [(StoreUnavailable, "away")] * 2
    assert store.batches == [[1, 2]]
    store.away = False
    assert await batcher(3) == 6


async def test_a_cancelled_call_leaves_the_batch_and_delays_no_other() -> None:
    store = Store()
    batcher: Batcher[int, int] = Batcher(store.double)
    store.gate.clear()
    first = asyncio.create_task(batcher(1))
    while not store.batches:
        await asyncio.sleep(0)
    gone, stays = asyncio.create_task(batcher(2)), asyncio.create_task(batcher(3))
    await asyncio.sleep(0)
    first.cancel()
    gone.cancel()
    store.gate.set()

    assert await stays == 6
    assert store.batches == [[1], [3]]
    for task in (first, gone):
        with pytest.raises(asyncio.CancelledError):
            await task
