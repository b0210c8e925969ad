from typing import Final

import click
from click.shell_completion import get_completion_class

from contentsvc_cli.terminal.output import JSON, show, wants_json

_PROGRAM: Final = "contentsvc"
#: The variable of completion requests, whose name click determines.
_VARIABLE: Final = "_CONTENTSVC_COMPLETE"


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@JSON
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script for your shell.

    \b
    bash: eval "$(contentsvc completion bash)"     in ~/.bashrc (bash 4.4 or newer)
    zsh:  eval "$(contentsvc completion zsh)"      in ~/.zshrc, after compinit
    fish: contentsvc completion fish > ~/.config/fish/completions/contentsvc.fish

    Slugs and ids are looked up in the database of the current settings, if it answers within a second.
    """  # noqa: D301  # click keeps the lines after this mark
    completion_class = get_completion_class(shell)
    assert completion_class is not None
    script = completion_class(ctx.find_root().command, {}, _PROGRAM, _VARIABLE).source()
    # click's script for fish ends a description, or a value, at its first comma.
    script = script.replace('string split ","', 'string split --max 1 ","')
    if wants_json():
        show({"shell": shell, "script": script})
    else:
        click.echo(script, nl=False)
