"""Summaries of events. No row is filled: lists read small events without one."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0011"
down_revision: Final = "0010"


def upgrade() -> None:
    op.add_column("events", sa.Column("summary", sa.Text(), nullable=True))
