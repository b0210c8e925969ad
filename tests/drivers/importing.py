"""The imports of a real server process, from its start to its end."""

import re
import signal
import socket
import subprocess
import sys
from typing import Final

import httpx
from tests.server_process import COMMAND, LOOPBACK, PATIENCE_S, PLAIN, Installation, until

_IMPORTED: Final = re.compile(r"^import time: +\d+ \| +\d+ \| +([\w.]+)$", re.MULTILINE)


def modules_of_a_server(installation: Installation, *, expecting: int) -> set[str]:
    """Serve until `/metrics` has answered with the expected status; return the names of all modules."""
    with socket.socket() as free:
        free.bind((LOOPBACK, 0))
        port = int(free.getsockname()[1])
    log = installation.folder / "imports.log"
    with log.open("wb") as written:
        server = subprocess.Popen(
            [sys.executable, "-X", "importtime", COMMAND, "serve", "--port", str(port)],
            env=installation.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=written,
        )
        try:
            answered: list[int] = []

            def answers() -> bool:
                assert server.poll() is None, log.read_text("utf-8")[-2000:]
                try:
                    page = httpx.get(
                        f"http://{LOOPBACK}:{port}/metrics", trust_env=False, verify=PLAIN, timeout=PATIENCE_S
                    )
                except httpx.TransportError:
                    return False
                answered.append(page.status_code)
                return True

            until(answers, "the server answers")
            server.send_signal(signal.SIGTERM)
            assert server.wait(timeout=PATIENCE_S) == 0
        finally:
            server.kill()
            server.wait()
    assert answered == [expecting]
    return set(_IMPORTED.findall(log.read_text("utf-8")))
