from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Table,
    Text,
    UniqueConstraint,
)

from contentsvc_adapters.sql.schema.columns import KEY, metadata, organization, partial_index

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
