from typing import Final

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Integer, PrimaryKeyConstraint, Table, Text

from contentsvc_adapters.sql.schema.columns import KEY, metadata, organization, partial_index

webhook_endpoints: Final = Table(
    "webhook_endpoints",
    metadata,
    Column("id", KEY, primary_key=True),
    organization(index=True),
    Column("url", Text, nullable=False),
    Column("description", Text, nullable=False),
    # The previous version writes rows without a format.
    Column("format", KEY, nullable=False, server_default="standard"),
    # A JSON list: it is always read whole, and the core matches it.
    Column("event_types", Text, nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("disabled_reason", Text),
    Column("sealed_secret", Text, nullable=False),
    Column("sealed_previous", Text),
    Column("previous_until", BigInteger),
    # The number of failed attempts in a row.
    Column("failures", Integer, nullable=False),
    Column("created_at", BigInteger, nullable=False),
)

recipients: Final = Table(
    "recipients",
    metadata,
    organization(),
    Column("address", KEY, nullable=False),
    Column("status", KEY, nullable=False),
    # The digest of the token in links; mails contain the token itself. NULL until the first mail of an address that was
    # entered before addresses were asked.
    Column("digest", KEY, unique=True),
    Column("sealed_token", Text),
    Column("asked_at", BigInteger, nullable=False),
    Column("confirmed_at", BigInteger),
    PrimaryKeyConstraint("organization_id", "address"),
)
partial_index(
    "ix_recipients_unconfirmed",
    *(recipients.c.asked_at, recipients.c.organization_id, recipients.c.address),
    where=recipients.c.status == "unconfirmed",
)

integration_alerts: Final = Table(
    "integration_alerts",
    metadata,
    Column("integration_id", KEY, ForeignKey("integrations.id", ondelete="CASCADE"), primary_key=True),
    Column("failing_since", BigInteger, nullable=False),
    # NULL: the period lasts.
    Column("recovered_at", BigInteger),
)

# No foreign key to the endpoint: writing a message must not wait for, or fail because of, a concurrent deletion of the
# endpoint. A message without an endpoint is never sent, and swept later.
webhook_messages: Final = Table(
    "webhook_messages",
    metadata,
    Column("id", KEY, primary_key=True),
    organization(),
    Column("endpoint_id", KEY, nullable=False),
    Column("type", KEY, nullable=False),
    Column("data", Text, nullable=False),
    # NULL until the first take, if the writer of the message has no clock.
    Column("occurred_at", BigInteger),
    Column("status", KEY, nullable=False),
    Column("attempts", Integer, nullable=False),
    # Only the last take may write the result of an attempt (a fencing token).
    Column("takes", Integer, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    # For a message that was taken: the end of the lease, as the previous version reads it.
    Column("due_at", BigInteger, nullable=False),
    # The end of the lease by the database's clock; NULL: no process has the message.
    Column("leased_until", BigInteger),
    Column("log_id", KEY),
    Column("logged_at", BigInteger),
    # A JSON list of the addresses that have the mail already; NULL: none.
    Column("delivered_to", Text),
    Index(None, "organization_id", "created_at", "id"),
    Index(None, "endpoint_id"),
)
# Finished messages are many, and never queried by due time.
partial_index(
    "ix_webhook_messages_pending",
    webhook_messages.c.endpoint_id,
    webhook_messages.c.due_at,
    webhook_messages.c.id,
    where=webhook_messages.c.status == "pending",
)
