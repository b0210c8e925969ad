"""Faults of a call of a store, and of its caller."""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from enum import Enum
from typing import Any, Final, TypeVar, cast, final

from contentsvc_core.errors import StoreUnavailable

_Port = TypeVar("_Port")

#: The latency of a call in each direction, in seconds.
_QUICK_S: Final = 0.02
#: The additional time of a hanging call, in seconds: from unnoticed to beyond every timeout.
_SLOW_S: Final = (0.5, 15.0)


class Fault(Enum):
    """A fault of a call."""

    #: The store is unavailable: the call has no effect, and raises.
    BEFORE = "before"
    #: The call has its effect, and raises as if the store were unavailable.
    AFTER = "after commit"
    #: The call is performed much later.
    LATE = "late"
    #: The node is killed before the call is performed.
    KILLED_BEFORE = "killed before"
    #: The call is performed, and the node is killed before it gets the answer.
    KILLED_AFTER = "killed after commit"


#: Weights: an unavailable store is more common than a dead machine.
_WEIGHTS: Final = {Fault.BEFORE: 4, Fault.AFTER: 4, Fault.LATE: 3, Fault.KILLED_BEFORE: 1, Fault.KILLED_AFTER: 1}


class Dead(BaseException):
    """Raised in tasks of a killed node: no handler in the node's code may catch it as an error."""


@final
class Faults:
    """Chooses the fault of each call by a seeded generator, until faults are stopped."""

    def __init__(self, rng: random.Random, rate: float) -> None:
        self._rng = rng
        self._rate = rate
        #: The number of faults of each kind.
        self.met: Final = Counter[Fault]()

    def heal(self) -> None:
        """Stop all faults."""
        self._rate = 0.0

    def draw(self) -> Fault | None:
        """Return the fault of the next call."""
        if self._rng.random() >= self._rate:
            return None
        (fault,) = self._rng.choices([*_WEIGHTS], [*_WEIGHTS.values()])
        self.met[fault] += 1
        return fault

    def quick_s(self) -> float:
        """Return the latency of a call, in seconds."""
        return self._rng.random() * _QUICK_S

    def slow_s(self) -> float:
        """Return the time that a call hangs, in seconds."""
        return self._rng.uniform(*_SLOW_S)


@final
class Gateway:
    """A node's only access to the stores. A kill deletes the node's memory, but not the data of the stores."""

    def __init__(self, faults: Faults, on_kill: Callable[[], None]) -> None:
        self._faults = faults
        self._on_kill = on_kill
        self.is_dead = False
        self._cut_off_until_s = 0.0

    def cut_off(self, for_s: float) -> None:
        """Block all calls for some time, as in a suspended process or network."""
        self._cut_off_until_s = asyncio.get_running_loop().time() + for_s

    def to(self, port: _Port) -> _Port:
        """Return a port that is reached through this gateway."""
        return cast("_Port", _Reached(port, self))

    def kill(self) -> None:
        """Kill the node: none of its calls reaches a store any more."""
        if not self.is_dead:
            self.is_dead = True
            self._on_kill()

    async def call(self, operation: Callable[..., Awaitable[Any]], *arguments: Any, **named: Any) -> Any:
        """Call a store."""
        await self._way()
        fault = self._faults.draw()
        if fault is Fault.BEFORE:
            raise StoreUnavailable(fault.value)
        if fault is Fault.LATE:
            await asyncio.sleep(self._faults.slow_s())
            self._live()
        if fault is Fault.KILLED_BEFORE:
            self.kill()
            self._live()
        # The store's work is one step, without an await in it.
        result = await operation(*arguments, **named)
        if fault is Fault.KILLED_AFTER:
            self.kill()
        self._live()
        if fault is Fault.AFTER:
            raise StoreUnavailable(fault.value)
        await self._way()
        return result

    async def _way(self) -> None:
        self._live()
        cut_off_s = self._cut_off_until_s - asyncio.get_running_loop().time()
        await asyncio.sleep(max(0.0, cut_off_s) + self._faults.quick_s())
        self._live()

    def _live(self) -> None:
        if self.is_dead:
            raise Dead


@final
class _Reached:
    """A proxy of a port."""

    def __init__(self, port: object, gateway: Gateway) -> None:
        self._port = port
        self._gateway = gateway

    def __getattr__(self, name: str) -> Any:
        operation = getattr(self._port, name)

        async def call(*arguments: Any, **named: Any) -> Any:
            return await self._gateway.call(operation, *arguments, **named)

        # Later calls find the attribute there.
        setattr(self, name, call)
        return call
