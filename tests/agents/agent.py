"""An agent in this process: the SDK's client, with the key of one caller."""

import contextlib
import json
from collections.abc import AsyncGenerator, Sequence
from typing import Any, final

from mcp import Client
from mcp.types import CallToolResult, TextContent, Tool
from tests.api.world import Caller

from contentsvc_core import ApiKey, Authenticator, StoreUnavailable
from contentsvc_mcp.server import agent_server


def text_of(result: CallToolResult) -> str:
    """Return the text of an answer."""
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


@final
class Agent:
    """Calls tools."""

    def __init__(self, client: Client, outages: Sequence[StoreUnavailable] = ()) -> None:
        self.client = client
        #: What the tools have reported to the operator.
        self.outages = outages

    async def tools(self) -> dict[str, Tool]:
        return {tool.name: tool for tool in (await self.client.list_tools()).tools}

    async def result(self, tool: str, **arguments: Any) -> CallToolResult:
        return await self.client.call_tool(tool, arguments)

    async def __call__(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool successfully; the client checks the answer against the tool's schema."""
        result = await self.result(tool, **arguments)
        assert not result.is_error, text_of(result)
        answer = result.structured_content
        own, *_ = result.content
        assert isinstance(own, TextContent)
        assert json.loads(own.text).items() <= answer.items()
        return answer

    async def refusal(self, tool: str, **arguments: Any) -> str:
        """Call a tool that refuses; return its message."""
        result = await self.result(tool, **arguments)
        assert result.is_error
        assert result.structured_content is None
        return text_of(result)


@contextlib.asynccontextmanager
async def agent_of(caller: Caller) -> AsyncGenerator[Agent]:
    """Return an agent with the caller's key."""

    authenticator = Authenticator(caller.world.stores.keys, caller.world.clock)

    async def authenticated() -> ApiKey | None:
        return await authenticator.authenticate(caller.key)

    outages: list[StoreUnavailable] = []
    async with Client(agent_server(caller.world.use_cases, authenticated, outages.append)) as client:
        yield Agent(client, outages)
