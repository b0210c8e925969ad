import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias, final

from contentsvc_core.ports import Offload, Share

#: The size of the cache of a process, in bytes: some fifty of the largest pages, and thousands of usual ones.
_CAPACITY: Final = 16 * 1024 * 1024

Reading: TypeAlias = Callable[[], Awaitable[Callable[[], bytes]]]


@final
class RenderedPages:
    """A cache of rendered pages, limited in bytes; the least recently used pages are dropped."""

    def __init__(self, offload: Offload, share: Share, *, capacity: int = _CAPACITY) -> None:
        """``share`` bounds the pages that are read and rendered at once."""
        self._offload = offload
        self._share = share
        self._capacity = capacity
        self._size = 0
        self._pages: OrderedDict[str, bytes] = OrderedDict()
        self._under_way: dict[str, asyncio.Task[bytes]] = {}

    async def page(self, organization_id: str, key: str, reading: Reading) -> bytes:
        """Return the page with a key; a missing page is rendered once for all concurrent callers.

        Raises:
            Overloaded: Too many pages of the organization wait already.
        """
        cached = self._pages.get(key)
        if cached is not None:
            self._pages.move_to_end(key)
            return cached
        task = self._under_way.get(key)
        if task is None:
            task = self._under_way[key] = asyncio.create_task(self._render(organization_id, key, reading))
            task.add_done_callback(lambda done: self._ended(key, done))
        # A cancelled request does not cancel the rendering.
        return await asyncio.shield(task)

    async def _render(self, organization_id: str, key: str, reading: Reading) -> bytes:
        async def render() -> bytes:
            return await self._offload(await reading())

        page = await self._share(organization_id, render)
        self._keep(key, page)
        return page

    def _keep(self, key: str, page: bytes) -> None:
        if len(page) > self._capacity:
            return
        self._pages[key] = page
        self._size += len(page)
        while self._size > self._capacity:
            _, dropped = self._pages.popitem(last=False)
            self._size -= len(dropped)

    def _ended(self, key: str, task: asyncio.Task[bytes]) -> None:
        del self._under_way[key]
        if not task.cancelled():
            # The callers have the exception; without callers it needs no warning.
            task.exception()
