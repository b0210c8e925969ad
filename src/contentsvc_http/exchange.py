"""Ways past the ASGI interface, for the route that is called most: a body at hand, and an answer in one write.

Behind another server than ours, or behind a wrapper, the interface itself is used.
"""

from collections.abc import Sequence
from typing import Final

from litestar.types import HTTPScope, Receive, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

_NO_CONTENT: Final = 204
#: Ends a connection with its answer.
_CLOSE: Final = (b"connection", b"close")


def body_at_hand(receive: Receive) -> bytes | None:
    """Return the body when all of it arrived with the head, which is the usual case; ``None``: call ``receive``."""
    cycle = _cycle_of(receive)
    if cycle is None or cycle.more_body or cycle.disconnected or cycle.waiting_for_100_continue:
        return None
    body = bytes(cycle.body)
    cycle.body = bytearray()
    cycle.flow.resume_reading()
    return body


async def send_answer(
    scope: HTTPScope, send: Send, status: int, headers: Sequence[tuple[bytes, bytes]], body: bytes
) -> None:
    """Send a whole answer as one packet, by one system call: that call is most of the cost of sending.

    Args:
        scope: The request's.
        send: The request's.
        status: Of HTTP.
        headers: Names in lower case and values, fit to be sent, and neither ``content-length`` nor ``date``.
        body: All of it.
    """
    cycle = _cycle_of(send)
    if status != _NO_CONTENT:
        # RFC 9110, section 8.6: not with that one.
        headers = ((b"content-length", b"%d" % len(body)), *headers)
    if cycle is None or cycle.response_started or cycle.flow.write_paused or scope["method"] == "HEAD":
        await send({"type": "http.response.start", "status": status, "headers": [*headers]})
        await send({"type": "http.response.body", "body": body, "more_body": False})
    elif not cycle.disconnected:
        _answer(cycle, status, headers, body)


def _cycle_of(method: Receive | Send) -> RequestResponseCycle | None:
    # Not a key of the scope: a cycle that its own scope refers to is garbage that only the collector finds.
    cycle: object = getattr(method, "__self__", None)
    return cycle if isinstance(cycle, RequestResponseCycle) else None


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
    # Ends a `receive` that still waits for the rest of the body.
    cycle.message_event.set()
    if not cycle.keep_alive and not cycle.more_body:
        cycle.transport.close()
    # The connection reads on for a moment when the body is not at its end (protocol.py).
    cycle.on_response()
