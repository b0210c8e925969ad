import contextlib
from collections.abc import Awaitable, Callable

from mcp.server.stdio import stdio_server

from contentsvc_core.access.keys import ApiKey
from contentsvc_core.application import Application
from contentsvc_core.errors import ContentServiceError
from contentsvc_core.usecases.authenticate import Authenticator
from contentsvc_mcp.server import agent_server


async def serve_stdio(app: Application, presented: str) -> None:
    """Serve the parent process; the API key is looked up before each call, so that a revoked key stops working."""
    server = agent_server(app, _looked_up(app.authenticator, presented))
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def _looked_up(authenticator: Authenticator, presented: str) -> Callable[[], Awaitable[ApiKey | None]]:
    async def authenticate() -> ApiKey | None:
        key = await authenticator.authenticate(presented)
        if key is not None:
            with contextlib.suppress(ContentServiceError):
                await authenticator.note_use(key)
        return key

    return authenticate
