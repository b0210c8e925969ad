import os
from typing import Final

import click

from contentsvc_cli.servers import KEY_VARIABLE
from contentsvc_cli.wiring import with_app
from contentsvc_core.application import Application
from contentsvc_http.faults import log_fault
from contentsvc_http.logs import configure_logging
from contentsvc_http.settings import load_settings
from contentsvc_mcp import is_installed

_NO_EXTRA: Final = "'contentsvc mcp' needs packages that are not installed: pip install 'contentsvc[mcp]'"
_NO_KEY: Final = (
    f"{KEY_VARIABLE} is not set: it has to hold an API key, which 'contentsvc key issue' makes; the agent may do what "
    "the key may"
)
_WRONG_KEY: Final = f"{KEY_VARIABLE} holds no API key that opens: it is unknown here, was revoked, or has expired"


@click.command()
def mcp() -> None:
    """Serve an AI agent by the Model Context Protocol, over standard input and output.

    Your agent starts this command. Set CONTENTSVC_API_KEY to the agent's key; its scopes limit what the agent can do.
    The command uses the database directly, but a running server writes the posts. A server offers the same tools under
    /mcp.
    """
    if not is_installed():
        raise click.ClickException(_NO_EXTRA)
    presented = os.environ.get(KEY_VARIABLE, "").strip()
    if not presented:
        raise click.ClickException(_NO_KEY)
    configure_logging(level="warning", style=load_settings().log_format)

    async def work(app: Application) -> None:
        if await app.authenticator.authenticate(presented) is None:
            raise click.ClickException(_WRONG_KEY)
        from contentsvc_mcp.stdio import serve_stdio  # noqa: PLC0415  # the packages are an extra

        await serve_stdio(app, presented, log_fault)

    with_app(work, busy=None)
