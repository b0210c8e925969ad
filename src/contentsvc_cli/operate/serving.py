import asyncio
import signal
from pathlib import Path

import click

from contentsvc_cli.servers import has_another_port, local_port
from contentsvc_cli.terminal.output import JSON, fail, json_text, misused, show, wants_json
from contentsvc_cli.terminal.waiting import waiting
from contentsvc_http.roles import Role
from contentsvc_http.settings import Settings, load_settings, unknown_variables, variable
from contentsvc_http.sockets import listen, reserve


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="Port to listen on; 0: any free port.  [default: that of CONTENTSVC_BASE_URL on this machine, else 8000]",
)
@click.option(
    "--role",
    default=Role.ALL.value,
    show_default=True,
    type=click.Choice([role.value for role in Role]),
    help="receiver: only HTTP; worker: only workflow runs.",
)
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1, 256), help="Number of processes.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print the URL as JSON on standard output when the server is ready."
)
def serve(host: str, port: int | None, role: str, workers: int, *, as_json: bool) -> None:
    """Receive webhooks, perform workflow runs, and serve /v1.

    With SQLite, the schema is upgraded first. SIGTERM, SIGHUP or Ctrl-C stops the server within 10 seconds.
    """
    from contentsvc_http.starting import prepare_imports  # noqa: PLC0415  # only this command needs it

    prepare_imports()
    import structlog  # noqa: PLC0415  # as above

    from contentsvc_http.logs import configure_logging  # noqa: PLC0415  # as above

    # By default, a closed terminal would end the process at once. Under 'nohup', the signal stays ignored.
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda _number, _frame: signal.raise_signal(signal.SIGTERM))
    settings = load_settings()
    port = local_port(settings.base_url) if port is None else port
    configure_logging(level=settings.log_level, style=settings.log_format)
    log = structlog.get_logger("contentsvc")
    if advice := _advice_for_unknown(settings):
        log.warning("these are not settings", **advice)
    _refuse_to_split_a_file(settings, Role(role), workers)

    def ready() -> None:
        at = f"http://{f'[{host}]' if ':' in host else host}:{bound.getsockname()[1]}"
        log.info("ready", url=at)
        if Role(role) is not Role.WORKER and has_another_port(settings.base_url, bound.getsockname()[1]):
            advice = f"unless a proxy leads to {at}, set {variable('base_url')} to it, for the server and the commands"
            log.warning("the base URL has another port", base_url=settings.base_url, advice=advice)
        if as_json:
            click.echo(json_text({"url": at}, indent=2))

    def stopping() -> None:
        log.info("stopping")

    if workers == 1:
        from contentsvc_http.server import serve as serve_until_stopped  # noqa: PLC0415  # only this command needs it

        bound = listen(host, port)
        serve_until_stopped(settings, Role(role), bound, on_ready=ready, on_stopping=stopping)
    else:
        from contentsvc_http.processes import Listener, supervise  # noqa: PLC0415  # as above

        bound = reserve(host, port)
        listener = Listener(role=Role(role), host=host, port=bound.getsockname()[1])
        supervise(listener, workers, on_ready=ready, on_stopping=stopping)


@click.command()
@click.option(
    "--from",
    "source",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Also copy this SQLite file into the empty PostgreSQL database. Stop its server first.",
)
@JSON
def migrate(source: Path | None) -> None:
    """Create the database if needed, and upgrade its schema."""
    from contentsvc_http.wiring.stores import copy_from  # noqa: PLC0415  # `--help` does not need it
    from contentsvc_http.wiring.stores import migrate as bring_up_to_date  # noqa: PLC0415  # `--help` does not need it

    settings = load_settings()
    for name, advice in _advice_for_unknown(settings).items():
        click.echo(f"Warning: {name} is set, but is not a setting: {advice}", err=True)
    if source is not None and settings.is_sqlite:
        misused("--from copies into PostgreSQL: set CONTENTSVC_DATABASE_URL to postgresql+asyncpg://…")
    with waiting("bringing the schema up to date"):
        revision = asyncio.run(bring_up_to_date(settings))
    if source is None:
        show({"revision": revision})
        return
    with waiting(f"copying {source}") as shown:

        def on_table(table: str, done: int, total: int) -> None:
            shown.say(f"copying {table}")
            shown.count(done, total)

        copied = asyncio.run(copy_from(settings, source, on_table))
    rows = dict(copied) if wants_json() else f"{sum(copied.values())} rows of {source}"
    show({"revision": revision, "copied": rows})


@click.command()
@JSON
def settings() -> None:
    """Print the current settings. Secrets are masked."""
    show(load_settings().masked())


def _advice_for_unknown(settings: Settings) -> dict[str, str]:
    """Return an advice for each misspelt setting: with its default, the command may use another database."""
    unknown = unknown_variables()
    if not unknown:
        return {}
    from contentsvc_cli.operate.doctor.settings import misspelt  # noqa: PLC0415  # most installations do not need it

    return misspelt(unknown, settings.masked())


def _refuse_to_split_a_file(settings: Settings, role: Role, workers: int) -> None:
    option = f"--workers {workers}" if workers > 1 else f"--role {role}"
    if settings.is_sqlite and (workers > 1 or role is not Role.ALL):
        fail(
            f"{option} needs PostgreSQL: CONTENTSVC_DATABASE_URL names a SQLite file, and one process serves that. "
            f"Set it to postgresql+asyncpg://…, or leave {option.partition(' ')[0]} out"
        )
