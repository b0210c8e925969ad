"""E-mail subscribers, announced posts and mails."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0015"
down_revision: Final = "0014"

_KEY: Final = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "subscribers",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("organization_id", _KEY, nullable=False),
        sa.Column("changelog_id", _KEY, nullable=False),
        sa.Column("address", _KEY, nullable=False),
        sa.Column("status", _KEY, nullable=False),
        sa.Column("digest", _KEY, nullable=False),
        sa.Column("sealed_token", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("confirmed_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["organization_id"], ["organizations.id"], name=op.f("fk_subscribers_organization_id")),
        sa.ForeignKeyConstraint(
            ["changelog_id"], ["public_changelogs.id"], name=op.f("fk_subscribers_changelog_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_subscribers")),
        sa.UniqueConstraint("digest", name=op.f("uq_subscribers_digest")),
        sa.UniqueConstraint("changelog_id", "address", name=op.f("uq_subscribers_changelog_id_address")),
    )
    op.create_index(
        op.f("ix_subscribers_organization_id_changelog_id_status"),
        "subscribers",
        ["organization_id", "changelog_id", "status"],
    )
    _partial("ix_subscribers_pending", "subscribers", ["created_at", "id"], "status = 'pending'")
    op.create_table(
        "announced_posts",
        sa.Column("post_id", _KEY, nullable=False),
        sa.Column("organization_id", _KEY, nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("batch_id", _KEY, nullable=True),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["organizations.id"], name=op.f("fk_announced_posts_organization_id")
        ),
        sa.PrimaryKeyConstraint("post_id", name=op.f("pk_announced_posts")),
    )
    op.create_index(op.f("ix_announced_posts_batch_id"), "announced_posts", ["batch_id"])
    op.create_index(
        op.f("ix_announced_posts_organization_id_created_at_post_id"),
        "announced_posts",
        ["organization_id", "created_at", "post_id"],
    )
    _partial(
        "ix_announced_posts_waiting",
        "announced_posts",
        ["organization_id", "created_at", "post_id"],
        "batch_id IS NULL",
    )
    op.create_table(
        "mails",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("organization_id", _KEY, nullable=False),
        sa.Column("subscriber_id", _KEY, nullable=False),
        sa.Column("kind", _KEY, nullable=False),
        sa.Column("batch_id", _KEY, nullable=True),
        sa.Column("status", _KEY, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("takes", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["organization_id"], ["organizations.id"], name=op.f("fk_mails_organization_id")),
        sa.ForeignKeyConstraint(
            ["subscriber_id"], ["subscribers.id"], name=op.f("fk_mails_subscriber_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mails")),
    )
    op.create_index(op.f("ix_mails_subscriber_id"), "mails", ["subscriber_id"])
    op.create_index(op.f("ix_mails_organization_id_created_at_id"), "mails", ["organization_id", "created_at", "id"])
    _partial("ix_mails_pending", "mails", ["kind", "due_at", "id"], "status = 'pending'")


def _partial(name: str, table: str, columns: list[str], where: str) -> None:
    op.create_index(name, table, columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))
