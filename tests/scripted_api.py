"""A fake API of a code host: a real server that gives prepared answers and notes the requests."""

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

from attrs import define, field, frozen


@frozen(kw_only=True)
class Asked:
    method: str
    path: str
    query: dict[str, str]
    token: str | None
    body: Any


@define(eq=False)
class ScriptedApi:
    """A server that gives prepared answers: by method and path, in their order; the last one again and again."""

    answers: dict[str, list[tuple[int, Any]]] = field(factory=dict)
    asked: list[Asked] = field(factory=list)
    url: str = ""

    def says(self, request: str, *answers: object, status: int = 200) -> Self:
        self.answers[request] = [(status, answer) for answer in answers]
        return self

    def answer(self, asked: Asked) -> tuple[int, Any]:
        self.asked.append(asked)
        known = self.answers.get(f"{asked.method} {asked.path}")
        if known is None:
            return 404, {"message": "404 Not Found"}
        return known.pop(0) if len(known) > 1 else known[0]


@contextmanager
def scripted_api() -> Generator[ScriptedApi]:
    made = ScriptedApi()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            parts = urlsplit(self.path)
            length = int(self.headers.get("Content-Length", 0))
            body = json.loads(self.rfile.read(length)) if length else None
            token = self.headers.get("Authorization")
            asked = Asked(
                method=self.command, path=parts.path, query=dict(parse_qsl(parts.query)), token=token, body=body
            )
            status, answer = made.answer(asked)
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
    made.url = f"http://127.0.0.1:{serving.server_address[1]}"
    thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield made
    finally:
        serving.shutdown()
        thread.join()
        serving.server_close()
