import errno
import importlib
import os
import sys
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


#: The version of the distribution; a test compares both. Reading it there costs two starts of a bare interpreter.
_VERSION: Final = "0.1.0"


class _Command(NamedTuple):
    module: str
    attribute: str
    summary: str


#: Commands by the groups of ``--help``, in its order. They need no import of their modules.
GROUPS: Final = {
    "Start": {
        "preview": _Command("start.preview", "preview", "Preview the changelog of a local checkout."),
        "init": _Command("start.init", "init", "Set up a repository and a public changelog."),
        "demo": _Command("start.demo", "demo", "See the service at work on sample data."),
        "login": _Command("start.login", "login", "Use a server with an API key."),
        "open": _Command("start.login", "open_page", "Open the dashboard or the changelog."),
        "serve": _Command("operate.serving", "serve", "Run the service: webhooks, runs and the API."),
    },
    "Connect": {
        "integration": _Command("connect.integrations", "integration", "Connect repositories and manage webhooks."),
        "trigger": _Command("connect.triggers", "trigger", "Choose which events start a post."),
        "endpoint": _Command("connect.endpoints", "endpoint", "Send messages to services, chats and e-mail."),
    },
    "Content": {
        "post": _Command("content.posts", "post", "List, search, edit and publish posts."),
        "generate": _Command("content.generation", "generate", "Write a post about recent changes."),
        "schedule": _Command("content.schedules", "schedule", "Write posts at regular times."),
        "changelog": _Command("content.changelogs", "changelog", "Publish or hide the public changelog."),
        "brand": _Command("content.brands", "brand", "Set the tone and audience of posts."),
        "style": _Command("content.house_style", "style", "Set the format of changelogs."),
        "subscriber": _Command("content.subscribers", "subscriber", "List and delete e-mail subscribers."),
    },
    "Watch": {
        "tail": _Command("watch.tail", "tail", "Follow the webhook log."),
        "log": _Command("watch.logs", "log", "List, show and replay webhook log entries."),
        "run": _Command("watch.runs", "run", "List, cancel and retry workflow runs."),
        "context": _Command("watch.context", "context", "List and search context for AI agents."),
    },
    "Operate": {
        "doctor": _Command("operate.doctor.command", "doctor", "Check the installation and suggest fixes."),
        "migrate": _Command("operate.serving", "migrate", "Create or upgrade the database."),
        "settings": _Command("operate.serving", "settings", "Print the current settings."),
        "organization": _Command("operate.organizations", "organization", "Create and list organizations."),
        "key": _Command("operate.keys", "key", "Issue, list and revoke API keys."),
        "mcp": _Command("operate.agents", "mcp", "Serve an AI agent over standard input."),
    },
    "Develop": {
        "listen": _Command("develop.listen", "listen", "Forward deliveries from a relay to here."),
        "history": _Command("develop.history", "history", "Record a repository's history as deliveries."),
        "send": _Command("develop.send", "send", "Send recorded deliveries to a webhook."),
        "receive": _Command("develop.receive", "receive", "Receive recorded deliveries without a server."),
        "completion": _Command("terminal.completion", "completion", "Print a script for your shell's completion."),
    },
}
COMMANDS: Final = {name: command for group in GROUPS.values() for name, command in group.items()}
_WIDEST: Final = max(map(len, COMMANDS))


#: Commands that never work on another server: they use the database, the files and the processes of this machine.
_HERE: Final = frozenset({"init", "serve", "doctor", "migrate", "mcp"})
#: Faults of the disk below standard output.
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
_HELP: Final = frozenset({"-h", "--help"})
_ASKS_FOR_HELP: Final = "contentsvc.asks_for_help"


#: Modules that asyncio, SQLAlchemy and `urllib.parse` import, and that most commands do not use.
_PLACEHOLDERS: Final = (
    *("importlib.metadata", "ssl", "asyncio.sslproto"),
    *("hashlib", "hmac", "secrets", "ipaddress", "random"),
)


