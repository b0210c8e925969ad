"""An HTTP server on loopback for tests; its subclasses answer the requests."""

import contextlib
import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Self
from urllib.parse import parse_qsl, urlsplit

from attrs import frozen

#: Status, headers and body.
Reply = tuple[int, Mapping[str, str], bytes]


@frozen(kw_only=True)
class ReceivedRequest:
    method: str
    path: str
    query: Mapping[str, str]
    #: By their names in lower case.
    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        """Return the JSON of the body; ``None``: there is no body."""
        return json.loads(self.raw) if self.raw else None


class HttpServer(ABC):
    """Serves until its context ends."""

    #: HTTP/1.1 keeps connections.
    protocol: ClassVar[str] = "HTTP/1.0"

    def __init__(self) -> None:
        self.requests: list[ReceivedRequest] = []
        self.connections = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        # So that closing does not wait for blocked threads.
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]
        self.place: str = f"127.0.0.1:{self.port}"
        self.url: str = f"http://{self.place}"

    @abstractmethod
    def reply(self, request: ReceivedRequest, /) -> Reply | None:
        """Return the answer; ``None``: the connection ends without one."""

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = server.protocol
            # Otherwise an answer has two parts, and the second part waits for the acknowledgement of the first one.
            disable_nagle_algorithm = True

            def setup(self) -> None:
                server.connections += 1
                super().setup()

            def _serve(self) -> None:
                target = urlsplit(self.path)
                request = ReceivedRequest(
                    method=self.command,
                    path=target.path,
                    query=dict(parse_qsl(target.query)),
                    headers={name.lower(): value for name, value in self.headers.items()},
                    raw=self.rfile.read(int(self.headers.get("Content-Length") or 0)),
                )
                server.requests.append(request)
                reply = server.reply(request)
                if reply is None:
                    self.close_connection = True
                    return
                status, headers, body = reply
                # The client may have disconnected before the answer.
                with contextlib.suppress(OSError):
                    self.send_response(status)
                    for name, value in {"Content-Length": str(len(body)), **headers}.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(body)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815  # the base class's names

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base class's name
                pass

        return Handler


class StaticSite(HttpServer):
    """Answers every request with one page."""

    def __init__(self, page: bytes, headers: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self._page = page
        self._headers = {"Content-Type": "text/html; charset=utf-8", **(headers or {})}

    def reply(self, _request: ReceivedRequest, /) -> Reply:
        return 200, self._headers, self._page
