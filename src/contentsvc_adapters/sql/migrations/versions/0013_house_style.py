"""House style. No row is filled: without a house style, the defaults apply."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0013"
down_revision: Final = "0012"


def upgrade() -> None:
    for table in ("organizations", "triggers", "schedules"):
        op.add_column(table, sa.Column("house_style", sa.Text(), nullable=True))
