"""A delivery on a connection, from its head to its answer. Without ASGI: the answer is a single packet."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar, Final, Protocol, TypeAlias, cast, final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from contentsvc_core.webhooks.delivery import Address, Delivery, Headers
from contentsvc_http.asgi import HTTPScope, Send
from contentsvc_http.deliveries import DeliveryProgress
from contentsvc_http.logs import REQUEST_ID_HEADER

_Fields: TypeAlias = Sequence[tuple[bytes, bytes]]
_NO_CONTENT: Final = 204
_CLOSE: Final = (b"connection", b"close")


class _NoEvent:
    def set(self) -> None:
        pass


@final
class Exchange(DeliveryProgress, kw_only=True):
    """A delivery on a connection, from its last byte to its answer. It implements the interface of uvicorn's cycles."""

    #: ``None``: answered or dropped. Without this, both objects would be a reference cycle.
    protocol: "ExchangingHttp | None"
    path: str
    keep_alive: bool
    request_id: str = ""
    #: The status of the answer; 0: not answered yet.
    status: int = 0
    response_complete: bool = False
    disconnected: bool = False
    #: Attributes that uvicorn reads from a cycle.
    response_started: ClassVar[bool] = False
    more_body: ClassVar[bool] = False
    message_event: ClassVar[_NoEvent] = _NoEvent()
    body: ClassVar[bytearray] = bytearray()

    def answer(self, status: int, headers: _Fields, body: bytes) -> None:
        """Send a whole answer as one packet, and start the next pipelined request.

        ``status`` is one with a body. Names of headers are in lower case; those of each answer are added.
        """
        self.status = status
        protocol = self.protocol
        if protocol is not None:
            self.keep_alive = self.keep_alive and _CLOSE not in headers
            defaults = protocol.server_state.default_headers
            packet = _packet(status, defaults, headers, self.request_id, body, keep_alive=self.keep_alive)
            protocol.finish(self, packet)


class DeliveryHandler(Protocol):
    def find(self, target: bytes, headers: Headers) -> tuple[Address, str] | None: ...

    def take(self, exchange: Exchange) -> None: ...

    def stop(self, exchange: Exchange) -> None: ...


class ExchangingHttp(HttpToolsProtocol):
    """uvicorn's protocol, in which deliveries are exchanges beside the cycles of the application."""

    #: ``None``: the application handles all requests.
    webhooks: DeliveryHandler | None = None
    #: The address, the path, the headers and whether to keep the connection, of the delivery that is arriving.
    arriving: tuple[Address, str, Headers, bool] | None = None
    #: The body of that delivery, as far as it has arrived.
    content = b""
    #: The delivery that is being received, and not answered yet.
    _taken: Exchange | None = None
    _unwritten: tuple[Exchange, bytes] | None = None
    #: The request that the application is answering, or has answered last.
    _served: RequestResponseCycle | None = None

    def on_message_begin(self) -> None:
        """Begin a head; the application's scope is created only if the head is for the application."""
        self.url = b""
        self.headers = []

    def begin_delivery(self, webhooks: DeliveryHandler, version: str) -> bool:
        """Begin a delivery if ``webhooks`` receives it. Only if the body arrives with the head, it is an exchange."""
        assert self.parser is not None
        headers = Headers.of(self.headers)
        target = webhooks.find(self.url, headers)
        if target is None:
            return False
        self.arriving = (*target, headers, version != "1.0" and self.parser.should_keep_alive())
        return True

    def begin_cycle(self) -> None:
        self.expect_100_continue = any(
            name == b"expect" and value.lower() == b"100-continue" for name, value in self.headers
        )
        scope = {
            "type": "http",
            "asgi": {"version": self.asgi_version, "spec_version": "2.3"},
            "http_version": "1.1",
            "server": self.server,
            "client": self.client,
            "scheme": self.scheme,
            "root_path": self.root_path,
            "headers": self.headers,
            "state": self.app_state.copy(),
        }
        # uvicorn adds the rest.
        self.scope = cast("Any", scope)
        HttpToolsProtocol.on_headers_complete(self)

    def take(self, arrived: tuple[Address, str, Headers, bool]) -> None:
        """Queue a delivery that has arrived whole, behind the pending answers."""
        address, path, headers, keep_alive = arrived
        client = self.client
        previous: Any = self.cycle
        delivery = Delivery(address=address, headers=headers, body=self.content, peer=client[0] if client else None)
        exchange: Any = Exchange(protocol=self, delivery=delivery, path=path, keep_alive=keep_alive)
        self.arriving, self.content, self.cycle = None, b"", exchange
        if previous is None or previous.response_complete:
            self._taken = exchange
            cast("DeliveryHandler", self.webhooks).take(exchange)
        else:
            self.flow.pause_reading()
            self.pipeline.appendleft((exchange, cast("Any", None)))

    def _start_asgi_task(self, cycle: object, app: object) -> None:
        if isinstance(cycle, Exchange) and self.webhooks is not None:
            self._taken = cycle
            self.webhooks.take(cycle)
        else:
            self._served = cast("Any", cycle)
            super()._start_asgi_task(cast("Any", cycle), cast("Any", app))

    def finish(self, exchange: Exchange, answer: bytes) -> None:
        """Write the answer of an exchange once the client reads, and start the next pipelined request."""
        if self.parser is None:
            # uvicorn drops the parser of a connection that is lost.
            exchange.response_complete, exchange.protocol, self._taken = True, None, None
        elif self.flow.write_paused:
            self._unwritten = exchange, answer
        else:
            exchange.response_complete, exchange.protocol, self._taken = True, None, None
            self.transport.write(answer)
            if not exchange.keep_alive:
                self.transport.close()
            self.on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        served, self._served = self._served, None
        if served is not None:
            # uvicorn marks the newest request only; an answer to an earlier one would be written, and fail.
            served.disconnected = True
        super().connection_lost(exc)
        self.resume_writing()

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._unwritten is not None:
            (exchange, answer), self._unwritten = self._unwritten, None
            self.finish(exchange, answer)

    def stop(self) -> None:
        if self._taken is not None and self.webhooks is not None:
            self.webhooks.stop(self._taken)


