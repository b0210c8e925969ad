"""The server process: uvicorn around the application, from the first byte to an orderly end."""

import asyncio
import signal
import socket
from collections.abc import Callable
from typing import Final, final

import structlog
import uvicorn
import uvloop

from contentsvc_http.app import create_app
from contentsvc_http.settings import Settings
from contentsvc_http.wiring import open_services

#: How long a stop waits for requests that are being answered, in seconds; with the engine's share it stays under 10.
_REQUEST_GRACE_S: Final = 5
_LOG: Final = structlog.get_logger("contentsvc")


def serve(settings: Settings, listening: socket.socket, *, on_ready: Callable[[], None]) -> None:
    """Serve until SIGTERM or SIGINT; then finish what was begun, within 10 seconds.

    Args:
        settings: As loaded.
        listening: A bound socket.
        on_ready: Called once deliveries are taken.

    Raises:
        StoreUnavailable: The database cannot be opened.
        SchemaMismatch: Its schema is newer than this software.
        UnusableKey: Stored secrets cannot be sealed or opened.
    """
    # uvicorn raises the signals that it took once more when it is done; by then there is nothing left to stop.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _already_stopped)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(settings, listening, on_ready))


def _already_stopped(_number: int, _frame: object) -> None:
    """Do nothing: the server has stopped by now, and the rest is on its way."""


async def _serve(settings: Settings, listening: socket.socket, on_ready: Callable[[], None]) -> None:
    async with open_services(settings) as services:
        config = uvicorn.Config(
            create_app(services),
            lifespan="off",
            log_config=None,
            access_log=False,
            # A forwarded address is anybody's claim: it counts only from a proxy that the settings name.
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=_REQUEST_GRACE_S,
        )
        await _Server(config, on_ready).serve(sockets=[listening])
        _LOG.info("stopping")


@final
class _Server(uvicorn.Server):
    """Says when it has started."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_ready()
