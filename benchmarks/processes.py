"""Measured processes: started, watched through /proc, and stopped by their pid."""

import contextlib
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, final

from benchmarks.cores import pinned

_START_S: Final = 60.0
_STOP_S: Final = 15.0
_TICKS: Final = os.sysconf("SC_CLK_TCK")
#: Places in /proc/PID/stat, counted from the field after the name.
_UTIME: Final = 11
_STIME: Final = 12


@final
class NotStarted(Exception):
    """A process did not get ready; the message has the end of its log."""


def free_port() -> int:
    """Return a free port of the loopback interface."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@final
class Process:
    """A process and its children."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        folder: Path,
        log: Path,
        core: int | None = None,
    ) -> None:
        """Start the process in a session of its own."""
        self._log = log
        self.began = time.perf_counter()
        with log.open("ab") as out, pinned(core):
            self._process = subprocess.Popen(  # noqa: S603  # a side's own command
                list(command),
                cwd=folder,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._process.pid

    @property
    def cpu_seconds(self) -> float:
        """Return the processor time of the process and its children until now."""
        return sum(_cpu(Path(f"/proc/{pid}/stat")) for pid in _family(self.pid))

    @property
    def main_thread_seconds(self) -> float:
        """Return the processor time of the process's main thread until now."""
        return _cpu(Path(f"/proc/{self.pid}/task/{self.pid}/stat"))

    @property
    def peak_mb(self) -> float:
        """Return the sum of the peak resident sizes of the process and its children, in MB (10^6)."""
        return sum(_peak(pid) for pid in _family(self.pid)) / 1e6

    def until_ready(self, url: str) -> float:
        """Wait until an address answers 200; return the time since the start, in seconds.

        Raises:
            NotStarted: The process ended, or the time is over.
        """
        return self.until(lambda: _answers(url), url)

    def until(self, holds: Callable[[], bool], what: str) -> float:
        """Wait until a condition holds; return the time since the start, in seconds.

        Raises:
            NotStarted: The process ended, or the time is over.
        """
        while time.perf_counter() - self.began < _START_S:
            if holds():
                return time.perf_counter() - self.began
            if self._process.poll() is not None:
                break
            time.sleep(0.002)
        message = f"not ready ({what}): {self._log.read_text('utf-8', 'replace')[-2000:]}"
        raise NotStarted(message)

    def stop(self) -> None:
        """Stop the process with SIGTERM, and kill it after a timeout."""
        if self._process.poll() is not None:
            return
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            # The whole session: its children end with it.
            os.killpg(self.pid, signal.SIGKILL)
            self._process.wait()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310  # an address of our own
            return bool(answer.status == 200)  # noqa: PLR2004  # OK
    except (urllib.error.URLError, OSError):
        return False


def _family(pid: int) -> list[int]:
    pids = [pid]
    for parent in pids:
        with contextlib.suppress(OSError):
            for children in Path(f"/proc/{parent}/task").glob("*/children"):
                pids += map(int, children.read_text().split())
    return pids


def _cpu(stat: Path) -> float:
    try:
        fields = stat.read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[_UTIME]) + int(fields[_STIME])) / _TICKS


def _peak(pid: int) -> int:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0
