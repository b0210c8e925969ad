"""``HEAD`` for every ``GET`` route (RFC 9110, section 9.3.2)."""

from typing import Final, cast, final

from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send

_ALLOW: Final = b"allow"
_WAS_HEAD: Final = "contentsvc.head"


def was_head(scope: Scope) -> bool:
    """Check whether a request that the application sees as ``GET`` is a ``HEAD``: it must not change anything."""
    return _WAS_HEAD in scope


@final
class HeadRequests:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_head = scope["method"] == "HEAD"

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [(name, _allowed(name, value)) for name, value in message.get("headers", ())]
            elif is_head and message["type"] == "http.response.body":
                message["body"] = b""
            await send(message)

        if not is_head:
            await self._app(scope, receive, sending)
            return
        # The server and the request log still need the original method.
        get_scope = cast("HTTPScope", {**scope, "method": "GET", _WAS_HEAD: True})
        try:
            await self._app(get_scope, receive, sending)
        finally:
            # Metrics read the route that the framework has added.
            scope.update(cast("HTTPScope", {name: value for name, value in get_scope.items() if name not in scope}))


def _allowed(name: bytes, value: bytes) -> bytes:
    if name.lower() != _ALLOW:
        return value
    methods = {method.strip() for method in value.split(b",")}
    return b", ".join(sorted(methods | {b"HEAD"})) if b"GET" in methods else value
