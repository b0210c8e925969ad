"""Hostile input beside requests: dropped, counted, and refused in bounded memory."""

import asyncio
import contextlib
import gc
import logging
import re
import tracemalloc
import weakref
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any

import pytest
from tests.drivers.connections import HURRIED, MadeUpTime, connected, disconnected, served
from uvicorn import Config
from uvicorn.server import ServerState

from contentsvc_http.bounds import Bounds, Cause
from contentsvc_http.exchange import send_answer
from contentsvc_http.protocol import BoundedHttp

pytestmark = pytest.mark.usefixtures(disconnected.__name__)
CHUNKED = b"POST /1 HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n"
GET = b"GET /%d HTTP/1.1\r\nHost: test\r\n\r\n"


class Served:
    """Reads each body and answers with the path; records the requests."""

    def __init__(self) -> None:
        self.headers: list[dict[bytes, bytes]] = []
        self.bodies: list[bytes] = []
        self.left = 0
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body = b""
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                self.left += 1
                return
            body += message["body"]
            more = message["more_body"]
        self.headers.append(dict(scope["headers"]))
        self.bodies.append(body)
        await self.gate.wait()
        await send_answer(scope, send, 200, (), "r-1", scope["path"].encode())


def statuses(written: list[bytes]) -> list[str]:
    return [each.decode() for each in re.findall(rb"HTTP/1\.1 (\d{3}) ", b"".join(written))]


async def test_trailers_are_not_headers_of_this_or_the_next_request() -> None:
    app, counted = Served(), Counter[Cause]()
    protocol, connection = connected(app, counting=lambda cause, dropped: counted.update({cause: 1 + dropped}))
    forged = (
        b"X-Forwarded-For: 6.6.6.6\r\nAuthorization: Bearer k\r\nCookie: session=1\r\n"
        b"X-Hub-Signature-256: sha256=0\r\nExpect: 100-continue\r\n"
    )

    await served(protocol, CHUNKED + b"1\r\na\r\n0\r\n" + forged + b"\r\n" + GET % 2)

    assert app.bodies == [b"a", b""]
    assert app.headers == [{b"host": b"test", b"transfer-encoding": b"chunked"}, {b"host": b"test"}]
    assert statuses(connection.written) == ["200", "200"]
    assert counted == {Cause.TRAILER: 5 + len(forged)}


async def test_white_space_around_a_value_does_not_belong_to_it() -> None:
    app = Served()
    protocol, _ = connected(app)

    await served(protocol, b"GET /1 HTTP/1.1\r\nHost:\t test \t\r\nA:\r\nB: \t \r\nC: x  y \r\n\r\n")

    assert app.headers == [{b"host": b"test", b"a": b"", b"b": b"", b"c": b"x  y"}]


def endless_fields() -> Generator[bytes]:
    yield CHUNKED + b"1\r\na\r\n0\r\n"
    while True:
        yield b"a:\r\n" * 500


def endless_value() -> Generator[bytes]:
    yield CHUNKED + b"1\r\na\r\n0\r\na: "
    while True:
        yield b"x" * 2000


def endless_extension() -> Generator[bytes]:
    yield CHUNKED + b"1;a="
    while True:
        yield b"x" * 2000


def endless_extensions() -> Generator[bytes]:
    yield CHUNKED
    while True:
        yield (b"1;" + b"x" * 100 + b"\r\na\r\n") * 20


def one_large_read() -> Generator[bytes]:
    yield CHUNKED + b"1;" + b"x" * 250_000


@pytest.mark.parametrize(
    "sending", [endless_fields, endless_value, endless_extension, endless_extensions, one_large_read]
)
async def test_more_than_the_bound_beside_head_and_body_ends_the_connection(
    sending: Callable[[], Generator[bytes]],
) -> None:
    app, counted = Served(), Counter[Cause]()
    protocol, connection = connected(
        app, bounds=Bounds(beside=16 * 1024), counting=lambda cause, _dropped: counted.update([cause])
    )
    sent = 0
    for data in sending():
        protocol.data_received(data)
        await asyncio.sleep(0)
        sent += len(data)
        if connection.ended or sent > 400_000:
            break
    while protocol.tasks:
        await asyncio.sleep(0)

    assert connection.ended
    assert sent < 24 * 1024 or sending is one_large_read
    assert statuses(connection.written) == ["431"]
    assert (app.left, app.bodies, counted[Cause.BESIDE]) == (1, [], 1)


