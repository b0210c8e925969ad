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
)

from contentsvc_adapters.sql.schema.columns import KEY, metadata, organization

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
