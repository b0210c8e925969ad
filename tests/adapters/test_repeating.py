import asyncio
import re
from collections import Counter
from datetime import timedelta
from uuid import UUID

from contentsvc_adapters.ids import ALPHABET, RandomIds
from contentsvc_adapters.repeating import RepeatableClock, RepeatableExecution, RepeatableIds
from contentsvc_core.testing import START, ManualClock
from contentsvc_core.timestamps import to_ms

IDS = RepeatableIds(RandomIds())


def _drawn(seed: str) -> list[str]:
    with RepeatableExecution(seed, START):
        return [IDS.new_id("post_"), IDS.token(100), IDS.new_id("")]


def test_executions_with_the_same_seed_draw_the_same_ids_and_tokens() -> None:
    assert _drawn("seed") == _drawn("seed")
    assert not set(_drawn("seed")) & set(_drawn("other"))


def test_ids_are_of_version_7_and_sort_by_creation() -> None:
    with RepeatableExecution("seed", START):
        ids = [IDS.new_id("") for _ in range(100)]

    assert sorted(ids) == ids
    assert all(UUID(each).version == 7 and UUID(each).int >> 80 == to_ms(START) for each in ids)
    assert all(str(UUID(each)) == each and UUID(each).variant == "specified in RFC 4122" for each in ids)


def test_tokens_have_every_character_equally_often() -> None:
    with RepeatableExecution("seed", START):
        token = IDS.token(62_000)

    counts = Counter(token)
    assert set(counts) == set(ALPHABET)
    assert all(850 < number < 1150 for number in counts.values())


async def test_the_clock_stands_still_in_an_execution_and_goes_on_outside() -> None:
    manual = ManualClock()
    clock = RepeatableClock(manual)
    manual.advance(timedelta(seconds=1))
    left = asyncio.Event()

    async def outliving() -> list[object]:
        during = clock.now(), IDS.token(9)
        await left.wait()
        return [*during, clock.now(), IDS.token(9)]

    with RepeatableExecution("seed", START):
        task = asyncio.create_task(outliving())
        await asyncio.sleep(0)
        assert clock.now() == START
        assert await asyncio.to_thread(clock.now) == START
    left.set()
    at, token, after, other = await task

    assert (at, after, clock.now()) == (START, manual.now(), manual.now())
    with RepeatableExecution("seed", START):
        assert IDS.token(9) == token
        assert IDS.token(9) != other
    assert re.fullmatch("[A-Za-z0-9]{9}", str(other))
