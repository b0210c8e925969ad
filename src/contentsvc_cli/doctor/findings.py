"""What a check has found, and how it is kept from taking for ever."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from enum import Enum
from typing import Final, TypeAlias, TypeVar, final

from attrs import frozen

from contentsvc_core.errors import ContentServiceError
from contentsvc_core.text import one_line

_T = TypeVar("_T")

#: How long a check may take, in seconds, unless it needs longer.
LIMIT_S: Final = 5.0
_SAID: Final = 400


class State(Enum):
    """How what was looked at stands."""

    #: As it should be.
    OK = "ok"
    #: It works, and somebody should know of it.
    WARNING = "warning"
    #: It does not work, or will not.
    FAULT = "fault"
    #: It could not be looked at, or there is no such thing here.
    SKIPPED = "skipped"


@final
@frozen(kw_only=True)
class Finding:
    """One thing that was looked at."""

    #: What was looked at, in a word or two.
    check: str
    state: State
    #: What was found, in a sentence; nothing secret.
    found: str
    #: What to do about it; ``None``: nothing.
    advice: str | None = None


Findings: TypeAlias = Sequence[Finding]
#: Looks at something.
Check: TypeAlias = Callable[[], Awaitable[Findings]]


def ok(check: str, found: str) -> Finding:
    """Say that something is as it should be."""
    return Finding(check=check, state=State.OK, found=one_line(found, _SAID))


def warning(check: str, found: str, advice: str | None = None) -> Finding:
    """Say what somebody should know of."""
    return Finding(check=check, state=State.WARNING, found=one_line(found, _SAID), advice=advice)


def fault(check: str, found: str, advice: str | None = None) -> Finding:
    """Say what does not work."""
    return Finding(check=check, state=State.FAULT, found=one_line(found, _SAID), advice=advice)


def skipped(check: str, found: str) -> Finding:
    """Say why something was not looked at."""
    return Finding(check=check, state=State.SKIPPED, found=one_line(found, _SAID))


async def within(name: str, check: Check, *, limit_s: float = LIMIT_S, advice: str | None = None) -> Findings:
    """Look at something, whatever is wrong with it, for some seconds at most.

    Args:
        name: What is looked at.
        check: Looks at it.
        limit_s: How long it may take, in seconds.
        advice: What to do where that cannot be done.
    """
    try:
        async with asyncio.timeout(limit_s):
            return await check()
    except TimeoutError:
        return [fault(name, f"there was no answer within {limit_s:g} s", advice)]
    except ContentServiceError as exc:
        return [fault(name, str(exc), advice)]
    except Exception as exc:  # noqa: BLE001  # whatever is wrong with one thing, the others are looked at
        return [fault(name, f"it could not be looked at: {type(exc).__name__}: {exc}", advice)]


async def aside(work: Callable[[], _T]) -> _T:
    """Do what cannot be awaited in a thread that nobody has to wait for, not even the end of this process."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[_T] = loop.create_future()

    def tell(result: _T | None, exc: Exception | None) -> None:
        if answer.done():
            return
        if exc is not None:
            answer.set_exception(exc)
        else:
            answer.set_result(result)  # pyright: ignore[reportArgumentType]  # there is one, where nothing was raised

    def run() -> None:
        result, fault_ = None, None
        try:
            result = work()
        except Exception as exc:  # noqa: BLE001  # told to who asked
            fault_ = exc
        try:
            loop.call_soon_threadsafe(tell, result, fault_)
        except RuntimeError:
            # Nobody waits any more: the loop is closed.
            return

    threading.Thread(target=run, daemon=True).start()
    return await answer
