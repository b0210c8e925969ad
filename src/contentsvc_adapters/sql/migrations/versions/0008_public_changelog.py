"""Public changelogs: their settings, publication times, and tags of releases.

Posts published before this migration get their creation time as publication time.
"""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0008"
down_revision: Final = "0007"

_KEY: Final = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_PUBLISHED: Final = ["organization_id", "content_type", "published_at", "id"]


def upgrade() -> None:
    op.create_table(
        "public_changelogs",
        sa.Column("organization_id", _KEY, nullable=False),
        sa.Column("slug", _KEY, nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("product_url", sa.Text(), nullable=True),
        sa.Column("content_types", sa.Text(), nullable=False),
        sa.Column("is_public", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["organizations.id"], name=op.f("fk_public_changelogs_organization_id")
        ),
        sa.PrimaryKeyConstraint("organization_id", name=op.f("pk_public_changelogs")),
        sa.UniqueConstraint("slug", name=op.f("uq_public_changelogs_slug")),
    )
    op.add_column("posts", sa.Column("published_at", sa.BigInteger(), nullable=True))
    op.add_column("posts", sa.Column("release_tag", sa.Text(), nullable=True))
    op.execute("UPDATE posts SET published_at = created_at WHERE status = 'published'")
    _tags()
    if op.get_bind().dialect.name == "postgresql":
        _keep()
    _index("ix_posts_published", _PUBLISHED, "status = 'published'")
    _index("ix_posts_released", _PUBLISHED, "status = 'published' AND release_tag IS NOT NULL")
    _index("ix_posts_changed", ["organization_id", "updated_at"], "published_at IS NOT NULL")


def _tags() -> None:
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    tag = "events.data::json ->> 'tagName'" if is_postgresql else "json_extract(events.data, '$.tagName')"
    of_post = "workflow_runs.id = posts.run_id AND events.id = workflow_runs.event_id AND events.type = 'release'"
    found = f"SELECT {tag} FROM workflow_runs JOIN events ON {of_post}"  # noqa: S608  # nothing that a client sends
    op.execute(f"UPDATE posts SET release_tag = ({found}) WHERE run_id IS NOT NULL")  # noqa: S608  # as above


def _keep() -> None:
    """Add a trigger that notes publications by nodes of the previous version, which serve until all are replaced."""
    op.execute(
        "CREATE FUNCTION note_publication() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "NEW.published_at := NEW.updated_at; RETURN NEW; END $$"
    )
    op.execute(
        "CREATE TRIGGER note_publication BEFORE INSERT OR UPDATE OF status ON posts FOR EACH ROW "
        "WHEN (NEW.status = 'published' AND NEW.published_at IS NULL) EXECUTE FUNCTION note_publication()"
    )


def _index(name: str, columns: list[str], where: str) -> None:
    op.create_index(name, "posts", columns, unique=False, sqlite_where=sa.text(where), postgresql_where=sa.text(where))
