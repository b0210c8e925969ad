"""The connection protocol: HTTP/1.1 in bounded memory and time (docs/decisions/0027)."""

import asyncio
from collections.abc import Callable
from enum import Enum, auto
from typing import Any, Final, NoReturn, final

import httptools
import structlog
from uvicorn.config import Config
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT
from uvicorn.server import ServerState

from contentsvc_core.values import nothing
from contentsvc_http.bounds import (
    AHEAD,
    ANSWERED,
    BESIDE,
    BOUNDS,
    DRAINED,
    FULL,
    HEAD,
    MALFORMED,
    SILENT,
    SLOW_BODY,
    SLOW_HEAD,
    VERSION,
    Bounds,
    Cause,
    ConnectionEnd,
    Counting,
    log_full,
    uncounted,
)
from contentsvc_http.exchange import DeliveryHandler, Exchange, ExchangingHttp

#: A read up to this size, in bytes, is parsed at once. In a larger read, each head is parsed separately, so that the
#: bytes after it can be counted. A head hides at most this many bytes.
_AT_ONCE: Final = 16 * 1024
#: The maximum framing of a chunk without extensions, in bytes: its size line and two line ends. Chunks have at least
#: one byte, so the body's limit also limits their framing.
_CHUNK_FRAME: Final = 12
#: The size of a piece of an answer, in bytes: reading one counts as progress.
_PIECE: Final = 64 * 1024
_LOG: Final = structlog.get_logger("contentsvc.http")


class _Stage(Enum):
    """The client action that the connection waits for."""

    HEAD = auto()
    BODY = auto()
    READING = auto()


class _Stop(Exception):
    """Stops the parser from inside one of its callbacks."""


