"""Counts of a list's rows by stretches of time, for finding pages.

The counts change in the transaction of the counted row. Triggers change them, with one exception: on
SQLite, whose triggers run for each row, the writers of the log count the rows that they insert.
"""

from typing import Final

from sqlalchemy import BigInteger, Column, Integer, PrimaryKeyConstraint, Table

from contentsvc_adapters.sql.schema.columns import KEY, for_postgresql, metadata

HOUR_MS: Final = 3_600_000
DAY_MS: Final = 24 * HOUR_MS
#: The lengths of the counted stretches in milliseconds, longest first; each is a multiple of the next.
LOG_SPANS: Final = (DAY_MS, HOUR_MS)
#: Posts are kept for years.
POST_SPANS: Final = (30 * DAY_MS, DAY_MS, HOUR_MS)

#: Free space in each page for new versions of rows: rows are updated far more often than inserted.
_FILL_FACTOR: Final = {"fillfactor": 50}

# No foreign keys: the counted rows have them.
log_counts: Final = Table(
    "log_counts",
    metadata,
    Column("organization_id", KEY, nullable=False),
    # The length of the stretch in milliseconds; the stretch begins at a multiple of the length.
    Column("span", BigInteger, nullable=False),
    Column("starts_at", BigInteger, nullable=False),
    Column("integration_id", KEY, nullable=False),
    Column("status", KEY, nullable=False),
    # Concurrent writers use different shards. Only the sum is meaningful: one shard's number may be negative.
    Column("shard", Integer, nullable=False),
    Column("number", BigInteger, nullable=False),
    PrimaryKeyConstraint("organization_id", "span", "starts_at", "integration_id", "status", "shard"),
    sqlite_with_rowid=False,
)

post_counts: Final = Table(
    "post_counts",
    metadata,
    Column("organization_id", KEY, nullable=False),
    Column("span", BigInteger, nullable=False),
    Column("starts_at", BigInteger, nullable=False),
    Column("status", KEY, nullable=False),
    Column("content_type", KEY, nullable=False),
    Column("brand_identity_id", KEY, nullable=False),
    Column("shard", Integer, nullable=False),
    Column("number", BigInteger, nullable=False),
    PrimaryKeyConstraint(
        "organization_id", "span", "starts_at", "status", "content_type", "brand_identity_id", "shard"
    ),
    sqlite_with_rowid=False,
)

for _counts in (log_counts, post_counts):
    for_postgresql(_counts, "with", _FILL_FACTOR)
