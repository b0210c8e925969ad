"""Looking up the names of sites, which anybody may have named: beside whatever else this process looks up.

Nobody can call off a question to the system: when name servers stay silent it goes on, long after whoever asked has
left. The loop has few threads for such questions, and they are everybody's: a handful of sites whose name servers are
dead would keep the database, the model server and the code hosts from being reached again. So each question here has
a thread of its own, and there are few at a time.
"""

import asyncio
import contextlib
import socket
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from threading import BoundedSemaphore, Thread
from typing import Any, Final, final

from contentsvc_core.content.site_addresses import IPAddress

#: So many names are looked up at once unless it is said otherwise, those included whose asker has left.
AT_ONCE: Final = 3


@final
class SystemNames:
    """Asks the system for the numbers of names."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        """Begin with no question under way; ``at_once`` of them there may be."""
        self._free = BoundedSemaphore(at_once)

    async def __call__(self, host: str, port: int) -> Sequence[IPAddress]:
        """Give the numbers of a name, which may be a number itself.

        Raises:
            OSError: It has none, or nobody could be asked; with ``EAI_AGAIN``, also when too many questions are under
                way: whoever waited for one of those would wait for servers that are silent.
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
            # The loop may have ended meanwhile: then nobody waits.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(tell, settle, told)

        # Not a pool's: the interpreter waits for those in the end, and no stop waits for a name server.
        Thread(target=ask, name="site names", daemon=True).start()
        return await answer


def _ask(host: str, port: int) -> list[IPAddress]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(ip_address(address[0]) for *_, address in found))
