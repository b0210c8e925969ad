import pytest
from tests import sqlite

from contentsvc_adapters.sql.migrations import migrate


@pytest.fixture(autouse=True)
def copied_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands of this process copy the schema into a new file; migrations have tests of their own."""
    monkeypatch.setattr(migrate, "_upgrade", sqlite.copy_schema)
