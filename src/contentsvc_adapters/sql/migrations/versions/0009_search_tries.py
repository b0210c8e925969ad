"""Search: the number of indexing attempts, so that a document that ends its process is given up."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0009"
down_revision: Final = "0008"


def upgrade() -> None:
    op.add_column("search_pending", sa.Column("begun", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("search_pending", sa.Column("begun_version", sa.BigInteger(), nullable=True))
    op.add_column("search_pending", sa.Column("begun_at", sa.BigInteger(), nullable=True))
