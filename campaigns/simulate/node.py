"""A node: the product's receiver, worker and performer, over shared stores."""

import asyncio
import contextvars
import random
from collections.abc import Callable, Coroutine
from datetime import datetime, timedelta
from typing import Any, Final, final

from attrs import fields_dict
from campaigns.simulate.faults import Dead, Faults, Gateway
from campaigns.simulate.queued import MemoryBatches, QueuedStore
from tests.performing import performer_over

from contentsvc_adapters.engine.execution import WorkerConfig
from contentsvc_adapters.engine.inline import InlineExecution
from contentsvc_adapters.engine.membership import Membership
from contentsvc_adapters.engine.worker import Worker
from contentsvc_adapters.memory import MemoryStores
from contentsvc_core.content.writing import Brief, Draft
from contentsvc_core.errors import ReceivingFailed, StoreUnavailable, WriterUnavailable
from contentsvc_core.testing import START, CountingIds
from contentsvc_core.timestamps import whole_ms
from contentsvc_core.usecases.receive import Receiver
from contentsvc_core.webhooks.delivery import Delivery
from contentsvc_core.webhooks.outcomes import Outcome

#: The node that the current task belongs to.
_BELONGS: Final[contextvars.ContextVar["Node | None"]] = contextvars.ContextVar("node", default=None)
#: A long polling interval: notifications start runs, and frequent polling would take most of a simulation's time.
_PACE: Final = WorkerConfig(poll_s=2.0, heartbeat_s=3.0, check_s=3600.0, deadline_s=60.0, pause_s=1.0)


class Lost(Exception):
    """Raised without an answer: the node died, was too slow, or its answer was lost."""


@final
class SharedClock:
    """The clocks of all nodes, which differ by a second or two and can be set."""

    def __init__(self) -> None:
        self._set = timedelta(0)

    def step(self, by: timedelta) -> None:
        """Set the clocks of all nodes."""
        self._set += by

    def of_node(self, skew: timedelta) -> "NodeClock":
        return NodeClock(self, skew)

    def now(self) -> datetime:
        """Return the time."""
        passed = timedelta(seconds=asyncio.get_running_loop().time())
        return whole_ms(START + passed + self._set)


@final
class NodeClock:
    def __init__(self, shared: SharedClock, skew: timedelta) -> None:
        self._shared = shared
        self._skew = skew

    def now(self) -> datetime:
        """Return the time."""
        return self._shared.now() + self._skew


@final
class SimulatedWriter:
    """A writer that takes some time, and sometimes fails while faults are enabled."""

    name = "simulated"

    def __init__(self, rng: random.Random, *, costly: bool, fails: Callable[[], bool]) -> None:
        self._rng = rng
        self.costly = costly
        self._fails = fails

    async def write(self, brief: Brief, _steps: object) -> Draft:
        await asyncio.sleep(self._rng.uniform(0.05, 2.0))
        if self._fails():
            message = "the simulated writer does not answer"
            raise WriterUnavailable(message)
        return Draft(title=brief.repository, markdown=f"{len(brief.events)} events")


@final
class _Plain:
    async def render(self, markdown: str) -> str:
        """Return the text unchanged: markup is not simulated."""
        return markdown


def owning_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """Assign each task to the node that began it, so that all of them end when it is killed."""

    def factory(loop: asyncio.AbstractEventLoop, coroutine: Any, **named: Any) -> "asyncio.Task[Any]":
        task: asyncio.Task[Any] = asyncio.Task(coroutine, loop=loop, **named)
        node = _BELONGS.get()
        if node is not None:
            node.own(task)
        return task

    def unheard(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        # Exceptions of a killed node's tasks are ignored.
        if not isinstance(context.get("exception"), Dead):
            loop.default_exception_handler(context)

    loop.set_task_factory(factory)
    loop.set_exception_handler(unheard)


@final
class Node:
    """A process: its memory, its tasks and its access to the stores."""

    def __init__(
        self,
        name: str,
        stores: MemoryStores,
        clock: NodeClock,
        ids: CountingIds,
        writer: SimulatedWriter,
        faults: Faults,
    ) -> None:
        self.name: Final = name
        self._tasks: set[asyncio.Task[Any]] = set()
        self._gateway = Gateway(faults, self._end_tasks)
        reached = MemoryStores(
            **{field: self._gateway.to(getattr(stores, field)) for field in fields_dict(MemoryStores)}
        )
        self._membership = Membership(
            reached.executors, ids, alone=False, now=lambda: asyncio.get_running_loop().time()
        )
        self._worker = Worker(
            InlineExecution(reached.ledger, reached.run_state),
            performer_over(reached, clock, ids, writer, renderer=_Plain()),
            self._membership,
            ledger=reached.ledger,
            clock=clock,
            on_fault=_ignore,
            on_note=_ignore_note,
            pace=_PACE,
        )
        batches = self._gateway.to(MemoryBatches(stores.deliveries.settle))
        self._receiver = Receiver(
            QueuedStore(reached.deliveries, batches),
            reached.journal,
            clock,
            ids,
            notify=self._worker.notify,
            failed_rows_per_minute=1000,
        )

    @property
    def is_dead(self) -> bool:
        """Check whether the node was killed."""
        return self._gateway.is_dead

    def own(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def start(self) -> None:
        """Start the node."""
        await self._inside(self._worker.launch())

    async def stop(self) -> None:
        """Stop the node in an orderly way."""
        await self._inside(self._worker.close(within_s=5.0))

    def kill(self) -> None:
        self._gateway.kill()

    def cut_off(self, for_s: float) -> None:
        """Block the node's access to the stores for a time; the node continues afterwards."""
        self._gateway.cut_off(for_s)

    async def receive(self, delivery: Delivery, *, within_s: float) -> Outcome:
        """Receive a delivery for a sender with a timeout; the work continues without the sender.

        Raises:
            Lost: There was no answer in time.
            StoreUnavailable: The receiver's exception: answered 503.
            ReceivingFailed: The receiver's exception: answered 500.
        """
        if self.is_dead:
            raise Lost
        task = self._begin(self._receiver.receive(delivery))
        # A sender that has disconnected gets no answer.
        task.add_done_callback(lambda task: task.cancelled() or task.exception())
        await asyncio.wait({task}, timeout=within_s)
        if not task.done() or task.cancelled():
            raise Lost
        exc = task.exception()
        if exc is None:
            return task.result()
        if isinstance(exc, StoreUnavailable | ReceivingFailed):
            raise exc
        if isinstance(exc, Dead):
            raise Lost from exc
        # A receiver raises no other exceptions.
        raise exc

    async def _inside(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._begin(work)
        await asyncio.wait({task})
        if not task.cancelled() and (exc := task.exception()) is not None and not isinstance(exc, Dead):
            raise exc

    def _begin(self, work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        context = contextvars.copy_context()
        context.run(_BELONGS.set, self)
        return context.run(asyncio.ensure_future, work)

    def _end_tasks(self) -> None:
        current = asyncio.current_task()
        for task in [*self._tasks]:
            if task is not current:
                task.cancel()


def _ignore(_exc: Exception) -> None:
    pass


def _ignore_note(_event: str, /, **_details: object) -> None:
    pass
