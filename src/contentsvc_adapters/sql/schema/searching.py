"""What has been looked at for searches, and what is to be looked at.

The words stand in ``search_words``, which each database keeps in its own way (FTS5, ``tsvector``): it is in the
migrations alone, and its rows have the ids of ``search_documents``.
"""

from typing import Final

from sqlalchemy import BigInteger, Column, Index, Integer, PrimaryKeyConstraint, Table, UniqueConstraint

from contentsvc_adapters.sql.schema.columns import KEY, metadata

# No foreign keys: what it tells of is written by others, and asked for with every answer.
search_documents: Final = Table(
    "search_documents",
    metadata,
    # SQLite's own row number, by this very type.
    Column("id", Integer().with_variant(BigInteger(), "postgresql"), primary_key=True),
    Column("organization_id", KEY, nullable=False),
    # That of a DocumentKind.
    Column("kind", KEY, nullable=False),
    # A context record's custom id, or a post's id.
    Column("document_id", KEY, nullable=False),
    # Where it stands in a list.
    Column("created_at", BigInteger, nullable=False),
    Column("place_id", KEY, nullable=False),
    # With small letters for ASCII's capitals; null: it has none.
    Column("repository", KEY),
    # The event's type, or the content's.
    Column("type", KEY, nullable=False),
    UniqueConstraint("organization_id", "kind", "document_id"),
    Index("ix_search_documents_place", "organization_id", "kind", "created_at", "place_id"),
)

# Triggers, which the migrations make, write it in the transaction of whatever is written. Who has looked at a document
# takes it out if its version is the one that was there before the look.
search_pending: Final = Table(
    "search_pending",
    metadata,
    Column("organization_id", KEY, nullable=False),
    Column("kind", KEY, nullable=False),
    Column("document_id", KEY, nullable=False),
    Column("version", BigInteger, nullable=False),
    # How often the processing of ``begun_version`` began, and when it began last, in milliseconds of the database's
    # clock. Of another version it never began.
    Column("begun", Integer, nullable=False, server_default="0"),
    Column("begun_version", BigInteger),
    Column("begun_at", BigInteger),
    PrimaryKeyConstraint("organization_id", "kind", "document_id"),
    sqlite_with_rowid=False,
)
