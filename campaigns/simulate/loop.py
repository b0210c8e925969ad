"""An event loop with simulated time: it never waits, and only a seed decides events and their times."""

import asyncio
import selectors
from collections.abc import Callable
from typing import final


class Stuck(Exception):
    """Raised when all tasks wait, and no timer is left."""


@final
class _NoSockets(selectors.SelectSelector):
    """Advances the time instead of waiting for sockets, because sockets have no data here."""

    def __init__(self, elapse: Callable[[float], None]) -> None:
        super().__init__()
        self._elapse = elapse

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            message = "everything waits, and no time is left for which anybody waits"
            raise Stuck(message)
        self._elapse(timeout)
        return []


@final
class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop with simulated time. Tasks, timers and timeouts work as in other event loops."""

    def __init__(self) -> None:
        self._now = 0.0
        super().__init__(_NoSockets(self._elapse))

    def time(self) -> float:
        """Return the seconds since its creation."""
        return self._now

    def _elapse(self, seconds: float) -> None:
        self._now += max(0.0, seconds)
