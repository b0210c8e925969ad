"""The server process: uvicorn around the application, from the first byte to an orderly end."""

import asyncio
import contextlib
import gc
import logging
import os
import resource
import signal
import socket
import threading
import time
from collections.abc import Callable
from typing import Final, final

import structlog
import uvicorn
import uvloop

from contentsvc_http.app import create_app
from contentsvc_http.protocol import BoundedHttp
from contentsvc_http.roles import Role
from contentsvc_http.settings import Settings
from contentsvc_http.wiring.process import open_services

#: How long a stop waits for requests that are being answered, in seconds; with the engine's share it stays under 10.
_REQUEST_GRACE_S: Final = 4
#: How long the rest of a stop may take, in seconds.
_REST_S: Final = 5.0
#: How many more objects there are before the garbage collector looks at the youngest, and how often it looks at the
#: older ones (:func:`gc.set_threshold`). A delivery leaves no cycles, so that nearly nothing is ever found; with the
#: defaults, looking took 5 to 10 % of the CPU time of a delivery.
_COLLECTING: Final = (50_000, 20, 50)
_LOG: Final = structlog.get_logger("contentsvc")


def serve(
    settings: Settings,
    role: Role,
    bound: socket.socket,
    *,
    on_ready: Callable[[], None],
    on_stopping: Callable[[], None] = lambda: None,
) -> None:
    """Serve until SIGTERM or SIGINT; then finish what was begun, within 10 seconds.

    Args:
        settings: As loaded.
        role: What the process is there for.
        bound: A bound socket; it listens from when the process is ready, if not before.
        on_ready: Called once the process does its work.
        on_stopping: Called once requests are answered no more, before the rest is closed.

    Raises:
        StoreUnavailable: The database cannot be opened.
        SchemaMismatch: Its schema is newer than this software.
        UnusableKey: There is no key that can be used.
        SecretUnreadable: The key is not the one that stored secrets were sealed with.
    """
    stop = _Stop()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop.requested)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner, contextlib.suppress(asyncio.CancelledError):
        runner.run(_serve(settings, role, bound, on_ready, on_stopping, stop))


@final
class _Stop:
    """What a signal does before and after uvicorn handles signals itself."""

    def __init__(self) -> None:
        self._starting: asyncio.Task[None] | None = None
        self._early = False

    def requested(self, _number: int, _frame: object) -> None:
        """Give up starting; do nothing once the server has started.

        By then uvicorn takes the signals, and raises them again when it is done, when there is nothing left to stop.
        One signal is enough: a second one would cut off what the first one ends in order.
        """
        if self._starting is not None and not self._early:
            self._starting.get_loop().call_soon_threadsafe(self._starting.cancel)
        self._early = True

    def starting(self, task: "asyncio.Task[None]") -> None:
        """Cancel ``task`` when a signal comes, or has come already."""
        self._starting = task
        if self._early:
            task.cancel()

    def started(self) -> None:
        """Leave signals to uvicorn from now on."""
        self._starting = None


async def _serve(
    settings: Settings,
    role: Role,
    bound: socket.socket,
    on_ready: Callable[[], None],
    on_stopping: Callable[[], None],
    stop: _Stop,
) -> None:
    task = asyncio.current_task()
    assert task is not None
    stop.starting(task)

    def started() -> None:
        stop.started()
        on_ready()

    async with open_services(settings, role) as services:
        config = uvicorn.Config(
            create_app(services),
            http=BoundedHttp,
            lifespan="off",
            log_config=None,
            access_log=False,
            # A forwarded address is anybody's claim: it counts only from a proxy that the settings name.
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=_REQUEST_GRACE_S,
            limit_concurrency=_most_connections(settings.max_connections) + 1,
        )
        _collect_less()
        await _Server(config, started).serve(sockets=[bound])
        on_stopping()
        threading.Thread(target=_end_in_any_case, name="last resort", daemon=True).start()


def _most_connections(asked: int) -> int:
    """Give how many connections the process takes: what it may open leaves room for the database's, and for files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * asked
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            soft = most
    return asked if soft == resource.RLIM_INFINITY else min(asked, soft // 2)


def _collect_less() -> None:
    """Leave what was made until now to stay, and look for garbage less often."""
    gc.collect()
    # What was imported and opened lives as long as the process: to look at all of it again and again finds nothing.
    gc.freeze()
    gc.set_threshold(*_COLLECTING)


def _end_in_any_case() -> None:
    """End the process when the rest of the stop hangs: on a database that does not answer, in threads nobody can end.

    What was acknowledged is stored, and what is still under way others take up.
    """
    time.sleep(_REST_S)
    _LOG.warning("stopped without waiting any longer")
    logging.shutdown()
    os._exit(0)


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
