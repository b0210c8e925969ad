from typing import Final

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Integer, PrimaryKeyConstraint, Table, Text, false

from contentsvc_adapters.sql.schema.columns import KEY, metadata, organization, partial_index, unchecked_organization

# No foreign keys, as with the tables of deliveries.
workflow_runs: Final = Table(
    "workflow_runs",
    metadata,
    Column("id", KEY, primary_key=True),
    unchecked_organization(),
    # The trigger, job or schedule that started the run.
    Column("trigger_id", KEY, nullable=False),
    Column("event_id", KEY, nullable=False),
    Column("replayed", Boolean, nullable=False, server_default=false()),
    Column("status", KEY, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("kills", Integer, nullable=False),
    # Only the last take may change the run (a fencing token).
    Column("takes", Integer, nullable=False, server_default="0"),
    Column("executor", KEY),
    Column("error", Text),
    Column("post_id", KEY),
    Column("created_at", BigInteger, nullable=False),
    Column("due_at", BigInteger, nullable=False),
    Index(None, "organization_id", "created_at", "id"),
)
# Ended runs are many and never queried by status: the partial indexes hold only unfinished runs.
partial_index(
    "ix_workflow_runs_pending",
    workflow_runs.c.organization_id,
    workflow_runs.c.kills,
    workflow_runs.c.created_at,
    workflow_runs.c.id,
    workflow_runs.c.due_at,
    where=workflow_runs.c.status == "pending",
)
partial_index(
    "ix_workflow_runs_running",
    workflow_runs.c.id,
    where=workflow_runs.c.status == "running",
)

executors: Final = Table(
    "executors",
    metadata,
    Column("id", KEY, primary_key=True),
    # A counter, not a time: an executor is alive while its counter grows, so clocks need not agree.
    Column("beats", BigInteger, nullable=False),
)

run_steps: Final = Table(
    "run_steps",
    metadata,
    Column("run_id", KEY, ForeignKey("workflow_runs.id"), nullable=False),
    Column("name", KEY, nullable=False),
    Column("result", Text, nullable=False),
    PrimaryKeyConstraint("run_id", "name"),
    sqlite_with_rowid=False,
)

# Nodes of the previous version delete from it. Drop the table in a migration of the next version.
run_drafts: Final = Table(
    "run_drafts",
    metadata,
    Column("run_id", KEY, ForeignKey("workflow_runs.id"), primary_key=True),
    Column("title", Text, nullable=False),
    Column("markdown", Text, nullable=False),
)

# Jobs that clients follow. The state of a job is the state of its run.
jobs: Final = Table(
    "jobs",
    metadata,
    Column("id", KEY, primary_key=True),
    organization(),
    Column("run_id", KEY, ForeignKey("workflow_runs.id"), nullable=False, unique=True),
    Column("created_at", BigInteger, nullable=False),
)

job_events: Final = Table(
    "job_events",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("id", KEY, nullable=False, unique=True),
    Column("job_id", KEY, ForeignKey("jobs.id"), nullable=False, index=True),
    Column("type", Text, nullable=False),
    Column("message", Text, nullable=False),
    Column("metadata", Text),
    Column("created_at", BigInteger, nullable=False),
)
