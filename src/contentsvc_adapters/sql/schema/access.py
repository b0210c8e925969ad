from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Table,
    Text,
    false,
)

from contentsvc_adapters.sql.schema.columns import KEY, metadata, organization

# A sliding log for each bucket: the times of its admitted requests, as JSON.
rate_windows: Final = Table(
    "rate_windows",
    metadata,
    Column("bucket", KEY, primary_key=True),
    Column("hits", Text, nullable=False),
    # The time at which the last request leaves the window; the row has no use after that.
    Column("expires_at", BigInteger, nullable=False, index=True),
)

# Requests with an idempotency key. No foreign key to the API key, as below.
keyed_requests: Final = Table(
    "keyed_requests",
    metadata,
    Column("key_prefix", KEY, primary_key=True),
    Column("name", KEY, primary_key=True),
    Column("digest", Text, nullable=False),
    # Secrets in an answer, such as that of a webhook, follow from the seed.
    Column("sealed_seed", Text, nullable=False),
    Column("at", BigInteger, nullable=False, index=True),
    Column("execution", Text, nullable=False),
    Column("is_repeated", Boolean, nullable=False),
    Column("busy_until", BigInteger, nullable=False),
    Column("sealed_answer", Text),
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