async def send_answer(
    scope: HTTPScope, send: Send, status: int, headers: _Fields, request_id: str, body: bytes
) -> None:
    """Send a whole answer by one system call: that call is most of the cost of sending.

    Names of headers are in lower case; those of each answer are added.
    """
    cycle = _cycle_of(send)
    is_empty = status == _NO_CONTENT
    if is_empty or cycle is None or cycle.response_started or cycle.flow.write_paused or scope["method"] == "HEAD":
        # RFC 9110, section 8.6: a 204 has no Content-Length.
        length = () if is_empty else ((b"content-length", b"%d" % len(body)),)
        headers = [*length, *headers, (REQUEST_ID_HEADER, request_id.encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body, "more_body": False})
    elif not cycle.disconnected:
        cycle.keep_alive = cycle.keep_alive and _CLOSE not in headers
        defaults, keep_alive = cycle.default_headers, cycle.keep_alive
        _answer(cycle, _packet(status, defaults, headers, request_id, body, keep_alive=keep_alive))


def _cycle_of(method: Send) -> RequestResponseCycle | None:
    # Not stored in the scope: a cycle that its own scope refers to is garbage that only the collector finds.
    cycle: object = getattr(method, "__self__", None)
    return cycle if isinstance(cycle, RequestResponseCycle) else None


def _answer(cycle: RequestResponseCycle, packet: bytes) -> None:
    cycle.response_started = cycle.response_complete = True
    cycle.waiting_for_100_continue = False
    cycle.transport.write(packet)
    cycle.message_event.set()
    if not cycle.keep_alive and not cycle.more_body:
        cycle.transport.close()
    # The connection reads on for a moment if the body has not ended (protocol.py).
    cycle.on_response()


def _packet(
    status: int, defaults: _Fields, headers: _Fields, request_id: str, body: bytes, *, keep_alive: bool
) -> bytes:
    before, after = _head(status, tuple(headers), *defaults)
    close = b"" if keep_alive or _CLOSE in headers else b"connection: close\r\n"
    return b"%b%d%b%b\r\n%b\r\n%b" % (before, len(body), after, request_id.encode(), close, body)


@lru_cache(maxsize=64)
def _head(status: int, headers: tuple[tuple[bytes, bytes], ...], *defaults: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
    """Return what an answer has before its length, and between its length and the request's id.

    Both are cached: there are few answers, and the date changes once a second.
    """
    before, after = (b"".join(b"%b: %b\r\n" % header for header in each) for each in (defaults, headers))
    return STATUS_LINE[status] + before + b"content-length: ", b"\r\n" + after + REQUEST_ID_HEADER + b": "
