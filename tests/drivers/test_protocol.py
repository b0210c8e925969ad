"""HTTP below ASGI: answers on the connection."""

import asyncio
import gc
import weakref
from typing import Any, cast

import pytest
from tests.drivers.connections import HURRIED, REQUEST, Connection, MadeUpTime, connected, disconnected, served
from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from contentsvc_core import Address, Headers
from contentsvc_http.bounds import Bounds
from contentsvc_http.exchange import Exchange, send_answer

pytestmark = pytest.mark.usefixtures(disconnected.__name__)
HEADERS = ((b"content-type", b"application/json"),)


ADDRESS = Address(provider="codehost", organization_id="org_1", integration_id="int_1", repository_id=1)
DELIVERY = b"POST /api/webhooks/codehost/org_1/int_1/1 HTTP/1.1\r\nHost: test\r\n%sContent-Length: 4\r\n\r\n"


class Taken:
    """Accepts deliveries with small bodies, and answers at :meth:`answer`."""

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []

    def find(self, target: bytes, headers: Headers) -> tuple[Address, str] | None:
        return None if b"expect" in headers.names or b"/webhooks/" not in target else (ADDRESS, target.decode())

    def take(self, exchange: Exchange) -> None:
        exchange.request_id = "r-1"
        self.exchanges.append(exchange)

    def stop(self, exchange: Exchange) -> None:
        exchange.answer(503, (*HEADERS, (b"connection", b"close")), b"{}")

    def answer(self, status: int = 200, headers: Any = HEADERS) -> None:
        exchange = self.exchanges.pop(0)
        exchange.answer(status, headers, exchange.delivery.body)


async def echo(scope: Any, receive: Any, send: Any) -> None:
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message["body"], message["more_body"]
    await send_answer(scope, send, 200, HEADERS, "r-1", b"app:" + body)


@pytest.mark.parametrize("asked", [b"", b"Connection: close\r\n", b"Connection: keep-alive\r\n"])
@pytest.mark.parametrize(("status", "headers"), [(200, HEADERS), (413, (*HEADERS, (b"connection", b"close")))])
@pytest.mark.parametrize("version", [b"1.1", b"1.0"])
async def test_an_exchange_is_answered_as_the_server_would_answer(
    version: bytes, asked: bytes, status: int, headers: Any
) -> None:
    async def app(scope: Any, _receive: Any, send: Any) -> None:
        await send_answer(scope, send, status, headers, "r-1", b"1234")

    taken = Taken()
    found: list[tuple[bytes, bool]] = []
    for webhooks in (taken, None):
        protocol, connection = connected(app, webhooks=webhooks)
        protocol.data_received(DELIVERY.replace(b"1.1", version) % asked + b"1234")
        if webhooks is not None:
            taken.answer(status, headers)
        while protocol.tasks:
            await asyncio.sleep(0)
        found.append((b"".join(connection.written), connection.closed))
        assert len(connection.written) == 1 or webhooks is None
        protocol.connection_lost(None)

    assert found[0] == found[1]
    answer, closed = found[0]
    head, _, body = answer.partition(b"\r\n\r\n")
    line, *fields = head.split(b"\r\n")
    assert closed == (version == b"1.0" or b"close" in asked or status == 413)
    expected = [b"date: Thu, 01 Jan 2026 00:00:00 GMT", b"content-length: 4", b"content-type: application/json"]
    expected += [b"x-request-id: r-1", *([b"connection: close"] if closed else [])]
    assert (line[:13], sorted(fields), body) == (b"HTTP/1.1 %d " % status, sorted(expected), b"1234")


async def test_an_answer_to_head_has_no_body() -> None:
    protocol, connection = connected(echo)
    await served(protocol, b"HEAD / HTTP/1.1\r\nHost: test\r\n\r\n" + REQUEST % 1)

    answers = b"".join(connection.written).split(b"HTTP/1.1 200 OK\r\n")[1:]
    assert [each.rpartition(b"\r\n\r\n")[2] for each in answers] == [b"", b"app:"]
    assert b"content-length: 4\r\n" in answers[0]


