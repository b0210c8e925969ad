"""Deliveries on their way through the receiver, without a task for any that waits for nothing but its batch."""

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

#: Called once with what a delivery comes to, or with the exception that ``receive`` raises.
Told: TypeAlias = Callable[[Outcome | Exception], object]


class Receiving(Protocol):
    """What receives: :class:`~contentsvc_core.usecases.receive.Receiver`, or :class:`Deliveries` over one."""

    async def preflight(self, delivery: Delivery) -> Rejected | None:
        """Refuse what can be refused before the body is read."""
        ...

    async def receive(self, delivery: Delivery) -> Outcome:
        """Decide a delivery and make the decision durable."""
        ...

    async def refuse(self, delivery: Delivery, fault: Fault, error: str) -> None:
        """Log that a delivery is refused whose body was not read whole."""
        ...


@final
@define(eq=False)
class Settling:
    """One settlement of a delivery, timed by :func:`time.perf_counter`."""

    began_s: float
    runs: int
    #: ``None``: it is being written, or waits for its turn.
    answer: Settled | Exception | None = None
    ended_s: float = 0.0


@final
@define(eq=False)
class Passage:
    """A delivery on its way, and what observers learn of it once it has ended."""

    delivery: Delivery
    told: Told | None
    #: ``None``: it was refused before its body was read.
    steps: "Steps[Outcome] | None"
    began_s: float = field(factory=perf_counter)
    settlings: list[Settling] = field(factory=list[Settling])
    #: ``None``: it has not ended.
    end: Outcome | Exception | None = None
    ended_s: float = 0.0


class Observer(Protocol):
    """What counts, times or traces deliveries."""

    def ended(self, passages: Sequence[Passage]) -> None:
        """Take note of the deliveries that ended in one turn of the event loop."""
        ...

    def settling(self, more: int) -> None:
        """Take note that so many more settlements are being written, or fewer."""
        ...

    def unread(self, exc: Exception) -> None:
        """Take note that an endpoint could not be read."""
        ...


@final
class Deliveries:
    """Drives a receiver, and tells observers once a turn of the event loop how deliveries have ended."""

    def __init__(
        self, receiver: Receiver, *, queue: DeliveryQueue | None = None, observers: Sequence[Observer] = ()
    ) -> None:
        """Create the driver.

        Args:
            receiver: What is driven.
            queue: What the receiver's store answers without awaiting anything, if it does.
            observers: Each is told of every delivery.
        """
        self._receiver: Final = receiver
        self._queue: Final = queue
        self._observers: Final = observers
        self._ended: list[Passage] = []
        #: The loop itself keeps only weak references.
        self._tasks: Final[set[asyncio.Task[None]]] = set()

    def passage(self, delivery: Delivery, told: Told) -> Passage:
        """Return the passage of a delivery; ``told`` is called when it has ended."""
        return Passage(delivery, told, self._receiver.steps(delivery))

    async def receive(self, delivery: Delivery) -> Outcome:
        """Receive a delivery.

        Raises:
            StoreUnavailable: As the receiver.
            ReceivingFailed: As the receiver.
        """
        ended: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()

        def told(end: Outcome | Exception) -> None:
            if ended.done():
                return
            if isinstance(end, Exception):
                ended.set_exception(end)
            else:
                ended.set_result(end)

        self.go(self.passage(delivery, told))
        return await ended

    async def preflight(self, delivery: Delivery) -> Rejected | None:
        """Refuse what can be refused before the body is read."""
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
        """Log that a delivery is refused whose body was not read whole."""
        await self._receiver.refuse(delivery, fault, error)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Do what has to be awaited beside everything else."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def go(self, passage: Passage, met: object = None) -> None:
        """Take the steps of a passage that need nothing to be awaited.

        Args:
            passage: It may have ended when this returns.
            met: What its last need has come to.
        """
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
                for each in self._observers:
                    each.settling(1)
            if queue is not None and isinstance(need, Settlement):
                try:
                    queue.put(need, partial(self._settled, passage))
                except Exception as exc:  # noqa: BLE001  # too much waits, or a fault of the store's
                    self._settled(passage, exc)
                return
            if queue is not None and isinstance(need, Lookup) and need.recall:
                met = queue.recall(need.address, need.at)
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
                for each in self._observers:
                    each.unread(exc)
        if isinstance(need, Settlement):
            self._settled(passage, cast("Settled | Exception", met))
        else:
            self.go(passage, met)

    def _settled(self, passage: Passage, answer: Settled | Exception) -> None:
        settling = passage.settlings[-1]
        settling.answer, settling.ended_s = answer, perf_counter()
        for each in self._observers:
            each.settling(-1)
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
        for each in self._observers:
            each.ended(ended)
