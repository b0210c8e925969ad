"""Without the parts that only nodes of versions before revision 0020 need, and the rows that only they wrote."""

from typing import Final

from alembic import op

from contentsvc_adapters.sql.migrations.locking import lock

revision: Final = "0026"
down_revision: Final = "0025"

#: PostgreSQL: each has a function of its name.
_TRIGGERS: Final = {
    "note_publication": "posts",
    "note_occurrence": "posts",
    "forget_path": "posts",
    "name_first_changelog": "public_changelogs",
}


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        lock("posts, public_changelogs")
        for name, table in _TRIGGERS.items():
            op.execute(f"DROP TRIGGER {name} ON {table}")
            op.execute(f"DROP FUNCTION {name}()")
    for index in ("ix_posts_unaddressed", "ix_posts_unfaceted"):
        op.drop_index(index, table_name="posts")
    op.execute("UPDATE posts SET occurred_at = created_at WHERE occurred_at IS NULL")
    op.execute("UPDATE posts SET publish_at = NULL WHERE status = 'published' AND publish_at IS NOT NULL")
    # Without an id, a slug is that of the first changelog. Ids of organizations are ``org_`` and a UUID.
    op.execute(
        "UPDATE changelog_slugs SET changelog_id = 'chl_' || CASE WHEN substr(organization_id, 1, 4) = 'org_' "
        "THEN substr(organization_id, 5) ELSE organization_id END WHERE changelog_id IS NULL"
    )
