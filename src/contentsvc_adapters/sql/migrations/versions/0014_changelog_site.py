"""Several public changelogs per organization, and readable addresses of posts.

An existing changelog becomes its organization's first one, with the same address. The server computes the paths and
facets of posts in small batches; until then, pages link to posts by id.
"""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0014"
down_revision: Final = "0013"

_KEY: Final = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_TABLE: Final = "public_changelogs"
_LISTED: Final = "status = 'published' AND contained_in IS NULL"
_UNADDRESSED: Final = "published_at IS NOT NULL AND path IS NULL"
#: Equal to the derivation in the core: ids of organizations are ``org_`` and a UUID.
_FIRST: Final = (
    "'chl_' || CASE WHEN substr({0}, 1, 4) = 'org_' THEN substr({0}, 5) ELSE {0} END"  # nothing that a client sends
)
_LISTS: Final = ("repositories", "scopes", "accent", "header_links", "images")
#: For each event on posts: the row that names the organization, and the condition that the post may have been public.
_WATCHED: Final = {
    "INSERT": ("NEW", "NEW.published_at IS NOT NULL"),
    "UPDATE": ("NEW", "NEW.published_at IS NOT NULL OR OLD.published_at IS NOT NULL"),
    "DELETE": ("OLD", "OLD.published_at IS NOT NULL"),
}
#: Without path and facets: they change with one of these columns, or the code that fills them counts the change.
_CHANGED: Final = (
    "UPDATE OF title, content, markdown, content_type, source_metadata, status, updated_at, published_at, "
    "release_tag, occurred_at, contained_in"
)


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        _key_on_postgresql()
    else:
        _key_on_sqlite()
    op.create_index(op.f("ix_public_changelogs_owner_id"), _TABLE, ["owner_id"], unique=False)
    op.create_table(
        "changelog_images",
        sa.Column("changelog_id", _KEY, nullable=False),
        sa.Column("kind", _KEY, nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["changelog_id"],
            ["public_changelogs.id"],
            name=op.f("fk_changelog_images_changelog_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("changelog_id", "kind", name=op.f("pk_changelog_images")),
    )
    op.add_column("changelog_slugs", sa.Column("changelog_id", _KEY, nullable=True))
    op.create_table(
        "post_paths",
        sa.Column("organization_id", _KEY, nullable=False),
        sa.Column("path", _KEY, nullable=False),
        sa.Column("post_id", _KEY, nullable=False),
        sa.ForeignKeyConstraint(["organization_id"], ["organizations.id"], name=op.f("fk_post_paths_organization_id")),
        sa.PrimaryKeyConstraint("organization_id", "path", name=op.f("pk_post_paths")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_post_paths_post_id"), "post_paths", ["post_id"], unique=False)
    op.add_column("posts", sa.Column("path", _KEY, nullable=True))
    op.add_column("posts", sa.Column("facets", _KEY, nullable=True))
    if op.get_bind().dialect.name == "postgresql":
        _forget_on_postgresql()
    op.drop_index("ix_posts_listed", table_name="posts")
    _index("ix_posts_listed", ["organization_id", "content_type", "occurred_at", "id", "facets"], _LISTED)
    _index("ix_posts_unaddressed", ["organization_id", "id"], _UNADDRESSED)


def _key_on_postgresql() -> None:
    """Change the table in place: nodes of the previous version write the first changelog of an organization."""
    # In the order of those nodes, which publish a post and then count it in the changelog: else a deadlock is possible.
    op.execute(f"LOCK TABLE posts, {_TABLE}, changelog_slugs IN ACCESS EXCLUSIVE MODE")
    op.add_column(_TABLE, sa.Column("id", _KEY, nullable=True))
    op.add_column(_TABLE, sa.Column("owner_id", _KEY, nullable=True))
    for column in _LISTS:
        op.add_column(_TABLE, sa.Column(column, sa.Text(), nullable=True))
    op.add_column(_TABLE, sa.Column("show_details", sa.Boolean(), server_default=sa.false(), nullable=False))
    first = _FIRST.format("organization_id")
    op.execute(f"UPDATE {_TABLE} SET id = {first}, owner_id = organization_id")  # noqa: S608  # nothing that a client sends
    op.drop_constraint("pk_public_changelogs", _TABLE)
    op.alter_column(_TABLE, "organization_id", nullable=True)
    op.alter_column(_TABLE, "id", nullable=False)
    op.alter_column(_TABLE, "owner_id", nullable=False)
    op.create_primary_key("pk_public_changelogs", _TABLE, ["id"])
    op.create_unique_constraint("uq_public_changelogs_organization_id", _TABLE, ["organization_id"])
    op.create_foreign_key("fk_public_changelogs_owner_id", _TABLE, "organizations", ["owner_id"], ["id"])
    own = _FIRST.format("NEW.organization_id")
    op.execute(
        "CREATE FUNCTION name_first_changelog() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        f"NEW.id := {own}; NEW.owner_id := NEW.organization_id; RETURN NEW; END $$"
    )
    op.execute(
        f"CREATE TRIGGER name_first_changelog BEFORE INSERT ON {_TABLE} FOR EACH ROW "
        "WHEN (NEW.id IS NULL) EXECUTE FUNCTION name_first_changelog()"
    )
    for event, (row, _) in _WATCHED.items():
        op.execute(
            f"CREATE OR REPLACE FUNCTION count_public_{event.lower()}() RETURNS trigger LANGUAGE plpgsql AS "
            # All transactions lock in the same order, so that they cannot deadlock.
            f"$$ BEGIN PERFORM id FROM {_TABLE} WHERE owner_id = {row}.organization_id ORDER BY id FOR NO KEY UPDATE; "
            f"{_counting(row)}; RETURN NULL; END $$"
        )
    op.execute("DROP TRIGGER count_public_update ON posts")
    op.execute(
        f"CREATE TRIGGER count_public_update AFTER {_CHANGED} ON posts FOR EACH ROW WHEN ({_WATCHED['UPDATE'][1]}) "
        "EXECUTE FUNCTION count_public_update()"
    )


def _forget_on_postgresql() -> None:
    """Add a trigger for older nodes, which change a title without the path."""
    op.execute(
        "CREATE FUNCTION forget_path() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "NEW.path := NULL; NEW.facets := NULL; RETURN NEW; END $$"
    )
    op.execute(
        "CREATE TRIGGER forget_path BEFORE UPDATE OF title, content ON posts FOR EACH ROW "
        "WHEN (OLD.path IS NOT NULL AND (NEW.title <> OLD.title OR NEW.content <> OLD.content)) "
        "EXECUTE FUNCTION forget_path()"
    )


def _key_on_sqlite() -> None:
    """Copy the table, because SQLite cannot alter its key. No other node uses the file meanwhile."""
    for event in _WATCHED:
        op.execute(f"DROP TRIGGER count_public_{event.lower()}")
    op.rename_table(_TABLE, "changelogs_before")
    op.create_table(
        _TABLE,
        sa.Column("id", _KEY, nullable=False),
        sa.Column("owner_id", _KEY, nullable=False),
        sa.Column("organization_id", _KEY, nullable=True),
        sa.Column("slug", _KEY, nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("product_url", sa.Text(), nullable=True),
        sa.Column("content_types", sa.Text(), nullable=False),
        sa.Column("is_public", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("revision", sa.BigInteger(), server_default="0", nullable=False),
        *(sa.Column(column, sa.Text(), nullable=True) for column in _LISTS),
        sa.Column("show_details", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["organizations.id"], name=op.f("fk_public_changelogs_organization_id")
        ),
        sa.ForeignKeyConstraint(["owner_id"], ["organizations.id"], name=op.f("fk_public_changelogs_owner_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_public_changelogs")),
        sa.UniqueConstraint("organization_id", name=op.f("uq_public_changelogs_organization_id")),
        sa.UniqueConstraint("slug", name=op.f("uq_public_changelogs_slug")),
    )
    kept = (
        "organization_id, slug, title, description, product_url, content_types, is_public, created_at, updated_at, "
        "revision"
    )
    first = _FIRST.format("organization_id")
    op.execute(
        f"INSERT INTO {_TABLE} (id, owner_id, {kept}) SELECT {first}, organization_id, {kept} FROM changelogs_before"  # noqa: S608  # nothing that a client sends
    )
    op.drop_table("changelogs_before")
    for event, (row, condition) in _WATCHED.items():
        op.execute(
            f"CREATE TRIGGER count_public_{event.lower()} AFTER {_CHANGED if event == 'UPDATE' else event} ON posts "
            f"FOR EACH ROW WHEN ({condition}) "
            f"BEGIN {_counting(row)}; END"
        )


def _counting(row: str) -> str:
    return f"UPDATE {_TABLE} SET revision = revision + 1 WHERE owner_id = {row}.organization_id"  # noqa: S608  # nothing that a client sends


def _index(name: str, columns: list[str], where: str) -> None:
    op.create_index(name, "posts", columns, unique=False, sqlite_where=sa.text(where), postgresql_where=sa.text(where))
