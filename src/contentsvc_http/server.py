import _thread
import asyncio
import contextlib
import ctypes
import gc
import logging
import os
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from functools import partial
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any, Final, cast, final

import structlog
import uvicorn.config
import uvicorn.server
import uvloop

from contentsvc_http.asgi import ASGIApp
from contentsvc_http.deferred_application import DeferredApplication
from contentsvc_http.faults import log_fault
from contentsvc_http.probes import Probes
from contentsvc_http.protocol import BoundedHttp
from contentsvc_http.roles import Role
from contentsvc_http.settings import Settings
from contentsvc_http.wiring.receiving import Reception, open_reception

#: The time for which a stop waits for current requests, in seconds; with the engine's share, a stop stays under 10.
_REQUEST_GRACE_S: Final = 4
#: The time limit for the rest of a stop, in seconds.
_REST_S: Final = 5.0
#: How long the last line of the log may take, in seconds.
_LAST_LINE_S: Final = 0.5
#: The garbage collector's thresholds: a delivery creates no cycles, and the defaults took 5 to 10 % of its CPU time.
_COLLECTING: Final = (50_000, 20, 50)
#: The growth of the process in bytes after which all garbage is collected: a third of its memory at rest.
_GROWTH: Final = 32 * 1024 * 1024
#: Options of glibc's ``mallopt``, in bytes: M_MMAP_THRESHOLD, so that larger texts go back to the system when they are
#: freed, and M_TRIM_THRESHOLD, the free memory that stays. By default, the first rises with the texts, and pages of
#: long posts left gigabytes behind in the arenas of threads. With 2 MiB for the second, deliveries cost 4 % more.
_MALLOC: Final = ((-3, 128 * 1024), (-1, 16 * 1024 * 1024))
#: The intervals of the server's tick with and without connections, in seconds, and the number of uvicorn's ticks in it.
#: The tick renews the time in answers, and looks at the memory.
_TICK_S: Final = 1.0
_IDLE_TICK_S: Final = 8.0
_UVICORN_TICKS: Final = 10
_STATM: Final = Path("/proc/self/statm")
#: How long a computing thread keeps the interpreter's lock, in seconds (:func:`sys.setswitchinterval`): with the
#: default of 0.005 and four threads, a request waits for 0.4 s.
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
    """Serve until SIGTERM or SIGINT; then finish accepted work within 10 seconds.

    ``bound`` listens at the latest when the process is ready. ``on_stopping`` is called after the last request.
    ``open_stores`` has its errors.
    """
    stop = _Stop()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop.requested)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner, contextlib.suppress(asyncio.CancelledError):
        runner.run(_serve(settings, role, bound, on_ready, on_stopping, stop))


class _Stop:
    """The handling of signals before and after uvicorn handles them itself."""

    def __init__(self) -> None:
        self._starting: asyncio.Task[None] | None = None
        self._early = False

    def requested(self, _number: int, _frame: object) -> None:
        """Cancel the start. A second signal is ignored, because it would interrupt the orderly stop."""
        if self._starting is not None and not self._early:
            self._starting.get_loop().call_soon_threadsafe(self._starting.cancel)
        self._early = True

    def starting(self, task: "asyncio.Task[None]") -> None:
        self._starting = task
        if self._early:
            task.cancel()

    def started(self) -> None:
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

    async with open_reception(settings) as reception:
        reception.stores.database.on_written = log_fault.note_write
        collector = Collector()
        probes = Probes(reception.why_not_ready, reception.requests)
        application = DeferredApplication(
            lambda: _opened(settings, role, reception, collector),
            probes,
            reception.requests,
            on_failed=lambda: server.stop(),  # noqa: PLW0108  # created below
        )

        async def started() -> None:
            stop.started()
            # A receiver may never need the application.
            if role is not Role.RECEIVER:
                await application.load()
            on_ready()

        webhooks = reception.before(application) if role.receives else None
        config = uvicorn.config.Config(
            application if webhooks is None else webhooks,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            # Any client can send a forwarded address; it is read only from the proxies in the settings.
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=_REQUEST_GRACE_S,
            limit_concurrency=_most_connections(settings.max_connections) + 1,
        )
        collector.begin()
        sys.setswitchinterval(_LOCK_HELD_S)
        protocol = partial(BoundedHttp, counting=reception.instrumentation.counting, webhooks=webhooks)
        server = Server(config, protocol, started, collector)
        try:
            await server.serve(sockets=[bound])
            on_stopping()
        finally:
            threading.Thread(target=_end_in_any_case, args=[_REST_S], name="last resort", daemon=True).start()
            await application.close()


