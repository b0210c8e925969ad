import os
from pathlib import Path

import pytest
from tests import sqlite

from contentsvc_adapters.sql.migrations import migrate


@pytest.fixture(autouse=True)
def copied_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands of this process copy the schema into a new file; migrations have tests of their own."""
    monkeypatch.setattr(migrate, "_upgrade", sqlite.copy_schema)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder of a command: empty, and no setting is in the environment."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("CONTENTSVC_")]:
        if not name.startswith("CONTENTSVC_TEST_"):
            monkeypatch.delenv(name)
    return tmp_path
