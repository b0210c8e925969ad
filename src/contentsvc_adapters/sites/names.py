"""Resolves names of sites, which users choose, apart from the process's other DNS queries.

A query of the system resolver cannot be cancelled: with unresponsive name servers it outlives its caller. The event
loop has few threads for such queries, and shares them: a few sites with dead name servers would block queries for the
database, the model server and the code hosts. So each query here has a thread of its own, and their number is limited.
"""

import asyncio
import contextlib
import socket
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from threading import BoundedSemaphore, Thread
from typing import Any, Final, final

from contentsvc_core.content.site_addresses import IPAddress

#: The default limit of concurrent queries, abandoned ones included.
AT_ONCE: Final = 3


@final
class SystemNames:
    """Resolves names with the system resolver."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        """Create a resolver; ``at_once`` limits concurrent queries."""
        self._free = BoundedSemaphore(at_once)

    async def __call__(self, host: str, port: int) -> Sequence[IPAddress]:
        """Return the IP addresses of a name or address.

        Raises:
            OSError: The name has no address, or the resolver failed. ``EAI_AGAIN`` also means that too many queries are
                in progress, most of them of unresponsive servers.
        """
        if not self._free.acquire(blocking=False):
            raise socket.gaierror(socket.EAI_AGAIN, "too many names are being looked up")
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[list[IPAddress]] = loop.create_future()

        def tell(settle: Callable[[Any], None], told: object) -> None:
            if not answer.done():
                settle(told)

        def ask() -> None:
            try:
                settle, told = answer.set_result, _ask(host, port)
            except Exception as exc:  # noqa: BLE001  # whoever asked is told
                settle, told = answer.set_exception, exc
            finally:
                self._free.release()
            # The loop may have closed: then the result is not needed.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(tell, settle, told)

        # Not a pool's thread: the interpreter waits for those at exit, and must not wait for a name server.
        Thread(target=ask, name="site names", daemon=True).start()
        return await answer


def _ask(host: str, port: int) -> list[IPAddress]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(ip_address(address[0]) for *_, address in found))
