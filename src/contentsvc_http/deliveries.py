"""Drives the receiver's steps by callbacks. A delivery that only waits for its batch needs no task."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from time import perf_counter
from typing import Any, Final, Protocol, cast, final

from msgspec import Struct

from contentsvc_core.ports import DeliveryQueue
from contentsvc_core.usecases.receive import Lookup, Need, Receiver, Steps
from contentsvc_core.webhooks.delivery import Delivery
from contentsvc_core.webhooks.outcomes import Fault, Outcome, Rejected
from contentsvc_core.webhooks.settlement import Settled, Settlement


class Receiving(Protocol):
    async def preflight(self, delivery: Delivery) -> Rejected | None: ...

    async def receive(self, delivery: Delivery) -> Outcome: ...

    async def refuse(self, delivery: Delivery, fault: Fault, error: str) -> object: ...


@final
class TimedSettlement(Struct):
    """One settlement of a delivery, timed by :func:`time.perf_counter`."""

    settlement: Settlement
    began_s: float
    #: ``None``: the settlement waits for its batch, or is being written.
    answer: Settled | Exception | None = None
    ended_s: float = 0.0


class DeliveryProgress(Struct, kw_only=True):
    """A delivery in progress, with the times and settlements that observers get at its end."""

    delivery: Delivery
    #: Called once with the passage, at its end.
    on_end: Callable[[Any], object] | None = None
    #: ``None``: the delivery has not begun, or was refused before its body was read.
    steps: Steps[Outcome] | None = None
    began_s: float = 0.0
    settlings: list[TimedSettlement] = []
    #: The outcome, or the exception that ``receive`` raises; ``None``: the delivery has not ended.
    end: Outcome | Exception | None = None
    ended_s: float = 0.0


class Observer(Protocol):
    def observe(self, deliveries: "Deliveries") -> None:
        """Begin to observe."""
        ...

    def ended(self, passages: Sequence[DeliveryProgress]) -> None:
        """Observe the passages that ended in a turn of the event loop."""
        ...

    def unread(self, exc: Exception) -> None:
        """Observe that a configuration could not be read."""
        ...


@final
class Deliveries:
    """Drives a receiver, and passes the ended deliveries to observers once a turn of the event loop."""

    def __init__(
        self, receiver: Receiver, *, queue: DeliveryQueue | None = None, observers: Sequence[Observer] = ()
    ) -> None:
        """Without ``queue``, the callbacks of the receiver's store, a task awaits each need."""
        self._receiver: Final = receiver
        self._queue: Final = queue
        self._observers: Final = observers
        #: The number of settlements that wait or are being written.
        self.settling = 0
        self._ended: list[DeliveryProgress] = []
        #: The loop itself keeps only weak references.
        self._tasks: Final[set[asyncio.Task[None]]] = set()
        for observer in observers:
            observer.observe(self)

    async def receive(self, delivery: Delivery) -> Outcome:
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        passage = DeliveryProgress(delivery=delivery, began_s=perf_counter())
        passage.on_end = lambda _passage: ended.done() or ended.set_result(None)
        self.go(passage)
        await ended
        if isinstance(passage.end, Exception):
            raise passage.end
        return cast("Outcome", passage.end)

    async def preflight(self, delivery: Delivery) -> Rejected | None:
        passage = DeliveryProgress(delivery=delivery, began_s=perf_counter())
        try:
            refused = await self._receiver.preflight(delivery)
        except Exception as exc:
            self._unread(exc)
            self._end(passage, exc)
            raise
        if refused is not None:
            self._end(passage, refused)
        return refused

    async def refuse(self, delivery: Delivery, fault: Fault, error: str) -> None:
        await self._receiver.refuse(delivery, fault, error)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def go(self, passage: DeliveryProgress, met: object = None) -> None:
        """Advance a passage up to the next step that has to be awaited. ``met`` is the result of the last one."""
        steps, queue = passage.steps, self._queue
        if steps is None:
            steps = passage.steps = self._receiver.steps(passage.delivery)
        try:
            need = steps.throw(met) if isinstance(met, Exception) else steps.send(met)
            if isinstance(need, Lookup) and need.allow_cached and queue is not None:
                hook = queue.cached(need.address, need.at)
                need = need if hook is None else steps.send(hook)
        except StopIteration as stop:
            self._end(passage, stop.value)
            return
        except Exception as exc:  # noqa: BLE001  # every exception is answered
            self._end(passage, exc)
            return
        if isinstance(need, Settlement):
            self.settling += 1
            passage.settlings.append(TimedSettlement(need, perf_counter()))
            if queue is not None:
                try:
                    queue.put(need, partial(self._settled, passage))
                except Exception as exc:  # noqa: BLE001  # a full queue, or a fault of the store
                    self._settled(passage, exc)
                return
        self.spawn(self._meet(passage, need))

    async def _meet(self, passage: DeliveryProgress, need: Need) -> None:
        met: object
        try:
            met = await self._receiver.meet(need)
        except Exception as exc:  # noqa: BLE001  # the steps handle every exception
            met = exc
            if isinstance(need, Lookup):
                self._unread(exc)
        if isinstance(need, Settlement):
            self._settled(passage, cast("Settled | Exception", met))
        else:
            self.go(passage, met)

    def _unread(self, exc: Exception) -> None:
        for observer in self._observers:
            observer.unread(exc)

    def _settled(self, passage: DeliveryProgress, answer: Settled | Exception) -> None:
        self.settling -= 1
        settling = passage.settlings[-1]
        settling.answer, settling.ended_s = answer, perf_counter()
        self.go(passage, answer)

    def _end(self, passage: DeliveryProgress, end: Outcome | Exception) -> None:
        passage.end, passage.ended_s = end, perf_counter()
        if not self._ended:
            asyncio.get_running_loop().call_soon(self._report)
        self._ended.append(passage)
        if passage.on_end is not None:
            passage.on_end(passage)

    def _report(self) -> None:
        ended, self._ended = self._ended, []
        for observer in self._observers:
            observer.ended(ended)
