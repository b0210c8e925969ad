"""A delivery on a connection, from its head to its answer. Without ASGI: the answer is a single packet."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol, cast, final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from contentsvc_core.webhooks.delivery import Address
from contentsvc_http.asgi import HTTPScope, Send

if TYPE_CHECKING:
    from contentsvc_http.body_budget import Reservation

_NO_CONTENT: Final = 204
_CLOSE: Final = (b"connection", b"close")


@final
class _NoEvent:
    def set(self) -> None:
        pass


@final
class Exchange:
    """One delivery and its answer. It implements the interface of uvicorn's cycles."""

    __slots__ = (
        "address",
        "began_s",
        "content",
        "disconnected",
        "headers",
        "keep_alive",
        "path",
        "peer",
        "protocol",
        "request_id",
        "reservation",
        "response_complete",
    )
    #: Attributes that uvicorn reads from a cycle.
    response_started = False
    more_body = False
    message_event: Final = _NoEvent()
    body: Final = bytearray()

    def __init__(
        self,
        protocol: "ExchangingHttp",
        address: Address,
        path: str,
        headers: Sequence[tuple[bytes, bytes]],
        *,
        keep_alive: bool,
    ) -> None:
        """Create the exchange of a delivery whose head has arrived. Names of headers are in lower case."""
        #: ``None``: answered or dropped. Without this, both objects would be a reference cycle.
        self.protocol: ExchangingHttp | None = protocol
        self.peer = protocol.client and protocol.client[0]
        self.address = address
        self.path = path
        self.headers = headers
        self.content = b""
        self.keep_alive = keep_alive
        self.response_complete = self.disconnected = False
        self.request_id = ""
        self.began_s = 0.0
        self.reservation: Reservation | None = None

    def answer(self, status: int, headers: Sequence[tuple[bytes, bytes]], body: bytes) -> None:
        """Send a whole answer as one packet, and start the next pipelined request.

        ``status`` is one with a body. Names of headers are in lower case, without ``content-length`` and ``date``.
        """
        protocol = self.protocol
        if protocol is None:
            return
        lines = [STATUS_LINE[status]]
        for name, value in protocol.server_state.default_headers:
            lines += (name, b": ", value, b"\r\n")
        lines.append(b"content-length: %d\r\n" % len(body))
        for name, value in headers:
            lines += (name, b": ", value, b"\r\n")
        if _CLOSE in headers:
            self.keep_alive = False
        elif not self.keep_alive:
            lines.append(b"connection: close\r\n")
        lines += (b"\r\n", body)
        protocol.finish(self, b"".join(lines))


class Taking(Protocol):
    def find(self, target: bytes, headers: Sequence[tuple[bytes, bytes]]) -> tuple[Address, str] | None: ...

    def take(self, exchange: Exchange) -> None: ...

    def stop(self, exchange: Exchange) -> None: ...


class ExchangingHttp(HttpToolsProtocol):
    """uvicorn's protocol, in which deliveries are exchanges beside the cycles of the application."""

    #: ``None``: the application handles all requests.
    webhooks: Taking | None = None
    delivered: Exchange | None = None
    #: The delivery that is being received, and not answered yet.
    _taken: Exchange | None = None
    _unwritten: tuple[Exchange, bytes] | None = None

    def on_message_begin(self) -> None:
        """Begin a head; the application's scope is created only if the head is for the application."""
        self.url = b""
        self.headers = []
        self.expect_100_continue = False

    def begin_exchange(self) -> bool:
        assert self.parser is not None
        if self.webhooks is None or self.parser.get_method() != b"POST":
            return False
        target = self.webhooks.find(self.url, self.headers)
        if target is None:
            return False
        keep_alive = self.parser.get_http_version() != "1.0" and self.parser.should_keep_alive()
        self.delivered = Exchange(self, *target, self.headers, keep_alive=keep_alive)
        return True

    def begin_cycle(self) -> None:
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

    def take(self, exchange: Exchange) -> None:
        """Queue a delivery that has arrived whole, behind the pending answers."""
        self.delivered = None
        standing: Any = self.cycle
        self.cycle = cast("Any", exchange)
        if standing is None or standing.response_complete:
            self._taken = exchange
            cast("Taking", self.webhooks).take(exchange)
        else:
            self.flow.pause_reading()
            self.pipeline.appendleft((cast("Any", exchange), cast("Any", None)))

    def _start_asgi_task(self, cycle: object, app: object) -> None:
        if isinstance(cycle, Exchange):
            self._taken = cycle
            cast("Taking", self.webhooks).take(cycle)
        else:
            super()._start_asgi_task(cast("Any", cycle), cast("Any", app))

    def finish(self, exchange: Exchange, answer: bytes) -> None:
        """Write the answer of an exchange once the client reads, and start the next pipelined request."""
        # uvicorn drops the parser of a connection that is lost.
        is_lost = self.parser is None
        if self.flow.write_paused and not is_lost:
            self._unwritten = exchange, answer
            return
        exchange.response_complete = True
        exchange.protocol = self._taken = None
        if is_lost:
            return
        self.transport.write(answer)
        if not exchange.keep_alive:
            self.transport.close()
        self.on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
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
    scope: HTTPScope, send: Send, status: int, headers: Sequence[tuple[bytes, bytes]], body: bytes
) -> None:
    """Send a whole answer by one system call: that call is most of the cost of sending.

    Names of headers are in lower case, without ``content-length`` and ``date``.
    """
    cycle = _cycle_of(send)
    if status != _NO_CONTENT:
        # RFC 9110, section 8.6: a 204 has no Content-Length.
        headers = ((b"content-length", b"%d" % len(body)), *headers)
    if cycle is None or cycle.response_started or cycle.flow.write_paused or scope["method"] == "HEAD":
        await send({"type": "http.response.start", "status": status, "headers": [*headers]})
        await send({"type": "http.response.body", "body": body, "more_body": False})
    elif not cycle.disconnected:
        _answer(cycle, status, headers, body)


def _cycle_of(method: Send) -> RequestResponseCycle | None:
    # Not stored in the scope: a cycle that its own scope refers to is garbage that only the collector finds.
    cycle: object = getattr(method, "__self__", None)
    return cycle if isinstance(cycle, RequestResponseCycle) else None


def _answer(cycle: RequestResponseCycle, status: int, headers: Sequence[tuple[bytes, bytes]], body: bytes) -> None:
    lines = [STATUS_LINE[status]]
    for name, value in (*cycle.default_headers, *headers):
        lines += (name, b": ", value, b"\r\n")
    if _CLOSE in headers:
        cycle.keep_alive = False
    elif not cycle.keep_alive:
        lines.append(b"connection: close\r\n")
    lines += (b"\r\n", body)
    cycle.response_started = cycle.response_complete = True
    cycle.waiting_for_100_continue = False
    cycle.transport.write(b"".join(lines))
    cycle.message_event.set()
    if not cycle.keep_alive and not cycle.more_body:
        cycle.transport.close()
    # The connection reads on for a moment if the body has not ended (protocol.py).
    cycle.on_response()
