"""The tables. Points in time are milliseconds since the epoch, JSON is text that this package wrote itself."""

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
)

metadata: Final = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)

#: What is looked up or ordered by: compared by bytes in every database, as Python does, whatever its locale.
_KEY: Final = Text().with_variant(Text(collation="C"), "postgresql")


def _organization(*, index: bool = False) -> Column[str]:
    return Column("organization_id", _KEY, ForeignKey("organizations.id"), nullable=False, index=index)


organizations: Final = Table(
    "organizations",
    metadata,
    Column("id", _KEY, primary_key=True),
    Column("slug", _KEY, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("retention_days", Integer, nullable=False),
    # Raised by every change of what deliveries are decided on, in that change's transaction.
    Column("version", BigInteger, nullable=False),
    Column("created_at", BigInteger, nullable=False),
)

integrations: Final = Table(
    "integrations",
    metadata,
    Column("id", _KEY, primary_key=True),
    _organization(index=True),
    Column("provider", _KEY, nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("created_at", BigInteger, nullable=False),
)

repositories: Final = Table(
    "repositories",
    metadata,
    _organization(),
    Column("provider", _KEY, nullable=False),
    Column("repository_id", BigInteger, nullable=False),
    Column("integration_id", _KEY, ForeignKey("integrations.id"), nullable=False, index=True),
    # Where it stands in its integration's list.
    Column("position", Integer, nullable=False),
    Column("full_name", Text, nullable=False),
    # The name in lower case.
    Column("name_key", _KEY, nullable=False),
    Column("branch", Text),
    # An organization connects a repository once; the indexes say so, since a question before would be a race.
    PrimaryKeyConstraint("organization_id", "provider", "repository_id"),
    UniqueConstraint("organization_id", "provider", "name_key"),
)

webhook_secrets: Final = Table(
    "webhook_secrets",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("integration_id", _KEY, ForeignKey("integrations.id"), nullable=False, index=True),
    Column("sealed", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    # For a secret that was rotated out; none is so far.
    Column("expires_at", BigInteger),
)

triggers: Final = Table(
    "triggers",
    metadata,
    Column("id", _KEY, primary_key=True),
    _organization(index=True),
    Column("name", Text, nullable=False),
    Column("source_type", _KEY, nullable=False),
    Column("enabled", Boolean, nullable=False),
    # JSON lists: they are read whole, and the core does the matching.
    Column("repository_ids", Text, nullable=False),
    Column("event_types", Text, nullable=False),
    Column("output_type", Text, nullable=False),
    Column("auto_publish", Boolean, nullable=False),
    Column("created_at", BigInteger, nullable=False),
)

api_keys: Final = Table(
    "api_keys",
    metadata,
    Column("prefix", _KEY, primary_key=True),
    _organization(index=True),
    Column("name", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("scopes", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger),
    Column("revoked_at", BigInteger),
    Column("last_used_at", BigInteger),
)

# The only table whose key is random: 16 bytes, and on SQLite a b-tree of its own without a second one beside it.
claims: Final = Table(
    "claims",
    metadata,
    Column("key", LargeBinary, primary_key=True),
    Column("claimed_at", BigInteger, nullable=False, index=True),
    # The log entry of the delivery that took it.
    Column("log_id", _KEY, nullable=False),
    sqlite_with_rowid=False,
)

# What a delivery told of, once: log entry, context record and runs refer to it.
events: Final = Table(
    "events",
    metadata,
    # That of the log entry that it came with.
    Column("id", _KEY, primary_key=True),
    _organization(),
    Column("provider", _KEY, nullable=False),
    Column("repository_id", BigInteger, nullable=False),
    Column("repository", Text),
    Column("delivery_id", _KEY),
    Column("type", _KEY, nullable=False),
    Column("data", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
)

# The table is its own newest-first listing.
log_entries: Final = Table(
    "log_entries",
    metadata,
    _organization(),
    Column("created_at", BigInteger, nullable=False),
    Column("id", _KEY, nullable=False),
    Column("integration_id", _KEY, nullable=False),
    Column("repository_id", BigInteger, nullable=False),
    Column("reference_id", _KEY),
    Column("title", Text, nullable=False),
    Column("integration_type", _KEY, nullable=False),
    Column("direction", _KEY, nullable=False),
    Column("status", _KEY, nullable=False),
    Column("status_code", Integer),
    Column("error_message", Text),
    # At most one of the two: the payload is made from the event, or it stands here.
    Column("event_id", _KEY, ForeignKey("events.id")),
    Column("payload", Text),
    Column("reason", Text),
    PrimaryKeyConstraint("organization_id", "created_at", "id"),
    sqlite_with_rowid=False,
)

context_records: Final = Table(
    "context_records",
    metadata,
    _organization(),
    Column("custom_id", _KEY, nullable=False),
    Column("id", _KEY, nullable=False),
    Column("provider", _KEY, nullable=False),
    Column("repository_id", BigInteger, nullable=False),
    Column("event_id", _KEY, ForeignKey("events.id"), nullable=False),
    Column("created_at", BigInteger, nullable=False),
    PrimaryKeyConstraint("organization_id", "custom_id"),
    # Named here: the convention's name is longer than PostgreSQL allows.
    Index("ix_context_records_repository", "organization_id", "provider", "repository_id", "created_at", "id"),
    Index(None, "organization_id", "created_at", "id"),
    sqlite_with_rowid=False,
)

workflow_runs: Final = Table(
    "workflow_runs",
    metadata,
    Column("id", _KEY, primary_key=True),
    _organization(),
    Column("trigger_id", _KEY, nullable=False),
    Column("event_id", _KEY, ForeignKey("events.id"), nullable=False),
    Column("status", _KEY, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("kills", Integer, nullable=False),
    # Whoever took it last may change it, and nobody else: the number tells.
    Column("takes", Integer, nullable=False, server_default="0"),
    Column("executor", _KEY),
    Column("error", Text),
    Column("post_id", _KEY),
    Column("created_at", BigInteger, nullable=False),
    Column("due_at", BigInteger, nullable=False),
    Index(None, "organization_id", "created_at", "id"),
)
# Ended runs are many and never looked for by status: the indexes hold only those that work is left for.
Index(
    "ix_workflow_runs_pending",
    workflow_runs.c.organization_id,
    workflow_runs.c.kills,
    workflow_runs.c.created_at,
    workflow_runs.c.id,
    workflow_runs.c.due_at,
    sqlite_where=workflow_runs.c.status == "pending",
    postgresql_where=workflow_runs.c.status == "pending",
)
Index(
    "ix_workflow_runs_running",
    workflow_runs.c.id,
    sqlite_where=workflow_runs.c.status == "running",
    postgresql_where=workflow_runs.c.status == "running",
)

executors: Final = Table(
    "executors",
    metadata,
    Column("id", _KEY, primary_key=True),
    # Counted, not timed: whether an executor lives is told by whether this grows, and no two clocks need to agree.
    Column("beats", BigInteger, nullable=False),
)

run_steps: Final = Table(
    "run_steps",
    metadata,
    Column("run_id", _KEY, ForeignKey("workflow_runs.id"), nullable=False),
    Column("name", _KEY, nullable=False),
    Column("result", Text, nullable=False),
    PrimaryKeyConstraint("run_id", "name"),
    sqlite_with_rowid=False,
)

run_drafts: Final = Table(
    "run_drafts",
    metadata,
    Column("run_id", _KEY, ForeignKey("workflow_runs.id"), primary_key=True),
    Column("title", Text, nullable=False),
    Column("markdown", Text, nullable=False),
)

posts: Final = Table(
    "posts",
    metadata,
    Column("id", _KEY, primary_key=True),
    _organization(),
    Column("run_id", _KEY, ForeignKey("workflow_runs.id"), unique=True),
    # A digest: the key holds foreign text of any length, and indexes have limits.
    Column("once_key", LargeBinary),
    Column("title", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("markdown", Text, nullable=False),
    Column("content_type", _KEY, nullable=False),
    Column("source_metadata", Text),
    Column("status", _KEY, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    UniqueConstraint("organization_id", "once_key"),
    Index(None, "organization_id", "created_at", "id"),
)
