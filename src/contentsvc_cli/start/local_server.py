import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import httpx

from contentsvc_cli.terminal.output import fail
from contentsvc_http.settings import Settings

_START_S: Final = 20.0
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


def start(settings: Settings, folder: Path, port: int, *, keep: bool = False) -> "subprocess.Popen[bytes]":
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


async def until_ready(base_url: str, folder: Path) -> None:
    """Wait until the server is ready, or raise ``ClickException`` with the end of its log."""
    deadline = time.monotonic() + _START_S
    async with httpx.AsyncClient(base_url=base_url, trust_env=False) as client:
        while time.monotonic() < deadline:
            with contextlib.suppress(httpx.TransportError):
                if (await client.get("/health/ready")).is_success:
                    return
            await asyncio.sleep(0.05)
    fail(f"the server did not start: {(folder / 'serve.log').read_text('utf-8', 'replace')[-2000:]}")


def stop(server: "subprocess.Popen[bytes]") -> None:
    server.send_signal(signal.SIGTERM)
    try:
        server.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
