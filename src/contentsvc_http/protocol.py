"""HTTP itself, where it is refused before there is a request: in our form, and in bounded memory."""

from typing import Final, final

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

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