class _OnDemand(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        _ = ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        _ = ctx
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        from contentsvc_core.on_demand import module_on_demand  # noqa: PLC0415  # `--help` does not need it

        for name in _PLACEHOLDERS:
            module_on_demand(name)
        from contentsvc_cli.terminal.ids import take_short_ids  # noqa: PLC0415  # as above

        command: click.Command = getattr(importlib.import_module(f"contentsvc_cli.{entry.module}"), entry.attribute)
        return take_short_ids(command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        ctx.meta[_ASKS_FOR_HELP] = not _HELP.isdisjoint(args)
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as exc:
            raise click.NoSuchCommand(exc.command_name, possibilities=COMMANDS, ctx=ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        _ = ctx
        for group, commands in GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([(f"{name:{_WIDEST}}", command.summary) for name, command in commands.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem[str]]":
        from click.shell_completion import CompletionItem  # noqa: PLC0415  # only shell completion needs it

        named = [
            CompletionItem(name, help=command.summary)
            for name, command in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return [*named, *click.Command.shell_complete(self, ctx, incomplete)]

    def invoke(self, ctx: click.Context) -> object:
        from contentsvc_core.errors import ContentServiceError  # noqa: PLC0415  # `--help` does not need it

        try:
            return super().invoke(ctx)
        except ContentServiceError as exc:
            raise click.ClickException(_shown(str(exc))) from exc
        except click.NoSuchOption as exc:
            raise exc if exc.possibilities else _longer(exc) from None
        except click.UsageError as exc:
            message = exc.format_message()
            if (shown := _shown(message)) == message:
                raise
            raise click.UsageError(shown, exc.ctx) from exc
        except click.ClickException as exc:
            raise click.ClickException(_shown(exc.message)) from exc

    def main(self, *args: Any, **extra: Any) -> Any:  # noqa: ANN401  # as the base class
        # Here, because `--help` and `--version` write before `invoke`.
        try:
            return super().main(*args, **extra)
        except OSError as exc:
            if exc.errno not in _FULL:
                raise
            click.ClickException(f"the output cannot be written: {exc.strerror}").show()
            sys.exit(1)


def _longer(exc: click.NoSuchOption) -> click.UsageError:
    options = [] if exc.ctx is None else [name for parameter in exc.ctx.command.params for name in parameter.opts]
    matching = [name for name in options if name.startswith(exc.option_name) and exc.option_name.startswith("--")]
    hint = f" Did you mean {' or '.join(map(repr, matching))}?" if matching else ""
    return click.UsageError(f"{exc.message}{hint}", exc.ctx)


def _shown(message: str) -> str:
    from contentsvc_cli.terminal.output import printable  # noqa: PLC0415  # on demand, as all of this module

    return printable(message, sys.stderr)


@click.group(cls=_OnDemand, context_settings={"help_option_names": sorted(_HELP, key=len)})
@click.version_option(_VERSION)
@click.option(
    "--server",
    metavar="URL",
    help="Work on this server with an API key (CONTENTSVC_API_KEY).  [env var: CONTENTSVC_SERVER]",
)
@click.option("--allow-http", is_flag=True, help="Send the API key over http:// to other machines, unencrypted.")
@click.pass_context
def main(ctx: click.Context, *, server: str | None, allow_http: bool) -> None:
    """Turn pushes and releases into changelogs and posts.

    \b
    contentsvc preview .          the changelog of your checkout
    contentsvc init               your own public changelog
    contentsvc post list          the posts, newest first

    Settings come from environment variables CONTENTSVC_* and from the file contentsvc.env in the current folder.
    `contentsvc settings` prints them. With --json, standard output is only JSON. Exit codes: 0 success, 1 refused or
    failed, 2 wrong usage.
    """  # noqa: D301  # click keeps the lines after this mark
    _ = allow_http
    # Databases, keys and recordings contain secrets and tenants' texts, which other users must not read.
    before = os.umask(0o077)
    ctx.call_on_close(lambda: os.umask(before))
    _take_settings_of_the_folder(ctx)
    is_remote = bool(server or os.environ.get("CONTENTSVC_SERVER"))
    if is_remote and ctx.invoked_subcommand in _HERE and not ctx.meta[_ASKS_FOR_HELP]:
        message = (
            f"'contentsvc {ctx.invoked_subcommand}' works on the machine of the service: run it there, without a server"
        )
        raise click.ClickException(message)


def _take_settings_of_the_folder(ctx: click.Context) -> None:
    if not os.path.exists("contentsvc.env"):  # noqa: PTH110  # `pathlib` costs more than all the rest
        return
    from pathlib import Path  # noqa: PLC0415  # most folders have no such file

    from contentsvc_cli.environment import read_settings_file  # noqa: PLC0415  # as above

    new = {name: value for name, value in read_settings_file(Path("contentsvc.env")).items() if name not in os.environ}
    if "CONTENTSVC_SERVER" in new and "CONTENTSVC_API_KEY" in os.environ and not ctx.params.get("server"):
        # A file of a foreign checkout must not choose the server that gets the key of the environment.
        message = (
            f"contentsvc.env names the server '{new['CONTENTSVC_SERVER']}', but your API key is from the environment: "
            "set CONTENTSVC_SERVER there as well, or use --server"
        )
        raise click.ClickException(_shown(message))
    from contentsvc_cli.servers import FOLDER_SETTINGS  # noqa: PLC0415  # as above

    ctx.meta[FOLDER_SETTINGS] = new
    os.environ.update(new)
    ctx.call_on_close(lambda: [os.environ.pop(name, None) for name in new])
