"""The changes of a next version: a new column, table and index; existing ones stay unchanged."""

from typing import Final

import sqlalchemy as sa
from alembic import op

from contentsvc_adapters.sql.migrations.migrate import HEAD

revision: Final = HEAD
down_revision: Final = f"{int(HEAD) - 1:04}"
branch_labels: Final = None
depends_on: Final = None

#: Tables that deliveries and runs write all the time.
_BUSY: Final = ("log_entries", "workflow_runs")


def upgrade() -> None:
    """Add the column, table and index."""
    for table in _BUSY:
        op.add_column(table, sa.Column("added", sa.Text()))
    op.create_table("added", sa.Column("id", sa.Text(), primary_key=True), sa.Column("run_id", sa.Text()))
    op.create_index("ix_added_run_id", "added", ["run_id"])
