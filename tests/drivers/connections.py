"""Connections without a network: feed a protocol, and collect its output."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any, Final, Self, cast, final
from weakref import WeakSet

import pytest
from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from contentsvc_http.bounds import Bounds, Counting, uncounted
from contentsvc_http.exchange import DeliveryHandler
from contentsvc_http.protocol import BoundedHttp

App = Callable[[Any, Any, Any], Any]
REQUEST = b"POST /%d HTTP/1.1\r\nHost: test\r\nContent-Length: 0\r\n\r\n"


class Connection(asyncio.Transport):
    """Records each write."""

    def __init__(self) -> None:
        super().__init__({"peername": ("192.0.2.7", 40_000)})
        self.written: list[bytes] = []
        self.closed = False
        self.aborted = False
        self.ended = False
        self.unread = 0

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.ended = True

    def write(self, data: Any) -> None:
        self.written.append(bytes(data))

    def close(self) -> None:
        self.closed = True

    def get_write_buffer_size(self) -> int:
        return self.unread

    def abort(self) -> None:
        self.aborted = True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


@final
class MadeUpTime:
    """The time of the running event loop, which only a test advances, so that a busy machine has no effect."""

    _STEP_S: Final = 0.005

    def __init__(self) -> None:
        self._loop: Any = asyncio.get_running_loop()
        self._now = self._loop.time()

    def __enter__(self) -> Self:
        self._loop.time = lambda: self._now
        return self

    def __exit__(self, *_: object) -> None:
        # The method of the class is used again.
        del self._loop.time

    async def passes(self, seconds: float) -> None:
        """Advance the clock in small steps; the loop runs the due callbacks after each step."""
        for _ in range(round(seconds / self._STEP_S)):
            self._now += self._STEP_S
            await asyncio.sleep(0)


#: The connections of the test.
_OPEN: Final[WeakSet[BoundedHttp]] = WeakSet()
#: A wait of half a minute ends at once.
HURRIED = Bounds(look_s=0.01, slow_s=0.05, slow_body_s=0.05, linger_s=0.05)


def connected(
    app: App,
    state: ServerState | None = None,
    *,
    most: int | None = None,
    bounds: Bounds | None = None,
    counting: Counting = uncounted,
    webhooks: DeliveryHandler | None = None,
) -> tuple[BoundedHttp, Connection]:
    config = Config(cast("Any", app), lifespan="off", log_config=None, access_log=False, limit_concurrency=most)
    state = state or ServerState()
    state.default_headers = [(b"date", b"Thu, 01 Jan 2026 00:00:00 GMT")]
    protocol = BoundedHttp(config, state, {}, bounds=bounds, counting=counting, webhooks=webhooks)
    connection = Connection()
    protocol.connection_made(connection)
    _OPEN.add(protocol)
    return protocol, connection


@pytest.fixture
async def disconnected() -> AsyncGenerator[None]:
    """End the connections of a test after it."""
    yield
    while _OPEN:
        _OPEN.pop().connection_lost(None)


async def served(protocol: HttpToolsProtocol, requests: bytes) -> None:
    protocol.data_received(requests)
    while protocol.tasks:
        await asyncio.sleep(0)
