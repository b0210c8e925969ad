"""The tables of search: indexed documents, and documents that wait for indexing.

The words are in ``search_words``, which differs between databases (FTS5, ``tsvector``): ``triggers`` creates it.
Its rows have the ids of ``search_documents``.
"""

from typing import Final

from sqlalchemy import BigInteger, Column, Index, Integer, PrimaryKeyConstraint, Table, Text, UniqueConstraint

from contentsvc_adapters.sql.schema.columns import KEY, metadata

# No foreign keys: other code deletes the documents, and each search joins them.
search_documents: Final = Table(
    "search_documents",
    metadata,
    # This type makes the column SQLite's own row id.
    Column("id", Integer().with_variant(BigInteger(), "postgresql"), primary_key=True),
    Column("organization_id", KEY, nullable=False),
    Column("kind", KEY, nullable=False),
    # A context record's custom id, or a post's id.
    Column("document_id", KEY, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("place_id", KEY, nullable=False),
    # ASCII capitals are lowered; NULL: no repository.
    Column("repository", KEY),
    Column("type", KEY, nullable=False),
    UniqueConstraint("organization_id", "kind", "document_id"),
    Index("ix_search_documents_place", "organization_id", "kind", "created_at", "place_id"),
)

# Triggers insert rows in the transaction of the document's change. After indexing a document, its row
# is deleted if the version is unchanged.
search_pending: Final = Table(
    "search_pending",
    metadata,
    Column("organization_id", KEY, nullable=False),
    Column("kind", KEY, nullable=False),
    Column("document_id", KEY, nullable=False),
    Column("version", BigInteger, nullable=False),
    # The number of attempts to index ``begun_version``, and the start of the last attempt, in milliseconds of the
    # database's clock. Other versions have no attempts.
    Column("begun", Integer, nullable=False, server_default="0"),
    Column("begun_version", BigInteger),
    Column("begun_at", BigInteger),
    PrimaryKeyConstraint("organization_id", "kind", "document_id"),
    sqlite_with_rowid=False,
)

# The context records that a batch of deliveries has written, as JSON: the custom ids by organization. A row for each
# record would cost a page of its own. The indexer moves them to ``search_pending``. On SQLite only: on PostgreSQL,
# where nodes of the previous version write, a trigger inserts the rows of a batch at once.
search_batches: Final = Table(
    "search_batches",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("documents", Text, nullable=False),
)
