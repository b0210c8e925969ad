"""What the checks of stores share: broken guarantees, differing rows, answers in time, and cancelled calls."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterator, Mapping
from functools import partial
from itertools import count
from typing import Any, Final, TypeVar, cast

from contentsvc_core.journal import LogEntry
from contentsvc_core.workflows.context import ContextRecord
from contentsvc_core.workflows.runs import WorkflowRun

#: The time for which a check waits for a store, in seconds: a store that needs more has lost a lock or a connection.
PATIENCE_S: Final = 30.0
#: The beginning of a wrong value that a message shows, in characters.
_SHOWN: Final = 500
#: The most points at which a call is cancelled: a store waits some 10 times.
TURNS: Final = 50

_Answer = TypeVar("_Answer")


def expect(guarantee: str, got: object, *, holds: bool) -> None:
    """Check a guarantee; the cause of the error is the exception that the store raised, if any."""
    if not holds:
        raised = got if isinstance(got, BaseException) else None
        message = f"the store breaks a guarantee: {guarantee} (got {got if raised is None else repr(raised)})"
        raise AssertionError(message) from raised


def differences(name: str, value: object, expected: object) -> Iterator[str]:
    """Return how a stored value differs from a row, or from the part of the row that the store keeps."""
    if isinstance(expected, LogEntry | WorkflowRun | ContextRecord):
        if isinstance(value, type(expected)):
            value = {field: getattr(value, field) for field in value.__struct_fields__}
        if isinstance(value, Mapping):
            for field, part in cast("Mapping[str, object]", value).items():
                yield from differences(f"{name}.{field}", part, getattr(expected, field))
            return
        match expected:
            case LogEntry(title=part) | ContextRecord(event=part):
                expected = part
            case WorkflowRun(cause=cause):
                expected = cause.started_by
    if value != expected:
        yield f"{name}: {_shown(value)} instead of {_shown(expected)}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text):,} characters)"


async def answers(guarantee: str, *calls: Awaitable[_Answer]) -> list[_Answer | BaseException]:
    """Return what concurrent calls return or raise."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            return await asyncio.gather(*calls, return_exceptions=True)
    except TimeoutError:
        expect(guarantee, f"no answer in {PATIENCE_S:g} seconds", holds=False)
        raise


async def called(guarantee: str, call: Awaitable[_Answer]) -> _Answer:
    """Return what a call returns; an exception breaks the guarantee."""
    (answer,) = await answers(guarantee, call)
    if isinstance(answer, BaseException):
        expect(guarantee, answer, holds=False)
        raise answer
    return answer


async def cancelled_at(turn: int, call: Coroutine[Any, Any, _Answer]) -> _Answer | BaseException:
    """Return what a call returns or raises that is cancelled where it waits, ``turn`` times later than at first."""

    async def cancelled() -> _Answer:
        return await _Cancelled(turn, call)

    (answer,) = await asyncio.gather(asyncio.create_task(cancelled()), return_exceptions=True)
    return answer


class _Cancelled:
    def __init__(self, turn: int, call: Coroutine[Any, Any, Any]) -> None:
        self._turn, self._call = turn, call

    def __await__(self) -> Generator[Any, Any, Any]:
        step: Callable[[], object] = partial(self._call.send, None)
        for turn in count():
            try:
                waiting = step()
            except StopIteration as stopped:
                return stopped.value
            if turn == self._turn and (task := asyncio.current_task()):
                task.cancel()
            try:
                yield waiting
            except BaseException as exc:  # noqa: BLE001  # of what is awaited: passed on
                step = partial(self._call.throw, exc)
            else:
                step = partial(self._call.send, None)
        raise AssertionError
