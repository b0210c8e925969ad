"""A timer of Linux (``timerfd_create(2)``) that wakes an event loop, exact to some tens of microseconds."""

import asyncio
import contextlib
import ctypes
import os
import time
from collections.abc import Callable, Generator
from typing import ClassVar, Final

_LIBC: Final = ctypes.CDLL(None, use_errno=True)
_NONBLOCK: Final = os.O_NONBLOCK
_CLOEXEC: Final = os.O_CLOEXEC
_TICKS: Final = 8
_NS: Final = 1_000_000_000


class _Time(ctypes.Structure):
    """``struct timespec``."""

    _fields_: ClassVar = [("s", ctypes.c_long), ("ns", ctypes.c_long)]


class _Timer(ctypes.Structure):
    """``struct itimerspec``."""

    _fields_: ClassVar = [("interval", _Time), ("first", _Time)]


@contextlib.contextmanager
def ticking(loop: asyncio.AbstractEventLoop, rate: float, tick: Callable[[], None]) -> Generator[None]:
    """Call ``tick`` at a rate per second, or less often if the loop is late.

    Raises:
        OSError: The kernel has no such timer.
    """
    every = _time(1 / rate)
    timer = _LIBC.timerfd_create(time.CLOCK_MONOTONIC, _NONBLOCK | _CLOEXEC)
    if timer < 0 or _LIBC.timerfd_settime(timer, 0, ctypes.byref(_Timer(every, every)), None):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))

    def on_tick() -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(timer, _TICKS)
        tick()

    loop.add_reader(timer, on_tick)
    try:
        yield
    finally:
        loop.remove_reader(timer)
        os.close(timer)


def _time(seconds: float) -> _Time:
    s, ns = divmod(max(1, round(seconds * _NS)), _NS)
    return _Time(s, ns)
