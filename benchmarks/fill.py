"""Fill databases: the database itself generates millions of rows in seconds."""

import contextlib
import sqlite3
from collections.abc import Sequence
from typing import Final

import psycopg

from benchmarks.material import Hook
from benchmarks.sides import Database

DAY_MS: Final = 86_400_000
#: The parts of each statement that differ between the two dialects.
_WORDS: Final[dict[Database, dict[str, str]]] = {
    Database.SQLITE: {
        "numbers": "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {count} - 1)",
        "from": "FROM n",
        "key": "randomblob(16)",
        "id": "lower(hex(randomblob(4))) || '-0000-7000-8000-' || lower(hex(randomblob(6)))",
        "true": "1",
        "false": "0",
    },
    Database.POSTGRESQL: {
        "numbers": "",
        "from": "FROM generate_series(0::bigint, {count} - 1) AS n(i)",
        "key": "uuid_send(gen_random_uuid())",
        "id": "gen_random_uuid()::text",
        "true": "true",
        "false": "false",
    },
}
#: Sorted: rows that come in the order of a b-tree fill it many times faster than random ones.
_CLAIMS: Final = """
INSERT INTO claims (key, claimed_at, log_id) {numbers}
SELECT {key} AS k, {newest} - (i * {span}) / {count}, 'log_filled' {from} ORDER BY k
"""
_LOGS: Final = """
INSERT INTO log_entries (organization_id, created_at, id, integration_id, repository_id, reference_id, title,
  integration_type, direction, status, status_code, payload, reason) {numbers}
SELECT '{organization}', {oldest} + (i * {span}) / {count}, 'log_' || {id}, '{integration}', {repository_id}, {id},
  'Processed push event', 'codehost', 'incoming', 'success', 200, '{{"event":"push"}}', '1 workflow run started' {from}
"""
_ORGANIZATIONS: Final = (
    """
    INSERT INTO organizations (id, slug, name, retention_days, version, created_at) {numbers}
    SELECT 'org_fill' || i, 'fill-' || i, 'Filled', retention_days, version, organizations.created_at
    {from}, organizations WHERE organizations.id = '{organization}'
    """,
    """
    INSERT INTO integrations (id, organization_id, provider, enabled, created_at) {numbers}
    SELECT 'int_fill' || i, 'org_fill' || i, 'codehost', {true}, {newest} {from}
    """,
    """
    INSERT INTO repositories (organization_id, provider, repository_id, integration_id, position, full_name, name_key,
      branch) {numbers}
    SELECT 'org_fill' || i, provider, repository_id, 'int_fill' || i, position, full_name, name_key, branch
    {from}, repositories WHERE repositories.organization_id = '{organization}'
    """,
    # All have the same secret, so bodies that are signed once are valid everywhere.
    """
    INSERT INTO webhook_secrets (integration_id, sealed, created_at) {numbers}
    SELECT 'int_fill' || i, sealed, {newest} {from}, webhook_secrets
    WHERE webhook_secrets.integration_id = '{integration}'
    """,
    """
    INSERT INTO triggers (id, organization_id, name, source_type, enabled, repository_ids, event_types, output_type,
      auto_publish, created_at) {numbers}
    SELECT 'trg_fill' || i, 'org_fill' || i, name, source_type, {true}, repository_ids, event_types, output_type,
      auto_publish, triggers.created_at
    {from}, triggers WHERE triggers.organization_id = '{organization}'
    """,
)
_TRIGGERS: Final = """
INSERT INTO triggers (id, organization_id, name, source_type, enabled, repository_ids, event_types, output_type,
  auto_publish, created_at) {numbers}
SELECT 'trg_more' || i, organization_id, name, source_type, {true}, repository_ids, {events}, output_type, auto_publish,
  triggers.created_at
{from}, triggers WHERE triggers.organization_id = '{organization}'
"""
_POSTS: Final = """
INSERT INTO posts (id, organization_id, title, content, markdown, content_type, status, created_at, updated_at,
  published_at, occurred_at)
{numbers}
SELECT 'post_' || {id}, '{organization}', 'Post ' || i, '<p>The lamp was turned.</p>', 'The lamp was turned.',
  CASE i % 2 WHEN 0 THEN 'changelog' ELSE 'blog_post' END, CASE i % 10 WHEN 0 THEN 'draft' ELSE 'published' END,
  {oldest} + (i * {span}) / {count}, {oldest} + (i * {span}) / {count},
  CASE i % 10 WHEN 0 THEN NULL ELSE {oldest} + (i * {span}) / {count} END, {oldest} + (i * {span}) / {count} {from}
"""


def claims(where: str, database: Database, hook: Hook, *, count: int, now_ms: int) -> None:
    """Add claims of other deliveries, spread over the last day, so that none has ended."""
    _execute(where, database, [_CLAIMS], hook, count=count, newest=now_ms, span=DAY_MS * 9 // 10)


def logs(where: str, database: Database, hook: Hook, *, count: int, oldest_ms: int, span_ms: int) -> None:
    """Add log entries of one organization, evenly over a span of time."""
    _execute(where, database, [_LOGS], hook, count=count, oldest=oldest_ms, span=span_ms)


def organizations(where: str, database: Database, hook: Hook, *, count: int, now_ms: int) -> str:
    """Add organizations like the hook's, with one integration, repository, secret and trigger each.

    Returns:
        The path of their hooks, with ``%d`` for their number.
    """
    _execute(where, database, _ORGANIZATIONS, hook, count=count, newest=now_ms)
    return f"/api/webhooks/codehost/org_fill%d/int_fill%d/{hook.repository_id}"


def triggers(where: str, database: Database, hook: Hook, *, count: int, matching: bool) -> None:
    """Add triggers to the hook's repository, for pushes or for releases alone."""
    events = "event_types" if matching else "replace(event_types, 'push', 'release')"
    _execute(where, database, [_TRIGGERS], hook, count=count, events=events)


def posts(where: str, database: Database, hook: Hook, *, count: int, now_ms: int) -> None:
    """Add posts to the hook's organization, spread over a year: half of each kind, a tenth of them drafts."""
    span = 365 * DAY_MS
    _execute(where, database, [_POSTS], hook, count=count, oldest=now_ms - span, span=span)


def without_triggers(where: str, database: Database) -> None:
    """Switch every trigger off: deliveries start no runs."""
    _run(where, database, [f"UPDATE triggers SET enabled = {_WORDS[database]['false']}"])  # noqa: S608  # constants


def analyze(where: str, database: Database) -> None:
    """Update the database's statistics, as the database does itself during slower growth."""
    _run(where, database, ["ANALYZE"])


def _execute(
    where: str, database: Database, statements: Sequence[str], hook: Hook, *, count: int, **values: int | str
) -> None:
    words = _WORDS[database]
    own = {"organization": hook.organization, "integration": hook.integration, "repository_id": hook.repository_id}
    parameters = {"count": count, **own, **values}
    fragments = {name: word.format(**parameters) for name, word in words.items()}
    # The statements contain no input: only constants, numbers, and generated ids.
    _run(where, database, [statement.format(**fragments, **parameters) for statement in statements])


def _run(where: str, database: Database, statements: Sequence[str]) -> None:
    if database is Database.SQLITE:
        with contextlib.closing(sqlite3.connect(where, timeout=60)) as opened, opened:
            opened.execute("PRAGMA journal_mode=WAL")
            for statement in statements:
                opened.execute(statement)
        return
    with psycopg.connect(where, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())
