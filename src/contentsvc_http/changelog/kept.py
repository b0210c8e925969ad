"""Rendered pages, kept in memory: each is rendered once for each change, away from the event loop."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias, final

from contentsvc_core.ports import Aside

#: Bytes of pages that a process keeps: some fifty of the largest pages, and thousands of usual ones.
_ROOM: Final = 16 * 1024 * 1024
#: Pages that are read and rendered at once: each may hold twenty posts in memory, and one is rendered at a time.
_AT_ONCE: Final = 4

#: Reads what a page shows and returns what renders it, a plain function of frozen values.
Reading: TypeAlias = Callable[[], Awaitable[Callable[[], bytes]]]


@final
class RenderedPages:
    """A cache of rendered pages, bounded in bytes; the pages that were used longest ago are dropped first."""

    def __init__(self, aside: Aside, *, room: int = _ROOM) -> None:
        """Create an empty cache.

        Args:
            aside: Renders the pages.
            room: The bytes of all pages together.
        """
        self._aside = aside
        self._room = room
        self._size = 0
        self._pages: OrderedDict[str, bytes] = OrderedDict()
        self._under_way: dict[str, asyncio.Task[bytes]] = {}
        self._slots = asyncio.Semaphore(_AT_ONCE)

    async def page(self, key: str, reading: Reading) -> bytes:
        """Return the page with a key; it is rendered when it is not kept, once for all that ask meanwhile.

        Whatever ``reading`` raises goes to each of them, and is not kept.
        """
        kept = self._pages.get(key)
        if kept is not None:
            self._pages.move_to_end(key)
            return kept
        task = self._under_way.get(key)
        if task is None:
            task = self._under_way[key] = asyncio.create_task(self._render(key, reading))
            task.add_done_callback(lambda done: self._ended(key, done))
        # A client that goes away cancels its own request alone.
        return await asyncio.shield(task)

    async def _render(self, key: str, reading: Reading) -> bytes:
        async with self._slots:
            page = await self._aside(await reading())
        self._keep(key, page)
        return page

    def _keep(self, key: str, page: bytes) -> None:
        if len(page) > self._room:
            return
        self._pages[key] = page
        self._size += len(page)
        while self._size > self._room:
            _, dropped = self._pages.popitem(last=False)
            self._size -= len(dropped)

    def _ended(self, key: str, task: asyncio.Task[bytes]) -> None:
        del self._under_way[key]
        if not task.cancelled():
            # The requests have it; without any left, it is not worth a warning.
            task.exception()