async def test_deliveries_and_requests_on_one_connection_are_answered_in_order() -> None:
    taken = Taken()
    protocol, connection = connected(echo, webhooks=taken)
    protocol.data_received(DELIVERY % b"" + b"1111" + REQUEST % 1 + DELIVERY % b"" + b"2222" + DELIVERY % b"" + b"3333")
    await asyncio.sleep(0)
    assert (len(taken.exchanges), connection.written) == (1, [])
    # The connection is not read while the client waits for answers.
    assert protocol.flow.read_paused
    assert taken.exchanges[0].delivery.peer == "192.0.2.7"
    taken.answer()
    while protocol.tasks:
        await asyncio.sleep(0)
    for _ in range(2):
        taken.answer()
    assert not protocol.flow.read_paused
    # One more request, after all answers.
    protocol.data_received(DELIVERY % b"" + b"4444")
    taken.answer()

    answers = b"".join(connection.written).split(b"HTTP/1.1 200 OK\r\n")[1:]
    assert [each.rpartition(b"\r\n\r\n")[2] for each in answers] == [b"1111", b"app:", b"2222", b"3333", b"4444"]
    assert not connection.closed


async def test_a_delivery_that_does_not_arrive_whole_is_the_applications() -> None:
    taken = Taken()
    protocol, connection = connected(echo, webhooks=taken)
    protocol.data_received(DELIVERY % b"" + b"12")
    await asyncio.sleep(0)
    await served(protocol, b"34")
    # The next request waits for `100 Continue`.
    protocol.data_received(DELIVERY % b"Expect: 100-continue\r\n")
    await asyncio.sleep(0)
    await served(protocol, b"5678")
    # Neither of these requests waits.
    for field in (b"Expect: an answer\r\n", b"Note: 100-continue\r\n"):
        protocol.data_received(DELIVERY % field)
        await asyncio.sleep(0)
        await served(protocol, b"9012")

    assert taken.exchanges == []
    written = b"".join(connection.written)
    assert (written.count(b"app:1234"), written.count(b"app:5678"), written.count(b"HTTP/1.1 100")) == (1, 1, 1)


async def test_the_application_gets_the_scope_that_the_server_would_make() -> None:
    scopes: list[Any] = []

    async def app(scope: Any, _receive: Any, send: Any) -> None:
        scopes.append(scope)
        await send_answer(scope, send, 200, HEADERS, "r-1", b"{}")

    protocol, _ = connected(app)
    plain = HttpToolsProtocol(Config(cast("Any", app), lifespan="off", log_config=None), ServerState(), {})
    plain.connection_made(Connection())
    for each in (protocol, plain):
        await served(each, REQUEST.replace(b"/%d", b"/a%%20b?c=d"))
        each.connection_lost(None)

    assert scopes[0] == scopes[1]


async def test_nothing_is_written_to_a_sender_that_went_away() -> None:
    taken = Taken()
    protocol, connection = connected(echo, webhooks=taken)
    protocol.data_received((DELIVERY % b"" + b"1234") * 2)
    protocol.connection_lost(None)
    taken.answer()

    # The second request has not begun, and never begins.
    assert (connection.written, taken.exchanges) == ([], [])


async def test_no_request_of_a_lost_connection_is_answered_further() -> None:
    begun = asyncio.Event()
    lost = asyncio.Event()

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        begun.set()
        await lost.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"long"})

    protocol, connection = connected(app)
    # The application answers the first request, and the second one waits.
    protocol.data_received(REQUEST % 1 + REQUEST % 2)
    await begun.wait()
    protocol.connection_lost(None)
    lost.set()
    while protocol.tasks:
        await asyncio.sleep(0)

    assert connection.written == []


