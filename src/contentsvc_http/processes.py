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

#: A process that ends within this time after it was ready counts as a quick end, in seconds.
_QUICK_S: Final = 10.0
#: The pause before a restart after two quick ends in a row, in seconds; it doubles up to the second value.
_FIRST_PAUSE_S: Final = 0.5
_LAST_PAUSE_S: Final = 30.0
#: More doublings than the second value needs.
_DOUBLINGS: Final = 16
#: The number of ends in a row before a process is ready that counts as a failure.
_STARTS: Final = 5
#: The time until a stop kills the processes, in seconds; they stop within 9 seconds by themselves.
_STOP_S: Final = 9.5
#: The timeout of writing the last lines of the log, in seconds.
_LAST_LINES_S: Final = 0.5
#: The message of a process that is ready. Anything else before its end is the startup error.
READY: Final = b"\n"
_LOG: Final = structlog.get_logger("contentsvc")


@final
class WorkersFailed(ContentServiceError):
    """The processes cannot start; the message gives the reason in one line."""


@final
@frozen(kw_only=True)
class Listener:
    role: Role
    host: str
    port: int


@final
@frozen(kw_only=True)
class Task:
    listener: Listener
    number: int
    of: int
    #: The file descriptor of the process's end of the channel. The process ends when the other end is closed.
    channel: int


def supervise(
    listener: Listener, workers: int, *, on_ready: Callable[[], None], on_stopping: Callable[[], None]
) -> None:
    """Run ``workers`` processes until SIGTERM or SIGINT; then stop them within 10 seconds.

    A process that ends is restarted, after a growing pause. If this process is killed, the processes end as on SIGTERM.
    ``WorkersFailed``: a process reported an error, or no process gets ready.
    """
    # The metrics library adds up the counters of several processes through files in a folder.
    with tempfile.TemporaryDirectory(prefix="contentsvc-metrics-") as metrics, _signals() as signals:
        supervisor = _Supervisor(listener, workers, metrics, signals, on_ready)
        try:
            supervisor.run()
        finally:
            supervisor.stop()
        # Last: a write to the log may wait for a reader that has stopped.
        on_stopping()


@define(kw_only=True, eq=False)
class _Running:
    process: "subprocess.Popen[bytes]"
    channel: socket.socket
    ready_at: float | None = None
    output: bytes = b""


@define(kw_only=True, eq=False)
class _Worker:
    number: int
    running: _Running | None = None
    #: The time of its next start, by the monotonic clock.
    due_at: float = field(factory=time.monotonic)
    quick: int = 0
    #: The number of ends in a row before it was ready.
    stillborn: int = 0

    @property
    def is_ready(self) -> bool:
        return self.running is not None and self.running.ready_at is not None


