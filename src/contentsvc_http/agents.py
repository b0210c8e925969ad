import asyncio
import re
from importlib import import_module
from typing import Any, Final

from litestar import Request, Response, post
from litestar.handlers import HTTPRouteHandler

from contentsvc_core.access.keys import ApiKey
from contentsvc_core.application import Application
from contentsvc_http.auth import caller
from contentsvc_http.body_budget import MAX_POST_BODY
from contentsvc_http.errors import Refused
from contentsvc_http.faults import log_fault
from contentsvc_http.same_origin import origin_of
from contentsvc_mcp import is_installed

#: The values that a message may have. The protocol's library takes a microsecond for each, on the event loop.
_MAX_VALUES: Final = 10_000
#: The quotation marks that a message may have: twice the strings, and those within a long Markdown.
_MAX_QUOTES: Final = 40_000
# The end is optional, so that a string without one takes linear time, too.
_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_TOO_MANY_VALUES: Final = f"A message must have at most {_MAX_VALUES:,} values"
_NOT_UTF_8: Final = "A message must be JSON in UTF-8"


def agent_routes(app: Application) -> list[HTTPRouteHandler]:
    if not is_installed():
        return []
    own_origin = origin_of(app.base_url)

    # There are no streams (GET) and no sessions to delete (DELETE): both get a 405.
    @post("/mcp", status_code=200, include_in_schema=False, request_max_body_size=MAX_POST_BODY)
    async def mcp(request: Request[Any, Any, Any]) -> Response[bytes]:
        key = await caller(request, app.authenticator, None)
        # Against DNS rebinding: browsers send the origin of the calling page (MCP, Streamable HTTP, security warning).
        origin = request.headers.get("Origin")
        if origin is not None and origin.lower() != own_origin:
            raise Refused(403, {"error": "Requests of other sites' pages are not answered"})
        body = await request.body()
        # The library also reads UTF-16 and UTF-32, whose values are not counted. Their JSON has zero bytes.
        if b"\0" in body:
            raise Refused(400, {"error": _NOT_UTF_8})
        if _has_too_many_values(body):
            raise Refused(400, {"error": _TOO_MANY_VALUES})
        # Imported with the first call: services without agents do not pay for it. In a thread: it takes seconds.
        await asyncio.to_thread(import_module, "contentsvc_mcp.exchange")
        await asyncio.to_thread(import_module, "contentsvc_mcp.server")
        from contentsvc_mcp.exchange import exchange  # noqa: PLC0415
        from contentsvc_mcp.server import agent_server  # noqa: PLC0415

        async def authenticated() -> ApiKey:
            return key

        answered = await exchange(agent_server(app, authenticated, log_fault), request.scope["headers"], body)
        headers = dict(answered.headers)
        media_type = headers.pop("content-type", "text/plain")
        return Response(answered.body, status_code=answered.status, headers=headers, media_type=media_type)

    return [mcp]


def _has_too_many_values(message: bytes) -> bool:
    """Check how many values a JSON text has, before anything builds them."""
    if message.count(b'"') > _MAX_QUOTES:
        return True
    rest = _STRING.sub(b"", message)
    return sum(map(rest.count, (b",", b"[", b"{"))) > _MAX_VALUES
