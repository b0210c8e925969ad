"""Recipients of messages by mail. The addresses of today's endpoints stay confirmed: alerts must not stop unnoticed."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0022"
down_revision: Final = "0021"

_KEY: Final = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_PENDING: Final = sa.text("status = 'unconfirmed'")


def upgrade() -> None:
    recipients = op.create_table(
        "recipients",
        sa.Column("organization_id", _KEY, nullable=False),
        sa.Column("address", _KEY, nullable=False),
        sa.Column("status", _KEY, nullable=False),
        sa.Column("digest", _KEY, nullable=True),
        sa.Column("sealed_token", sa.Text(), nullable=True),
        sa.Column("asked_at", sa.BigInteger(), nullable=False),
        sa.Column("confirmed_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["organization_id"], ["organizations.id"], name=op.f("fk_recipients_organization_id")),
        sa.PrimaryKeyConstraint("organization_id", "address", name=op.f("pk_recipients")),
        sa.UniqueConstraint("digest", name=op.f("uq_recipients_digest")),
    )
    op.create_index(
        "ix_recipients_unconfirmed",
        "recipients",
        ["asked_at", "organization_id", "address"],
        sqlite_where=_PENDING,
        postgresql_where=_PENDING,
    )
    op.add_column("webhook_messages", sa.Column("delivered_to", sa.Text(), nullable=True))
    endpoints = op.get_bind().execute(
        sa.text("SELECT organization_id, url, created_at FROM webhook_endpoints WHERE format = 'email'")
    )
    entered = {
        (row.organization_id, address): row.created_at
        for row in endpoints
        for address in row.url.removeprefix("mailto:").split(",")
    }
    if entered:
        op.bulk_insert(
            recipients,
            [
                {
                    "organization_id": organization_id,
                    "address": address,
                    "status": "confirmed",
                    "asked_at": created_at,
                    "confirmed_at": created_at,
                }
                for (organization_id, address), created_at in entered.items()
            ],
        )