@contextlib.asynccontextmanager
async def _opened(
    settings: Settings, role: Role, reception: Reception, collector: "Collector"
) -> AsyncGenerator[ASGIApp]:
    async with contextlib.AsyncExitStack() as stack:
        with collector.loading():
            module = await asyncio.to_thread(import_module, "contentsvc_http.wiring.process")
            application = await stack.enter_async_context(module.open_application(settings, role, reception))
        yield application


def _return_freed_memory() -> None:
    if (mallopt := getattr(ctypes.CDLL(None), "mallopt", None)) is not None:
        for option, size in _MALLOC:
            mallopt(option, size)


def _most_connections(connections: int) -> int:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = 2 * connections
    if soft != resource.RLIM_INFINITY and soft < files:
        most = files if hard == resource.RLIM_INFINITY else min(hard, files)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            soft = most
    return connections if soft == resource.RLIM_INFINITY else min(connections, soft // 2)


@final
class Collector:
    """Collects garbage by memory: rarely, and when the process has grown."""

    def __init__(self, growth: int = _GROWTH) -> None:
        self._growth = growth
        self._most = 0
        self._is_loading = False

    def begin(self) -> None:
        """Exempt existing objects from collection, and raise the thresholds."""
        # Modules and open resources live as long as the process. The rest is under a megabyte, and to find it takes a
        # tenth of the start.
        gc.freeze()
        _return_freed_memory()
        if self._resident():
            gc.set_threshold(*_COLLECTING)
            self._most = self._resident() + self._growth

    @contextlib.contextmanager
    def loading(self) -> Generator[None]:
        """Collect nothing while the application is loaded, and keep its objects out of later collections.

        Deliveries would wait for a collection: even one of the youngest objects holds the interpreter's lock for 25 ms.
        """
        self._is_loading = True
        gc.disable()
        try:
            yield
        finally:
            self._is_loading = False
            gc.freeze()
            gc.enable()
            if self._most:
                self._most = self._resident() + self._growth

    def collect_if_grown(self) -> None:
        """Collect all garbage if the process has grown by the limit since its minimum or since the last collection."""
        if self._is_loading:
            return
        resident = self._resident()
        if resident > self._most > 0:
            gc.collect()
            self._most = self._resident() + self._growth
        else:
            self._most = min(self._most, resident + self._growth)

    @staticmethod
    def _resident() -> int:
        try:
            return int(_STATM.read_bytes().split()[1]) * resource.getpagesize()
        except OSError:
            return 0


def _end_in_any_case(within_s: float) -> None:
    """End the process if the stop hangs, such as on the database, in a thread, or on a full pipe of the log."""
    time.sleep(within_s)
    last = threading.Thread(target=_last_line, daemon=True)
    last.start()
    last.join(_LAST_LINE_S)
    os._exit(0)


def _last_line() -> None:
    _LOG.warning("stopped without waiting any longer")
    logging.shutdown()


@final
class Server(uvicorn.server.Server):
    def __init__(
        self,
        config: uvicorn.config.Config,
        protocol: Callable[..., BoundedHttp],
        on_started: Callable[[], Awaitable[None]],
        collector: Collector,
    ) -> None:
        # uvicorn calls this like a class.
        config.http = cast("Any", self._connected)
        super().__init__(config)
        self._protocol = protocol
        self._on_started = on_started
        self._starting: asyncio.Task[None] | None = None
        self._collector = collector
        self._loop = asyncio.get_running_loop()
        self._woken = asyncio.Event()

    async def main_loop(self) -> None:
        # uvicorn's own wakes ten times a second to see whether a signal has come; here the signal wakes the loop.
        while not await self.on_tick(_UVICORN_TICKS):
            self._collector.collect_if_grown()
            self._woken.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_TICK_S if self.server_state.connections else _IDLE_TICK_S):
                    await self._woken.wait()

    def _connected(self, **arguments: Any) -> BoundedHttp:  # noqa: ANN401  # uvicorn's own
        if not self.server_state.connections:
            # The next tick may be far away. This one comes before the first request: its answer has the time.
            self._woken.set()
        return self._protocol(**arguments)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # Not by threading, whose locks the interrupted code may hold. The event loop may never run again: a write to
        # the log waits for a reader that has stopped.
        _thread.start_new_thread(_end_in_any_case, (_REQUEST_GRACE_S + _REST_S,))
        super().handle_exit(sig, frame)
        self._loop.call_soon_threadsafe(self._woken.set)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        connections: list[object] = list(self.server_state.connections)
        for connection in connections:
            if isinstance(connection, BoundedHttp):
                connection.stop()

    def stop(self) -> None:
        self.should_exit = True
        self._woken.set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._starting = asyncio.create_task(self._started(), name="start")

    async def _started(self) -> None:
        # A failure ends the server, and is raised when the application is closed.
        with contextlib.suppress(Exception):
            await self._on_started()
