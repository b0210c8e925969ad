"""The facts of refused deliveries, in their log entries. No row is filled: older entries have no facts."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0017"
down_revision: Final = "0016"


def upgrade() -> None:
    op.add_column("log_entries", sa.Column("received", sa.Text(), nullable=True))
