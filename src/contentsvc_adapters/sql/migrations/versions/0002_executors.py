"""Runs in several processes. Runs that are running during this migration have no executor, so they are recovered."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0002"
down_revision: Final = "0001"

_KEY: Final = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("workflow_runs", sa.Column("takes", sa.Integer(), server_default="0", nullable=False))
    op.add_column("workflow_runs", sa.Column("executor", _KEY, nullable=True))
    op.drop_index("ix_workflow_runs_pending", table_name="workflow_runs")
    op.create_index(
        "ix_workflow_runs_pending",
        "workflow_runs",
        ["organization_id", "kills", "created_at", "id", "due_at"],
        unique=False,
        sqlite_where=sa.text("status = 'pending'"),
        postgresql_where=sa.text("status = 'pending'"),
    )
    op.create_table(
        "executors",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("beats", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_executors")),
    )
    op.create_table(
        "run_steps",
        sa.Column("run_id", _KEY, nullable=False),
        sa.Column("name", _KEY, nullable=False),
        sa.Column("result", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["workflow_runs.id"], name=op.f("fk_run_steps_run_id")),
        sa.PrimaryKeyConstraint("run_id", "name", name=op.f("pk_run_steps")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "run_drafts",
        sa.Column("run_id", _KEY, nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("markdown", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["workflow_runs.id"], name=op.f("fk_run_drafts_run_id")),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_run_drafts")),
    )
