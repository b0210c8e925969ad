import asyncio
from collections.abc import Callable
from typing import Final, final


@final
class Pacer:
    """Waits between the polls of one loop: the wait doubles after each poll that finds nothing, up to a bound."""

    def __init__(self, first_s: float, most_s: float) -> None:
        self._first_s = first_s
        self._most_s = most_s
        self._wait_s = first_s
        self._began_s = 0.0
        self._may_find = False
        self._woken = False
        self._over: Final = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        #: The time of the timer. uvloop has handles without a time for timers that are due.
        self._due_s = 0.0

    def wake(self) -> None:
        self._woken = True
        self._over.set()

    def expect(self) -> None:
        self._may_find = True
        if self._timer is not None and (due_s := self._began_s + self._first_s) < self._due_s:
            self._timer.cancel()
            self._due_s = due_s
            self._timer = asyncio.get_running_loop().call_at(due_s, self._over.set)

    def begin(self) -> None:
        """Begin a poll. A notification from now on shortens the wait after the poll."""
        self._began_s = asyncio.get_running_loop().time()
        self._woken = self._may_find = False
        self._over.clear()

    async def wait(self, *, found: bool) -> bool:
        """Wait until the next poll is due; return whether :meth:`wake` ended the wait."""
        wait_s = self._first_s if found or self._may_find else self._wait_s
        self._wait_s = min(2 * wait_s, self._most_s)
        loop = asyncio.get_running_loop()
        self._due_s = loop.time() + wait_s
        self._timer = loop.call_at(self._due_s, self._over.set)
        try:
            await self._over.wait()
        finally:
            self._timer.cancel()
            self._timer = None
        if self._woken or self._may_find:
            self._wait_s = self._first_s
        return self._woken


@final
class Notifier:
    def __init__(self) -> None:
        self._listeners: Final[list[Callable[[], None]]] = []

    def listen(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    def notify(self) -> None:
        for listener in self._listeners:
            listener()
