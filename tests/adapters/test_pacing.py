"""The polling of loops: rare without results, and soon after a notification."""

import asyncio
from typing import Final

import pytest
import uvloop

from contentsvc_adapters.pacing import Notifier, Pacer

#: Longer than any test may take, in seconds: a wait that ends was ended by a notification.
_LONG_S: Final = 3600.0


async def test_looks_that_find_nothing_become_rarer_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    loop = asyncio.get_running_loop()
    at_once = loop.call_soon

    def note(when: float, callback: object, *_: object) -> asyncio.TimerHandle:
        waits.append(round(when - loop.time(), 1))
        at_once(callback)  # type: ignore[arg-type]
        return asyncio.TimerHandle(when, lambda: None, (), loop)

    monkeypatch.setattr(loop, "call_at", note)
    pacer = Pacer(1.0, 8.0)

    for found in (False, False, False, False, False, True, False):
        pacer.begin()
        assert not await pacer.wait(found=found)

    assert waits == [1.0, 2.0, 4.0, 8.0, 8.0, 1.0, 2.0]


async def test_waking_ends_a_wait_at_once() -> None:
    pacer = Pacer(_LONG_S, _LONG_S)
    pacer.begin()
    asyncio.get_running_loop().call_soon(pacer.wake)

    assert await pacer.wait(found=False)


async def test_a_wake_during_a_poll_starts_the_next_one() -> None:
    pacer = Pacer(_LONG_S, _LONG_S)
    pacer.begin()
    pacer.wake()

    assert await pacer.wait(found=False)


async def test_a_write_ends_a_long_wait_after_the_shortest_one() -> None:
    pacer = Pacer(0.001, _LONG_S)
    writes = Notifier()
    writes.listen(pacer.expect)
    pacer.begin()
    while pacer._wait_s < _LONG_S:  # pyright: ignore[reportPrivateUsage]  # as after many queries
        pacer._wait_s *= 2  # pyright: ignore[reportPrivateUsage]
    asyncio.get_running_loop().call_soon(writes.notify)

    assert not await pacer.wait(found=False)


def test_several_writes_at_once_end_a_wait_on_the_servers_event_loop() -> None:
    async def wait() -> None:
        pacer = Pacer(0.0, _LONG_S)
        pacer._wait_s = _LONG_S  # pyright: ignore[reportPrivateUsage]  # as after many queries
        pacer.begin()
        waiting = asyncio.create_task(pacer.wait(found=False))
        await asyncio.sleep(0)
        # uvloop returns another kind of handle for a timer that is due.
        pacer.expect()
        pacer.expect()
        assert not await waiting

    uvloop.run(wait())


async def test_a_write_during_a_look_makes_the_next_wait_short() -> None:
    pacer = Pacer(0.001, _LONG_S)
    pacer._wait_s = _LONG_S  # pyright: ignore[reportPrivateUsage]  # as after many queries
    pacer.begin()
    pacer.expect()

    assert not await pacer.wait(found=False)
