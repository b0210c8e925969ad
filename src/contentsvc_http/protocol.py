"""HTTP itself, where it is refused before there is a request: in our form, and in bounded memory."""

import asyncio
from collections.abc import Mapping, Sequence
from enum import Enum, auto
from time import monotonic
from typing import Any, Final, final

import msgspec
import structlog
from litestar.types import Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

#: The extension of ASGI by which :func:`body_at_hand` and :func:`send_answer` reach past the interface.
_EXCHANGE: Final = "contentsvc.exchange"
_NO_CONTENT: Final = 204
#: Ends a connection with its answer.
_CLOSE: Final = (b"connection", b"close")
#: The largest head of a request, in bytes; as others have it (Apache 8 KiB a line, nginx 32 KiB, Node 16 KiB).
_MAX_HEAD: Final = 64 * 1024
#: How often a connection is looked at, in seconds.
_LOOK_S: Final = 1.0
#: How long a head may take to come in, and the next piece of an answer to be read, in seconds. The look after that ends
#: the connection: whoever is slow is gone within half a minute.
_SLOW_S: Final = 27.0
#: The size of such a piece, in bytes: who reads slowly is not sent away.
_PIECE: Final = 64 * 1024
#: The same for a head and its body together: who is late with both has no more. Those who read a body have a limit of
#: their own, and a better word for it: theirs comes first.
_SLOW_BODY_S: Final = 28.0
_TOO_MANY: Final = "Too many connections"
_LOG: Final = structlog.get_logger("contentsvc.http")


class _Stage(Enum):
    """What a connection is waiting for, where it is the other end that has to move."""

    HEAD = auto()
    BODY = auto()
    READING = auto()