@final
class BoundedHttp(ExchangingHttp):
    """uvicorn's protocol with :class:`Bounds` and a maximum number of connections (``limit_concurrency``).

    When a connection ends, the requests that were parsed are answered first and in order; the refusal comes last.
    """

    _heads = 0
    _head_size = 0
    #: Whether a body is being received. Fields that arrive meanwhile are trailers.
    _in_body = False
    #: The number of parsed bytes of bodies and of chunk framing.
    _framed = 0
    _beside = 0
    _stopped: ConnectionEnd | None = None
    _end: ConnectionEnd | None = None
    #: The number of dropped bytes: of a body after its answer, or of any kind after parsing has ended.
    _discarded = 0
    #: The stage and its progress counter at the last check, and the time of the last progress.
    _seen: tuple[bool, int] = (False, 1)
    _since = 0.0
    #: The time of the last answer; 0: bytes have arrived since.
    _idle_since = 0.0
    _timer: asyncio.TimerHandle | None = None

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        bounds: Bounds | None = None,
        counting: Counting = uncounted,
        webhooks: DeliveryHandler | None = None,
    ) -> None:
        """``counting`` counts dropped trailers and refused connections; ``webhooks`` receives small deliveries."""
        super().__init__(config, server_state, app_state, _loop)
        self.webhooks = webhooks
        # No route uses WebSockets.
        self.ws_protocol_class = None
        self._bounds = bounds or BOUNDS
        self._counting = counting

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]  # uvicorn's own narrowing
        super().connection_made(transport)
        if self.limit_concurrency is not None and len(self.connections) >= self.limit_concurrency:
            # A refused connection is not counted: the existing ones are still answered.
            self.connections.discard(self)
            self._end = FULL
            self._counting(Cause.FULL, 0)
            log_full(self.limit_concurrency - 1)
            self.transport.write(FULL.answer())
            self.transport.close()
            return
        self._seen, self._since = (False, 1), self.loop.time()
        self._later(self._bounds.look_s, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Break reference cycles, so that the memory of a closed connection is free at once."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        super().connection_lost(exc)
        while self.pipeline:
            self._drop()

    def data_received(self, data: bytes) -> None:
        self._idle_since = 0.0
        if self._end is not None:
            self._discarded += len(data)
            if self._discarded > self._bounds.linger:
                self.transport.abort()
        elif len(data) <= _AT_ONCE:
            self._parse(data)
        else:
            self._parse_large(data)
        if self.arriving is not None:
            self._hand_over()

    def _parse_large(self, data: bytes) -> None:
        start = 0
        while start < len(data) and self._end is None:
            head_end = -1 if self._in_body else data.find(b"\r\n\r\n", start)
            size = (len(data) if head_end < 0 else head_end + 4) - start
            if not self._in_body and self._head_size + size > self._bounds.head:
                self._finish(HEAD)
                return
            self._parse(data[start : start + size])
            start += size

    def _parse(self, data: bytes) -> None:
        heads, in_body, framed, beside = self._heads, self._in_body, self._framed, self._beside
        assert self.parser is not None
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as exc:
            # Serve the request as if it did not ask for another protocol.
            self._parse(self._head_again() + data[exc.args[0] :])
            return
        except httptools.HttpParserError:
            self._finish(self._stopped or MALFORMED)
            return
        if self._heads != heads:
            # Bytes that came with the end of a head are not counted.
            self._head_size = 0
        elif not in_body:
            self._head_size += len(data)
            if self._head_size > self._bounds.head or len(self.headers) > self._bounds.fields:
                self._finish(HEAD)
        elif self._in_body:
            self._beside = max(self._beside, beside + len(data) - (self._framed - framed))
            if self._beside > self._bounds.beside:
                self._finish(BESIDE)
        else:
            self._head_size = 0

    def _head_again(self) -> bytes:
        """Return the parsed head without the field ``Upgrade``, for a new parser."""
        asked = self.parser
        assert asked is not None
        self.parser = httptools.HttpRequestParser(self)
        # As uvicorn sets it: requests may follow the last one.
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
        lines = [b"%b %b HTTP/%b" % (asked.get_method(), self.url, asked.get_http_version().encode())]
        lines += [b"%b: %b" % field for field in self.headers if field[0] != b"upgrade"]
        return b"\r\n".join([*lines, b"", b""])

    def on_header(self, name: bytes, value: bytes) -> None:
        """Store a field of a head; drop a trailer, which no proxy has checked (RFC 9110, section 6.5.1)."""
        if not self._in_body:
            # The parser removes white space before a value, and leaves that after it (RFC 9110, section 5.5).
            self.headers.append((name.lower(), value.rstrip(b" \t")))
            return
        size = len(name) + len(value) + len(b": \r\n")
        self._counting(Cause.TRAILER, size)
        self._beside += size
        if self._beside > self._bounds.beside:
            self._stop(BESIDE)

    def on_headers_complete(self) -> None:
        """Begin a request, unless there are too many or its HTTP version is unsupported."""
        bounds, parser, webhooks = self._bounds, self.parser, self.webhooks
        assert parser is not None
        if len(self.headers) > bounds.fields:
            self._stop(HEAD)
        if len(self.pipeline) >= bounds.ahead:
            self._stop(AHEAD)
        if parser.should_upgrade():
            # The parser would take the body for the next request, which no proxy has seen (request smuggling).
            if parser.get_method() == b"CONNECT":
                self._stop(MALFORMED)
            return
        version = parser.get_http_version()
        if version != "1.1":
            if version != "1.0":
                self._stop(VERSION)
            if any(name == b"transfer-encoding" for name, _ in self.headers):
                # RFC 9112, section 6.1: the framing of such a request is faulty.
                self._stop(MALFORMED)
        elif [name for name, _ in self.headers].count(b"host") != 1:
            # RFC 9112, section 3.2: a proxy may have chosen another one of two.
            self._stop(MALFORMED)
        if webhooks is None or parser.get_method() != b"POST" or not self.begin_delivery(webhooks, version):
            self.begin_cycle()
        self._heads += 1
        self._in_body = True
        self._beside = 0

    def _hand_over(self) -> None:
        content, self.arriving, self.content = self.content, None, b""
        self.begin_cycle()
        if content:
            self._framed -= len(content)
            self.on_body(content)

    def on_chunk_header(self) -> None:
        self._framed += _CHUNK_FRAME

    def on_body(self, body: bytes) -> None:
        self._framed += len(body)
        if self.arriving is not None:
            self.content += body
            return
        cycle = self.cycle
        if not cycle.response_complete:
            cycle.body += body
            if len(cycle.body) > HIGH_WATER_LIMIT:
                self.flow.pause_reading()
            cycle.message_event.set()
            return
        self._discarded += len(body)
        if self._discarded > self._bounds.linger:
            self._stop(DRAINED)

    def on_message_complete(self) -> None:
        if self.parser.should_upgrade():
            return
        self._in_body = False
        if self.arriving is not None:
            self.take(self.arriving)
            return
        self._discarded = 0
        cycle = self.cycle
        if not cycle.response_complete:
            cycle.more_body = False
            cycle.message_event.set()

    def on_response_complete(self) -> None:
        """Begin the next request, or close the connection after its last one."""
        self.server_state.total_requests += 1
        cycle, flow = self.cycle, self.flow
        if cycle.response_complete:
            # The rest of a body that the application did not read.
            cycle.body.clear()
            if self._in_body and not cycle.keep_alive and self._end is None:
                self._end = ANSWERED
        if self.transport.is_closing():
            return
        if self._end is None or self.pipeline:
            if flow.read_paused:
                flow.resume_reading()
            if self.pipeline:
                self._start_asgi_task(*self.pipeline.pop())
            else:
                self._idle_since = self.loop.time()
        else:
            self._refuse(self._end)

    def _drop(self) -> None:
        """Drop the newest request that has not begun.

        A cycle that never runs would keep its connection alive forever.
        """
        cycle: Any = self.pipeline.popleft()[0]
        if isinstance(cycle, Exchange):
            cycle.protocol = None
        else:
            cycle.on_response = nothing

    def _stop(self, end: ConnectionEnd) -> NoReturn:
        self._stopped = end
        raise _Stop

    def _finish(self, end: ConnectionEnd) -> None:
        if self.arriving is not None:
            self._hand_over()
        if end.cause is not None:
            self._counting(end.cause, 0)
            _LOG.debug("connection refused", cause=end.cause.value)
        cycle = self.cycle
        if not self._heads or cycle.response_complete:
            # A request gets no second answer for the rest of its body.
            self._refuse(ConnectionEnd(lingers=end.lingers) if self._in_body else end)
        elif not self._in_body:
            self._end = end
            self.flow.pause_reading()
        elif self.pipeline:
            # The body never ends, and the request has not begun.
            self._drop()
            self._end = end
            self.flow.pause_reading()
        else:
            started = cycle.response_started
            cycle.disconnected = True
            cycle.message_event.set()
            self._refuse(ConnectionEnd(lingers=end.lingers) if started else end)
        self._in_body = False

    def _refuse(self, end: ConnectionEnd) -> None:
        self._end = end
        if end.status:
            self.transport.write(end.answer())
        if not end.lingers:
            self.transport.close()
            # Closing waits until the client has read all.
            self._later(self._bounds.look_s, self.transport.abort)
            return
        self.flow.resume_reading()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._later(self._bounds.linger_s, self.transport.abort)

    def _later(self, after_s: float, call: Callable[[], object]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(after_s, call)

    def _look(self) -> None:
        unread = self.transport.get_write_buffer_size()
        stage = self._stage(unread)
        now, next_s = self.loop.time(), self._bounds.look_s
        if self._idle_since:
            # A timer for each answer would cost more than parsing its request.
            left_s = self._idle_since + self.timeout_keep_alive - now
            if left_s <= 0:
                self.transport.close()
            else:
                next_s = min(next_s, left_s)
        if self.transport.is_closing() and stage is not _Stage.READING:
            return
        # A head and the body after it belong to one request.
        seen = (True, unread // _PIECE) if stage is _Stage.READING else (False, self._heads + (stage is _Stage.HEAD))
        if stage is None or seen != self._seen:
            self._seen, self._since = seen, now
        waited = now - self._since
        match stage:
            case _Stage.HEAD if waited >= self._bounds.slow_s:
                self._finish(SLOW_HEAD if self._head_size else SILENT)
            case _Stage.BODY if waited >= self._bounds.slow_body_s:
                self._finish(SLOW_BODY)
            case _Stage.READING if waited >= self._bounds.slow_s:
                # Closing would wait until the client has read all.
                self.transport.abort()
            case _:
                self._later(next_s, self._look)

    def _stage(self, unread: int) -> _Stage | None:
        if unread or self.flow.write_paused:
            return _Stage.READING
        if self._in_body:
            return _Stage.BODY
        return _Stage.HEAD if not self._heads or self.cycle.response_complete else None
