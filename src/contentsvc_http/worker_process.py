"""One of several serving processes: ``python -m contentsvc_http.worker_process TASK``, started by ``processes.py``."""

import contextlib
import os
import signal
import socket
import sys
import threading
import time
from typing import Final

import msgspec

from contentsvc_core.errors import ContentServiceError
from contentsvc_http.starting import prepare_imports

# Before any import of structlog.
prepare_imports()

from contentsvc_http.logs import configure_logging  # noqa: E402
from contentsvc_http.processes import READY, Task  # noqa: E402
from contentsvc_http.settings import load_settings  # noqa: E402
from contentsvc_http.sockets import share  # noqa: E402

#: The time limit for a stop without a supervising process, in seconds.
_STOP_S: Final = 10.0


def main(task: Task) -> None:
    """Serve until SIGTERM, or until the supervising process ends; report readiness or an error on the channel."""
    channel = socket.socket(fileno=task.channel)

    def report(what: bytes) -> None:
        with contextlib.suppress(OSError):
            channel.sendall(what)

    # First of all: a start that hangs must not outlive the supervising process.
    threading.Thread(target=_end_with, args=[channel], name="lifeline", daemon=True).start()
    try:
        from contentsvc_http.server import serve  # noqa: PLC0415  # its import takes most of the start

        settings = load_settings()
        configure_logging(level=settings.log_level, style=settings.log_format, worker=task.number)
        listening = share(task.listener.host, task.listener.port)
        serve(settings, task.listener.role, listening, on_ready=lambda: report(READY))
    except ContentServiceError as exc:
        report(str(exc).encode())
        sys.exit(1)


def _end_with(channel: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while channel.recv(1):
            pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_STOP_S)
    os._exit(1)


if __name__ == "__main__":
    main(msgspec.json.decode(sys.argv[1], type=Task))
