from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    Text,
    false,
)

from contentsvc_adapters.sql.schema.columns import KEY, metadata, organization

public_changelogs: Final = Table(
    "public_changelogs",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("owner_id", KEY, ForeignKey("organizations.id"), nullable=False, index=True),
    # Set for an organization's first changelog, else NULL: nodes of the previous version find one changelog by it.
    Column("organization_id", KEY, ForeignKey("organizations.id"), unique=True),
    Column("slug", KEY, nullable=False, unique=True),
    Column("title", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("product_url", Text),
    Column("content_types", Text, nullable=False),
    Column("is_public", Boolean, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    # Counts the changes of this row, and of posts that are or were public; triggers count the posts.
    Column("revision", BigInteger, nullable=False, server_default="0"),
    # JSON lists; NULL: an empty one.
    Column("repositories", Text),
    Column("scopes", Text),
    Column("accent", Text),
    Column("header_links", Text),
    Column("images", Text),
    Column("show_details", Boolean, nullable=False, server_default=false()),
)

changelog_images: Final = Table(
    "changelog_images",
    metadata,
    Column("changelog_id", KEY, ForeignKey("public_changelogs.id", ondelete="CASCADE"), nullable=False),
    Column("kind", KEY, nullable=False),
    Column("content", LargeBinary, nullable=False),
    PrimaryKeyConstraint("changelog_id", "kind"),
)

# The current and earlier slugs of public changelogs: each belongs to its organization permanently.
changelog_slugs: Final = Table(
    "changelog_slugs",
    metadata,
    Column("slug", KEY, primary_key=True),
    organization(index=True),
    # The changelog that had the slug. A deleted changelog stays named.
    Column("changelog_id", KEY),
)