async def test_an_answer_waits_for_a_sender_that_does_not_read() -> None:
    taken = Taken()
    protocol, connection = connected(echo, webhooks=taken)
    protocol.data_received((DELIVERY % b"" + b"1234") * 2)
    protocol.pause_writing()
    taken.answer()
    assert (connection.written, taken.exchanges) == ([], [])

    protocol.resume_writing()
    taken.answer()
    assert [each[-4:] for each in connection.written] == [b"1234"] * 2

    # Also an answer of the application.
    protocol.pause_writing()
    protocol.data_received(REQUEST % 1)
    for _ in range(5):
        await asyncio.sleep(0)
    assert len(connection.written) == 2
    protocol.resume_writing()
    while protocol.tasks:
        await asyncio.sleep(0)
    assert b"".join(connection.written).endswith(b"app:")


@pytest.mark.parametrize("answered", [0, 1])
async def test_at_the_end_of_the_grace_a_delivery_is_answered_with_503(answered: int) -> None:
    taken = Taken()
    protocol, connection = connected(echo, webhooks=taken)
    protocol.data_received((DELIVERY % b"" + b"1234") * 2)
    for _ in range(answered):
        taken.answer()
    protocol.shutdown()
    protocol.stop()

    assert [each[:12] for each in connection.written] == [b"HTTP/1.1 200"] * answered + [b"HTTP/1.1 503"]
    assert connection.closed


async def answering(scope: Any, _receive: Any, send: Any) -> None:
    await send_answer(scope, send, 200, HEADERS, "r-1", b"{}")


async def no_app(_scope: Any, _receive: Any, _send: Any) -> None:
    message = "the application must not be called"
    raise AssertionError(message)


async def ended(connection: Connection) -> None:
    async with asyncio.timeout(5):
        while not connection.closed and not connection.aborted:
            await asyncio.sleep(0.01)


async def test_a_silent_client_is_disconnected() -> None:
    _, connection = connected(no_app, bounds=HURRIED)

    await ended(connection)

    assert connection.written == []


async def test_a_head_that_comes_byte_by_byte_has_an_end() -> None:
    protocol, connection = connected(no_app, bounds=HURRIED)

    async def trickle() -> None:
        for byte in b"POST / HTTP/1.1\r\nX: " + b"x" * 10_000:
            protocol.data_received(bytes([byte]))
            await asyncio.sleep(0.005)

    trickling = asyncio.create_task(trickle())
    await ended(connection)
    trickling.cancel()

    assert b"".join(connection.written).startswith(b"HTTP/1.1 408 Request Timeout\r\n")
    assert b'{"error":"The request did not arrive in time"}' in b"".join(connection.written)


async def test_a_body_sent_byte_by_byte_has_a_time_limit_for_any_reader() -> None:
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


async def test_a_late_head_and_a_late_body_share_one_time_limit() -> None:
    async def app(_scope: Any, receive: Any, _send: Any) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    with MadeUpTime() as clock:
        protocol, connection = connected(app, bounds=Bounds(look_s=0.01, slow_body_s=0.5))
        protocol.data_received(b"POST / HTTP/1.1\r\n")
        # The time limit of both together; a head alone may take longer here.
        await clock.passes(0.5)
        assert not connection.closed
        protocol.data_received(b"Host: test\r\nContent-Length: 10000\r\n\r\n")
        await clock.passes(0.1)
        assert connection.closed

    assert b"".join(connection.written).startswith(b"HTTP/1.1 408 Request Timeout\r\n")
    protocol.connection_lost(None)
    while protocol.tasks:
        await asyncio.sleep(0)


async def test_a_refused_client_that_does_not_read_is_disconnected() -> None:
    with MadeUpTime() as clock:
        protocol, connection = connected(no_app, bounds=HURRIED)
        protocol.data_received(b"POST / HTTP/1.1\r\n")
        while not connection.closed:
            await clock.passes(0.01)
        assert not connection.aborted

        await clock.passes(0.2)

        assert connection.aborted
        protocol.connection_lost(None)

        # A client that does not read the end of an answer is also disconnected.
        protocol, connection = connected(no_app, bounds=HURRIED)
        connection.unread = 100
        connection.close()
        await clock.passes(0.2)

        assert connection.aborted


