"""The first tables. A released script is never changed and imports nothing that may change."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0001"
down_revision: Final = None

_KEY: Final = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "claims",
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("claimed_at", sa.BigInteger(), nullable=False),
        sa.Column("log_id", _KEY, nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_claims")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_claims_claimed_at"), "claims", ["claimed_at"], unique=False)
    op.create_table(
        "organizations",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("slug", _KEY, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("retention_days", sa.Integer(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_organizations")),
        sa.UniqueConstraint("slug", name=op.f("uq_organizations_slug")),
    )
    op.create_table(
        "api_keys",
        sa.Column("prefix", _KEY, nullable=False),
        sa.Column("organization_id", _KEY, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.Column("last_used_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["organization_id"], ["organizations.id"], name=op.f("fk_api_keys_organization_id")),
        sa.PrimaryKeyConstraint("prefix", name=op.f("pk_api_keys")),
    )
    op.create_index(op.f("ix_api_keys_organization_id"), "api_keys", ["organization_id"], unique=False)
    op.create_table(
        "events",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("organization_id", _KEY, nullable=False),
        sa.Column("provider", _KEY, nullable=False),
        sa.Column("repository_id", sa.BigInteger(), nullable=False),
        sa.Column("repository", sa.Text(), nullable=True),
        sa.Column("delivery_id", _KEY, nullable=True),
        sa.Column("type", _KEY, nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["organization_id"], ["organizations.id"], name=op.f("fk_events_organization_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_events")),
    )
    op.create_table(
        "integrations",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("organization_id", _KEY, nullable=False),
        sa.Column("provider", _KEY, nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["organizations.id"], name=op.f("fk_integrations_organization_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_integrations")),
    )
    op.create_index(op.f("ix_integrations_organization_id"), "integrations", ["organization_id"], unique=False)
    op.create_table(
        "triggers",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("organization_id", _KEY, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("source_type", _KEY, nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("repository_ids", sa.Text(), nullable=False),
        sa.Column("event_types", sa.Text(), nullable=False),
        sa.Column("output_type", sa.Text(), nullable=False),
        sa.Column("auto_publish", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["organization_id"], ["organizations.id"], name=op.f("fk_triggers_organization_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_triggers")),
    )
    op.create_index(op.f("ix_triggers_organization_id"), "triggers", ["organization_id"], unique=False)
    op.create_table(
        "context_records",
        sa.Column("organization_id", _KEY, nullable=False),
        sa.Column("custom_id", _KEY, nullable=False),
        sa.Column("id", _KEY, nullable=False),
        sa.Column("provider", _KEY, nullable=False),
        sa.Column("repository_id", sa.BigInteger(), nullable=False),
        sa.Column("event_id", _KEY, nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["event_id"], ["events.id"], name=op.f("fk_context_records_event_id")),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["organizations.id"], name=op.f("fk_context_records_organization_id")
        ),
        sa.PrimaryKeyConstraint("organization_id", "custom_id", name=op.f("pk_context_records")),
        sqlite_with_rowid=False,
    )
    op.create_index(
        op.f("ix_context_records_organization_id_created_at_id"),
        "context_records",
        ["organization_id", "created_at", "id"],
        unique=False,
    )
    op.create_index(
        "ix_context_records_repository",
        "context_records",
        ["organization_id", "provider", "repository_id", "created_at", "id"],
        unique=False,
    )
    op.create_table(
        "log_entries",
        sa.Column("organization_id", _KEY, nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("id", _KEY, nullable=False),
        sa.Column("integration_id", _KEY, nullable=False),
        sa.Column("repository_id", sa.BigInteger(), nullable=False),
        sa.Column("reference_id", _KEY, nullable=True),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("integration_type", _KEY, nullable=False),
        sa.Column("direction", _KEY, nullable=False),
        sa.Column("status", _KEY, nullable=False),
        sa.Column("status_code", sa.Integer(), nullable=True),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("event_id", _KEY, nullable=True),
        sa.Column("payload", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["event_id"], ["events.id"], name=op.f("fk_log_entries_event_id")),
        sa.ForeignKeyConstraint(["organization_id"], ["organizations.id"], name=op.f("fk_log_entries_organization_id")),
        sa.PrimaryKeyConstraint("organization_id", "created_at", "id", name=op.f("pk_log_entries")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "repositories",
        sa.Column("organization_id", _KEY, nullable=False),
        sa.Column("provider", _KEY, nullable=False),
        sa.Column("repository_id", sa.BigInteger(), nullable=False),
        sa.Column("integration_id", _KEY, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("full_name", sa.Text(), nullable=False),
        sa.Column("name_key", _KEY, nullable=False),
        sa.Column("branch", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["integration_id"], ["integrations.id"], name=op.f("fk_repositories_integration_id")),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["organizations.id"], name=op.f("fk_repositories_organization_id")
        ),
        sa.PrimaryKeyConstraint("organization_id", "provider", "repository_id", name=op.f("pk_repositories")),
        sa.UniqueConstraint(
            "organization_id", "provider", "name_key", name=op.f("uq_repositories_organization_id_provider_name_key")
        ),
    )
    op.create_index(op.f("ix_repositories_integration_id"), "repositories", ["integration_id"], unique=False)
    op.create_table(
        "webhook_secrets",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("integration_id", _KEY, nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["integration_id"], ["integrations.id"], name=op.f("fk_webhook_secrets_integration_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_secrets")),
    )
    op.create_index(op.f("ix_webhook_secrets_integration_id"), "webhook_secrets", ["integration_id"], unique=False)
    op.create_table(
        "workflow_runs",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("organization_id", _KEY, nullable=False),
        sa.Column("trigger_id", _KEY, nullable=False),
        sa.Column("event_id", _KEY, nullable=False),
        sa.Column("status", _KEY, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("kills", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("post_id", _KEY, nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["event_id"], ["events.id"], name=op.f("fk_workflow_runs_event_id")),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["organizations.id"], name=op.f("fk_workflow_runs_organization_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workflow_runs")),
    )
    op.create_index(
        op.f("ix_workflow_runs_organization_id_created_at_id"),
        "workflow_runs",
        ["organization_id", "created_at", "id"],
        unique=False,
    )
    op.create_index(
        "ix_workflow_runs_pending",
        "workflow_runs",
        ["kills", "created_at", "id", "due_at"],
        unique=False,
        sqlite_where=sa.text("status = 'pending'"),
        postgresql_where=sa.text("status = 'pending'"),
    )
    op.create_index(
        "ix_workflow_runs_running",
        "workflow_runs",
        ["id"],
        unique=False,
        sqlite_where=sa.text("status = 'running'"),
        postgresql_where=sa.text("status = 'running'"),
    )
    op.create_table(
        "posts",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("organization_id", _KEY, nullable=False),
        sa.Column("run_id", _KEY, nullable=True),
        sa.Column("once_key", sa.LargeBinary(), nullable=True),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("markdown", sa.Text(), nullable=False),
        sa.Column("content_type", _KEY, nullable=False),
        sa.Column("source_metadata", sa.Text(), nullable=True),
        sa.Column("status", _KEY, nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["organization_id"], ["organizations.id"], name=op.f("fk_posts_organization_id")),
        sa.ForeignKeyConstraint(["run_id"], ["workflow_runs.id"], name=op.f("fk_posts_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_posts")),
        sa.UniqueConstraint("organization_id", "once_key", name=op.f("uq_posts_organization_id_once_key")),
        sa.UniqueConstraint("run_id", name=op.f("uq_posts_run_id")),
    )
    op.create_index(
        op.f("ix_posts_organization_id_created_at_id"), "posts", ["organization_id", "created_at", "id"], unique=False
    )