class _Supervisor:
    def __init__(
        self, listener: Listener, workers: int, metrics: str, signals: socket.socket, on_ready: Callable[[], None]
    ) -> None:
        self._listener = listener
        self._metrics = metrics
        self._signals = signals
        self._on_ready = on_ready
        self._was_ready = False
        self._workers = [_Worker(number=number) for number in range(1, workers + 1)]
        self._selector = selectors.DefaultSelector()
        self._selector.register(signals, selectors.EVENT_READ)

    def run(self) -> None:
        while True:
            waiting = [worker for worker in self._workers if worker.running is None]
            for worker in waiting:
                if worker.due_at <= time.monotonic():
                    self._try_to_start(worker)
            next_at = min((worker.due_at for worker in waiting if worker.running is None), default=None)
            pause = None if next_at is None else max(0.0, next_at - time.monotonic())
            for key, _ in self._selector.select(pause):
                if key.fileobj is self._signals:
                    return
                self._hear(key.data)

    def stop(self) -> None:
        running = [(worker.number, worker.running) for worker in self._workers if worker.running is not None]
        for _, process in running:
            process.process.terminate()
        deadline = time.monotonic() + _STOP_S
        for number, process in running:
            try:
                process.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.process.kill()
                process.process.wait()
                _LOG.warning("worker killed: it did not stop in time", worker=number, pid=process.process.pid)
            process.channel.close()
        self._selector.close()

    def _try_to_start(self, worker: _Worker) -> None:
        try:
            self._start(worker)
        except OSError as exc:
            if not self._was_ready:
                message = f"worker {worker.number} cannot be started: {exc}"
                raise WorkersFailed(message) from exc
            # The system lacks memory, processes or files. The others serve, and it may have them again.
            worker.quick += 1
            pause = restart_pause(worker.quick)
            worker.due_at = time.monotonic() + pause
            _LOG.warning("worker not started", worker=worker.number, reason=str(exc), again_in_s=pause)

    def _start(self, worker: _Worker) -> None:
        own_end, other_end = socket.socketpair()
        with other_end, contextlib.ExitStack() as stack:
            stack.callback(own_end.close)
            task = Task(
                listener=self._listener, number=worker.number, of=len(self._workers), channel=other_end.fileno()
            )
            with _without_interrupts():
                # A new interpreter: a fork would inherit open files, threads and the metrics library.
                process = subprocess.Popen(  # noqa: S603  # our own command
                    [sys.executable, "-P", "-m", "contentsvc_http.worker_process", msgspec.json.encode(task)],
                    env=os.environ | {"PROMETHEUS_MULTIPROC_DIR": self._metrics},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    pass_fds=[other_end.fileno()],
                )
            stack.pop_all()
        worker.running = _Running(process=process, channel=own_end)
        self._selector.register(own_end, selectors.EVENT_READ, worker)

    def _hear(self, worker: _Worker) -> None:
        running = worker.running
        assert running is not None
        message = b""
        with contextlib.suppress(ConnectionError):
            message = running.channel.recv(65_536)
        if not message:
            self._selector.unregister(running.channel)
            running.channel.close()
            worker.running = None
            self._ended(worker, running)
            return
        running.output += message
        if running.ready_at is None and running.output.startswith(READY):
            running.ready_at = time.monotonic()
            worker.stillborn = 0
            _LOG.info("worker ready", worker=worker.number, pid=running.process.pid)
            if not self._was_ready and all(other.is_ready for other in self._workers):
                self._was_ready = True
                self._on_ready()

    def _ended(self, worker: _Worker, running: _Running) -> None:
        code = running.process.wait()
        _forget_gauges(running.process.pid, self._metrics)
        now = time.monotonic()
        reason = None if running.ready_at is not None else running.output.decode("utf-8", "replace") or None
        if running.ready_at is None:
            worker.stillborn += 1
        quick = running.ready_at is None or now - running.ready_at < _QUICK_S
        worker.quick = worker.quick + 1 if quick else 1
        self._give_up_in_time(worker, code, reason)
        pause = 0.0 if worker.quick == 1 else restart_pause(worker.quick - 1)
        worker.due_at = now + pause
        _LOG.warning(
            "worker ended", worker=worker.number, pid=running.process.pid, exit=code, reason=reason, again_in_s=pause
        )

    def _give_up_in_time(self, worker: _Worker, code: int, reason: str | None) -> None:
        if self._was_ready:
            # While any process serves or starts, the others may recover.
            hopeless = all(other.stillborn >= _STARTS for other in self._workers)
        else:
            # A single process would have reported the same error, and stopped.
            hopeless = reason is not None or worker.stillborn >= _STARTS
        if hopeless:
            ended = f"worker {worker.number} ended {worker.stillborn} times before it was ready, with exit code {code}"
            raise WorkersFailed(reason or f"{ended}; the log says why")


def restart_pause(times: int) -> float:
    """Return the pause before the next start, in seconds, after ``times`` quick ends in a row."""
    # The exponent is bounded: a process that always ends has too many ends for a float after some hours.
    return min(_LAST_PAUSE_S, _FIRST_PAUSE_S * 2 ** min(times - 1, _DOUBLINGS))


def _forget_gauges(pid: int, folder: str) -> None:
    forget: Callable[[int, str], None] = import_module("prometheus_client.multiprocess").mark_process_dead
    forget(pid, folder)


@contextlib.contextmanager
def _signals() -> Generator[socket.socket]:
    own_end, other_end = socket.socketpair()
    with own_end, other_end:
        other_end.settimeout(0)
        signal.set_wakeup_fd(other_end.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            # The socket is notified; a handler prevents the default action, which would end this process.
            signal.signal(number, lambda _number, _frame: _end_by(_STOP_S + _LAST_LINES_S))
        try:
            yield own_end
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.set_wakeup_fd(-1)


def _end_by(within_s: float) -> None:
    """End this process after that time, even if it waits for the reader of its log; repeated signals change nothing."""
    if signal.getitimer(signal.ITIMER_REAL)[0] == 0:
        signal.signal(signal.SIGALRM, lambda _number, _frame: os._exit(0))
        signal.setitimer(signal.ITIMER_REAL, within_s)


@contextlib.contextmanager
def _without_interrupts() -> Generator[None]:
    """Block the signals of a terminal in the started processes: it sends them to all, and this process stops them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
