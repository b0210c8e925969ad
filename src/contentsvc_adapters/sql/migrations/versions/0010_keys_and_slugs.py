"""API keys that issue keys, slugs of organizations, and revisions of public changelogs.

Keys with the scopes to read and write get the permission to issue keys, which they had implicitly. Every slug in use is
held by its organization, because nothing records whether it was public before. Existing conflicts remain.
"""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0010"
down_revision: Final = "0009"

_KEY: Final = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
#: For each event on posts: the row that names the organization, and the condition that the post may have been public.
_WATCHED: Final = {
    "INSERT": ("NEW", "NEW.published_at IS NOT NULL"),
    "UPDATE": ("NEW", "NEW.published_at IS NOT NULL OR OLD.published_at IS NOT NULL"),
    "DELETE": ("OLD", "OLD.published_at IS NOT NULL"),
}


def upgrade() -> None:
    op.add_column("api_keys", sa.Column("may_issue", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column("api_keys", sa.Column("issued_by", _KEY, nullable=True))
    op.create_index(op.f("ix_api_keys_issued_by"), "api_keys", ["issued_by"], unique=False)
    op.execute("""UPDATE api_keys SET may_issue = true WHERE scopes LIKE '%"read"%' AND scopes LIKE '%"write"%'""")
    op.create_table(
        "changelog_slugs",
        sa.Column("slug", _KEY, nullable=False),
        sa.Column("organization_id", _KEY, nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["organizations.id"], name=op.f("fk_changelog_slugs_organization_id")
        ),
        sa.PrimaryKeyConstraint("slug", name=op.f("pk_changelog_slugs")),
    )
    op.create_index(op.f("ix_changelog_slugs_organization_id"), "changelog_slugs", ["organization_id"], unique=False)
    op.execute(
        "INSERT INTO changelog_slugs (slug, organization_id) SELECT slug, organization_id FROM public_changelogs"
    )
    op.add_column("public_changelogs", sa.Column("revision", sa.BigInteger(), server_default="0", nullable=False))
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    for event, (row, condition) in _WATCHED.items():
        counting = f"UPDATE public_changelogs SET revision = revision + 1 WHERE organization_id = {row}.organization_id"  # noqa: S608  # nothing that a client sends
        name = f"count_public_{event.lower()}"
        trigger = f"CREATE TRIGGER {name} AFTER {event} ON posts FOR EACH ROW WHEN ({condition})"
        if is_postgresql:
            op.execute(
                f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {counting}; RETURN NULL; END $$"
            )
            op.execute(f"{trigger} EXECUTE FUNCTION {name}()")
        else:
            op.execute(f"{trigger} BEGIN {counting}; END")
