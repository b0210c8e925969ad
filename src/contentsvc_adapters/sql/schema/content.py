"""The posts."""

from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
)

from contentsvc_adapters.sql.schema.columns import KEY, metadata, organization

# What posts that were deleted had told once: it is not told again.
told_once: Final = Table(
    "told_once",
    metadata,
    organization(),
    Column("once_key", LargeBinary, nullable=False),
    PrimaryKeyConstraint("organization_id", "once_key"),
    sqlite_with_rowid=False,
)

posts: Final = Table(
    "posts",
    metadata,
    Column("id", KEY, primary_key=True),
    organization(),
    Column("run_id", KEY, ForeignKey("workflow_runs.id"), unique=True),
    # A digest: the key holds foreign text of any length, and indexes have limits.
    Column("once_key", LargeBinary),
    Column("title", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("markdown", Text, nullable=False),
    Column("content_type", KEY, nullable=False),
    Column("source_metadata", Text),
    # As in the metadata, to be looked for.
    Column("brand_identity_id", KEY),
    Column("status", KEY, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    UniqueConstraint("organization_id", "once_key"),
    Index(None, "organization_id", "created_at", "id"),
)