@pytest.mark.parametrize(("size", "number"), [(1, 6000), (7, 3000), (3000, 20)])
async def test_chunks_of_any_size_are_legal(size: int, number: int) -> None:
    app = Served()
    protocol, connection = connected(app, bounds=Bounds(beside=100))
    body = CHUNKED + (b"%08x\r\n%s\r\n" % (size, b"a" * size)) * number + b"0\r\n\r\n"
    for begin in range(0, len(body), 10_000):
        protocol.data_received(body[begin : begin + 10_000])
        await asyncio.sleep(0)
    while protocol.tasks:
        await asyncio.sleep(0)

    assert statuses(connection.written) == ["200"]
    assert app.bodies == [b"a" * size * number]


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\n" + b"a:\r\n" * 257 + b"\r\n",
        b"GET / HTTP/1.1\r\nHost: test\r\na: " + b"x" * 65_536 + b"\r\n\r\n",
    ],
    ids=["fields", "size"],
)
async def test_a_head_of_too_many_fields_or_bytes_is_refused_though_it_arrives_at_once(head: bytes) -> None:
    app = Served()
    protocol, connection = connected(app)
    await served(protocol, head)

    assert (statuses(connection.written), app.bodies, connection.ended) == (["431"], [], True)
    assert connection.written[-1].endswith(b'\r\n\r\n{"error":"Request header fields too large"}')


async def test_so_many_requests_are_parsed_ahead_and_answered_in_order_then_the_connection_ends() -> None:
    app, counted = Served(), Counter[Cause]()
    app.gate.clear()
    protocol, connection = connected(
        app, bounds=Bounds(ahead=3), counting=lambda cause, _dropped: counted.update([cause])
    )
    protocol.data_received(b"".join(GET % number for number in range(10)))
    await asyncio.sleep(0)
    assert (len(protocol.pipeline), connection.written, connection.ended) == (3, [], False)
    # Nothing more is parsed.
    protocol.data_received(GET % 11)
    app.gate.set()
    while protocol.tasks:
        await asyncio.sleep(0)

    assert [each[-2:] for each in connection.written] == [b"/0", b"/1", b"/2", b"/3"]
    assert connection.ended
    assert counted == {Cause.AHEAD: 1}


async def test_a_burst_of_requests_costs_no_memory() -> None:
    app = Served()
    app.gate.clear()
    burst = b"GET / HTTP/1.1\r\n\r\n" * 14_563
    protocol, _ = connected(app)
    tracemalloc.start()
    try:
        protocol.data_received(burst)
        held, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert held < 200_000
    assert most < 1_000_000
    app.gate.set()
    protocol.connection_lost(None)
    while protocol.tasks:
        await asyncio.sleep(0)


async def test_invalid_http_is_refused_after_the_pending_answers(caplog: pytest.LogCaptureFixture) -> None:
    app = Served()
    protocol, connection = connected(app)
    with caplog.at_level(logging.INFO):
        await served(protocol, GET % 1 + GET % 2 + b"no HTTP\r\n\r\n")

    assert statuses(connection.written) == ["200", "200", "400"]
    assert connection.written[-1].endswith(b'\r\n\r\n{"error":"Invalid HTTP request received."}')
    assert connection.ended
    assert caplog.records == []


async def test_a_faulty_body_is_refused_once_and_its_request_is_not_served() -> None:
    for before in (b"", GET % 1):
        app = Served()
        protocol, connection = connected(app)
        await served(protocol, before + CHUNKED + b"1\r\na\r\nno chunk\r\n")

        assert statuses(connection.written) == ["200"] * bool(before) + ["400"]
        assert app.bodies == [b""] * bool(before)
        assert connection.ended
        protocol.connection_lost(None)


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"POST / HTTP/1.0\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", "400"),
        (b"GET / HTTP/2.0\r\nHost: test\r\n\r\n", "505"),
        (b"GET / HTTP/0.9\r\nHost: test\r\n\r\n", "505"),
        (b"GET / HTTP/1.0\r\nHost: test\r\n\r\n", "200"),
        (b"GET / HTTP/1.0\r\n\r\n", "200"),
        (b"GET / HTTP/1.1\r\n\r\n", "400"),
        (b"GET / HTTP/1.1\r\nHost: test\r\nHost: test\r\n\r\n", "400"),
        (b"CONNECT test:443 HTTP/1.1\r\nHost: test\r\n\r\n", "400"),
    ],
)
async def test_http_versions_are_distinguished(request_: bytes, status: str) -> None:
    app = Served()
    protocol, connection = connected(app)
    await served(protocol, request_)

    assert statuses(connection.written) == [status]
    assert len(app.bodies) == (status == "200")


