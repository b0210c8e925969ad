"""Batching of concurrent calls into one transaction."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Generic, TypeVar, final

from contentsvc_core.errors import StoreUnavailable

_Call = TypeVar("_Call")
_Answer = TypeVar("_Answer")

#: The maximum number of calls in one transaction, so that locks are held for a short time only.
_BATCH_ITEMS: Final = 64


@final
class Batcher(Generic[_Call, _Answer]):
    """Collects calls while a transaction is running, and runs them together in the next one.

    There is no timer, and a single call does not wait. Each call is answered by a transaction that began after the
    call. If a batch fails, each of its calls is tried again alone, so that one bad call does not fail the others.
    """

    def __init__(self, run: Callable[[Sequence[_Call]], Awaitable[Sequence[_Answer]]]) -> None:
        self._run = run
        self._waiting: deque[tuple[_Call, asyncio.Future[_Answer]]] = deque()
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, call: _Call) -> _Answer:
        answer: asyncio.Future[_Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((call, answer))
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._run_all(), name="batch")
        return await answer

    async def _run_all(self) -> None:
        while self._waiting:
            # Callers that the same event woke add their calls in this turn of the loop, but after this task.
            await asyncio.sleep(0)
            taken = [self._waiting.popleft() for _ in range(min(_BATCH_ITEMS, len(self._waiting)))]
            await self._answer([each for each in taken if not each[1].done()])

    async def _answer(self, pending: Sequence[tuple[_Call, "asyncio.Future[_Answer]"]]) -> None:
        try:
            answers = await self._run([call for call, _ in pending]) if pending else ()
        except StoreUnavailable as exc:
            # The database is unavailable: trying each call alone would only multiply the waiting time.
            for _, answer in pending:
                _refuse(answer, StoreUnavailable(str(exc)))
        except Exception as exc:  # noqa: BLE001  # the caller gets the exception
            if len(pending) == 1:
                _refuse(pending[0][1], exc)
                return
            for pair in pending:
                await self._answer([pair])
        else:
            for (_, answer), value in zip(pending, answers, strict=True):
                if not answer.done():
                    answer.set_result(value)


def _refuse(answer: "asyncio.Future[_Answer]", exc: Exception) -> None:
    if not answer.done():
        answer.set_exception(exc)
