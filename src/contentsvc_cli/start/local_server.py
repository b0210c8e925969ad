import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Final, TypeAlias

import httpx

from contentsvc_cli.terminal.output import fail
from contentsvc_http.settings import Settings

LocalServer: TypeAlias = "subprocess.Popen[bytes]"

#: The maximum wait for a start, in seconds. A start takes a second; without compiled files, a busy machine needs 60.
_START_S: Final = 180.0
_STOP_S: Final = 12.0
#: A shell script that runs a command, passes SIGTERM on to it, and removes the folder ``$1`` after an orderly stop. The
#: first ``wait`` ends at the signal, before the command does; the last one returns the exit code.
_SCRIPT: Final = """
folder=$1; shift
"$@" & child=$!
trap 'kill "$child"' TERM INT
while kill -0 "$child" 2>/dev/null; do wait "$child"; code=$?; done
[ "$code" -ne 0 ] || rm -rf -- "$folder"
exit "$code"
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start(settings: Settings, folder: Path, port: int, *, keep: bool = False) -> LocalServer:
    """Start ``serve`` with its log in ``serve.log`` of the folder.

    With ``keep``, the server outlives this process, and its folder is removed when it stops.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CONTENTSVC_")}
    environment |= {
        "CONTENTSVC_DATABASE_URL": settings.database_url,
        "CONTENTSVC_BASE_URL": settings.base_url,
        "CONTENTSVC_LOG_FORMAT": "json",
    }
    command = [sys.executable, "-m", "contentsvc_cli", "serve", "--port", str(port)]
    if keep:
        command = ["sh", "-c", _SCRIPT, "sh", str(folder), *command]
    with (folder / "serve.log").open("wb") as log:
        # A separate session: with --keep the server outlives this command, and Ctrl-C does not reach it. It does not
        # inherit this command's output, whose reader would wait for the server to end.
        return subprocess.Popen(  # noqa: S603  # our own command
            command,
            env=environment,
            # The server must not read a settings file of the current folder.
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


async def until_ready(server: LocalServer, base_url: str, folder: Path) -> None:
    """Wait until the server is ready, or raise ``ClickException`` with the end of its log if it stops."""
    deadline = time.monotonic() + _START_S
    async with httpx.AsyncClient(base_url=base_url, trust_env=False) as client:
        while server.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(httpx.TransportError):
                if (await client.get("/health/ready")).is_success:
                    return
            await asyncio.sleep(0.05)
    log = (folder / "serve.log").read_text("utf-8", "replace")[-2000:]
    if server.poll() is None:
        fail(f"the server was not ready within {_START_S:.0f} seconds. Its log:\n{log or '(empty)'}")
    fail(f"the server stopped with exit code {server.returncode}. Its log:\n{log or '(empty)'}")


def stop(server: LocalServer) -> None:
    server.send_signal(signal.SIGTERM)
    try:
        server.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
