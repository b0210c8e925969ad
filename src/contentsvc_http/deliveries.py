"""Drives the receiver's steps by callbacks. A delivery that only waits for its batch needs no task."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from time import perf_counter
from typing import Any, Final, Protocol, TypeAlias, cast, final

from attrs import define, field

from contentsvc_core.ports import DeliveryQueue
from contentsvc_core.usecases.receive import Lookup, Need, Receiver, Steps
from contentsvc_core.webhooks.delivery import Delivery
from contentsvc_core.webhooks.outcomes import Fault, Outcome, Rejected
from contentsvc_core.webhooks.settlement import Settled, Settlement

#: Called once with the outcome of a delivery, or with the exception that ``receive`` raises.
Told: TypeAlias = Callable[[Outcome | Exception], object]


class Receiving(Protocol):
    async def preflight(self, delivery: Delivery) -> Rejected | None: ...

    async def receive(self, delivery: Delivery) -> Outcome: ...

    async def refuse(self, delivery: Delivery, fault: Fault, error: str) -> None: ...


@final
@define(eq=False)
class Settling:
    """One settlement of a delivery, timed by :func:`time.perf_counter`."""

    began_s: float
    runs: int
    #: ``None``: the settlement waits for its batch, or is being written.
    answer: Settled | Exception | None = None
    ended_s: float = 0.0


@final
@define(eq=False)
class Passage:
    """A delivery in progress, with the times and settlements that observers get at its end."""

    delivery: Delivery
    told: Told | None
    #: ``None``: the delivery was refused before its body was read.
    steps: "Steps[Outcome] | None"
    began_s: float = field(factory=perf_counter)
    settlings: list[Settling] = field(factory=list[Settling])
    #: ``None``: the delivery has not ended.
    end: Outcome | Exception | None = None
    ended_s: float = 0.0


class Observer(Protocol):
    def ended(self, passages: Sequence[Passage]) -> None: ...

    def settling(self, more: int) -> None: ...

    def unread(self, exc: Exception) -> None: ...


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
        self._ended: list[Passage] = []
        #: The loop itself keeps only weak references.
        self._tasks: Final[set[asyncio.Task[None]]] = set()

    def passage(self, delivery: Delivery, told: Told) -> Passage:
        return Passage(delivery, told, self._receiver.steps(delivery))

    async def receive(self, delivery: Delivery) -> Outcome:
        ended: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()

        def on_end(end: Outcome | Exception) -> None:
            if ended.done():
                return
            if isinstance(end, Exception):
                ended.set_exception(end)
            else:
                ended.set_result(end)

        self.go(self.passage(delivery, on_end))
        return await ended

    async def preflight(self, delivery: Delivery) -> Rejected | None:
        passage = Passage(delivery, None, None)
        try:
            refused = await self._receiver.preflight(delivery)
        except Exception as exc:
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

    def go(self, passage: Passage, met: object = None) -> None:
        """Advance a passage up to the first step that has to be awaited. ``met`` is the result of its last need."""
        steps, queue = passage.steps, self._queue
        assert steps is not None
        while True:
            try:
                need = steps.throw(met) if isinstance(met, Exception) else steps.send(met)
            except StopIteration as end:
                self._end(passage, end.value)
                return
            except Exception as exc:  # noqa: BLE001  # whatever it is, the sender is answered
                self._end(passage, exc)
                return
            if isinstance(need, Settlement):
                passage.settlings.append(Settling(perf_counter(), len(need.runs)))
                for observer in self._observers:
                    observer.settling(1)
            if queue is not None and isinstance(need, Settlement):
                try:
                    queue.put(need, partial(self._settled, passage))
                except Exception as exc:  # noqa: BLE001  # too much waits, or a fault of the store's
                    self._settled(passage, exc)
                return
            if queue is not None and isinstance(need, Lookup) and need.allow_cached:
                met = queue.cached(need.address, need.at)
                if met is not None:
                    continue
            self.spawn(self._meet(passage, need))
            return

    async def _meet(self, passage: Passage, need: Need) -> None:
        met: object
        try:
            met = await self._receiver.meet(need)
        except Exception as exc:  # noqa: BLE001  # the steps handle it, whatever it is
            met = exc
            if isinstance(need, Lookup):
                for observer in self._observers:
                    observer.unread(exc)
        if isinstance(need, Settlement):
            self._settled(passage, cast("Settled | Exception", met))
        else:
            self.go(passage, met)

    def _settled(self, passage: Passage, answer: Settled | Exception) -> None:
        settling = passage.settlings[-1]
        settling.answer, settling.ended_s = answer, perf_counter()
        for observer in self._observers:
            observer.settling(-1)
        self.go(passage, answer)

    def _end(self, passage: Passage, end: Outcome | Exception) -> None:
        passage.end, passage.ended_s = end, perf_counter()
        if self._observers:
            if not self._ended:
                asyncio.get_running_loop().call_soon(self._tell)
            self._ended.append(passage)
        if passage.told is not None:
            passage.told(end)

    def _tell(self) -> None:
        ended, self._ended = self._ended, []
        for observer in self._observers:
            observer.ended(ended)
