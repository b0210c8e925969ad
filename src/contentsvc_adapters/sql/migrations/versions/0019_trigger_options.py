"""Filters and batches of triggers. Nodes of the previous version still start a run for each event."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0019"
down_revision: Final = "0018"

_DUE: Final = sa.text("due_at IS NOT NULL")


def upgrade() -> None:
    op.add_column("triggers", sa.Column("options", sa.Text(), nullable=True))
    op.add_column("triggers", sa.Column("due_at", sa.BigInteger(), nullable=True))
    op.add_column("triggers", sa.Column("since", sa.BigInteger(), nullable=True))
    op.create_index(
        "ix_triggers_due_at",
        "triggers",
        ["due_at", "id"],
        unique=False,
        sqlite_where=_DUE,
        postgresql_where=_DUE,
    )
