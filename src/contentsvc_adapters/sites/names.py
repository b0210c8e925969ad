"""Resolves names of sites, in a thread for each query: dead name servers must not block the event loop."""

import socket
from collections.abc import Sequence
from ipaddress import ip_address
from threading import BoundedSemaphore
from typing import Final, final

from contentsvc_adapters.offload import in_thread
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

        def resolve() -> Sequence[IPAddress]:
            try:
                return _addresses_of(host, port)
            finally:
                self._free.release()

        return await in_thread(resolve, name="site names")


def _addresses_of(host: str, port: int) -> list[IPAddress]:
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(ip_address(address[0]) for *_, address in addresses))
