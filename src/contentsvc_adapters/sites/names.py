"""Resolves names of sites, in a thread for each query: dead name servers must not block the event loop."""

import asyncio
import contextlib
import socket
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from threading import BoundedSemaphore, Thread
from typing import Any, Final, final

from contentsvc_core.content.site_addresses import IPAddress

#: The default limit of concurrent queries, abandoned ones included.
CONCURRENCY: Final = 3


@final
class SystemNames:
    def __init__(self, concurrency: int = CONCURRENCY) -> None:
        self._free = BoundedSemaphore(concurrency)

    async def __call__(self, host: str, port: int) -> Sequence[IPAddress]:
        """Return the IP addresses; an ``OSError`` with ``EAI_AGAIN`` may mean that too many queries are in progress."""
        if not self._free.acquire(blocking=False):
            raise socket.gaierror(socket.EAI_AGAIN, "too many names are being looked up")
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[list[IPAddress]] = loop.create_future()

        def finish(settle: Callable[[Any], None], result: object) -> None:
            if not answer.done():
                settle(result)

        def resolve() -> None:
            try:
                settle, result = answer.set_result, _addresses_of(host, port)
            except Exception as exc:  # noqa: BLE001  # the caller gets the exception
                settle, result = answer.set_exception, exc
            finally:
                self._free.release()
            # The loop may have closed: then the result is not needed.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(finish, settle, result)

        # Not a pool's thread: the interpreter waits for those at exit, and must not wait for a name server.
        Thread(target=resolve, name="site names", daemon=True).start()
        return await answer


def _addresses_of(host: str, port: int) -> list[IPAddress]:
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(ip_address(address[0]) for *_, address in addresses))
