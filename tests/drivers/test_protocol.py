"""HTTP below ASGI: how answers are written to the connection."""

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest
from uvicorn import Config
from uvicorn.server import ServerState

from contentsvc_http.protocol import BoundedHttp, send_together

App = Callable[[Any, Any, Any], Any]
REQUEST = b"POST /%d HTTP/1.1\r\nHost: test\r\nContent-Length: 0\r\n\r\n"


class Connection(asyncio.Transport):
    """Notes each write."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []
        self.closed = False

    def write(self, data: Any) -> None:
        self.written.append(bytes(data))

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


def connected(app: App) -> tuple[BoundedHttp, Connection]:
    config = Config(cast("Any", app), lifespan="off", log_config=None, access_log=False)
    protocol = BoundedHttp(config, ServerState(), {})
    connection = Connection()
    protocol.connection_made(connection)
    return protocol, connection


async def served(protocol: BoundedHttp, requests: bytes) -> None:
    protocol.data_received(requests)
    while protocol.tasks:
        await asyncio.gather(*protocol.tasks)


async def answer(scope: Any, send: Any, *, together: bool) -> None:
    body = scope["path"].encode()
    if together:
        send_together(scope)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body, "more_body": False})


@pytest.mark.parametrize("together", [True, False])
async def test_head_and_body_are_one_write_when_that_is_asked_for(together: bool) -> None:
    async def app(scope: Any, _receive: Any, send: Any) -> None:
        await answer(scope, send, together=together)

    protocol, connection = connected(app)
    # The second comes before the first is answered.
    await served(protocol, REQUEST % 1 + REQUEST % 2)
    await served(protocol, REQUEST % 3)

    assert len(connection.written) == (3 if together else 6)
    answers = b"".join(connection.written).split(b"HTTP/1.1 200 OK\r\n")[1:]
    assert [each.rpartition(b"\r\n\r\n")[2] for each in answers] == [b"/1", b"/2", b"/3"]
    assert not connection.closed
    protocol.connection_lost(None)


async def test_the_answer_to_head_waits_for_no_body() -> None:
    async def app(scope: Any, _receive: Any, send: Any) -> None:
        await answer(scope, send, together=True)

    protocol, connection = connected(app)
    await served(protocol, b"HEAD /1 HTTP/1.1\r\nHost: test\r\n\r\n")

    assert b"".join(connection.written).startswith(b"HTTP/1.1 200 OK\r\n")
    protocol.connection_lost(None)


async def test_a_head_whose_body_never_comes_ends_the_connection() -> None:
    async def app(scope: Any, _receive: Any, send: Any) -> None:
        send_together(scope)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1")]})
        raise ZeroDivisionError

    protocol, connection = connected(app)
    await served(protocol, REQUEST % 1)

    assert connection.closed
    assert connection.written == []
    protocol.connection_lost(None)


async def test_another_server_sends_it_as_it_does() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    await answer({"type": "http", "path": "/"}, send, together=True)

    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