@final
class BoundedHttp(HttpToolsProtocol):
    """uvicorn's protocol, with bounds: for what a head may have, how long anything may take, how many there may be.

    What does not parse gets ``{"error"}``. A connection that makes ``limit_concurrency`` of them is told to come
    again before anything of it is read; who sends a byte now and then, or does not read, is sent away.
    """

    #: How many heads have ended on this connection.
    _heads = 0
    #: How much has come since the last one ended, while another one is awaited, in bytes.
    _head_size = 0
    #: Whether a body is being read.
    _in_body = False
    #: What is waited for, and since when by the loop's clock: that so many pieces are read, or the request of a number.
    _seen: tuple[bool, int] = (False, 1)
    _since = 0.0
    _look_again: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]  # uvicorn's own narrowing
        """Begin to look at a connection, or refuse it."""
        super().connection_made(transport)
        if self.limit_concurrency is not None and len(self.connections) >= self.limit_concurrency:
            # It is none of them: those that were there before are answered all the same.
            self.connections.discard(self)
            _tell_refused()
            self._refuse(b"503 Service Unavailable", _TOO_MANY, b"retry-after: 1")
            return
        self._seen, self._since = (False, 1), self.loop.time()
        self._look_again = self.loop.call_later(_LOOK_S, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """End looking."""
        if self._look_again is not None:
            self._look_again.cancel()
        super().connection_lost(exc)

    def _look(self) -> None:
        """End the connection when nothing has come of it for too long."""
        unread = self.transport.get_write_buffer_size()
        stage = self._stage(unread)
        if self.transport.is_closing() and stage is not _Stage.READING:
            return
        # A head that is awaited and the body that follows it belong to one request.
        seen = (True, unread // _PIECE) if stage is _Stage.READING else (False, self._heads + (stage is _Stage.HEAD))
        now = self.loop.time()
        if stage is None or seen != self._seen:
            self._seen, self._since = seen, now
        waited = now - self._since
        match stage:
            case _Stage.HEAD if waited >= _SLOW_S and self._head_size:
                self._send_away("The request did not arrive in time")
            case _Stage.HEAD if waited >= _SLOW_S:
                self._send_away(None)
            case _Stage.BODY if waited >= _SLOW_BODY_S:
                self._send_away(None if self.cycle.response_started else "The body did not arrive in time")
            case _Stage.READING if waited >= _SLOW_S:
                # Closing would wait until all is read.
                self.transport.abort()
            case _:
                self._look_again = self.loop.call_later(_LOOK_S, self._look)

    def _stage(self, unread: int) -> _Stage | None:
        if unread or self.flow.write_paused:
            return _Stage.READING
        if self._in_body:
            return _Stage.BODY
        return _Stage.HEAD if not self._heads or self.cycle.response_complete else None

    def _send_away(self, error: str | None) -> None:
        """End a connection, with a reason if there is anybody who waits for an answer."""
        if error is not None:
            self._refuse(b"408 Request Timeout", error)
        self.transport.close()
        # Closing waits until all is read.
        self._look_again = self.loop.call_later(_LOOK_S, self.transport.abort)

    def data_received(self, data: bytes) -> None:
        """Parse, then see how much of a head has come: what came with the end of one is not counted."""
        heads, in_body = self._heads, self._in_body
        super().data_received(data)
        if self._heads != heads or in_body:
            self._head_size = 0
        else:
            self._head_size += len(data)
            if self._head_size > _MAX_HEAD and not self.transport.is_closing():
                self._refuse(b"431 Request Header Fields Too Large", "Request header fields too large")

    def on_headers_complete(self) -> None:
        """End a head."""
        self._heads += 1
        self._in_body = True
        super().on_headers_complete()
        # The application begins in the next turn of the event loop.
        self.scope["extensions"] = {_EXCHANGE: {"cycle": self.cycle}}

    def on_message_complete(self) -> None:
        """Await the next head."""
        self._in_body = False
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP."""
        self._refuse(b"400 Bad Request", msg)

    def _refuse(self, status: bytes, error: str, *more: bytes) -> None:
        body = msgspec.json.encode({"error": error})
        head = [
            b"HTTP/1.1 " + status,
            b"content-type: application/json",
            b"content-length: " + str(len(body)).encode(),
            b"connection: close",
            *more,
        ]
        self.transport.write(b"\r\n".join([*head, b"", body]))
        self.transport.close()


_told_at_s = 0.0


def _tell_refused() -> None:
    """Say that connections are refused, once a second at most."""
    global _told_at_s  # noqa: PLW0603  # of a process, as the connections are
    now = monotonic()
    if now - _told_at_s >= 1.0:
        _told_at_s = now
        _LOG.warning("connections refused: too many are open")


def body_at_hand(scope: Mapping[str, Any]) -> bytes | None:
    """Give the body of a request when all of it came with the head, as it nearly always does; ``None``: ask for it.

    Nothing is to be waited for then, no timer is needed, and nothing is to be asked of the application's ``receive``.
    """
    cycle = _cycle_of(scope)
    if cycle is None or cycle.more_body or cycle.disconnected or cycle.waiting_for_100_continue:
        return None
    body = bytes(cycle.body)
    cycle.body = bytearray()
    cycle.flow.resume_reading()
    return body


async def send_answer(
    scope: Mapping[str, Any], send: Send, status: int, headers: Sequence[tuple[bytes, bytes]], body: bytes
) -> None:
    """Send a whole answer: as one packet and by one system call, which is most of sending.

    Another server than ours sends it as two messages, as the interface has it.

    Args:
        scope: The request's.
        send: The request's.
        status: Of HTTP.
        headers: Names in lower case and values, fit to be sent, and neither ``content-length`` nor ``date``.
        body: All of it.
    """
    cycle = _cycle_of(scope)
    if status != _NO_CONTENT:
        # RFC 9110, section 8.6: not with that one.
        headers = ((b"content-length", b"%d" % len(body)), *headers)
    if cycle is None or cycle.response_started or cycle.flow.write_paused or scope["method"] == "HEAD":
        await send({"type": "http.response.start", "status": status, "headers": [*headers]})
        await send({"type": "http.response.body", "body": body, "more_body": False})
    elif not cycle.disconnected:
        _answer(cycle, status, headers, body)


def _cycle_of(scope: Mapping[str, Any]) -> RequestResponseCycle | None:
    extensions: Mapping[str, Mapping[str, RequestResponseCycle]] = scope.get("extensions") or {}
    return extensions[_EXCHANGE]["cycle"] if _EXCHANGE in extensions else None


def _answer(cycle: RequestResponseCycle, status: int, headers: Sequence[tuple[bytes, bytes]], body: bytes) -> None:
    """Do what a cycle does for the two messages of an answer, in one step."""
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
    # Whoever still asks for more of the body is told that there is none.
    cycle.message_event.set()
    if not cycle.keep_alive:
        cycle.transport.close()
    cycle.on_response()
