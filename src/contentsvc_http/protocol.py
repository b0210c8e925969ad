"""HTTP itself, where it is refused before there is a request: in our form, and in bounded memory."""

from collections.abc import Mapping
from typing import Any, Final, cast, final

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

#: The extension of ASGI by which :func:`send_together` is possible.
_TOGETHER: Final = "contentsvc.together"
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
        self.scope["extensions"] = {_TOGETHER: {"cycle": self.cycle}}

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


def send_together(scope: Mapping[str, Any]) -> None:
    """Have the head of an answer sent with its body: as one packet and by one system call, which is most of sending.

    For an answer whose head and whole body are sent next, one right after the other. Another server than ours sends
    them as it does.
    """
    extensions: dict[str, dict[str, RequestResponseCycle]] = scope.get("extensions") or {}
    # The answer to HEAD has no body that its head could go with.
    if _TOGETHER in extensions and scope["method"] != "HEAD":
        cycle = extensions[_TOGETHER]["cycle"]
        # It has all of a transport that a cycle calls.
        cycle.transport = cast("Any", _Together(cycle))


@final
class _Together:
    """Stands for the transport of an answer until its body comes."""

    def __init__(self, cycle: RequestResponseCycle) -> None:
        self._cycle = cycle
        self._transport = cycle.transport
        self._head: bytes | None = None

    def write(self, data: bytes) -> None:
        """Keep the head; send it with the body, and be out of the way."""
        if self._head is None:
            self._head = data
        else:
            self._cycle.transport = self._transport
            self._transport.write(self._head + data)

    def is_closing(self) -> bool:
        """Tell whether the connection is being closed."""
        return self._transport.is_closing()

    def close(self) -> None:
        """Close the connection: the body did not come."""
        self._transport.close()
