"""The command ``contentsvc``: its groups, and how its errors read."""

import importlib
import os
import sys
from typing import Final, final

import click
from click.shell_completion import CompletionItem

_COMMANDS: Final = {
    "serve": "contentsvc_cli.serving:serve",
    "migrate": "contentsvc_cli.serving:migrate",
    "settings": "contentsvc_cli.serving:settings",
    "doctor": "contentsvc_cli.doctor.command:doctor",
    "organization": "contentsvc_cli.organizations:organization",
    "key": "contentsvc_cli.keys:key",
    "integration": "contentsvc_cli.integrations:integration",
    "trigger": "contentsvc_cli.triggers:trigger",
    "generate": "contentsvc_cli.generation:generate",
    "schedule": "contentsvc_cli.schedules:schedule",
    "brand": "contentsvc_cli.brands:brand",
    "endpoint": "contentsvc_cli.endpoints:endpoint",
    "tail": "contentsvc_cli.tail:tail",
    "log": "contentsvc_cli.listings:log",
    "run": "contentsvc_cli.listings:run",
    "context": "contentsvc_cli.context:context",
    "post": "contentsvc_cli.posts:post",
    "changelog": "contentsvc_cli.changelogs:changelog",
    "history": "contentsvc_cli.history:history",
    "send": "contentsvc_cli.send:send",
    "receive": "contentsvc_cli.receive:receive",
    "mcp": "contentsvc_cli.agents:mcp",
    "demo": "contentsvc_cli.demo:demo",
    "completion": "contentsvc_cli.completion:completion",
}


@final
class _OnDemand(click.Group):
    """Imports a command when it is asked for: ``history`` needs no database, and ``--help`` needs nothing."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        _ = ctx
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        _ = ctx
        target = _COMMANDS.get(cmd_name)
        if target is None:
            return None
        module, _, name = target.partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        """Give the commands' names, without their help: for that, every one of them would have to be imported."""
        named = [CompletionItem(name) for name in _COMMANDS if name.startswith(incomplete)]
        return [*named, *click.Command.shell_complete(self, ctx, incomplete)]

    def invoke(self, ctx: click.Context) -> object:
        """Run; say errors that are the operator's to fix in one line, without a traceback."""
        from contentsvc_core.errors import ContentServiceError  # noqa: PLC0415  # on demand, like all else here
        from contentsvc_http.settings import InvalidSetting  # noqa: PLC0415  # as above

        try:
            return super().invoke(ctx)
        except (ContentServiceError, InvalidSetting) as exc:
            raise click.ClickException(_shown(str(exc))) from exc
        except click.UsageError:
            raise
        except click.ClickException as exc:
            raise click.ClickException(_shown(exc.message)) from exc


def _shown(message: str) -> str:
    from contentsvc_cli.output import printable  # noqa: PLC0415  # on demand, like all else here

    return printable(message, sys.stderr)


@click.group(cls=_OnDemand, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="contentsvc")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Receive a code host's webhooks exactly once, and turn them into content.

    Settings come from environment variables CONTENTSVC_*; `contentsvc settings` shows them. With --json, standard
    output holds the JSON alone. Exit codes: 0 done, 1 refused or failed, 2 wrong usage.
    """
    # Databases, keys and recordings hold tenants' text and secrets: no other user of the machine may read them.
    before = os.umask(0o077)
    ctx.call_on_close(lambda: os.umask(before))