async def test_a_client_that_does_not_read_its_answer_is_disconnected() -> None:
    protocol, connection = connected(answering, bounds=HURRIED)
    await served(protocol, REQUEST % 1)
    protocol.pause_writing()

    await ended(connection)

    assert connection.aborted


async def test_a_client_that_reads_slowly_stays_connected_while_it_reads() -> None:
    with MadeUpTime() as clock:
        protocol, connection = connected(answering, bounds=HURRIED)
        await served(protocol, REQUEST % 1)
        protocol.pause_writing()
        for left in range(20, 0, -1):
            connection.unread = left * 64 * 1024
            await clock.passes(0.02)
        assert not connection.aborted

        await clock.passes(0.1)

        assert connection.aborted


async def test_an_idle_connection_is_closed_after_its_last_answer() -> None:
    taken = Taken()
    with MadeUpTime() as clock:
        protocol, connection = connected(echo, bounds=Bounds(look_s=0.01), webhooks=taken)
        protocol.timeout_keep_alive = cast("Any", 0.1)
        for _ in range(2):
            protocol.data_received(DELIVERY % b"" + b"1234")
            await clock.passes(0.08)
            taken.answer()
            await clock.passes(0.08)
        assert not connection.closed

        await clock.passes(0.04)

        assert connection.closed


async def test_a_slow_answer_does_not_count_against_the_client() -> None:
    async def app(scope: Any, _receive: Any, send: Any) -> None:
        await asyncio.sleep(0.2)
        await send_answer(scope, send, 200, HEADERS, "r-1", scope["path"].encode())

    protocol, connection = connected(app, bounds=HURRIED)
    for number in range(2):
        await served(protocol, REQUEST % number)

    assert not connection.closed
    assert [each[-2:] for each in connection.written] == [b"/0", b"/1"]


async def test_a_connection_beyond_the_maximum_gets_503_and_the_others_are_served() -> None:
    state = ServerState()
    served_ones = [connected(answering, state, most=3) for _ in range(2)]
    _, refused = connected(answering, state, most=3)

    assert refused.closed
    answer = b"".join(refused.written)
    assert answer.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
    assert b"\r\nretry-after: 1\r\n" in answer
    assert answer.endswith(b'{"error":"Too many connections"}')
    for protocol, connection in served_ones:
        await served(protocol, REQUEST % 1)
        assert b"".join(connection.written).startswith(b"HTTP/1.1 200 OK\r\n")
    served_ones.pop()[0].connection_lost(None)
    # There is room again.
    protocol, connection = connected(answering, state, most=3)
    await served(protocol, REQUEST % 1)
    assert b"".join(connection.written).startswith(b"HTTP/1.1 200 OK\r\n")
    for each, _ in (*served_ones, (protocol, connection)):
        each.connection_lost(None)


@pytest.mark.parametrize(("answered", "is_read"), [(0, True), (1, True), (1, False), (2, True)])
async def test_a_connection_that_is_lost_is_no_garbage_for_the_collector(answered: int, is_read: bool) -> None:
    taken = Taken()
    protocol, connection = connected(echo, webhooks=taken)
    alive = weakref.ref(protocol)
    gc.disable()
    try:
        protocol.data_received((DELIVERY % b"" + b"1234") * 2)
        if not is_read:
            protocol.pause_writing()
        for _ in range(answered):
            taken.answer()
        protocol.connection_lost(None)
        while taken.exchanges:
            taken.answer()
        del protocol, connection
        # The loop's timers hold the connection until its next turn.
        await asyncio.sleep(0)
        assert alive() is None
    finally:
        gc.enable()
