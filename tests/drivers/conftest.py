import os
from pathlib import Path
from typing import Any

import pytest
from tests import sqlite
from tests.drivers.commands import command

from contentsvc_adapters.sql.migrations import migrate


@pytest.fixture(autouse=True)
def copied_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copy the schema into new files, for commands of this process; migrations have tests of their own."""
    monkeypatch.setattr(migrate, "_upgrade", sqlite.copy_schema)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder of a command: empty, without settings in the environment."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("CONTENTSVC_")]:
        if not name.startswith("CONTENTSVC_TEST_"):
            monkeypatch.delenv(name)
    return tmp_path


@pytest.fixture
def git_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ignore this machine's configuration of git."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


@pytest.fixture
def acme(folder: Path) -> dict[str, Any]:
    """The organization of the commands in an empty folder."""
    del folder
    return command("organization", "create", "Acme")
