"""Posts: the time of their events, the push that they report, and the pushes that releases contain.

Existing posts get their first publication or creation time, where public changelogs have shown them. Their pushes are
filled in, so that the next release contains them. Existing releases contain nothing.
"""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0012"
down_revision: Final = "0011"

_KEY: Final = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_PLACE: Final = ["organization_id", "content_type", "occurred_at", "id"]
_LISTED: Final = "status = 'published' AND contained_in IS NULL"


def upgrade() -> None:
    op.create_table(
        "released_pushes",
        sa.Column("organization_id", _KEY, nullable=False),
        sa.Column("push_id", _KEY, nullable=False),
        sa.Column("post_id", _KEY, nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["organizations.id"], name=op.f("fk_released_pushes_organization_id")
        ),
        sa.PrimaryKeyConstraint("organization_id", "push_id", "post_id", name=op.f("pk_released_pushes")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_released_pushes_post_id"), "released_pushes", ["post_id"], unique=False)
    op.add_column("posts", sa.Column("occurred_at", sa.BigInteger(), nullable=True))
    op.add_column("posts", sa.Column("push_id", _KEY, nullable=True))
    op.add_column("posts", sa.Column("contained_in", _KEY, nullable=True))
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    if is_postgresql:
        _fill_for_older_nodes()
    push = (
        "SELECT events.provider || ':' || events.repository_id || ':' || events.delivery_id FROM workflow_runs "
        "JOIN events ON events.id = workflow_runs.event_id AND events.type = 'push' "
        "WHERE workflow_runs.id = posts.run_id"
    )
    # In one statement, so that each row is written once.
    op.execute(f"UPDATE posts SET occurred_at = coalesce(published_at, created_at), push_id = ({push})")  # noqa: S608  # nothing that a client sends
    op.drop_index("ix_posts_published", table_name="posts")
    op.drop_index("ix_posts_released", table_name="posts")
    _index("ix_posts_listed", _PLACE, _LISTED)
    _index("ix_posts_released", _PLACE, f"{_LISTED} AND release_tag IS NOT NULL")
    _index("ix_posts_push_id", ["organization_id", "push_id"], "push_id IS NOT NULL")
    _index("ix_posts_contained", ["organization_id", "contained_in", "occurred_at", "id"], "contained_in IS NOT NULL")
    op.create_index(
        "ix_posts_occurred",
        "posts",
        ["organization_id", "occurred_at", "id", "status", "content_type", "brand_identity_id"],
        unique=False,
    )


def _fill_for_older_nodes() -> None:
    """Add a trigger for posts of nodes of the previous version, which serve until all are replaced."""
    op.execute(
        "CREATE FUNCTION note_occurrence() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "NEW.occurred_at := NEW.created_at; RETURN NEW; END $$"
    )
    op.execute(
        "CREATE TRIGGER note_occurrence BEFORE INSERT ON posts FOR EACH ROW "
        "WHEN (NEW.occurred_at IS NULL) EXECUTE FUNCTION note_occurrence()"
    )


def _index(name: str, columns: list[str], where: str) -> None:
    op.create_index(name, "posts", columns, unique=False, sqlite_where=sa.text(where), postgresql_where=sa.text(where))
