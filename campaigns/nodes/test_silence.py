"""The executors that a watching process considers dead, and when."""

from collections.abc import Sequence
from typing import Any

import pytest

from contentsvc_adapters.engine.membership import Membership


class _World:
    """Registered executors, including the one that watches, and a clock."""

    def __init__(self) -> None:
        self.beats = {"me": 0, "dead": 7, "lives": 0}
        self.now = 1000.0
        self.given_up: set[str] = set()

    def new_id(self, _prefix: str) -> str:
        return "me"

    async def join(self, _executor: str) -> None:
        pass

    async def heartbeat(self, _executor: str) -> dict[str, int]:
        self.beats["lives"] += 1
        return self.beats

    async def recover(self, _error: str, *, lost: dict[str, int]) -> int:
        self.given_up |= set(lost)
        return 0

    async def given_up_after(self, gaps: Sequence[float]) -> set[str]:
        ports: Any = self
        watching = Membership(ports, ports, alone=False, now=lambda: self.now)
        await watching.heartbeat()
        for gap in gaps:
            self.now += gap
            await watching.heartbeat()
        return self.given_up


@pytest.mark.parametrize("gap", [2, 3, 3.5, 5, 60])
async def test_a_silent_executor_is_given_up_at_any_length_of_turns(gap: float) -> None:
    assert await _World().given_up_after([gap] * 8) == {"dead"}


async def test_ten_seconds_of_silence_are_enough_and_less_is_not() -> None:
    assert await _World().given_up_after([2, 2, 2, 2, 1.9]) == set()
    assert await _World().given_up_after([2, 2, 2, 2, 2]) == {"dead"}


@pytest.mark.parametrize("gaps", [[2], [2, 2], [60], [2, 60], [2.9, 3600]])
async def test_a_pause_of_the_watcher_gives_up_no_executor(gaps: Sequence[float]) -> None:
    assert await _World().given_up_after(gaps) == set()
