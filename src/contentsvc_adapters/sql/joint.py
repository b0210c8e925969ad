"""Doing in one transaction what is asked for at the same time."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Generic, TypeVar, final

from contentsvc_core.errors import StoreUnavailable

_Question = TypeVar("_Question")
_Answer = TypeVar("_Answer")

#: So much is done in one transaction at most: nothing is locked for long.
_MOST: Final = 64


@final
class Joint(Generic[_Question, _Answer]):
    """Joins questions: while one transaction is under way, those that come meanwhile wait for the next, together.

    There is no timer, and a lone question waits for nobody. Each is answered by a transaction that began after it was
    asked. One that cannot be answered takes none of the others down: each is asked again alone.
    """

    def __init__(self, ask: Callable[[Sequence[_Question]], Awaitable[Sequence[_Answer]]]) -> None:
        """Take what answers questions in one transaction, in their order; whatever it raises has undone all of it."""
        self._ask = ask
        self._waiting: deque[tuple[_Question, asyncio.Future[_Answer]]] = deque()
        self._asking: asyncio.Task[None] | None = None

    async def __call__(self, question: _Question) -> _Answer:
        """Answer a question; one that nobody waits for any more is not asked unless it is under way.

        Raises:
            Exception: Whatever was raised for this question.
        """
        answer: asyncio.Future[_Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((question, answer))
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask_all(), name="joint transaction")
        return await answer

    async def _ask_all(self) -> None:
        while self._waiting:
            # Whoever was woken by the same event asks in the same turn of the loop, but after this task.
            await asyncio.sleep(0)
            taken = [self._waiting.popleft() for _ in range(min(_MOST, len(self._waiting)))]
            await self._answer([each for each in taken if not each[1].done()])

    async def _answer(self, asked: Sequence[tuple[_Question, "asyncio.Future[_Answer]"]]) -> None:
        try:
            answers = await self._ask([question for question, _ in asked]) if asked else ()
        except StoreUnavailable as exc:
            # Nobody's fault: to ask for each alone would only take so many times as long.
            for _, answer in asked:
                _refuse(answer, StoreUnavailable(str(exc)))
        except Exception as exc:  # noqa: BLE001  # told to who asked
            if len(asked) == 1:
                _refuse(asked[0][1], exc)
                return
            for each in asked:
                await self._answer([each])
        else:
            for (_, answer), found in zip(asked, answers, strict=True):
                if not answer.done():
                    answer.set_result(found)


def _refuse(answer: "asyncio.Future[_Answer]", exc: Exception) -> None:
    if not answer.done():
        answer.set_exception(exc)
