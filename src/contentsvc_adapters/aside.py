"""Work that takes long, away from the event loop (port :class:`~contentsvc_core.ports.Aside`)."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar, final

_Result = TypeVar("_Result")


@final
class OneAtATime:
    """Runs one piece of work after the other in a thread of its own: so many of them take no more memory than one.

    They share the interpreter's lock with the event loop, which gets its turn every few milliseconds; decoding alone
    holds it longer. Hashing, most of the work on a large body, does not hold it at all.
    """

    def __init__(self, name: str = "large bodies") -> None:
        """Start nothing yet: the thread, which gets the name, begins with the first work."""
        # No thread of the loop's default executor: those may all be waiting for something else.
        self._thread: Final = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    async def __call__(self, work: Callable[[], _Result], /) -> _Result:
        """Run ``work`` after all that was asked for before; whoever goes away while it waits is skipped."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def close(self) -> None:
        """Begin no more work, and wait for none."""
        self._thread.shutdown(wait=False, cancel_futures=True)
