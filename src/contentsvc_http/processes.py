"""Several serving processes on one port: started, watched and ended by one that does nothing else."""

import contextlib
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from importlib import import_module
from typing import Final, final

import msgspec
import structlog
from attrs import define, field, frozen

from contentsvc_core.errors import ContentServiceError
from contentsvc_http.roles import Role

#: A process that ends sooner than this after it was ready has ended quickly, in seconds.
_QUICK_S: Final = 10.0
#: How long it takes until one that has ended quickly twice in a row is started again; doubled from time to time.
_FIRST_PAUSE_S: Final = 0.5
_LAST_PAUSE_S: Final = 30.0
#: How often in a row a process may end before it is ready.
_STARTS: Final = 5
#: How long a stop waits before it kills, in seconds; they take 9 at most by themselves.
_STOP_S: Final = 9.5
#: What a process says when it is ready. What it says before its end, without having been ready, is the reason.
READY: Final = b"\n"
_LOG: Final = structlog.get_logger("contentsvc")


@final
class WorkersFailed(ContentServiceError):
    """The processes do not start; the message says why, in one line."""


@final
@frozen(kw_only=True)
class Listener:
    """Where and as what all of them serve."""

    role: Role
    host: str
    port: int


@final
@frozen(kw_only=True)
class Task:
    """What one of them is told, as JSON in its only argument."""

    place: Listener
    #: It is the ``number``-th, counted from 1.
    number: int
    of: int
    #: The file descriptor of its end of the channel. At the other end's end it has to end, too.
    channel: int


def supervise(place: Listener, workers: int, *, on_ready: Callable[[], None], on_stopping: Callable[[], None]) -> None:
    """Keep ``workers`` processes serving until SIGTERM or SIGINT; then end them in order, within 10 seconds.

    One that ends unasked is started again: at once, and after a growing pause when it does so again and again. When
    this process is killed they end by themselves, as on SIGTERM.

    Args:
        place: A reserved port.
        workers: How many.
        on_ready: Called once, when all of them are ready.
        on_stopping: Called when a signal has come.

    Raises:
        WorkersFailed: One gave a reason why it cannot serve before all were ready, or ended too often; or, later, no
            process gets ready any more.
    """
    # Counters of several processes are added up through files; the library wants a folder for them.
    with tempfile.TemporaryDirectory(prefix="contentsvc-metrics-") as metrics, _signals() as signals:
        supervisor = _Supervisor(place, workers, metrics, signals, on_ready)
        try:
            supervisor.run()
            on_stopping()
        finally:
            supervisor.stop()


@final
@define(kw_only=True, eq=False)
class _Running:
    """A process, and what it has said."""

    process: "subprocess.Popen[bytes]"
    channel: socket.socket
    ready_at: float | None = None
    said: bytes = b""


@final
@define(kw_only=True, eq=False)
class _Worker:
    """One of the processes, over all its starts."""

    number: int
    running: _Running | None = None
    #: When it is started (again), by the monotonic clock.
    due_at: float = field(factory=time.monotonic)
    #: How often in a row it has ended quickly.
    quick: int = 0
    #: How often in a row it has ended before it was ready.
    stillborn: int = 0

    @property
    def is_ready(self) -> bool:
        return self.running is not None and self.running.ready_at is not None


