"""The waiting mails of each organization in order: taking the next ones reads no others."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0024"
down_revision: Final = "0023"

_PENDING: Final = sa.text("status = 'pending'")


def upgrade() -> None:
    op.drop_index("ix_mails_pending", "mails")
    op.create_index(
        "ix_mails_pending",
        "mails",
        ["kind", "organization_id", "due_at", "id"],
        sqlite_where=_PENDING,
        postgresql_where=_PENDING,
    )
