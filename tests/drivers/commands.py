"""The command, run in this process."""

import json
from typing import Any

from click.testing import CliRunner, Result

from contentsvc_cli.main import main


def invoke(*arguments: str, **how: Any) -> Result:
    return CliRunner().invoke(main, arguments, **how)


def command(*arguments: str, **how: Any) -> Any:
    """Return the JSON that a command prints."""
    done = invoke(*arguments, "--json", **how)
    assert done.exit_code == 0, (arguments, done.output)
    return json.loads(done.stdout)


def error(*arguments: str, code: int = 1, **how: Any) -> str:
    """Return the message of a command that fails; only a wrong usage (code 2) prints more than one line."""
    done = invoke(*arguments, **how)
    assert (done.exit_code, done.stdout) == (code, ""), done.output
    *usage, message = done.stderr.splitlines()
    assert message.startswith("Error: ")
    assert code == 2 or not usage
    return message.removeprefix("Error: ")
