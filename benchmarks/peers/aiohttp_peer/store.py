"""The queries to PostgreSQL."""

import time
from typing import Any, NamedTuple

import asyncpg
import orjson
import settings

WINDOW_MS = 86_400_000
CONNECTIONS = 20

SCHEMA = """
CREATE TABLE IF NOT EXISTS integrations (
  id text PRIMARY KEY, organization_id text NOT NULL, provider text NOT NULL, enabled boolean NOT NULL
);
CREATE TABLE IF NOT EXISTS repositories (
  organization_id text NOT NULL, provider text NOT NULL, repository_id bigint NOT NULL,
  integration_id text NOT NULL REFERENCES integrations (id), full_name text NOT NULL,
  PRIMARY KEY (organization_id, provider, repository_id)
);
CREATE TABLE IF NOT EXISTS webhook_secrets (
  id int PRIMARY KEY, integration_id text NOT NULL REFERENCES integrations (id), secret text NOT NULL, expires_at bigint
);
CREATE INDEX IF NOT EXISTS ix_webhook_secrets ON webhook_secrets (integration_id);
CREATE TABLE IF NOT EXISTS triggers (
  id text PRIMARY KEY, organization_id text NOT NULL, provider text NOT NULL, enabled boolean NOT NULL,
  repository_ids jsonb NOT NULL, event_types jsonb NOT NULL
);
CREATE INDEX IF NOT EXISTS ix_triggers ON triggers (organization_id, provider);
CREATE TABLE IF NOT EXISTS claims (
  integration_id text NOT NULL, repository_id bigint NOT NULL, delivery_id text NOT NULL, claimed_at bigint NOT NULL,
  PRIMARY KEY (integration_id, repository_id, delivery_id)
);
CREATE INDEX IF NOT EXISTS ix_claims ON claims (claimed_at);
CREATE TABLE IF NOT EXISTS context_records (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, organization_id text NOT NULL, repository_id bigint NOT NULL,
  delivery_id text NOT NULL, type text NOT NULL, data text NOT NULL, created_at bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS ix_context_records ON context_records (organization_id, created_at);
CREATE TABLE IF NOT EXISTS workflow_runs (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, organization_id text NOT NULL, trigger_id text NOT NULL,
  context_id bigint NOT NULL REFERENCES context_records (id), status text NOT NULL, created_at bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS ix_workflow_runs ON workflow_runs (organization_id, created_at) WHERE status = 'pending';
CREATE TABLE IF NOT EXISTS log_entries (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, organization_id text NOT NULL, integration_id text NOT NULL,
  repository_id bigint NOT NULL, reference_id text, title text NOT NULL, status text NOT NULL,
  status_code int NOT NULL, error_message text, context_id bigint REFERENCES context_records (id),
  created_at bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS ix_log_entries ON log_entries (organization_id, created_at);
"""

ENDPOINT = """
SELECT i.enabled, r.integration_id AS owner,
  ARRAY(SELECT secret FROM webhook_secrets s
    WHERE s.integration_id = i.id AND (s.expires_at IS NULL OR s.expires_at > $5)) AS secrets,
  (SELECT coalesce(json_agg(json_build_object('id', t.id, 'enabled', t.enabled,
      'repository_ids', t.repository_ids, 'event_types', t.event_types)), '[]')
    FROM triggers t WHERE t.organization_id = i.organization_id AND t.provider = i.provider) AS triggers
FROM integrations i
LEFT JOIN repositories r
  ON r.organization_id = i.organization_id AND r.provider = i.provider AND r.repository_id = $4
WHERE i.id = $3 AND i.organization_id = $2 AND i.provider = $1
"""
HELD = """
SELECT 1 FROM claims WHERE integration_id = $1 AND repository_id = $2 AND delivery_id = $3 AND claimed_at > $4
"""
TAKE = """
INSERT INTO claims (integration_id, repository_id, delivery_id, claimed_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (integration_id, repository_id, delivery_id) DO UPDATE SET claimed_at = excluded.claimed_at
WHERE claims.claimed_at <= excluded.claimed_at - 86400000
RETURNING claimed_at
"""
ADD_LOG = """
INSERT INTO log_entries (organization_id, integration_id, repository_id, reference_id, title, status, status_code,
  error_message, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
"""
# The rows of a new claim, in one statement instead of three.
ADD_REST = """
WITH context AS (
  INSERT INTO context_records (organization_id, repository_id, delivery_id, type, data, created_at)
  VALUES ($1, $3, $4, 'push', $10, $9) RETURNING id
), runs AS (
  INSERT INTO workflow_runs (organization_id, trigger_id, context_id, status, created_at)
  SELECT $1, t, context.id, 'pending', $9 FROM context, unnest($11::text[]) t
)
INSERT INTO log_entries (organization_id, integration_id, repository_id, reference_id, title, status, status_code,
  error_message, created_at, context_id)
SELECT $1, $2, $3::bigint, $4, $5, $6, $7::int, $8, $9::bigint, context.id FROM context
"""


