"""All of ``/v1``: brand identities, schedules, jobs, rate limits, and hooks that were created at the code host."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0003"
down_revision: Final = "0002"

_KEY: Final = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def _organization(table: str) -> tuple[sa.Column[str], sa.ForeignKeyConstraint]:
    return (
        sa.Column("organization_id", _KEY, nullable=False),
        sa.ForeignKeyConstraint(["organization_id"], ["organizations.id"], name=op.f(f"fk_{table}_organization_id")),
    )


def upgrade() -> None:
    op.add_column("integrations", sa.Column("hook_id", sa.Text(), nullable=True))
    op.add_column("integrations", sa.Column("sealed_token", sa.Text(), nullable=True))
    op.add_column("triggers", sa.Column("brand_identity_id", _KEY, nullable=True))
    op.add_column("workflow_runs", sa.Column("replayed", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column("posts", sa.Column("brand_identity_id", _KEY, nullable=True))
    _schedules()
    _brand_identities()
    op.create_table(
        "rate_windows",
        sa.Column("bucket", _KEY, nullable=False),
        sa.Column("hits", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("bucket", name=op.f("pk_rate_windows")),
    )
    op.create_index(op.f("ix_rate_windows_expires_at"), "rate_windows", ["expires_at"], unique=False)
    _jobs()
    _told_once()


def _told_once() -> None:
    organization_id, belongs = _organization("told_once")
    op.create_table(
        "told_once",
        organization_id,
        sa.Column("once_key", sa.LargeBinary(), nullable=False),
        belongs,
        sa.PrimaryKeyConstraint("organization_id", "once_key", name=op.f("pk_told_once")),
        sqlite_with_rowid=False,
    )


def _schedules() -> None:
    organization_id, belongs = _organization("schedules")
    op.create_table(
        "schedules",
        sa.Column("id", _KEY, nullable=False),
        organization_id,
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("cron", sa.Text(), nullable=False),
        sa.Column("repository_ids", sa.Text(), nullable=False),
        sa.Column("output_type", sa.Text(), nullable=False),
        sa.Column("brand_identity_id", _KEY, nullable=True),
        sa.Column("auto_publish", sa.Boolean(), nullable=False),
        sa.Column("lookback", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=True),
        sa.Column("last_slot", sa.BigInteger(), nullable=True),
        belongs,
        sa.PrimaryKeyConstraint("id", name=op.f("pk_schedules")),
    )
    op.create_index(op.f("ix_schedules_organization_id"), "schedules", ["organization_id"], unique=False)
    op.create_index(op.f("ix_schedules_due_at"), "schedules", ["due_at"], unique=False)


def _brand_identities() -> None:
    organization_id, belongs = _organization("brand_identities")
    op.create_table(
        "brand_identities",
        sa.Column("id", _KEY, nullable=False),
        organization_id,
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("name_key", _KEY, nullable=False),
        sa.Column("is_default", sa.Boolean(), nullable=False),
        sa.Column("website_url", sa.Text(), nullable=False),
        sa.Column("company_name", sa.Text(), nullable=True),
        sa.Column("company_description", sa.Text(), nullable=True),
        sa.Column("tone_profile", sa.Text(), nullable=False),
        sa.Column("custom_tone", sa.Text(), nullable=True),
        sa.Column("custom_instructions", sa.Text(), nullable=True),
        sa.Column("audience", sa.Text(), nullable=True),
        sa.Column("language", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        belongs,
        sa.PrimaryKeyConstraint("id", name=op.f("pk_brand_identities")),
        sa.UniqueConstraint("organization_id", "name_key", name=op.f("uq_brand_identities_organization_id_name_key")),
    )
    op.create_index(
        "ix_brand_identities_default",
        "brand_identities",
        ["organization_id"],
        unique=True,
        sqlite_where=sa.text("is_default"),
        postgresql_where=sa.text("is_default"),
    )


def _jobs() -> None:
    organization_id, belongs = _organization("jobs")
    op.create_table(
        "jobs",
        sa.Column("id", _KEY, nullable=False),
        organization_id,
        sa.Column("run_id", _KEY, nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        belongs,
        sa.ForeignKeyConstraint(["run_id"], ["workflow_runs.id"], name=op.f("fk_jobs_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
        sa.UniqueConstraint("run_id", name=op.f("uq_jobs_run_id")),
    )
    op.create_table(
        "job_events",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("id", _KEY, nullable=False),
        sa.Column("job_id", _KEY, nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("metadata", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_job_events_job_id")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_job_events")),
        sa.UniqueConstraint("id", name=op.f("uq_job_events_id")),
    )
    op.create_index(op.f("ix_job_events_job_id"), "job_events", ["job_id"], unique=False)
