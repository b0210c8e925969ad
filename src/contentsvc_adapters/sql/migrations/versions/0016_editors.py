"""Summaries, labels, schedules and versions of posts. The server computes the facets of drafts in small batches."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0016"
down_revision: Final = "0015"

_KEY: Final = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("posts", sa.Column("summary", sa.Text(), nullable=True))
    op.add_column("posts", sa.Column("labels", sa.Text(), nullable=True))
    op.add_column("posts", sa.Column("publish_at", sa.BigInteger(), nullable=True))
    op.create_table(
        "post_versions",
        sa.Column("post_id", _KEY, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("markdown", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=True),
        sa.Column("labels", sa.Text(), nullable=True),
        sa.Column("saved_at", sa.BigInteger(), nullable=False),
        sa.Column("author", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["post_id"], ["posts.id"], name=op.f("fk_post_versions_post_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("post_id", "number", name=op.f("pk_post_versions")),
    )
    _partial("ix_posts_scheduled", ["organization_id", "publish_at", "id"], "publish_at IS NOT NULL")
    _partial("ix_posts_unfaceted", ["organization_id", "id"], "facets IS NULL")


def _partial(name: str, columns: list[str], where: str) -> None:
    op.create_index(name, "posts", columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))
