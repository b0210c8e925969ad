"""A scripted API of a code host: a real server with prepared answers that records requests."""

import json
from typing import Any, Self

from tests.http_server import HttpServer, ReceivedRequest, Reply


class ScriptedApi(HttpServer):
    """A server with prepared answers by method and path, in their order; the last one is repeated."""

    protocol = "HTTP/1.1"

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[str, list[tuple[int, Any]]] = {}

    def prepare(self, request: str, *answers: object, status: int = 200) -> Self:
        self.answers[request] = [(status, answer) for answer in answers]
        return self

    def reply(self, request: ReceivedRequest, /) -> Reply:
        answers = self.answers.get(f"{request.method} {request.path}", [(404, {"message": "404 Not Found"})])
        status, answer = answers.pop(0) if len(answers) > 1 else answers[0]
        return status, {"Content-Type": "application/json"}, b"" if answer is None else json.dumps(answer).encode()
