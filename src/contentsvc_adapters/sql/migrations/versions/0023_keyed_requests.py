"""Requests with an idempotency key, for a day."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0023"
down_revision: Final = "0022"

_KEY: Final = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "keyed_requests",
        sa.Column("key_prefix", _KEY, nullable=False),
        sa.Column("name", _KEY, nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("sealed_seed", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("execution", sa.Text(), nullable=False),
        sa.Column("is_repeated", sa.Boolean(), nullable=False),
        sa.Column("busy_until", sa.BigInteger(), nullable=False),
        sa.Column("sealed_answer", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("key_prefix", "name", name=op.f("pk_keyed_requests")),
    )
    op.create_index(op.f("ix_keyed_requests_at"), "keyed_requests", ["at"], unique=False)
