from collections.abc import Callable
from enum import StrEnum
from time import monotonic
from typing import Final, final

import msgspec
import structlog
from attrs import frozen

_LOG: Final = structlog.get_logger("contentsvc.http")


@final
@frozen(kw_only=True)
class Bounds:
    #: The size of a head, in bytes. Others: Apache 8 KiB a line, nginx 32 KiB, Node 16 KiB.
    head: int = 64 * 1024
    #: The number of header fields. A field costs far more memory than its bytes. Apache allows 100, proxies add some.
    fields: int = 256
    #: The maximum number of bytes apart from head and body: trailers and chunk extensions. Both are dropped.
    beside: int = 16 * 1024
    #: The number of requests that are parsed while an earlier one is being answered.
    ahead: int = 16
    #: The interval of checking a connection, in seconds.
    look_s: float = 1.0
    #: The time for receiving a head, and for the client to read a piece of an answer, in seconds.
    slow_s: float = 27.0
    #: The time limit for a head and its body together. Routes that read a body have shorter limits (body_budget.py).
    slow_body_s: float = 28.0
    #: The time in seconds and the bytes for which the rest of a body is read and dropped after the last answer: closing
    #: a connection while bytes arrive resets it, which destroys the answer. The size is slightly more than the largest
    #: body.
    linger_s: float = 2.0
    linger: int = 32 * 1024 * 1024


class Cause(StrEnum):
    """The cause of a refused or closed connection; ``TRAILER`` only drops a field."""

    TRAILER = "trailer"
    FULL = "full"
    MALFORMED = "malformed"
    VERSION = "version"
    HEAD = "head"
    BESIDE = "beside"
    AHEAD = "ahead"
    SLOW = "slow"


Counting = Callable[[Cause, int], object]


@final
@frozen
class ConnectionEnd:
    cause: Cause | None = None
    status: bytes = b""
    error: str = ""
    #: Whether the connection reads on for a moment, so that the sender can read the answer.
    lingers: bool = True
    more: tuple[bytes, ...] = ()

    def answer(self) -> bytes:
        body = msgspec.json.encode({"error": self.error})
        head = [
            b"HTTP/1.1 " + self.status,
            b"content-type: application/json",
            b"content-length: " + str(len(body)).encode(),
            b"connection: close",
            *self.more,
        ]
        return b"\r\n".join([*head, b"", body])


FULL: Final = ConnectionEnd(
    Cause.FULL, b"503 Service Unavailable", "Too many connections", lingers=False, more=(b"retry-after: 1",)
)
MALFORMED: Final = ConnectionEnd(Cause.MALFORMED, b"400 Bad Request", "Invalid HTTP request received.")
VERSION: Final = ConnectionEnd(
    Cause.VERSION, b"505 HTTP Version Not Supported", "Only HTTP/1.1 and HTTP/1.0 are supported"
)
_LARGE: Final = b"431 Request Header Fields Too Large"
HEAD: Final = ConnectionEnd(Cause.HEAD, _LARGE, "Request header fields too large")
BESIDE: Final = ConnectionEnd(Cause.BESIDE, _LARGE, "Request trailer fields too large")
AHEAD: Final = ConnectionEnd(Cause.AHEAD)
_SLOW: Final = b"408 Request Timeout"
SLOW_HEAD: Final = ConnectionEnd(Cause.SLOW, _SLOW, "The request did not arrive in time", lingers=False)
SLOW_BODY: Final = ConnectionEnd(Cause.SLOW, _SLOW, "The body did not arrive in time", lingers=False)
SILENT: Final = ConnectionEnd(Cause.SLOW, lingers=False)
#: The application has answered and closes; the rest of the body is not read.
ANSWERED: Final = ConnectionEnd()
#: The application has answered and continues; the rest of the body exceeds the limit for reading on.
DRAINED: Final = ConnectionEnd(lingers=False)
BOUNDS: Final = Bounds()


def uncounted(_cause: Cause, _dropped: int) -> None:
    """Count nothing."""


#: The interval of the log line about refused connections, in seconds; `/metrics` counts each connection.
_LOG_FULL_EVERY_S: Final = 60.0
_MORE_CONNECTIONS: Final = (
    "let the proxy limit connections per client; for more, raise CONTENTSVC_MAX_CONNECTIONS and the limit of open "
    "files (LimitNOFILE, 'ulimit -n'), of which connections get half"
)
_logged_at_s = -_LOG_FULL_EVERY_S


def log_full(limit: int) -> None:
    """Log that connections are refused, at most once a minute."""
    global _logged_at_s  # noqa: PLW0603  # one per process, as the connections
    now = monotonic()
    if now - _logged_at_s >= _LOG_FULL_EVERY_S:
        _logged_at_s = now
        _LOG.warning("connections refused: too many are open", limit=limit, advice=_MORE_CONNECTIONS)
