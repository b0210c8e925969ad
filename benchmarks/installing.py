"""Create a database with one object of each kind, by the service's commands in one process: each start is slow."""

import json
import sys
from typing import Any

from click.testing import CliRunner

from contentsvc_cli.main import main


def install(organization: str, repository: str, repository_id: str) -> Any:  # noqa: ANN401  # JSON
    """Create schema, organization, integration and trigger; return the printed integration.

    Raises:
        RuntimeError: A command failed.
    """
    at = ("--organization", organization, "--repository-id", repository_id)
    _run("migrate")
    _run("organization", "create", organization)
    answer = _run("integration", "connect", repository, *at)
    _run("trigger", "create", *at, "--event", "push", "--auto-publish")
    return answer


def _run(*arguments: str) -> Any:  # noqa: ANN401  # JSON
    done = CliRunner().invoke(main, [*arguments, "--json"])
    if done.exit_code:
        message = f"contentsvc {' '.join(arguments)}: {done.output}"
        raise RuntimeError(message) from done.exception
    return json.loads(done.stdout)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(install(*sys.argv[1:])))
