import contextlib
import json
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping
from typing import Any, TypeAlias, cast

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from mcp import types
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from contentsvc_core.access.keys import ApiKey
from contentsvc_core.application import Application
from contentsvc_core.errors import ContentServiceError, StoreUnavailable
from contentsvc_core.usecases.authenticate import Authenticator
from contentsvc_mcp.server import agent_server

_Item: TypeAlias = SessionMessage | Exception


async def serve_stdio(app: Application, presented: str, on_unavailable: Callable[[StoreUnavailable], object]) -> None:
    """Serve the parent process; the API key is looked up before each call, so that a revoked key stops working."""
    server = agent_server(app, _looked_up(app.authenticator, presented), on_unavailable)
    parsed, requests = anyio.create_memory_object_stream[_Item]()
    async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as group:
        group.start_soon(_pass_on, incoming, parsed, outgoing.send)
        await server.run(requests, outgoing, server.create_initialization_options())
        group.cancel_scope.cancel()


async def _pass_on(
    incoming: AsyncIterable[_Item],
    parsed: MemoryObjectSendStream[_Item],
    send: Callable[[SessionMessage], Awaitable[None]],
) -> None:
    # The SDK drops a line that is no message, so that the client would wait forever.
    async with parsed:
        async for item in incoming:
            if not isinstance(item, ValidationError):
                await parsed.send(item)
            elif (answer := _unparsed(item)) is not None:
                await send(SessionMessage(answer))


def _unparsed(exc: ValidationError) -> types.JSONRPCError | None:
    faults = exc.errors(include_url=False)
    seen: list[Any] = [found["input"] for found in faults]
    code, text = types.INVALID_REQUEST, "This is no JSON-RPC message"
    if faults[0]["type"] == "json_invalid":
        if not seen[0].strip():
            return None
        code, text = types.PARSE_ERROR, faults[0]["msg"]
        with contextlib.suppress(ValueError, RecursionError):
            # Python reads some texts that the SDK refuses, such as half of a surrogate pair.
            seen.append(json.loads(seen[0]))
    ids = [cast("Mapping[str, object]", found).get("id") for found in seen if isinstance(found, dict)]
    known = next((name for name in ids if isinstance(name, int | str) and not isinstance(name, bool)), None)
    return types.JSONRPCError(jsonrpc="2.0", id=known, error=types.ErrorData(code=code, message=text))


def _looked_up(authenticator: Authenticator, presented: str) -> Callable[[], Awaitable[ApiKey | None]]:
    async def authenticate() -> ApiKey | None:
        key = await authenticator.authenticate(presented)
        if key is not None:
            with contextlib.suppress(ContentServiceError):
                await authenticator.note_use(key)
        return key

    return authenticate
