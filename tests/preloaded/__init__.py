"""Processes of `contentsvc` for tests that need many: forked from one that has imported the command's modules.

Each is a process of its own, with its own arguments, environment, folder, files, signals and end. It only saves the
second or two of processor time for importing a web server, the database's library and an engine. Tests of the start
itself use real starts: ``fresh=True`` of :mod:`tests.server_process`.
"""

import atexit
import contextlib
import functools
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Final, final

_PATIENCE_S: Final = 60.0
_ROOT: Final = Path(__file__).parents[2]
#: Several threads of a test may start processes at once.
_ONE: Final = threading.Lock()


@final
class Forked:
    """A forked process with the methods of :class:`subprocess.Popen` that tests use."""

    def __init__(self, pid: int, control: socket.socket) -> None:
        self.pid: Final = pid
        self._control = control
        self._returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, or minus the signal that has ended it; `None`: it is running."""
        return self._within(0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; raise :class:`subprocess.TimeoutExpired` after the timeout."""
        code = self._within(timeout)
        if code is None:
            raise subprocess.TimeoutExpired([str(self.pid)], timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal to the process, unless it has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """Send SIGKILL to the process, unless it has ended."""
        self.send_signal(signal.SIGKILL)

    def _within(self, timeout: float | None) -> int | None:
        if self._returncode is None and self._is_told(timeout):
            received = self._control.recv(64)
            assert received, "the process that forks others has ended"
            self._returncode = int(received)
            self._control.close()
        return self._returncode

    def _is_told(self, timeout: float | None) -> bool:
        with selectors.DefaultSelector() as selector:
            selector.register(self._control, selectors.EVENT_READ)
            return bool(selector.select(timeout))


def start(
    arguments: Sequence[str],
    *,
    program: str | None = None,
    environment: Mapping[str, str],
    stdout: IO[bytes],
    stderr: IO[bytes],
    stdin: IO[bytes] | None = None,
    folder: str | None = None,
) -> Forked:
    """Start the command in a group of its own, as :class:`subprocess.Popen` does.

    Args:
        arguments: The arguments of the command, without its name.
        program: A module that replaces the command, as by ``python -m``.
        environment: The whole environment.
        stdout: The file of its standard output.
        stderr: The file of its standard error.
        stdin: The file of its standard input; by default, the input is empty.
        folder: Its working directory; by default that of this process.
    """
    parent, child = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    order = {
        "arguments": list(arguments),
        "program": program,
        "environment": dict(environment),
        "folder": folder or str(Path.cwd()),
    }
    with child, Path(os.devnull).open("rb") as nothing, _ONE:
        files = [file.fileno() for file in (child, stdin or nothing, stdout, stderr)]
        socket.send_fds(_origin(), [json.dumps(order).encode()], files)
    parent.settimeout(_PATIENCE_S)
    pid = parent.recv(64)
    assert pid, "nothing was forked: what imports and forks has ended, and said why on standard error"
    parent.settimeout(None)
    return Forked(int(pid), parent)


def run(
    arguments: Sequence[str], *, environment: Mapping[str, str], timeout_s: float
) -> "subprocess.CompletedProcess[str]":
    """Run the command to its end, without an input, as :func:`subprocess.run` does with ``capture_output``."""
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        started = start(arguments, environment=environment, stdout=stdout, stderr=stderr)
        try:
            code = started.wait(timeout_s)
        finally:
            started.kill()
        for file in (stdout, stderr):
            file.seek(0)
        return subprocess.CompletedProcess(list(arguments), code, stdout.read().decode(), stderr.read().decode())


@functools.cache
def _origin() -> socket.socket:
    """Start the forking process, which ends with this process."""
    parent, child = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with child:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.preloaded", str(child.fileno())],
            cwd=_ROOT,
            pass_fds=[child.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            # An interrupt from a terminal is for the test run; this process ends with it.
            process_group=0,
            # Variables that a test sets temporarily are not inherited.
            env={name: value for name, value in os.environ.items() if not name.startswith(("CONTENTSVC_", "OTEL_"))},
        )

    def end() -> None:
        parent.close()
        process.terminate()
        process.wait()

    atexit.register(end)
    return parent
