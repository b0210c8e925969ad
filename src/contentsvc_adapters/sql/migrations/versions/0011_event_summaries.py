"""Event summaries: what lists show of an event, so that they need not read it.

No row is filled in: entries of the log live for 7 or 30 days, and a small event is read for its line until then.
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
