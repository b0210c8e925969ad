"""Fill a database before a campaign: log entries of another organization."""

import contextlib
import sqlite3
import time
from typing import Final

from benchmarks.sides import Database
from campaigns.crash.stored import FILLED
from tests.server_process import REPOSITORY, Hook, Installation

from benchmarks import fill as filling
from benchmarks import material

#: The age of the oldest entry, in days: the shortest plan keeps entries for 7, and the campaign's clock is stepped.
_DAYS: Final = 5
_ORGANIZATION: Final = """
    INSERT INTO organizations (id, slug, name, retention_days, version, created_at)
    SELECT 'org_filled', ?, name, retention_days, version, created_at FROM organizations WHERE id = ?
"""


def fill(installation: Installation, like: Hook, *, rows: int) -> None:
    """Write an organization like a hook's, with log entries, into a SQLite file without a server."""
    with contextlib.closing(sqlite3.connect(installation.database)) as file, file:
        file.execute(_ORGANIZATION, (FILLED, like.organization_id))
    there = material.Hook(
        organization="org_filled",
        integration=like.integration_id,
        repository=REPOSITORY,
        repository_id=like.repository_id,
        secret=like.secret,
    )
    span_ms = _DAYS * filling.DAY_MS
    oldest_ms = time.time_ns() // 1_000_000 - span_ms
    filling.logs(str(installation.database), Database.SQLITE, there, count=rows, oldest_ms=oldest_ms, span_ms=span_ms)
