"""Deliveries without foreign keys, and with less work for each row.

Writers keep the references right (decision 0070). On SQLite, they also count log entries and note documents for search,
once for a batch: no server of the previous version may use the file. On PostgreSQL, its nodes write on, so triggers
continue to do both, once for a statement.
"""

import re
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from alembic import op
from sqlalchemy.exc import DBAPIError

from contentsvc_adapters.sql.migrations.locking import lock
from contentsvc_adapters.sql.serving import is_served
from contentsvc_core.errors import SchemaMismatch

revision: Final = "0021"
down_revision: Final = "0020"

_KEYS: Final = {
    "events": ["fk_events_organization_id"],
    "context_records": ["fk_context_records_event_id", "fk_context_records_organization_id"],
    "workflow_runs": ["fk_workflow_runs_event_id", "fk_workflow_runs_organization_id"],
    "log_entries": ["fk_log_entries_event_id", "fk_log_entries_organization_id"],
}
#: SQLAlchemy's form of a constraint in SQLite's definition of a table.
_KEY: Final = re.compile(r",\s+CONSTRAINT fk_\w+ FOREIGN KEY\(\w+\) REFERENCES \w+ \(id\)")
#: In the order in which settlements lock them.
_LOCKED: Final = "organizations, log_entries, events, context_records, workflow_runs"


def upgrade() -> None:
    op.create_table(
        "search_batches",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("documents", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_search_batches")),
    )
    if op.get_bind().dialect.name == "postgresql":
        lock(_LOCKED)
        for table, keys in _KEYS.items():
            for key in keys:
                op.drop_constraint(key, table, type_="foreignkey")
    else:
        _refuse_servers()
        for table in _KEYS:
            _forget_keys(table)
        for trigger in ("count_log_entries_added", "search_context_records_added"):
            op.execute(f"DROP TRIGGER {trigger}")
    op.drop_index("ix_context_records_organization_id_created_at_id", table_name="context_records")


def _refuse_servers() -> None:
    """Raise an error if a server uses the file: an older one would neither count nor note its deliveries."""
    path: str = op.get_bind().scalar(sa.text("SELECT file FROM pragma_database_list WHERE name = 'main'"))
    if is_served(Path(path)):
        message = f"a server of an earlier version uses {path}: stop it, and try again"
        raise SchemaMismatch(message)


def _forget_keys(table: str) -> None:
    """Change the definition of a table without copying its rows, as SQLite documents for constraints.

    Some builds of SQLite refuse that. The keys then stay, which costs time but does no harm.
    """
    connection = op.get_bind()
    named = {"table": table}
    of_table = "FROM sqlite_master WHERE type = 'table' AND name = :table"
    definition: str = connection.scalar(sa.text(f"SELECT sql {of_table}"), named)  # a constant
    version: int = connection.scalar(sa.text("PRAGMA schema_version"))
    connection.execute(sa.text("PRAGMA writable_schema = ON"))
    try:
        connection.execute(
            sa.text("UPDATE sqlite_master SET sql = :sql WHERE type = 'table' AND name = :table"),
            {"sql": _KEY.sub("", definition), **named},
        )
        connection.execute(sa.text(f"PRAGMA schema_version = {version + 1}"))
    except DBAPIError:
        pass
    finally:
        connection.execute(sa.text("PRAGMA writable_schema = OFF"))
