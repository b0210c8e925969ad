from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    false,
)

from contentsvc_adapters.sql.schema.columns import KEY, metadata, organization, partial_index

organizations: Final = Table(
    "organizations",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("slug", KEY, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("retention_days", Integer, nullable=False),
    # Raised by each change of the configuration that decisions on deliveries use, in the transaction of that change.
    Column("version", BigInteger, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    # A JSON object of the fields that are set; the same in triggers and schedules.
    Column("house_style", Text),
    Column("time_zone", Text, nullable=False, server_default="UTC"),
)

integrations: Final = Table(
    "integrations",
    metadata,
    Column("id", KEY, primary_key=True),
    organization(index=True),
    Column("provider", KEY, nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    # The code host's id of the hook that the service created there, and the sealed token used for that.
    Column("hook_id", Text),
    Column("sealed_token", Text),
)

repositories: Final = Table(
    "repositories",
    metadata,
    organization(),
    Column("provider", KEY, nullable=False),
    Column("repository_id", BigInteger, nullable=False),
    Column("integration_id", KEY, ForeignKey("integrations.id"), nullable=False, index=True),
    # The position in its integration's list.
    Column("position", Integer, nullable=False),
    Column("full_name", Text, nullable=False),
    Column("name_key", KEY, nullable=False),
    Column("branch", Text),
    # An organization connects a repository once: a query before the insert would be a race.
    PrimaryKeyConstraint("organization_id", "provider", "repository_id"),
    UniqueConstraint("organization_id", "provider", "name_key"),
)

webhook_secrets: Final = Table(
    "webhook_secrets",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("integration_id", KEY, ForeignKey("integrations.id"), nullable=False, index=True),
    Column("sealed", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    # Set for a secret that was rotated out: it verifies nothing from then on.
    Column("expires_at", BigInteger),
)

triggers: Final = Table(
    "triggers",
    metadata,
    Column("id", KEY, primary_key=True),
    organization(index=True),
    Column("name", Text, nullable=False),
    Column("source_type", KEY, nullable=False),
    Column("enabled", Boolean, nullable=False),
    # JSON lists: they are always read whole, and the core matches them.
    Column("repository_ids", Text, nullable=False),
    Column("event_types", Text, nullable=False),
    Column("output_type", Text, nullable=False),
    Column("auto_publish", Boolean, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("brand_identity_id", KEY),
    Column("house_style", Text),
    # A JSON object of the filters and settings that are set.
    Column("options", Text),
    # Of a trigger that batches: the end of its present window, and its beginning.
    Column("due_at", BigInteger),
    Column("since", BigInteger),
)
partial_index("ix_triggers_due_at", triggers.c.due_at, triggers.c.id, where=triggers.c.due_at.is_not(None))

schedules: Final = Table(
    "schedules",
    metadata,
    Column("id", KEY, primary_key=True),
    organization(index=True),
    Column("name", Text, nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("cron", Text, nullable=False),
    Column("repository_ids", Text, nullable=False),
    Column("output_type", Text, nullable=False),
    Column("brand_identity_id", KEY),
    Column("auto_publish", Boolean, nullable=False),
    Column("lookback", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("due_at", BigInteger, index=True),
    # The last slot that it fired for: it never fires for this or an earlier slot again, whatever the clock says.
    Column("last_slot", BigInteger),
    Column("house_style", Text),
)

brand_identities: Final = Table(
    "brand_identities",
    metadata,
    Column("id", KEY, primary_key=True),
    organization(),
    Column("name", Text, nullable=False),
    Column("name_key", KEY, nullable=False),
    Column("is_default", Boolean, nullable=False),
    Column("website_url", Text, nullable=False),
    Column("company_name", Text),
    Column("company_description", Text),
    Column("tone_profile", Text, nullable=False),
    Column("custom_tone", Text),
    Column("custom_instructions", Text),
    Column("audience", Text),
    Column("language", Text),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    UniqueConstraint("organization_id", "name_key"),
)
partial_index(
    "ix_brand_identities_default",
    brand_identities.c.organization_id,
    unique=True,
    where=brand_identities.c.is_default,
)

# A sliding log for each bucket: the times of its admitted requests, as JSON.
rate_windows: Final = Table(
    "rate_windows",
    metadata,
    Column("bucket", KEY, primary_key=True),
    Column("hits", Text, nullable=False),
    # The time at which the last request leaves the window; the row has no use after that.
    Column("expires_at", BigInteger, nullable=False, index=True),
)

# No foreign key to the API key: a session without its key is invalid, and must not prevent the key's deletion.
sessions: Final = Table(
    "sessions",
    metadata,
    Column("digest", KEY, primary_key=True),
    Column("key_prefix", KEY, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False, index=True),
)

api_keys: Final = Table(
    "api_keys",
    metadata,
    Column("prefix", KEY, primary_key=True),
    organization(index=True),
    Column("name", Text, nullable=False),
    Column("digest", Text, nullable=False),
    # A JSON list, without `admin`: nodes of a version before that scope could not read the row.
    Column("scopes", Text, nullable=False),
    Column("may_issue", Boolean, nullable=False, server_default=false()),
    Column("issued_by", KEY, index=True),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger),
    Column("revoked_at", BigInteger),
    Column("last_used_at", BigInteger),
)
