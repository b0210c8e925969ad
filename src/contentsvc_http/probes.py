from collections.abc import Awaitable, Callable
from typing import Final, final

import msgspec

from contentsvc_http.asgi import ASGIApp, Receive, Scope, Send
from contentsvc_http.logs import RequestLog, Requests

LIVE: Final = "/health/live"
READY: Final = "/health/ready"
_LIVE: Final = {"status": "live"}
_READY: Final = {"status": "ready"}


def not_ready(reason: str) -> dict[str, str]:
    return {"error": f"Not ready: {reason}"}


@final
class Probes:
    def __init__(self, why_not_ready: Callable[[], Awaitable[str | None]], requests: Requests) -> None:
        self._why_not_ready = why_not_ready
        self._logged: ASGIApp = RequestLog(self._answer, requests)

    @staticmethod
    def serves(scope: Scope) -> bool:
        return scope["type"] == "http" and scope["method"] == "GET" and scope["path"] in {LIVE, READY}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._logged(scope, receive, send)

    async def _answer(self, scope: Scope, _receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        scope["path_template"] = path
        reason = None if path == LIVE else await self._why_not_ready()
        if reason is None:
            status, headers, answer = 200, [], _LIVE if path == LIVE else _READY
        else:
            status, headers, answer = 503, [(b"retry-after", b"1")], not_ready(reason)
        body = msgspec.json.encode(answer)
        sized = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *headers]
        await send({"type": "http.response.start", "status": status, "headers": sized})
        await send({"type": "http.response.body", "body": body, "more_body": False})
