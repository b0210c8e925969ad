"""The server process: uvicorn around the application, from the first byte to an orderly end."""

import asyncio
import contextlib
import gc
import logging
import os
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final, cast, final

import structlog
import uvicorn
import uvloop

from contentsvc_http.app import create_app
from contentsvc_http.protocol import BoundedHttp
from contentsvc_http.roles import Role
from contentsvc_http.settings import Settings
from contentsvc_http.webhooks import Webhooks
from contentsvc_http.wiring.process import open_services

#: How long a stop waits for requests that are being answered, in seconds; with the engine's share it stays under 10.
_REQUEST_GRACE_S: Final = 4
#: How long the rest of a stop may take, in seconds.
_REST_S: Final = 5.0
#: How many more objects there are before the garbage collector looks at the youngest, and how often it looks at the
#: older ones (:func:`gc.set_threshold`). A delivery leaves no cycles, so that nearly nothing is ever found; with the
#: defaults, looking took 5 to 10 % of the CPU time of a delivery. What other requests leave is bounded by memory.
_COLLECTING: Final = (50_000, 20, 50)
#: By how many bytes the memory of the process may grow before everything is collected: a third of what it has at rest.
_GROWTH: Final = 32 * 1024 * 1024
#: How often memory is looked at, in ticks of uvicorn's loop: ten are a second.
_LOOK_TICKS: Final = 10
_STATM: Final = Path("/proc/self/statm")
#: How long a thread that computes keeps the interpreter's lock while the event loop waits for it, in seconds
#: (:func:`sys.setswitchinterval`). A request waits for the lock some 20 times, each time behind every such thread: with
#: the default of 0.005 and four threads that is 0.4 s.
_LOCK_HELD_S: Final = 0.001
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
        app = create_app(services)
        webhooks = app if isinstance(app, Webhooks) else None
        config = uvicorn.Config(
            app,
            # Called like the class that it makes instances of.
            http=cast("Any", partial(BoundedHttp, counting=services.counting, webhooks=webhooks)),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            # A forwarded address is anybody's claim: it counts only from a proxy that the settings name.
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=_REQUEST_GRACE_S,
            limit_concurrency=_most_connections(settings.max_connections) + 1,
        )
        collector = Collector()
        collector.begin()
        sys.setswitchinterval(_LOCK_HELD_S)
        await _Server(config, started, collector).serve(sockets=[bound])
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


@final
class Collector:
    """Collects garbage by memory: rarely, and whenever the process has grown."""

    def __init__(self, growth: int = _GROWTH) -> None:
        """Take by how many bytes the process may grow."""
        self._growth = growth
        self._most = 0

    def begin(self) -> None:
        """Leave what was made until now to stay, and look for garbage less often."""
        gc.collect()
        # What was imported and opened lives as long as the process: to look at all of it again and again finds nothing.
        gc.freeze()
        if self._resident():
            gc.set_threshold(*_COLLECTING)
            self._most = self._resident() + self._growth

    def look(self) -> None:
        """Collect everything when the process has grown since it was smallest, or since the last time."""
        resident = self._resident()
        if resident > self._most > 0:
            gc.collect()
            self._most = self._resident() + self._growth
        else:
            self._most = min(self._most, resident + self._growth)

    @staticmethod
    def _resident() -> int:
        """Return the memory of the process in bytes; 0 where the system has no such file: the thresholds stay there."""
        try:
            return int(_STATM.read_bytes().split()[1]) * resource.getpagesize()
        except OSError:
            return 0


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
    """uvicorn's server, which reports its start and has garbage collected."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None], collector: Collector) -> None:
        super().__init__(config)
        self._on_ready = on_ready
        self._collector = collector

    async def on_tick(self, counter: int) -> bool:
        if counter % _LOOK_TICKS == 0:
            self._collector.look()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        connections: list[object] = list(self.server_state.connections)
        for connection in connections:
            if isinstance(connection, BoundedHttp):
                connection.stop()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_ready()
