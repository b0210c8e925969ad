"""The ends of leases by the database's clock. Nodes of the previous version still read ``due_at``."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0025"
down_revision: Final = "0024"


def upgrade() -> None:
    # Without a default, no row is rewritten.
    for table in ("mails", "webhook_messages"):
        op.add_column(table, sa.Column("leased_until", sa.BigInteger(), nullable=True))
