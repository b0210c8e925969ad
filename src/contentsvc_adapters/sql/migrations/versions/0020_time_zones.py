"""A time zone for each organization. It is UTC at first, so that schedules fire as before."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0020"
down_revision: Final = "0019"


def upgrade() -> None:
    op.add_column("organizations", sa.Column("time_zone", sa.Text(), server_default="UTC", nullable=False))