async def test_a_request_to_upgrade_the_protocol_is_ignored_and_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    app = Served()
    protocol, connection = connected(app)
    asking = b"GET /%d HTTP/1.1\r\nHost: test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    with caplog.at_level(logging.INFO):
        await served(protocol, asking % 1 + asking % 2)
        await served(protocol, GET % 3)

    assert statuses(connection.written) == ["200"] * 3
    assert caplog.records == []


@pytest.mark.parametrize("protocol_name", [b"websocket", b"h2c"])
@pytest.mark.parametrize("hidden", [GET % 2, CHUNKED + b"0\r\n\r\n"])
@pytest.mark.parametrize("is_chunked", [False, True])
@pytest.mark.parametrize("size", [1, 60, 1000])
async def test_the_body_of_a_request_that_asks_for_another_protocol_is_not_the_next_request(
    protocol_name: bytes, hidden: bytes, is_chunked: bool, size: int
) -> None:
    app = Served()
    protocol, connection = connected(app)
    head = b"POST /1 HTTP/1.1\r\nHost: test\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: %b\r\n" % protocol_name
    framed = b"Content-Length: %d\r\n\r\n%b" % (len(hidden), hidden)
    if is_chunked:
        framed = b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(hidden), hidden)
    sent = GET % 0 + head + framed
    for start in range(0, len(sent), size):
        protocol.data_received(sent[start : start + size])
    await served(protocol, GET % 3)

    assert statuses(connection.written) == ["200"] * 3
    assert app.bodies == [b"", hidden, b""]


async def test_a_request_without_a_body_may_ask_for_another_protocol() -> None:
    app = Served()
    protocol, connection = connected(app)
    await served(
        protocol,
        b"GET /1 HTTP/1.1\r\nHost: test\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 0\r\n\r\n" + GET % 2,
    )
    assert statuses(connection.written) == ["200", "200"]


async def test_a_sender_without_end_is_read_on_for_so_many_bytes() -> None:
    protocol, connection = connected(Served(), bounds=Bounds(linger=1000))
    await served(protocol, b"no HTTP\r\n\r\n")
    protocol.data_received(b"x" * 1000)
    assert not connection.aborted
    protocol.data_received(b"x")
    assert connection.aborted


async def unread(scope: Any, _receive: Any, send: Any) -> None:
    """Answer without reading the body, and continue with the connection."""
    await send_answer(scope, send, 404, (), "r-1", b"unknown")


async def test_the_rest_of_a_body_that_was_answered_is_dropped_up_to_a_bound_and_the_connection_goes_on() -> None:
    protocol, connection = connected(unread, bounds=Bounds(linger=1000))
    for _ in range(3):
        await served(protocol, CHUNKED)
        for _ in range(10):
            protocol.data_received(b"64\r\n" + b"x" * 100 + b"\r\n")
        protocol.data_received(b"0\r\n\r\n")
    assert (connection.closed, statuses(connection.written)) == (False, ["404"] * 3)

    await served(protocol, CHUNKED)
    for _ in range(10):
        protocol.data_received(b"64\r\n" + b"x" * 100 + b"\r\n")
    assert not connection.closed
    protocol.data_received(b"1\r\nx\r\n")
    assert (connection.closed, statuses(connection.written)) == (True, ["404"] * 4)


