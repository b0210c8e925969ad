"""Summaries of events, so that lists need not read the events.

No row is filled: log entries are kept for 7 or 30 days, and until then lists read small events instead.
"""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0011"
down_revision: Final = "0010"
branch_labels: Final = None
depends_on: Final = None


def upgrade() -> None:
    """Add the column; it is NULL, so that no row is written."""
    op.add_column("events", sa.Column("summary", sa.Text(), nullable=True))
