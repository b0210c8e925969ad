"""The bounds of a connection, and what its sender is answered beyond them."""

from collections.abc import Callable
from enum import StrEnum
from typing import Final, final

import msgspec
from attrs import frozen


@final
@frozen(kw_only=True)
class Bounds:
    """The bounds of a connection."""

    #: The size of a head, in bytes. Others: Apache 8 KiB a line, nginx 32 KiB, Node 16 KiB.
    head: int = 64 * 1024
    #: The number of header fields. A field costs far more memory than its bytes. Apache has 100, proxies add some.
    fields: int = 256
    #: What may arrive beside head and body, in bytes: trailers and extensions of chunks. Both are dropped.
    beside: int = 16 * 1024
    #: The number of requests that are parsed while an earlier one is being answered.
    ahead: int = 16
    #: How often a connection is looked at, in seconds.
    look_s: float = 1.0
    #: How long a head may take to arrive, and a piece of an answer to be read, in seconds. The next look after that
    #: ends the connection.
    slow_s: float = 27.0
    #: The same for a head and its body together. Routes that read a body have shorter limits (intake.py).
    slow_body_s: float = 28.0
    #: How long, in seconds, and how many bytes the rest of a body is read and dropped when the last answer precedes it.
    #: A connection that is closed while bytes arrive is reset, and the reset destroys the answer. The size is a body a
    #: little over the largest. It also bounds the rest of a body whose connection goes on.
    linger_s: float = 2.0
    linger: int = 32 * 1024 * 1024


class Cause(StrEnum):
    """What a connection was refused or ended for; ``TRAILER`` only drops a field."""

    TRAILER = "trailer"
    FULL = "full"
    MALFORMED = "malformed"
    VERSION = "version"
    HEAD = "head"
    BESIDE = "beside"
    AHEAD = "ahead"
    SLOW = "slow"


#: Counts a cause, and how many bytes were dropped for it.
Counting = Callable[[Cause, int], object]


@final
@frozen
class End:
    """Why a connection ends, and its last answer, if any."""

    cause: Cause | None = None
    status: bytes = b""
    error: str = ""
    #: Whether the sender is read on for a moment, so that it can read the answer.
    lingers: bool = True
    #: Fields beside those of every such answer.
    more: tuple[bytes, ...] = ()

    def answer(self) -> bytes:
        """Return the whole answer."""
        body = msgspec.json.encode({"error": self.error})
        head = [
            b"HTTP/1.1 " + self.status,
            b"content-type: application/json",
            b"content-length: " + str(len(body)).encode(),
            b"connection: close",
            *self.more,
        ]
        return b"\r\n".join([*head, b"", body])


FULL: Final = End(
    Cause.FULL, b"503 Service Unavailable", "Too many connections", lingers=False, more=(b"retry-after: 1",)
)
MALFORMED: Final = End(Cause.MALFORMED, b"400 Bad Request", "Invalid HTTP request received.")
VERSION: Final = End(Cause.VERSION, b"505 HTTP Version Not Supported", "Only HTTP/1.1 and HTTP/1.0 are supported")
_LARGE: Final = b"431 Request Header Fields Too Large"
HEAD: Final = End(Cause.HEAD, _LARGE, "Request header fields too large")
BESIDE: Final = End(Cause.BESIDE, _LARGE, "Request trailer fields too large")
AHEAD: Final = End(Cause.AHEAD)
_SLOW: Final = b"408 Request Timeout"
SLOW_HEAD: Final = End(Cause.SLOW, _SLOW, "The request did not arrive in time", lingers=False)
SLOW_BODY: Final = End(Cause.SLOW, _SLOW, "The body did not arrive in time", lingers=False)
SILENT: Final = End(Cause.SLOW, lingers=False)
#: The application has answered and closes; the rest of the body is not read.
ANSWERED: Final = End()
#: The application has answered and goes on; the rest of the body is larger than what is read for that.
DRAINED: Final = End(lingers=False)
#: The bounds unless others are given.
BOUNDS: Final = Bounds()


def uncounted(_cause: Cause, _dropped: int) -> None:
    """Count nothing."""
