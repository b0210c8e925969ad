from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0007"
down_revision: Final = "0006"

_KEY: Final = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "webhook_endpoints",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("organization_id", _KEY, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("event_types", sa.Text(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("disabled_reason", sa.Text(), nullable=True),
        sa.Column("sealed_secret", sa.Text(), nullable=False),
        sa.Column("sealed_previous", sa.Text(), nullable=True),
        sa.Column("previous_until", sa.BigInteger(), nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["organizations.id"], name=op.f("fk_webhook_endpoints_organization_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_endpoints")),
    )
    op.create_index(op.f("ix_webhook_endpoints_organization_id"), "webhook_endpoints", ["organization_id"])
    op.create_table(
        "webhook_messages",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("organization_id", _KEY, nullable=False),
        sa.Column("endpoint_id", _KEY, nullable=False),
        sa.Column("type", _KEY, nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("occurred_at", sa.BigInteger(), nullable=True),
        sa.Column("status", _KEY, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("takes", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.Column("log_id", _KEY, nullable=True),
        sa.Column("logged_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["organizations.id"], name=op.f("fk_webhook_messages_organization_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_messages")),
    )
    op.create_index(
        op.f("ix_webhook_messages_organization_id_created_at_id"),
        "webhook_messages",
        ["organization_id", "created_at", "id"],
    )
    op.create_index(op.f("ix_webhook_messages_endpoint_id"), "webhook_messages", ["endpoint_id"])
    op.create_index(
        "ix_webhook_messages_pending",
        "webhook_messages",
        ["endpoint_id", "due_at", "id"],
        sqlite_where=sa.text("status = 'pending'"),
        postgresql_where=sa.text("status = 'pending'"),
    )
