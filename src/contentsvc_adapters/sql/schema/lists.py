"""How many rows of a list lie in which stretch of time: what pages are found by.

Triggers, which the migrations make, change them in the transaction of whatever is counted: every writer is right, that
of another version, too. Nothing else may add to them.
"""

from typing import Final

from sqlalchemy import BigInteger, Column, Integer, PrimaryKeyConstraint, Table

from contentsvc_adapters.sql.schema.columns import KEY, for_postgresql, metadata

#: Room for new versions of a row on its own page: they are changed far more often than added.
_ROOM: Final = {"fillfactor": 50}

# No foreign keys: the rows that are counted have them.
log_counts: Final = Table(
    "log_counts",
    metadata,
    Column("organization_id", KEY, nullable=False),
    # How long the stretch is, in milliseconds; it begins at a multiple of that.
    Column("span", BigInteger, nullable=False),
    Column("starts_at", BigInteger, nullable=False),
    Column("integration_id", KEY, nullable=False),
    Column("status", KEY, nullable=False),
    # Who writes at the same time changes different rows. Only the sum says something: a part may be negative.
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
    # Empty where the post has none.
    Column("brand_identity_id", KEY, nullable=False),
    Column("shard", Integer, nullable=False),
    Column("number", BigInteger, nullable=False),
    PrimaryKeyConstraint(
        "organization_id", "span", "starts_at", "status", "content_type", "brand_identity_id", "shard"
    ),
    sqlite_with_rowid=False,
)

for _counts in (log_counts, post_counts):
    for_postgresql(_counts, "with", _ROOM)
