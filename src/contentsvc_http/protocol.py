"""HTTP itself, where it is refused before there is a request: in our form, and in bounded memory."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, final

import msgspec
from litestar.types import Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

#: The extension of ASGI by which :func:`body_at_hand` and :func:`send_answer` reach past the interface.
_EXCHANGE: Final = "contentsvc.exchange"
_NO_CONTENT: Final = 204
#: Ends a connection with its answer.
_CLOSE: Final = (b"connection", b"close")
#: The largest head of a request, in bytes; as others have it (Apache 8 KiB a line, nginx 32 KiB, Node 16 KiB).
_MAX_HEAD: Final = 64 * 1024


@final
class BoundedHttp(HttpToolsProtocol):
    """uvicorn's protocol: what does not parse gets ``{"error"}``, and a head that does not end is not collected."""

    #: How many heads have ended on this connection.
    _heads = 0
    #: How much has come since the last one ended, while another one is awaited, in bytes.
    _head_size = 0
    #: Whether a body is being read.
    _in_body = False

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

    def _refuse(self, status: bytes, error: str) -> None:
        body = msgspec.json.encode({"error": error})
        head = [
            b"HTTP/1.1 " + status,
            b"content-type: application/json",
            b"content-length: " + str(len(body)).encode(),
            b"connection: close",
        ]
        self.transport.write(b"\r\n".join([*head, b"", body]))
        self.transport.close()


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
