"""The tables of revision 0020 that deliveries and their work use.

Scripts 0020a to 0020 replace those of the revisions up to 0020. A script is never changed and imports nothing that may
change, except the convention for names of keys and indexes.
"""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0020a"
down_revision: Final = None

_KEY: Final = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "organizations",
        sa.Column("id", _KEY, primary_key=True),
        sa.Column("slug", _KEY, nullable=False, unique=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("retention_days", sa.Integer, nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("house_style", sa.Text),
        sa.Column("time_zone", sa.Text, nullable=False, server_default="UTC"),
    )
    op.create_table(
        "api_keys",
        sa.Column("prefix", _KEY, primary_key=True),
        _organization(index=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("scopes", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger),
        sa.Column("revoked_at", sa.BigInteger),
        sa.Column("last_used_at", sa.BigInteger),
        sa.Column("may_issue", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("issued_by", _KEY, index=True),
    )
    op.create_table(
        "sessions",
        sa.Column("digest", _KEY, primary_key=True),
        sa.Column("key_prefix", _KEY, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False, index=True),
    )
    op.create_table(
        "rate_windows",
        sa.Column("bucket", _KEY, primary_key=True),
        sa.Column("hits", sa.Text, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False, index=True),
    )
    op.create_table(
        "integrations",
        sa.Column("id", _KEY, primary_key=True),
        _organization(index=True),
        sa.Column("provider", _KEY, nullable=False),
        sa.Column("enabled", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("hook_id", sa.Text),
        sa.Column("sealed_token", sa.Text),
    )
    op.create_table(
        "repositories",
        _organization(),
        sa.Column("provider", _KEY, nullable=False),
        sa.Column("repository_id", sa.BigInteger, nullable=False),
        sa.Column("integration_id", _KEY, sa.ForeignKey("integrations.id"), nullable=False, index=True),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("full_name", sa.Text, nullable=False),
        sa.Column("name_key", _KEY, nullable=False),
        sa.Column("branch", sa.Text),
        sa.PrimaryKeyConstraint("organization_id", "provider", "repository_id"),
        sa.UniqueConstraint("organization_id", "provider", "name_key"),
    )
    op.create_table(
        "webhook_secrets",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("integration_id", _KEY, sa.ForeignKey("integrations.id"), nullable=False, index=True),
        sa.Column("sealed", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger),
    )
    op.create_table(
        "brand_identities",
        sa.Column("id", _KEY, primary_key=True),
        _organization(),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("name_key", _KEY, nullable=False),
        sa.Column("is_default", sa.Boolean, nullable=False),
        sa.Column("website_url", sa.Text, nullable=False),
        sa.Column("company_name", sa.Text),
        sa.Column("company_description", sa.Text),
        sa.Column("tone_profile", sa.Text, nullable=False),
        sa.Column("custom_tone", sa.Text),
        sa.Column("custom_instructions", sa.Text),
        sa.Column("audience", sa.Text),
        sa.Column("language", sa.Text),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.UniqueConstraint("organization_id", "name_key"),
    )
    _partial("ix_brand_identities_default", "brand_identities", ["organization_id"], "is_default", unique=True)
    op.create_table(
        "triggers",
        sa.Column("id", _KEY, primary_key=True),
        _organization(index=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("source_type", _KEY, nullable=False),
        sa.Column("enabled", sa.Boolean, nullable=False),
        sa.Column("repository_ids", sa.Text, nullable=False),
        sa.Column("event_types", sa.Text, nullable=False),
        sa.Column("output_type", sa.Text, nullable=False),
        sa.Column("auto_publish", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("brand_identity_id", _KEY),
        sa.Column("house_style", sa.Text),
        sa.Column("options", sa.Text),
        sa.Column("due_at", sa.BigInteger),
        sa.Column("since", sa.BigInteger),
    )
    _partial("ix_triggers_due_at", "triggers", ["due_at", "id"], "due_at IS NOT NULL")
    op.create_table(
        "schedules",
        sa.Column("id", _KEY, primary_key=True),
        _organization(index=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("enabled", sa.Boolean, nullable=False),
        sa.Column("cron", sa.Text, nullable=False),
        sa.Column("repository_ids", sa.Text, nullable=False),
        sa.Column("output_type", sa.Text, nullable=False),
        sa.Column("brand_identity_id", _KEY),
        sa.Column("auto_publish", sa.Boolean, nullable=False),
        sa.Column("lookback", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("due_at", sa.BigInteger, index=True),
        sa.Column("last_slot", sa.BigInteger),
        sa.Column("house_style", sa.Text),
    )
    op.create_table(
        "claims",
        sa.Column("key", sa.LargeBinary, primary_key=True),
        sa.Column("claimed_at", sa.BigInteger, nullable=False, index=True),
        sa.Column("log_id", _KEY, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "events",
        sa.Column("id", _KEY, primary_key=True),
        _organization(),
        sa.Column("provider", _KEY, nullable=False),
        sa.Column("repository_id", sa.BigInteger, nullable=False),
        sa.Column("repository", sa.Text),
        sa.Column("delivery_id", _KEY),
        sa.Column("type", _KEY, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("summary", sa.Text),
    )
    op.create_table(
        "log_entries",
        _organization(),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("id", _KEY, nullable=False),
        sa.Column("integration_id", _KEY, nullable=False),
        sa.Column("repository_id", sa.BigInteger, nullable=False),
        sa.Column("reference_id", _KEY),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("integration_type", _KEY, nullable=False),
        sa.Column("direction", _KEY, nullable=False),
        sa.Column("status", _KEY, nullable=False),
        sa.Column("status_code", sa.Integer),
        sa.Column("error_message", sa.Text),
        sa.Column("event_id", _KEY, sa.ForeignKey("events.id")),
        sa.Column("payload", sa.Text),
        sa.Column("reason", sa.Text),
        sa.Column("received", sa.Text),
        sa.PrimaryKeyConstraint("organization_id", "created_at", "id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "context_records",
        _organization(),
        sa.Column("custom_id", _KEY, nullable=False),
        sa.Column("id", _KEY, nullable=False),
        sa.Column("provider", _KEY, nullable=False),
        sa.Column("repository_id", sa.BigInteger, nullable=False),
        sa.Column("event_id", _KEY, sa.ForeignKey("events.id"), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("organization_id", "custom_id"),
        sa.Index("ix_context_records_repository", "organization_id", "provider", "repository_id", "created_at", "id"),
        sa.Index(None, "organization_id", "created_at", "id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "executors",
        sa.Column("id", _KEY, primary_key=True),
        sa.Column("beats", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "workflow_runs",
        sa.Column("id", _KEY, primary_key=True),
        _organization(),
        sa.Column("trigger_id", _KEY, nullable=False),
        sa.Column("event_id", _KEY, sa.ForeignKey("events.id"), nullable=False),
        sa.Column("status", _KEY, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("kills", sa.Integer, nullable=False),
        sa.Column("error", sa.Text),
        sa.Column("post_id", _KEY),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("due_at", sa.BigInteger, nullable=False),
        sa.Column("takes", sa.Integer, nullable=False, server_default="0"),
        sa.Column("executor", _KEY),
        sa.Column("replayed", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Index(None, "organization_id", "created_at", "id"),
    )
    _partial(
        "ix_workflow_runs_pending",
        "workflow_runs",
        ["organization_id", "kills", "created_at", "id", "due_at"],
        "status = 'pending'",
    )
    _partial("ix_workflow_runs_running", "workflow_runs", ["id"], "status = 'running'")
    op.create_table(
        "run_steps",
        sa.Column("run_id", _KEY, sa.ForeignKey("workflow_runs.id"), nullable=False),
        sa.Column("name", _KEY, nullable=False),
        sa.Column("result", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "name"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "run_drafts",
        sa.Column("run_id", _KEY, sa.ForeignKey("workflow_runs.id"), primary_key=True),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("markdown", sa.Text, nullable=False),
    )
    op.create_table(
        "jobs",
        sa.Column("id", _KEY, primary_key=True),
        _organization(),
        sa.Column("run_id", _KEY, sa.ForeignKey("workflow_runs.id"), nullable=False, unique=True),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "job_events",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True),
        sa.Column("id", _KEY, nullable=False, unique=True),
        sa.Column("job_id", _KEY, sa.ForeignKey("jobs.id"), nullable=False, index=True),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("metadata", sa.Text),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )


def _organization(*, index: bool = False) -> sa.Column[str]:
    return sa.Column("organization_id", _KEY, sa.ForeignKey("organizations.id"), nullable=False, index=index)


def _partial(name: str, table: str, columns: list[str], where: str, *, unique: bool = False) -> None:
    op.create_index(name, table, columns, unique=unique, sqlite_where=sa.text(where), postgresql_where=sa.text(where))
