"""``serve``, ``migrate`` and ``settings``."""

import asyncio
import socket
from typing import Final

import click
import structlog

from contentsvc_cli.output import JSON, show
from contentsvc_http.logs import configure_logging
from contentsvc_http.settings import load_settings

_LOG: Final = structlog.get_logger("contentsvc")
_BACKLOG: Final = 2048


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="0: any free one.")
@click.option("--json", "as_json", is_flag=True, help="Print the address as JSON on standard output, once it is ready.")
def serve(host: str, port: int, *, as_json: bool) -> None:
    """Receive webhooks, perform workflow runs, and serve /v1.

    With SQLite the schema is brought up to date first. SIGTERM or Ctrl-C ends it in order, within 10 seconds.
    """
    from contentsvc_http.server import serve as serve_until_stopped  # noqa: PLC0415  # only this command needs it

    settings = load_settings()
    configure_logging(level=settings.log_level, style=settings.log_format)
    listening = _listen(host, port)
    bound = listening.getsockname()[1]
    at = f"http://{f'[{host}]' if ':' in host else host}:{bound}"

    def ready() -> None:
        _LOG.info("ready", url=at)
        if as_json:
            show({"url": at}, as_json=True)

    serve_until_stopped(settings, listening, on_ready=ready)


@click.command()
@JSON
def migrate(*, as_json: bool) -> None:
    """Bring the database's schema up to date; make the database if it is not there yet."""
    from contentsvc_http.wiring import migrate as bring_up_to_date  # noqa: PLC0415  # opens no database for --help

    revision = asyncio.run(bring_up_to_date(load_settings()))
    show({"revision": revision}, as_json=as_json)


@click.command()
@JSON
def settings(*, as_json: bool) -> None:
    """Print the settings in force, with nothing secret in clear."""
    show(load_settings().masked(), as_json=as_json)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(_BACKLOG)
    except OSError as exc:
        listening.close()
        message = f"cannot listen on {host} port {port}: {exc.strerror or exc}"
        raise click.ClickException(message) from exc
    return listening
