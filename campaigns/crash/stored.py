"""The stored data after a campaign, read without the stores."""

import contextlib
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias, final

import psycopg
from attrs import frozen
from psycopg.rows import dict_row
from tests.server_process import Prepared

Row: TypeAlias = dict[str, Any]

#: The slug of the organization whose log entries only fill the database.
FILLED: Final = "filled"
_LOGS: Final = f"""
    SELECT id, reference_id AS delivery, title, event_id FROM log_entries
    WHERE organization_id NOT IN (SELECT id FROM organizations WHERE slug = '{FILLED}')
"""  # noqa: S608  # a constant


@final
@frozen(kw_only=True)
class Stored:
    """The stored data."""

    #: Each with the delivery id of its log entry.
    claims: Sequence[Row]
    contexts: Sequence[Row]
    events: Sequence[Row]
    logs: Sequence[Row]
    runs: Sequence[Row]
    posts: Sequence[Row]
    #: The result of the database's integrity check.
    faults: Sequence[str] = ()


def read_file(database: Path) -> Stored:
    """Read a SQLite file, without changing it."""
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=30)) as connection:
        connection.row_factory = sqlite3.Row

        def rows(query: str) -> list[Row]:
            return [dict(row) for row in connection.execute(query)]

        connection.execute("BEGIN")
        integrity = [next(iter(row.values())) for row in rows("PRAGMA integrity_check")]
        dangling = rows("PRAGMA foreign_key_check")
        return _read(rows, [str(text) for text in integrity if text != "ok"] + [str(row) for row in dangling])


def read_postgres(connection: psycopg.Connection[Any]) -> Stored:
    """Read through a connection to PostgreSQL: committed data, and changes of its own transaction."""

    def rows(query: str) -> list[Row]:
        with connection.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(query.encode()).fetchall()

    return _read(rows)


def _read(rows: Callable[[str], list[Row]], faults: Sequence[str] = ()) -> Stored:
    logs = rows(_LOGS)
    # Joined here: no index leads from an id alone to its entry, and a log may have a million entries.
    deliveries = {row["id"]: row["delivery"] for row in logs}
    claims = rows("SELECT log_id FROM claims")
    return Stored(
        claims=[{**claim, "delivery": deliveries.get(claim["log_id"])} for claim in claims],
        contexts=rows("SELECT custom_id, event_id FROM context_records"),
        events=rows("SELECT id, delivery_id AS delivery, type, data FROM events"),
        logs=logs,
        runs=rows(
            "SELECT workflow_runs.id, trigger_id, event_id, status, kills, error, post_id, delivery_id AS delivery"
            " FROM workflow_runs LEFT JOIN events ON events.id = event_id"
        ),
        posts=rows("SELECT id, run_id FROM posts"),
        faults=faults,
    )


def differences(prepared: Prepared, stored: Stored) -> Iterator[str]:
    """Compare the lists of the operator's commands with the stored data."""

    def listed(what: str, field: str) -> Counter[Any]:
        rows = prepared.installation.command(what, "list", "--organization", prepared.hook.organization)
        return Counter(row[field] for row in rows)

    def held(rows: Sequence[Row], field: str) -> Counter[Any]:
        return Counter(row[field] for row in rows)

    pairs = (
        ("context", listed("context", "customId"), held(stored.contexts, "custom_id")),
        ("log", listed("log", "id"), held(stored.logs, "id")),
        ("run", listed("run", "id"), held(stored.runs, "id")),
        ("post", listed("post", "id"), held(stored.posts, "id")),
    )
    for what, shown, there in pairs:
        if shown != there:
            yield f"`contentsvc {what} list` and the database differ: {list((shown - there) + (there - shown))[:5]}"
