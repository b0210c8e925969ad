"""Ids of all kinds: by their beginnings, for the command line, and their organizations."""

from collections.abc import Mapping, Sequence
from typing import Final

from sqlalchemy import Column, Select, select, union_all

from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.schema.automation import brand_identities, schedules, triggers
from contentsvc_adapters.sql.schema.content import posts
from contentsvc_adapters.sql.schema.deliveries import events, log_entries
from contentsvc_adapters.sql.schema.directory import integrations, organizations
from contentsvc_adapters.sql.schema.outgoing import webhook_endpoints
from contentsvc_adapters.sql.schema.work import workflow_runs
from contentsvc_core.identifiers import minted_between

_COLUMNS: Final[Mapping[str, Column[str]]] = {
    "brand": brand_identities.c.id,
    "endpoint": webhook_endpoints.c.id,
    "integration": integrations.c.id,
    "log": log_entries.c.id,
    "post": posts.c.id,
    "run": workflow_runs.c.id,
    "schedule": schedules.c.id,
    "trigger": triggers.c.id,
}
_LAST: Final = "\x7f"
#: The most by which the times of a log entry and of its id differ, in milliseconds: five minutes.
_APART_MS: Final = 300_000


async def ids_beginning_with(database: Database, kind: str, beginning: str, *, limit: int) -> Sequence[str]:
    column = _COLUMNS[kind]
    query = select(column).where(column >= beginning, column < beginning + _LAST)
    if kind == "log":
        query = _by_time(query, beginning)
    newest = query.order_by(column.desc()).limit(limit)
    return await database.read(lambda connection: [row.id for row in connection.execute(newest)])


def _by_time(query: Select[tuple[str]], beginning: str) -> Select[tuple[str]]:
    minted = minted_between(beginning)
    if minted is None:
        return query
    first, last = minted
    return query.where(
        log_entries.c.organization_id.in_(select(organizations.c.id)),
        log_entries.c.created_at.between(first - _APART_MS, last + _APART_MS),
    )


async def owner_of(database: Database, id_: str) -> str | None:
    tables = (
        *(integrations, triggers, schedules, brand_identities, workflow_runs, posts, webhook_endpoints),
        # The log entry of a processed delivery has the id of its event.
        events,
    )
    owners = union_all(*(select(table.c.organization_id).where(table.c.id == id_) for table in tables))
    return await database.read(lambda connection: connection.scalar(owners))
