"""The tables of revision 0020 with posts, public changelogs, messages, counts and documents of search."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0020b"
down_revision: Final = "0020a"

_KEY: Final = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "posts",
        sa.Column("id", _KEY, primary_key=True),
        _organization(),
        sa.Column("run_id", _KEY, sa.ForeignKey("workflow_runs.id"), unique=True),
        sa.Column("once_key", sa.LargeBinary),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("markdown", sa.Text, nullable=False),
        sa.Column("content_type", _KEY, nullable=False),
        sa.Column("source_metadata", sa.Text),
        sa.Column("status", _KEY, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("brand_identity_id", _KEY),
        sa.Column("published_at", sa.BigInteger),
        sa.Column("release_tag", sa.Text),
        sa.Column("occurred_at", sa.BigInteger),
        sa.Column("push_id", _KEY),
        sa.Column("contained_in", _KEY),
        sa.Column("path", _KEY),
        sa.Column("facets", _KEY),
        sa.Column("summary", sa.Text),
        sa.Column("labels", sa.Text),
        sa.Column("publish_at", sa.BigInteger),
        sa.UniqueConstraint("organization_id", "once_key"),
        sa.Index(
            "ix_posts_occurred", "organization_id", "occurred_at", "id", "status", "content_type", "brand_identity_id"
        ),
        sa.Index(None, "organization_id", "created_at", "id"),
    )
    _partial("ix_posts_changed", "posts", ["organization_id", "updated_at"], "published_at IS NOT NULL")
    _partial(
        "ix_posts_contained",
        "posts",
        ["organization_id", "contained_in", "occurred_at", "id"],
        "contained_in IS NOT NULL",
    )
    _partial(
        "ix_posts_listed",
        "posts",
        ["organization_id", "content_type", "occurred_at", "id", "facets"],
        "status = 'published' AND contained_in IS NULL",
    )
    _partial("ix_posts_push_id", "posts", ["organization_id", "push_id"], "push_id IS NOT NULL")
    _partial(
        "ix_posts_released",
        "posts",
        ["organization_id", "content_type", "occurred_at", "id"],
        "status = 'published' AND contained_in IS NULL AND release_tag IS NOT NULL",
    )
    _partial("ix_posts_scheduled", "posts", ["organization_id", "publish_at", "id"], "publish_at IS NOT NULL")
    _partial("ix_posts_unaddressed", "posts", ["organization_id", "id"], "published_at IS NOT NULL AND path IS NULL")
    _partial("ix_posts_unfaceted", "posts", ["organization_id", "id"], "facets IS NULL")
    op.create_table(
        "told_once",
        _organization(),
        sa.Column("once_key", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("organization_id", "once_key"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "post_versions",
        sa.Column("post_id", _KEY, sa.ForeignKey("posts.id", ondelete="CASCADE"), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("markdown", sa.Text, nullable=False),
        sa.Column("summary", sa.Text),
        sa.Column("labels", sa.Text),
        sa.Column("saved_at", sa.BigInteger, nullable=False),
        sa.Column("author", sa.Text),
        sa.PrimaryKeyConstraint("post_id", "number"),
    )
    op.create_table(
        "post_paths",
        _organization(),
        sa.Column("path", _KEY, nullable=False),
        sa.Column("post_id", _KEY, nullable=False, index=True),
        sa.PrimaryKeyConstraint("organization_id", "path"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "released_pushes",
        _organization(),
        sa.Column("push_id", _KEY, nullable=False),
        sa.Column("post_id", _KEY, nullable=False, index=True),
        sa.PrimaryKeyConstraint("organization_id", "push_id", "post_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "public_changelogs",
        sa.Column("id", _KEY, primary_key=True),
        sa.Column("owner_id", _KEY, sa.ForeignKey("organizations.id"), nullable=False, index=True),
        sa.Column("organization_id", _KEY, sa.ForeignKey("organizations.id"), unique=True),
        sa.Column("slug", _KEY, nullable=False, unique=True),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("product_url", sa.Text),
        sa.Column("content_types", sa.Text, nullable=False),
        sa.Column("is_public", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("revision", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("repositories", sa.Text),
        sa.Column("scopes", sa.Text),
        sa.Column("accent", sa.Text),
        sa.Column("header_links", sa.Text),
        sa.Column("images", sa.Text),
        sa.Column("show_details", sa.Boolean, nullable=False, server_default=sa.false()),
    )
    op.create_table(
        "changelog_images",
        sa.Column("changelog_id", _KEY, sa.ForeignKey("public_changelogs.id", ondelete="CASCADE"), nullable=False),
        sa.Column("kind", _KEY, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("changelog_id", "kind"),
    )
    op.create_table(
        "changelog_slugs",
        sa.Column("slug", _KEY, primary_key=True),
        _organization(index=True),
        sa.Column("changelog_id", _KEY),
    )
    op.create_table(
        "subscribers",
        sa.Column("id", _KEY, primary_key=True),
        _organization(),
        sa.Column("changelog_id", _KEY, sa.ForeignKey("public_changelogs.id", ondelete="CASCADE"), nullable=False),
        sa.Column("address", _KEY, nullable=False),
        sa.Column("status", _KEY, nullable=False),
        sa.Column("digest", _KEY, nullable=False, unique=True),
        sa.Column("sealed_token", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("confirmed_at", sa.BigInteger),
        sa.UniqueConstraint("changelog_id", "address"),
        sa.Index(None, "organization_id", "changelog_id", "status"),
    )
    _partial("ix_subscribers_pending", "subscribers", ["created_at", "id"], "status = 'pending'")
    op.create_table(
        "announced_posts",
        sa.Column("post_id", _KEY, primary_key=True),
        _organization(),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("batch_id", _KEY, index=True),
        sa.Index(None, "organization_id", "created_at", "post_id"),
    )
    _partial(
        "ix_announced_posts_waiting",
        "announced_posts",
        ["organization_id", "created_at", "post_id"],
        "batch_id IS NULL",
    )
    op.create_table(
        "mails",
        sa.Column("id", _KEY, primary_key=True),
        _organization(),
        sa.Column(
            "subscriber_id", _KEY, sa.ForeignKey("subscribers.id", ondelete="CASCADE"), nullable=False, index=True
        ),
        sa.Column("kind", _KEY, nullable=False),
        sa.Column("batch_id", _KEY),
        sa.Column("status", _KEY, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("takes", sa.Integer, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("due_at", sa.BigInteger, nullable=False),
        sa.Column("error", sa.Text),
        sa.Index(None, "organization_id", "created_at", "id"),
    )
    _partial("ix_mails_pending", "mails", ["kind", "due_at", "id"], "status = 'pending'")
    op.create_table(
        "webhook_endpoints",
        sa.Column("id", _KEY, primary_key=True),
        _organization(index=True),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("event_types", sa.Text, nullable=False),
        sa.Column("enabled", sa.Boolean, nullable=False),
        sa.Column("disabled_reason", sa.Text),
        sa.Column("sealed_secret", sa.Text, nullable=False),
        sa.Column("sealed_previous", sa.Text),
        sa.Column("previous_until", sa.BigInteger),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("format", _KEY, nullable=False, server_default="standard"),
    )
    op.create_table(
        "webhook_messages",
        sa.Column("id", _KEY, primary_key=True),
        _organization(),
        sa.Column("endpoint_id", _KEY, nullable=False, index=True),
        sa.Column("type", _KEY, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sa.Column("occurred_at", sa.BigInteger),
        sa.Column("status", _KEY, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("takes", sa.Integer, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("due_at", sa.BigInteger, nullable=False),
        sa.Column("log_id", _KEY),
        sa.Column("logged_at", sa.BigInteger),
        sa.Index(None, "organization_id", "created_at", "id"),
    )
    _partial("ix_webhook_messages_pending", "webhook_messages", ["endpoint_id", "due_at", "id"], "status = 'pending'")
    op.create_table(
        "integration_alerts",
        sa.Column("integration_id", _KEY, sa.ForeignKey("integrations.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("failing_since", sa.BigInteger, nullable=False),
        sa.Column("recovered_at", sa.BigInteger),
    )
    op.create_table(
        "log_counts",
        sa.Column("organization_id", _KEY, nullable=False),
        sa.Column("span", sa.BigInteger, nullable=False),
        sa.Column("starts_at", sa.BigInteger, nullable=False),
        sa.Column("integration_id", _KEY, nullable=False),
        sa.Column("status", _KEY, nullable=False),
        sa.Column("shard", sa.Integer, nullable=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("organization_id", "span", "starts_at", "integration_id", "status", "shard"),
        sqlite_with_rowid=False,
        postgresql_with={"fillfactor": 50},
    )
    op.create_table(
        "post_counts",
        sa.Column("organization_id", _KEY, nullable=False),
        sa.Column("span", sa.BigInteger, nullable=False),
        sa.Column("starts_at", sa.BigInteger, nullable=False),
        sa.Column("status", _KEY, nullable=False),
        sa.Column("content_type", _KEY, nullable=False),
        sa.Column("brand_identity_id", _KEY, nullable=False),
        sa.Column("shard", sa.Integer, nullable=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint(
            "organization_id", "span", "starts_at", "status", "content_type", "brand_identity_id", "shard"
        ),
        sqlite_with_rowid=False,
        postgresql_with={"fillfactor": 50},
    )
    op.create_table(
        "search_documents",
        sa.Column("id", sa.Integer().with_variant(sa.BigInteger(), "postgresql"), primary_key=True),
        sa.Column("organization_id", _KEY, nullable=False),
        sa.Column("kind", _KEY, nullable=False),
        sa.Column("document_id", _KEY, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("place_id", _KEY, nullable=False),
        sa.Column("repository", _KEY),
        sa.Column("type", _KEY, nullable=False),
        sa.UniqueConstraint("organization_id", "kind", "document_id"),
        sa.Index("ix_search_documents_place", "organization_id", "kind", "created_at", "place_id"),
    )
    op.create_table(
        "search_pending",
        sa.Column("organization_id", _KEY, nullable=False),
        sa.Column("kind", _KEY, nullable=False),
        sa.Column("document_id", _KEY, nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("begun", sa.Integer, nullable=False, server_default="0"),
        sa.Column("begun_version", sa.BigInteger),
        sa.Column("begun_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("organization_id", "kind", "document_id"),
        sqlite_with_rowid=False,
    )


def _organization(*, index: bool = False) -> sa.Column[str]:
    return sa.Column("organization_id", _KEY, sa.ForeignKey("organizations.id"), nullable=False, index=index)


def _partial(name: str, table: str, columns: list[str], where: str) -> None:
    op.create_index(name, table, columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))
