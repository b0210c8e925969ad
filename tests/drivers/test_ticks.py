"""The server's tick, which is rare without connections."""

import asyncio
import socket
from email.utils import formatdate
from types import SimpleNamespace
from typing import Any

import pytest
import uvicorn
from uvicorn import server as uvicorn_server

from contentsvc_http.protocol import BoundedHttp
from contentsvc_http.server import Collector, Server

_LATER_S = 3600.0


async def _answer(_scope: object, _receive: object, send: Any) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


async def _nothing() -> None:
    pass


async def test_the_first_answer_after_a_pause_has_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(uvicorn_server, "time", SimpleNamespace(time=lambda: now))
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    config = uvicorn.Config(_answer, ws="none", lifespan="off", log_config=None, access_log=False, server_header=False)
    server = Server(config, BoundedHttp, _nothing, Collector())
    serving = asyncio.create_task(server.serve(sockets=[bound]))
    while not server.server_state.default_headers:
        await asyncio.sleep(0)

    now = _LATER_S
    reader, writer = await asyncio.open_connection(*bound.getsockname())
    writer.write(b"GET / HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n")
    answer = (await reader.read()).decode()
    writer.close()
    server.stop()
    await serving

    assert f"date: {formatdate(_LATER_S, usegmt=True)}" in answer
