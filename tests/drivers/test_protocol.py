"""HTTP below ASGI: how answers are written to the connection."""

import asyncio
from typing import Any, cast

import pytest
from tests.drivers.connections import HURRIED, REQUEST, Connection, MadeUpTime, connected, served
from uvicorn.server import ServerState

from contentsvc_http.bounds import Bounds
from contentsvc_http.exchange import body_at_hand, send_answer

HEADERS = ((b"content-type", b"application/json"), (b"x-request-id", b"r-1"))


async def as_messages(scope: Any, send: Any, status: int, headers: Any, body: bytes) -> None:
    """Send an answer as the interface has it."""
    length = [] if status == 204 else [(b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": [*length, *headers]})
    await send({"type": "http.response.body", "body": body, "more_body": False})


@pytest.mark.parametrize("together", [True, False])
async def test_head_and_body_are_one_write_when_that_is_asked_for(together: bool) -> None:
    async def app(scope: Any, _receive: Any, send: Any) -> None:
        await (send_answer if together else as_messages)(scope, send, 200, HEADERS, scope["path"].encode())

    protocol, connection = connected(app)
    # The second comes before the first is answered.
    await served(protocol, REQUEST % 1 + REQUEST % 2)
    await served(protocol, REQUEST % 3)

    assert len(connection.written) == (3 if together else 6)
    answers = b"".join(connection.written).split(b"HTTP/1.1 200 OK\r\n")[1:]
    assert [each.rpartition(b"\r\n\r\n")[2] for each in answers] == [b"/1", b"/2", b"/3"]
    assert not connection.closed
    protocol.connection_lost(None)


@pytest.mark.parametrize("asked", [b"", b"Connection: close\r\n"])
@pytest.mark.parametrize(
    ("status", "headers", "body"),
    [
        (200, HEADERS, b"{}"),
        (413, (*HEADERS, (b"connection", b"close")), b"{}"),
        (204, ((b"allow", b"POST, OPTIONS"),), b""),
    ],
)
async def test_it_is_the_answer_that_the_server_would_have_written(
    asked: bytes, status: int, headers: Any, body: bytes
) -> None:
    found: list[tuple[bytes, bool]] = []
    for way in (send_answer, as_messages):

        async def app(scope: Any, _receive: Any, send: Any, way: Any = way) -> None:
            await way(scope, send, status, headers, body)

        protocol, connection = connected(app)
        await served(protocol, b"POST / HTTP/1.1\r\nHost: test\r\n%sContent-Length: 0\r\n\r\n" % asked)
        found.append((b"".join(connection.written), connection.closed))
        assert b"date: " in b"".join(connection.written)
        protocol.connection_lost(None)

    assert found[0] == found[1]


@pytest.mark.parametrize("method", [b"HEAD", b"GET"])
async def test_the_answer_to_head_has_no_body(method: bytes) -> None:
    async def app(scope: Any, _receive: Any, send: Any) -> None:
        await send_answer(scope, send, 200, HEADERS, b"{}")

    protocol, connection = connected(app)
    await served(protocol, b"%s /1 HTTP/1.1\r\nHost: test\r\n\r\n" % method)

    written = b"".join(connection.written)
    assert written.startswith(b"HTTP/1.1 200 OK\r\ndate: ")
    assert b"content-length: 2\r\n" in written
    assert written.endswith(b"\r\n\r\n" if method == b"HEAD" else b"\r\n\r\n{}")
    protocol.connection_lost(None)


async def test_nothing_is_written_to_a_client_that_went_away() -> None:
    async def app(scope: Any, _receive: Any, send: Any) -> None:
        protocol.connection_lost(None)
        await send_answer(scope, send, 200, HEADERS, b"{}")

    protocol, connection = connected(app)
    await served(protocol, REQUEST % 1)

    assert connection.written == []


async def test_a_second_answer_is_refused() -> None:
    refused: list[str] = []

    async def app(scope: Any, _receive: Any, send: Any) -> None:
        await send_answer(scope, send, 200, HEADERS, b"{}")
        try:
            await send_answer(scope, send, 200, HEADERS, b"{}")
        except RuntimeError as exc:
            refused.append(str(exc))

    protocol, connection = connected(app)
    await served(protocol, REQUEST % 1)

    assert (len(refused), len(connection.written)) == (1, 1)
    protocol.connection_lost(None)


async def test_a_client_that_does_not_read_is_waited_for() -> None:
    async def app(scope: Any, _receive: Any, send: Any) -> None:
        await send_answer(scope, send, 200, HEADERS, b"{}")

    protocol, connection = connected(app)
    protocol.pause_writing()
    protocol.data_received(REQUEST % 1)
    await asyncio.sleep(0.01)
    assert connection.written == []

    protocol.resume_writing()
    while protocol.tasks:
        await asyncio.sleep(0)
    assert b"".join(connection.written).endswith(b"{}")
    protocol.connection_lost(None)


async def test_a_body_that_came_with_the_head_is_at_hand_and_no_other() -> None:
    at_hand: list[bytes | None] = []
    asked: list[bytes] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        body = body_at_hand(receive)
        at_hand.append(body)
        more = body is None
        while more:
            message = await receive()
            asked.append(message["body"])
            more = message["more_body"]
        await send_answer(scope, send, 200, HEADERS, b"{}")

    protocol, connection = connected(app)
    head = b"POST / HTTP/1.1\r\nHost: test\r\n%sContent-Length: 4\r\n\r\n"
    await served(protocol, head % b"" + b"1234")
    # In two parts.
    protocol.data_received(head % b"" + b"12")
    await asyncio.sleep(0)
    await served(protocol, b"34")
    # It wants to be told to go on: by the interface, which does that.
    await served(protocol, head % b"Expect: 100-continue\r\n" + b"5678")

    assert at_hand == [b"1234", None, None]
    assert b"".join(asked) == b"12345678"
    assert connection.written[-2].startswith(b"HTTP/1.1 100")
    protocol.connection_lost(None)


async def test_another_server_sends_it_and_is_asked_as_it_does() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError

    scope: Any = {"type": "http", "method": "POST", "path": "/"}
    await send_answer(scope, cast("Any", send), 200, HEADERS, b"{}")

    assert body_at_hand(cast("Any", receive)) is None
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    assert sent[0]["headers"] == [(b"content-length", b"2"), *HEADERS]


async def nobody(_scope: Any, _receive: Any, _send: Any) -> None:
    message = "nobody is to be asked"
    raise AssertionError(message)


async def ended(connection: Connection) -> None:
    async with asyncio.timeout(5):
        while not connection.closed and not connection.aborted:
            await asyncio.sleep(0.01)


async def test_who_says_nothing_is_sent_away() -> None:
    protocol, connection = connected(nobody, bounds=HURRIED)

    await ended(connection)

    assert connection.written == []
    protocol.connection_lost(None)


async def test_a_head_that_comes_byte_by_byte_has_an_end() -> None:
    protocol, connection = connected(nobody, bounds=HURRIED)

    async def trickle() -> None:
        for byte in b"POST / HTTP/1.1\r\nX: " + b"x" * 10_000:
            protocol.data_received(bytes([byte]))
            await asyncio.sleep(0.005)

    trickling = asyncio.create_task(trickle())
    await ended(connection)
    trickling.cancel()

    assert b"".join(connection.written).startswith(b"HTTP/1.1 408 Request Timeout\r\n")
    assert b'{"error":"The request did not arrive in time"}' in b"".join(connection.written)
    protocol.connection_lost(None)


async def test_a_body_that_comes_byte_by_byte_has_an_end_whoever_reads_it() -> None:
    heard: list[Any] = []

    async def app(_scope: Any, receive: Any, _send: Any) -> None:
        while True:
            message = await receive()
            heard.append(message["type"])
            if message["type"] == "http.disconnect":
                return

    protocol, connection = connected(app, bounds=HURRIED)
    protocol.data_received(b"POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 10000\r\n\r\n")

    async def trickle() -> None:
        while not connection.closed:
            protocol.data_received(b"x")
            await asyncio.sleep(0.005)

    await asyncio.gather(trickle(), ended(connection))
    protocol.connection_lost(None)
    while protocol.tasks:
        await asyncio.sleep(0)

    assert b"".join(connection.written).startswith(b"HTTP/1.1 408 Request Timeout\r\n")
    assert heard[-1] == "http.disconnect"


async def test_who_is_late_with_head_and_body_has_no_more_time_than_who_is_late_with_one() -> None:
    async def app(_scope: Any, receive: Any, _send: Any) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    with MadeUpTime() as clock:
        protocol, connection = connected(app, bounds=Bounds(look_s=0.01, slow_body_s=0.5))
        protocol.data_received(b"POST / HTTP/1.1\r\n")
        # As long as both together may take; a head alone may take longer here.
        await clock.passes(0.5)
        assert not connection.closed
        protocol.data_received(b"Host: test\r\nContent-Length: 10000\r\n\r\n")
        await clock.passes(0.1)
        assert connection.closed

    assert b"".join(connection.written).startswith(b"HTTP/1.1 408 Request Timeout\r\n")
    protocol.connection_lost(None)
    while protocol.tasks:
        await asyncio.sleep(0)


async def test_who_does_not_read_why_is_not_waited_for() -> None:
    protocol, connection = connected(nobody, bounds=HURRIED)
    protocol.data_received(b"POST / HTTP/1.1\r\n")
    await ended(connection)
    assert not connection.aborted

    async with asyncio.timeout(5):
        while not connection.aborted:
            await asyncio.sleep(0.01)
    protocol.connection_lost(None)

    # Nor for who does not read the end of an answer, however little that is.
    protocol, connection = connected(nobody, bounds=HURRIED)
    connection.unread = 100
    connection.close()
    async with asyncio.timeout(5):
        while not connection.aborted:
            await asyncio.sleep(0.01)
    protocol.connection_lost(None)


async def test_who_does_not_read_an_answer_is_sent_away() -> None:
    async def app(scope: Any, _receive: Any, send: Any) -> None:
        await send_answer(scope, send, 200, HEADERS, b"{}")

    protocol, connection = connected(app, bounds=HURRIED)
    await served(protocol, REQUEST % 1)
    protocol.pause_writing()

    await ended(connection)

    assert connection.aborted
    protocol.connection_lost(None)


async def test_who_reads_a_large_answer_slowly_is_not_sent_away_as_long_as_it_goes_on() -> None:
    async def app(scope: Any, _receive: Any, send: Any) -> None:
        await send_answer(scope, send, 200, HEADERS, b"{}")

    with MadeUpTime() as clock:
        protocol, connection = connected(app, bounds=HURRIED)
        await served(protocol, REQUEST % 1)
        protocol.pause_writing()
        for left in range(20, 0, -1):
            connection.unread = left * 64 * 1024
            await clock.passes(0.02)
        assert not connection.aborted

        await clock.passes(0.1)

        assert connection.aborted
    protocol.connection_lost(None)


async def test_who_is_answered_slowly_is_not_sent_away_and_moves_on() -> None:
    async def app(scope: Any, _receive: Any, send: Any) -> None:
        await asyncio.sleep(0.2)
        await send_answer(scope, send, 200, HEADERS, scope["path"].encode())

    protocol, connection = connected(app, bounds=HURRIED)
    for number in range(2):
        await served(protocol, REQUEST % number)

    assert not connection.closed
    assert [each[-2:] for each in connection.written] == [b"/0", b"/1"]
    protocol.connection_lost(None)


async def test_beyond_the_most_connections_a_new_one_is_told_to_come_again_and_the_others_are_served() -> None:
    async def app(scope: Any, _receive: Any, send: Any) -> None:
        await send_answer(scope, send, 200, HEADERS, b"{}")

    state = ServerState()
    served_ones = [connected(app, state, most=3) for _ in range(2)]
    _, refused = connected(app, state, most=3)

    assert refused.closed
    told = b"".join(refused.written)
    assert told.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
    assert b"\r\nretry-after: 1\r\n" in told
    assert told.endswith(b'{"error":"Too many connections"}')
    for protocol, connection in served_ones:
        await served(protocol, REQUEST % 1)
        assert b"".join(connection.written).startswith(b"HTTP/1.1 200 OK\r\n")
    served_ones.pop()[0].connection_lost(None)
    # There is room again.
    protocol, connection = connected(app, state, most=3)
    await served(protocol, REQUEST % 1)
    assert b"".join(connection.written).startswith(b"HTTP/1.1 200 OK\r\n")
    for each, _ in (*served_ones, (protocol, connection)):
        each.connection_lost(None)