@final
class _Supervisor:
    """Waits for what the processes say, for their ends, and for signals."""

    def __init__(
        self, place: Listener, workers: int, metrics: str, signals: socket.socket, on_ready: Callable[[], None]
    ) -> None:
        self._place = place
        self._metrics = metrics
        self._signals = signals
        self._on_ready = on_ready
        self._was_ready = False
        self._workers = [_Worker(number=number) for number in range(1, workers + 1)]
        self._selector = selectors.DefaultSelector()
        self._selector.register(signals, selectors.EVENT_READ)

    def run(self) -> None:
        """Keep them running until a signal."""
        while True:
            waiting = [worker for worker in self._workers if worker.running is None]
            for worker in waiting:
                if worker.due_at <= time.monotonic():
                    self._start(worker)
            next_at = min((worker.due_at for worker in waiting if worker.running is None), default=None)
            pause = None if next_at is None else max(0.0, next_at - time.monotonic())
            for key, _ in self._selector.select(pause):
                if key.fileobj is self._signals:
                    return
                self._hear(key.data)

    def stop(self) -> None:
        """End those that run, in order, and kill those that take too long."""
        running = [(worker.number, worker.running) for worker in self._workers if worker.running is not None]
        for _, each in running:
            each.process.terminate()
        deadline = time.monotonic() + _STOP_S
        for number, each in running:
            try:
                each.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                _LOG.warning("worker killed: it did not stop in time", worker=number, pid=each.process.pid)
                each.process.kill()
                each.process.wait()
            each.channel.close()
        self._selector.close()

    def _start(self, worker: _Worker) -> None:
        ours, its = socket.socketpair()
        with its:
            task = Task(place=self._place, number=worker.number, of=len(self._workers), channel=its.fileno())
            with _without_interrupts():
                # A fresh interpreter: a copy of this one would hold what it has imported and opened, and some of it
                # (the metrics' library, threads) must not be carried over.
                process = subprocess.Popen(  # noqa: S603  # ourselves
                    [sys.executable, "-P", "-m", "contentsvc_http.worker_process", msgspec.json.encode(task)],
                    env=os.environ | {"PROMETHEUS_MULTIPROC_DIR": self._metrics},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    pass_fds=[its.fileno()],
                )
        worker.running = _Running(process=process, channel=ours)
        self._selector.register(ours, selectors.EVENT_READ, worker)

    def _hear(self, worker: _Worker) -> None:
        running = worker.running
        assert running is not None
        said = b""
        with contextlib.suppress(ConnectionError):
            said = running.channel.recv(65_536)
        if not said:
            self._selector.unregister(running.channel)
            running.channel.close()
            worker.running = None
            self._ended(worker, running)
            return
        running.said += said
        if running.ready_at is None and running.said.startswith(READY):
            running.ready_at = time.monotonic()
            worker.stillborn = 0
            _LOG.info("worker ready", worker=worker.number, pid=running.process.pid)
            if not self._was_ready and all(each.is_ready for each in self._workers):
                self._was_ready = True
                self._on_ready()

    def _ended(self, worker: _Worker, running: _Running) -> None:
        """See to a process that nobody asked to end."""
        code = running.process.wait()
        _forget_gauges(running.process.pid, self._metrics)
        now = time.monotonic()
        reason = None if running.ready_at is not None else running.said.decode("utf-8", "replace") or None
        if running.ready_at is None:
            worker.stillborn += 1
        quick = running.ready_at is None or now - running.ready_at < _QUICK_S
        worker.quick = worker.quick + 1 if quick else 1
        self._give_up_in_time(worker, code, reason)
        pause = 0.0 if worker.quick == 1 else min(_LAST_PAUSE_S, _FIRST_PAUSE_S * 2 ** (worker.quick - 2))
        worker.due_at = now + pause
        _LOG.warning(
            "worker ended", worker=worker.number, pid=running.process.pid, exit=code, reason=reason, again_in_s=pause
        )

    def _give_up_in_time(self, worker: _Worker, code: int, reason: str | None) -> None:
        if self._was_ready:
            # As long as one of them serves, or gets ready, the others may come back.
            hopeless = all(each.stillborn >= _STARTS for each in self._workers)
        else:
            # One process alone would have said the same, and stopped.
            hopeless = reason is not None or worker.stillborn >= _STARTS
        if hopeless:
            ended = f"worker {worker.number} ended {worker.stillborn} times before it was ready, with exit code {code}"
            raise WorkersFailed(reason or f"{ended}; the log says why")


def _forget_gauges(pid: int, folder: str) -> None:
    """Count no longer what a process was doing when it ended."""
    # Imported on demand: this process counts nothing itself.
    forget: Callable[[int, str], None] = import_module("prometheus_client.multiprocess").mark_process_dead
    forget(pid, folder)


@contextlib.contextmanager
def _signals() -> Generator[socket.socket]:
    """Give a socket that can be read once SIGTERM or SIGINT has come, however often they do."""
    ours, its = socket.socketpair()
    with ours, its:
        its.settimeout(0)
        signal.set_wakeup_fd(its.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            # The wake-up is all; without a function the signal would end this process.
            signal.signal(number, lambda _number, _frame: None)
        try:
            yield ours
        finally:
            signal.set_wakeup_fd(-1)


@contextlib.contextmanager
def _without_interrupts() -> Generator[None]:
    """Block SIGINT for whoever is started here, for good: a terminal's Ctrl-C goes to all of them at once.

    This process hears it, and tells them in order.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
