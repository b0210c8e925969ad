"""An event loop whose time is made up: nothing is waited for, and a seed alone decides what happens, and when."""

import asyncio
import selectors
from collections.abc import Callable
from typing import final


class Stuck(Exception):
    """Everything waits for something that nobody will do."""


@final
class _NoSockets(selectors.SelectSelector):
    """Lets time pass instead of waiting for sockets: nobody outside says anything."""

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
    """An event loop in which a second takes no time. Tasks, timers and time limits work as in any other."""

    def __init__(self) -> None:
        self._now = 0.0
        super().__init__(_NoSockets(self._elapse))

    def time(self) -> float:
        """Give the seconds since it was made."""
        return self._now

    def _elapse(self, seconds: float) -> None:
        self._now += max(0.0, seconds)
