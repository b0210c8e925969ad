"""A scripted API of a code host: a real server with prepared answers that records requests."""

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

from attrs import define, field, frozen


@frozen(kw_only=True)
class ReceivedRequest:
    method: str
    path: str
    query: dict[str, str]
    token: str | None
    body: Any


@define(eq=False)
class ScriptedApi:
    """A server with prepared answers by method and path, in their order; the last one is repeated."""

    answers: dict[str, list[tuple[int, Any]]] = field(factory=dict)
    requests: list[ReceivedRequest] = field(factory=list)
    url: str = ""

    def reply(self, request: str, *answers: object, status: int = 200) -> Self:
        self.answers[request] = [(status, answer) for answer in answers]
        return self

    def answer(self, request: ReceivedRequest) -> tuple[int, Any]:
        self.requests.append(request)
        answers = self.answers.get(f"{request.method} {request.path}")
        if answers is None:
            return 404, {"message": "404 Not Found"}
        return answers.pop(0) if len(answers) > 1 else answers[0]


@contextmanager
def scripted_api() -> Generator[ScriptedApi]:
    created = ScriptedApi()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            parts = urlsplit(self.path)
            length = int(self.headers.get("Content-Length", 0))
            body = json.loads(self.rfile.read(length)) if length else None
            token = self.headers.get("Authorization")
            request = ReceivedRequest(
                method=self.command, path=parts.path, query=dict(parse_qsl(parts.query)), token=token, body=body
            )
            status, answer = created.answer(request)
            raw = b"" if answer is None else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        do_GET = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815  # the base class's names

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base class's name
            pass

    serving = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    created.url = f"http://127.0.0.1:{serving.server_address[1]}"
    thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield created
    finally:
        serving.shutdown()
        thread.join()
        serving.server_close()
