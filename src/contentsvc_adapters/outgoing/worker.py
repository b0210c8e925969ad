"""Sends due messages, several at a time, until it is closed."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, final

from contentsvc_adapters.pacing import Pacer
from contentsvc_core.outgoing.messages import FreePlaces, LeasedMessage
from contentsvc_core.outgoing.retries import AttemptResult
from contentsvc_core.usecases.dispatch import Dispatcher

#: The interval of polling the outbox after a write of this process, and in an idle process, in seconds.
_LOOK_EVERY_S: Final = 1.0
_RARELY_S: Final = 8.0
#: Messages that are sent at once: each waits for an answer for up to 15 s, and costs little meanwhile.
CONCURRENCY: Final = 32
#: Of these, messages to one endpoint.
PER_ENDPOINT: Final = 4
#: Of these, messages of one organization: a quarter, so that its slow endpoints leave 24 places to the others.
PER_ORGANIZATION: Final = CONCURRENCY // 4
#: Of these, messages to endpoints whose last attempt has failed: dead endpoints leave half of the places.
FAILING: Final = CONCURRENCY // 2


@final
class DispatchWorker:
    def __init__(
        self,
        dispatcher: Dispatcher,
        *,
        on_fault: Callable[[Exception], None],
        on_sent: Callable[[AttemptResult], None] = lambda _result: None,
    ) -> None:
        self._dispatcher = dispatcher
        self._on_fault = on_fault
        self._on_sent = on_sent
        self._sending: dict[asyncio.Task[None], LeasedMessage] = {}
        self._turns: asyncio.Task[None] | None = None
        self._pacer = Pacer(_LOOK_EVERY_S, _RARELY_S)
        self._closing = False

    def launch(self) -> None:
        self._turns = asyncio.create_task(self._look(), name="dispatch")

    def expect(self) -> None:
        self._pacer.expect()

    async def close(self, *, within_s: float) -> None:
        """Accept no more messages, wait up to ``within_s`` seconds for running attempts, and requeue the rest."""
        self._closing = True
        self._pacer.wake()
        deadline = asyncio.get_running_loop().time() + within_s
        if self._turns is not None:
            # Not cancelled at once: messages that were just leased must be known here.
            await asyncio.wait([self._turns], timeout=within_s)
            self._turns.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._turns
        if self._sending:
            await asyncio.wait(self._sending, timeout=max(0.0, deadline - asyncio.get_running_loop().time()))
        left = dict(self._sending)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        for task, taken in left.items():
            if task.cancelled():
                try:
                    await self._dispatcher.requeue(taken)
                except Exception as exc:  # noqa: BLE001  # the lease ends by itself
                    self._on_fault(exc)

    async def turn(self) -> int:
        free = CONCURRENCY - len(self._sending)
        if free <= 0:
            return 0
        failing = sum(taken.is_failing for taken in self._sending.values())
        places = FreePlaces(
            limit=free,
            failing=max(0, FAILING - failing),
            per_endpoint=PER_ENDPOINT,
            per_organization=PER_ORGANIZATION,
            # Endpoints with a message in progress get the next one after its answer.
            without={taken.message.endpoint_id for taken in self._sending.values()},
            sending=Counter(taken.message.organization_id for taken in self._sending.values()),
        )
        taken = await self._dispatcher.take(places)
        self._begin(taken)
        return len(taken)

    def _begin(self, taken: Sequence[LeasedMessage]) -> None:
        for message in taken:
            task = asyncio.create_task(self._send(message), name="send a webhook")
            self._sending[task] = message
            task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        del self._sending[task]
        self._pacer.wake()

    async def _send(self, taken: LeasedMessage) -> None:
        try:
            self._on_sent(await self._dispatcher.send(taken))
        except Exception as exc:  # noqa: BLE001  # the message is due again when its lease ends
            self._on_fault(exc)

    async def _look(self) -> None:
        while not self._closing:
            found = False
            self._pacer.begin()
            try:
                found = await self.turn() > 0
            except Exception as exc:  # noqa: BLE001  # the next turn tries again
                self._on_fault(exc)
            if not self._closing:
                await self._pacer.wait(found=found)
