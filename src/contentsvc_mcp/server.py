"""The MCP server on top of the SDK. Imported only when an agent calls, because the SDK is an optional extra."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from typing import Any, Final

import structlog
from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from contentsvc_core.access.keys import ApiKey, Scope
from contentsvc_core.application import Application
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.schemas import schema_of
from contentsvc_core.text import one_line
from contentsvc_mcp.calling import UNAVAILABLE, call
from contentsvc_mcp.toolbox import Tool, ToolRefused
from contentsvc_mcp.tools import BY_NAME, INSTRUCTIONS, open_to
from contentsvc_mcp.untrusted import structured, texts

_LOG: Final = structlog.get_logger("contentsvc.mcp")


def agent_server(
    app: Application,
    caller: Callable[[], Awaitable[ApiKey | None]],
    on_unavailable: Callable[[StoreUnavailable], object],
) -> Server[Any]:
    async def open_tools() -> Sequence[Tool]:
        try:
            key = await caller()
        except StoreUnavailable as exc:
            on_unavailable(exc)
            raise MCPError(types.INTERNAL_ERROR, UNAVAILABLE) from None
        except Exception as exc:
            # The caller never sees the cause.
            _LOG.exception("tools not listed")
            raise MCPError(types.INTERNAL_ERROR, "Internal error") from exc
        return open_to(() if key is None else key.scopes)

    async def list_tools(
        _context: ServerRequestContext[Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[described(tool) for tool in await open_tools()])

    async def call_tool(
        _context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tool = BY_NAME.get(params.name)
        if tool is None:
            names = ", ".join(each.name for each in await open_tools())
            return _refused(f"Unknown tool '{one_line(params.name, 64)}'. Available tools: {names}")
        try:
            answer = await call(app, caller, tool, params.arguments, on_unavailable)
        except ToolRefused as exc:
            return _refused(str(exc))
        return types.CallToolResult(
            content=[types.TextContent(text=text) for text in texts(answer, app.ids.token)],
            structured_content=structured(answer),
        )

    server = Server[Any](
        "contentsvc",
        version=version("contentsvc"),
        title="contentsvc",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    # The SDK's tracing records names that clients choose, and ignores this service's settings.
    server.middleware.clear()
    return server


@cache
def described(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=_without_titles(schema_of(tool.takes)),
        output_schema=_without_titles(schema_of(tool.returns)),
        annotations=types.ToolAnnotations(
            read_only_hint=tool.scope is Scope.READ,
            destructive_hint=tool.is_destructive,
            idempotent_hint=tool.is_idempotent,
            open_world_hint=tool.is_open,
        ),
    )


def _without_titles(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in schema.items() if name not in {"title", "description"}}


def _refused(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)