class Address(NamedTuple):
    """The address of a delivery."""

    provider: str
    organization_id: str
    integration_id: str
    repository_id: int


class Store:
    """The database."""

    def __init__(self, pool: asyncpg.Pool) -> None:
        self._pool = pool

    async def endpoint(self, address: Address) -> asyncpg.Record | None:
        """Read the endpoint at an address."""
        return await self._pool.fetchrow(ENDPOINT, *address, now_ms())

    async def log(self, *values: Any) -> None:  # noqa: ANN401  # a row's columns
        """Write a log entry."""
        await self._pool.execute(ADD_LOG, *values)

    async def log_unless_claimed(self, address: Address, delivery: str, title: str, duplicate: str) -> bool:
        """Write a log entry: as a duplicate, if the id is claimed."""
        now = now_ms()
        async with self._pool.acquire() as connection, connection.transaction():
            key = (address.integration_id, address.repository_id, delivery, now - WINDOW_MS)
            free = await connection.fetchval(HELD, *key) is None
            await connection.execute(ADD_LOG, *row(address, delivery, title if free else duplicate, now))
        return free

    async def settle(self, address: Address, delivery: str, data: bytes, triggers: list[str]) -> bool:
        """Write all rows of a push, or the log entry of a duplicate."""
        now = now_ms()
        async with self._pool.acquire() as connection, connection.transaction():
            key = (address.integration_id, address.repository_id, delivery, now)
            if await connection.fetchval(TAKE, *key) is None:
                await connection.execute(ADD_LOG, *row(address, delivery, "Duplicate push delivery", now))
                return False
            log = row(address, delivery, "Processed push event", now)
            await connection.execute(ADD_REST, *log, data.decode(), triggers)
        return True


def row(address: Address, delivery: str, title: str, now: int) -> tuple[Any, ...]:
    """Return a log entry's columns."""
    return *address[1:], delivery, title, "success", 200, None, now


def now_ms() -> int:
    """Return the time."""
    return time.time_ns() // 1_000_000


async def connect() -> asyncpg.Pool:
    """Connect, create the schema, and seed it."""
    pool = await asyncpg.create_pool(settings.DATABASE, min_size=CONNECTIONS, max_size=CONNECTIONS)
    await pool.execute(SCHEMA)
    repositories = orjson.dumps([settings.REPOSITORY_ID]).decode()
    rows: dict[str, tuple[Any, ...]] = {
        "integrations": (settings.INTEGRATION, settings.ORGANIZATION, settings.PROVIDER, True),
        "repositories": (
            *(settings.ORGANIZATION, settings.PROVIDER, settings.REPOSITORY_ID),
            *(settings.INTEGRATION, settings.REPOSITORY),
        ),
        "webhook_secrets": (1, settings.INTEGRATION, settings.SECRET, None),
        "triggers": (settings.TRIGGER, settings.ORGANIZATION, settings.PROVIDER, True, repositories, '["push"]'),
    }
    for table, values in rows.items():
        places = ", ".join(f"${number}" for number in range(1, len(values) + 1))
        await pool.execute(f"INSERT INTO {table} VALUES ({places}) ON CONFLICT DO NOTHING", *values)  # noqa: S608  # ours
    return pool
