"""Imports of commands, which are nearly the whole cost of a short command."""

import re
import subprocess
import sys
from importlib.metadata import version
from typing import Final

import pytest
from click.testing import CliRunner
from tests.server_process import COMMAND, PATIENCE_S, Installation

from contentsvc_cli.main import COMMANDS, GROUPS, main

_IMPORTED: Final = re.compile(r"^import '([\w.]+)' #", re.MULTILINE)
#: The only imports of `--help` and `--version` beside the standard library.
_FOR_HELP: Final = {"click", "contentsvc_cli", "contentsvc_cli.__main__", "contentsvc_cli.main"}
#: The distributions that a command with a SQLite file may import.
_FOR_DATA: Final = _FOR_HELP | {
    *("attr", "attrs", "msgspec", "typing_extensions", "uuid_utils"),
    *("sqlalchemy", "aiosqlite", "greenlet"),
    *("contentsvc_core", "contentsvc_adapters", "contentsvc_http"),
}
#: Expensive modules that these commands do not need.
_NOT_FOR_DATA: Final = (
    *("sqlalchemy.orm", "sqlalchemy.ext.asyncio", "contentsvc_http.server", "contentsvc_mcp"),
    # The protocol of all stores imports the types of all ports.
    "contentsvc_core.ports.stores",
    # Only commands that change data need use cases.
    "contentsvc_core.usecases.",
    *("contentsvc_core.content.options", "contentsvc_core.content.style_fields"),
    *("contentsvc_adapters.sql.schema.mailing", "contentsvc_adapters.sql.schema.searching"),
    # Imports of libraries that a list does not use.
    *("importlib.metadata", "ssl", "_ssl", "asyncio.sslproto", "ipaddress", "random", "secrets", "hashlib", "hmac"),
)
_WORKFLOWS: Final = ("contentsvc_core.workflows", "contentsvc_adapters.sql.schema.work")
_POSTS: Final = (
    "contentsvc_core.content.posts",
    "contentsvc_core.content.editing",
    "contentsvc_adapters.sql.schema.content",
)
_EVENTS: Final = (*_WORKFLOWS, "contentsvc_core.journal", "contentsvc_core.events", "contentsvc_core.webhooks")
#: Modules that a list does not need, by its command: each costs a part of a bare start.
_NOT_FOR_LIST: Final = {
    "organization": (*_EVENTS, *_POSTS, "contentsvc_core.access"),
    "key": (*_EVENTS, *_POSTS, "contentsvc_core.access.sessions"),
    "integration": (*_EVENTS, *_POSTS, "contentsvc_core.access"),
    "log": (*_WORKFLOWS, *_POSTS, "contentsvc_core.access", "contentsvc_core.webhooks"),
    "post": (*_EVENTS, "contentsvc_core.access"),
}


def imported(*command: str, installation: Installation) -> set[str]:
    """Run a command in a new process; return the imported modules."""
    done = subprocess.run(
        [sys.executable, "-v", *command],
        env=installation.environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_S,
    )
    return set(_IMPORTED.findall(done.stderr))


def foreign(names: set[str]) -> set[str]:
    return {name for name in names if name.partition(".")[0] not in sys.stdlib_module_names}


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    installation = Installation(tmp_path_factory.mktemp("acme"))
    created = CliRunner(env=installation.environment).invoke(main, ["organization", "create", "Acme"])
    assert created.exit_code == 0, created.output
    return installation


@pytest.fixture(scope="module")
def always(acme: Installation) -> set[str]:
    """Return the modules that each interpreter of the environment imports."""
    return imported("-c", "pass", installation=acme)


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_import_nothing_of_the_service(acme: Installation, always: set[str], option: str) -> None:
    found = imported(COMMAND, option, installation=acme) - always

    assert {name for name in foreign(found) if not name.startswith("click.")} <= _FOR_HELP
    assert "importlib.metadata" not in found


def test_the_version_of_the_command_is_that_of_the_distribution() -> None:
    shown = CliRunner().invoke(main, ["--version"]).output

    assert shown.endswith(f", version {version('contentsvc')}\n")


@pytest.mark.parametrize("name", _NOT_FOR_LIST)
def test_a_list_imports_only_what_it_uses(acme: Installation, always: set[str], name: str) -> None:
    found = imported(COMMAND, name, "list", installation=acme) - always

    assert {each for each in foreign(found) if each.partition(".")[0] not in _FOR_DATA} == set()
    assert {each for each in found if each.startswith((*_NOT_FOR_DATA, *_NOT_FOR_LIST[name]))} == set()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_found_by_its_name(name: str) -> None:
    found = main.get_command(main.make_context("contentsvc", ["--help"], resilient_parsing=True), name)

    assert found is not None
    assert found.name == name


def test_each_command_has_one_whole_line_of_help() -> None:
    shown = CliRunner().invoke(main, ["--help"], terminal_width=80).output.splitlines()

    for name, command in COMMANDS.items():
        assert f"  {name:12}  {command.summary}" in shown
        assert len(command.summary) <= 45
        assert command.summary.endswith(".")
    assert [line[:-1] for line in shown if line.endswith(":") and not line.startswith(" ")] == ["Options", *GROUPS]


#: The imports for answering deliveries: neither the framework nor the rendering of pages.
_FOR_DELIVERIES: Final = (_FOR_DATA - {"contentsvc_cli"}) | {
    *("click", "cryptography", "httptools", "prometheus_client", "structlog", "uvicorn", "uvloop"),
    # Imports of compiled modules.
    "cython_runtime",
}
_NOT_FOR_DELIVERIES: Final = (
    *("sqlalchemy.orm", "sqlalchemy.ext", "contentsvc_http.app", "contentsvc_http.v1", "contentsvc_http.dashboard"),
    *("contentsvc_http.changelog", "contentsvc_http.wiring.process", "contentsvc_adapters.engine", "contentsvc_mcp"),
    *("contentsvc_adapters.sql.searching", "uvicorn.main", "prometheus_client.exposition"),
)
_RECEIVE: Final = """
import sys
always = set(sys.modules)
from contentsvc_http.starting import prepare_imports
prepare_imports()
import asyncio
import contentsvc_http.server
from contentsvc_http.settings import load_settings
from contentsvc_http.wiring.receiving import open_reception

async def receive():
    async with open_reception(load_settings()):
        print(*(name for name in sys.modules if name not in always))

asyncio.run(receive())
"""


def test_deliveries_are_answered_before_the_framework_is_imported(acme: Installation) -> None:
    receiving = [sys.executable, "-c", _RECEIVE]
    done = subprocess.run(
        receiving, env=acme.environment, capture_output=True, text=True, check=True, timeout=PATIENCE_S
    )
    found = {name for name in done.stdout.split() if name.partition(".")[0] not in sys.stdlib_module_names}

    assert "contentsvc_http.webhooks" in found
    assert {
        name for name in found if not name.startswith("_") and name.partition(".")[0] not in _FOR_DELIVERIES
    } == set()
    assert {name for name in found if name.startswith(_NOT_FOR_DELIVERIES)} == set()