async def test_a_sender_that_never_stops_reads_its_answer_and_is_closed_and_costs_no_memory() -> None:
    async def refusing(scope: Any, _receive: Any, send: Any) -> None:
        await send_answer(scope, send, 413, ((b"connection", b"close"),), "r-1", b"too large")

    piece = b"10000\r\n" + b"x" * 65_536 + b"\r\n"
    bounds = Bounds(linger=32 * 1024 * 1024, linger_s=60)
    for app, status in ((refusing, b"413"), (unread, b"404")):
        async with listening(app, bounds) as (port, _):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            tracemalloc.start()
            sent = 0
            try:
                writer.write(CHUNKED)
                async with asyncio.timeout(20):
                    assert (await reader.readline()).startswith(b"HTTP/1.1 " + status)
                    with contextlib.suppress(ConnectionError):
                        while True:
                            writer.write(piece)
                            await writer.drain()
                            sent += len(piece)
                _, most = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
                writer.transport.abort()
        # The bound, plus the buffers of both sockets and of the sender.
        assert bounds.linger <= sent < bounds.linger + 16 * 1024 * 1024
        assert most < 4 * 1024 * 1024


async def test_a_sender_without_end_is_read_on_for_so_long() -> None:
    with MadeUpTime() as clock:
        protocol, connection = connected(Served(), bounds=HURRIED)
        await served(protocol, b"no HTTP\r\n\r\n")
        assert not connection.aborted

        await clock.passes(0.2)

        assert connection.aborted


@contextlib.asynccontextmanager
async def listening(
    app: Any, bounds: Bounds | None = None
) -> AsyncGenerator[tuple[int, list["weakref.ref[BoundedHttp]"]]]:
    """Serve on a real socket; return its port, and the protocol of each connection."""
    config = Config(app, lifespan="off", log_config=None, access_log=False)
    state = ServerState()
    made: list[weakref.ref[BoundedHttp]] = []

    def protocol() -> BoundedHttp:
        one = BoundedHttp(config, state, {}, bounds=bounds)
        made.append(weakref.ref(one))
        return one

    server = await asyncio.get_running_loop().create_server(protocol, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], made
    finally:
        server.close()
        async with asyncio.timeout(20):
            while state.connections:
                await asyncio.sleep(0.001)


async def test_the_answer_to_a_body_that_is_not_read_arrives() -> None:
    async def refusing(scope: Any, _receive: Any, send: Any) -> None:
        await send_answer(scope, send, 413, ((b"connection", b"close"),), "r-1", b"too large")

    size = 4_000_000
    async with listening(refusing) as (port, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST / HTTP/1.1\r\nHost: test\r\nContent-Length: %d\r\n\r\n" % size)
        # The client sends everything before it reads, as many clients do.
        for _ in range(size // 100_000):
            writer.write(b"x" * 100_000)
            await writer.drain()
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()

    assert answer.startswith(b"HTTP/1.1 413 ")
    assert answer.endswith(b"too large")


@pytest.mark.parametrize(
    "sent",
    [
        GET % 1,
        GET % 1 + GET % 2,
        b"POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 9\r\n\r\nx",
        CHUNKED + b"1\r\na\r\n0\r\n" + b"a:\r\n" * 5000,
        (GET % 1) * 40,
        b"no HTTP\r\n\r\n",
        b"GET / HTTP/1.1\r\n",
    ],
    ids=["served", "pipelined", "cut off", "trailers", "ahead", "malformed", "head"],
)
async def test_a_connection_leaves_nothing_for_the_collector(sent: bytes) -> None:
    gc.disable()
    try:
        async with listening(Served()) as (port, made):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(sent)
            if sent.endswith(b"\r\n\r\n"):
                await reader.readline()
            else:
                await writer.drain()
                await asyncio.sleep(0)
            writer.transport.abort()
            async with asyncio.timeout(20):
                while not made or made[0]() is not None:
                    await asyncio.sleep(0.001)
    finally:
        gc.enable()


async def test_a_request_leaves_nothing_for_the_collector() -> None:
    scopes: list[weakref.ref[Any]] = []

    class Noted:
        pass

    async def app(scope: Any, receive: Any, send: Any) -> None:
        scope["noted"] = noted = Noted()
        scopes.append(weakref.ref(noted))
        assert (await receive())["body"] == b""
        await send_answer(scope, send, 200, (), "r-1", b"")

    protocol, _ = connected(app)
    gc.disable()
    try:
        for number in range(3):
            await served(protocol, GET % number)
        # A task that has ended refers to its cycle until the next turn.
        await asyncio.sleep(0)
        assert [each() is None for each in scopes[:2]] == [True, True]
    finally:
        gc.enable()
