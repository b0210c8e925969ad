"""Formats of endpoints, and failure periods of integrations."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0018"
down_revision: Final = "0017"

_KEY: Final = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("webhook_endpoints", sa.Column("format", _KEY, nullable=False, server_default="standard"))
    op.create_table(
        "integration_alerts",
        sa.Column("integration_id", _KEY, nullable=False),
        sa.Column("failing_since", sa.BigInteger(), nullable=False),
        sa.Column("recovered_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["integration_id"],
            ["integrations.id"],
            name=op.f("fk_integration_alerts_integration_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("integration_id", name=op.f("pk_integration_alerts")),
    )
