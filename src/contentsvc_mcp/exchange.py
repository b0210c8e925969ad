"""Stateless MCP over HTTP (Streamable HTTP): one request message, one response, on any node."""

import asyncio
from collections.abc import Iterable
from typing import Any, Final, final

from attrs import field, frozen
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Message

_WITHHELD_HEADERS: Final = frozenset({b"authorization", b"cookie"})


@final
@frozen(kw_only=True)
class Exchanged:
    status: int
    #: Header names are in lower case.
    headers: tuple[tuple[str, str], ...] = field(converter=tuple)
    body: bytes


async def exchange(server: Server[Any], headers: Iterable[tuple[bytes, bytes]], body: bytes) -> Exchanged:
    """Return the response to a message sent by ``POST``. Names of headers are in lower case; ``body`` is complete."""
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/mcp",
        "raw_path": b"/mcp",
        "root_path": "",
        "query_string": b"",
        "headers": [(name, value) for name, value in headers if name not in _WITHHELD_HEADERS],
        "client": None,
        "server": None,
    }
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
    sent: list[Message] = []

    async def receive() -> Message:
        if not waiting:
            # A disconnect is detected when the response is written.
            await asyncio.Event().wait()
        return waiting.pop()

    async def send(message: Message) -> None:
        sent.append(message)

    manager = StreamableHTTPSessionManager(
        app=server, json_response=True, stateless=True, max_request_body_size=len(body) + 1
    )
    async with manager.run():
        await manager.handle_request(scope, receive, send)
    start, *parts = sent
    response_headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in start["headers"]]
    return Exchanged(
        status=start["status"],
        headers=[(name, value) for name, value in response_headers if name != "content-length"],
        body=b"".join(part.get("body", b"") for part in parts),
    )
