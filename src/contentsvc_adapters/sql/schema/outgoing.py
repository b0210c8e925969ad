"""Webhooks out: where they go, and what waits to be sent."""

from typing import Final

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, Table, Text

from contentsvc_adapters.sql.schema.columns import KEY, metadata, organization, partial_index

webhook_endpoints: Final = Table(
    "webhook_endpoints",
    metadata,
    Column("id", KEY, primary_key=True),
    organization(index=True),
    Column("url", Text, nullable=False),
    Column("description", Text, nullable=False),
    # A JSON list: it is read whole, and the core does the matching.
    Column("event_types", Text, nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("disabled_reason", Text),
    Column("sealed_secret", Text, nullable=False),
    # The one before, as long as it signs, too.
    Column("sealed_previous", Text),
    Column("previous_until", BigInteger),
    # Attempts in a row that have failed.
    Column("failures", Integer, nullable=False),
    Column("created_at", BigInteger, nullable=False),
)

# No foreign key to the endpoint: whoever tells of something must not wait for, or fail at, who deletes an endpoint at
# the same moment. What belongs to none is never sent, and is swept in time.
webhook_messages: Final = Table(
    "webhook_messages",
    metadata,
    Column("id", KEY, primary_key=True),
    organization(),
    Column("endpoint_id", KEY, nullable=False),
    Column("type", KEY, nullable=False),
    Column("data", Text, nullable=False),
    # Told by who has no clock: set when it is first taken.
    Column("occurred_at", BigInteger),
    Column("status", KEY, nullable=False),
    Column("attempts", Integer, nullable=False),
    # Whoever took it last may say how it ended, and nobody else: the number tells.
    Column("takes", Integer, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    # Of one that was taken: when the lease ends.
    Column("due_at", BigInteger, nullable=False),
    # Where its log entry is.
    Column("log_id", KEY),
    Column("logged_at", BigInteger),
    Index(None, "organization_id", "created_at", "id"),
    Index(None, "endpoint_id"),
)
# Those that have ended are many, and never looked for by when they were due.
partial_index(
    "ix_webhook_messages_pending",
    webhook_messages.c.endpoint_id,
    webhook_messages.c.due_at,
    webhook_messages.c.id,
    where=webhook_messages.c.status == "pending",
)
