"""The tables that deliveries write. They have no foreign keys: each would cost a query for each delivery.

A settlement writes all rows of a delivery in one transaction, which has read its organization. Nothing deletes events
or organizations. ``contentsvc doctor`` checks the references.
"""

from typing import Final

from sqlalchemy import BigInteger, Column, Index, Integer, LargeBinary, PrimaryKeyConstraint, Table, Text

from contentsvc_adapters.sql.schema.columns import KEY, metadata, unchecked_organization

# The only table with a random key, of 16 bytes. On SQLite the table is its own b-tree, without a second index.
claims: Final = Table(
    "claims",
    metadata,
    Column("key", LargeBinary, primary_key=True),
    Column("claimed_at", BigInteger, nullable=False, index=True),
    # The log entry of the delivery that took the claim.
    Column("log_id", KEY, nullable=False),
    sqlite_with_rowid=False,
)

# The event of a delivery, stored once: log entry, context record and runs refer to it. So are requests that start runs.
events: Final = Table(
    "events",
    metadata,
    # The id of the log entry that came with the event, or the id of the run.
    Column("id", KEY, primary_key=True),
    unchecked_organization(),
    Column("provider", KEY, nullable=False),
    Column("repository_id", BigInteger, nullable=False),
    Column("repository", Text),
    Column("delivery_id", KEY),
    Column("type", KEY, nullable=False),
    Column("data", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    # What lists show of the event, below 2 KiB. NULL: an event of an older version, or a request.
    Column("summary", Text),
)

log_entries: Final = Table(
    "log_entries",
    metadata,
    unchecked_organization(),
    Column("created_at", BigInteger, nullable=False),
    Column("id", KEY, nullable=False),
    Column("integration_id", KEY, nullable=False),
    Column("repository_id", BigInteger, nullable=False),
    Column("reference_id", KEY),
    Column("title", Text, nullable=False),
    Column("integration_type", KEY, nullable=False),
    Column("direction", KEY, nullable=False),
    Column("status", KEY, nullable=False),
    Column("status_code", Integer),
    Column("error_message", Text),
    # At most one of the two is set: the payload is made from the event, or stored here.
    Column("event_id", KEY),
    Column("payload", Text),
    Column("reason", Text),
    # The facts of a refused delivery as JSON, at most 1 KiB. NULL: accepted, not stored, or of an older version.
    Column("received", Text),
    PrimaryKeyConstraint("organization_id", "created_at", "id"),
    sqlite_with_rowid=False,
)

context_records: Final = Table(
    "context_records",
    metadata,
    unchecked_organization(),
    Column("custom_id", KEY, nullable=False),
    Column("id", KEY, nullable=False),
    Column("provider", KEY, nullable=False),
    Column("repository_id", BigInteger, nullable=False),
    Column("event_id", KEY, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    PrimaryKeyConstraint("organization_id", "custom_id"),
    # Named explicitly: the convention's name is longer than PostgreSQL allows.
    Index("ix_context_records_repository", "organization_id", "provider", "repository_id", "created_at", "id"),
    sqlite_with_rowid=False,
)
