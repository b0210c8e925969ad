"""The queries about runs. A run has the time of its event, so that both are read in the order of their keys."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, final

from sqlalchemy import Connection, Select, and_, func, or_, select

from contentsvc_adapters.sql import rows, workflow_rows
from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.read_model import between, newest_rows
from contentsvc_adapters.sql.runs import has_status, listed_runs
from contentsvc_adapters.sql.schema.content import posts
from contentsvc_adapters.sql.schema.deliveries import events, log_entries
from contentsvc_adapters.sql.schema.work import workflow_runs
from contentsvc_adapters.sql.store import is_own
from contentsvc_core.events.normalized import Event
from contentsvc_core.lists.cursors import Cursor
from contentsvc_core.timestamps import to_ms
from contentsvc_core.workflows.run_payloads import REQUESTED_KINDS
from contentsvc_core.workflows.runs import ListedRun, RunState, RunStatus


@final
class SqlRunLists:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._runs = listed_runs(database.dialect)

    async def runs(
        self,
        organization_id: str,
        *,
        statuses: Collection[RunStatus] = (),
        limit: int,
        before: Cursor | None = None,
    ) -> Sequence[ListedRun]:
        own = [workflow_runs.c.organization_id == organization_id, *between(workflow_runs, before, None)]
        if statuses:
            # In the order of the enum, not of the set, so that equal queries have equal statements.
            own.append(or_(*(has_status(status) for status in RunStatus if status in statuses)))
        return await self._read_runs(newest_rows(self._runs, workflow_runs, own, limit))

    async def run(self, organization_id: str, run_id: str) -> ListedRun | None:
        runs = await self._read_runs(self._runs.where(is_own(workflow_runs, organization_id, run_id)))
        return runs[0] if runs else None

    async def event_of(self, organization_id: str, run_id: str, *, max_bytes: int) -> Event | None:
        query = (
            select(events.c.id, events.c.type, events.c.data)
            .join(workflow_runs, workflow_runs.c.event_id == events.c.id)
            .where(
                is_own(workflow_runs, organization_id, run_id),
                events.c.type.not_in(sorted(REQUESTED_KINDS)),
                self._database.dialect.size_of(events.c.data) <= max_bytes,
            )
        )
        row = await self._database.first(query, tuple)
        return None if row is None else await asyncio.to_thread(rows.event_of, *row)

    async def runs_of(self, organization_id: str, log_id: str) -> Sequence[ListedRun]:
        """Read the runs of an entry's event: it has the entry's id and time, and the runs have the time."""
        arrived = select(events.c.created_at).where(events.c.organization_id == organization_id, events.c.id == log_id)

        def read(connection: Connection) -> Sequence[rows.AnyRow]:
            at = connection.scalar(arrived)
            if at is None:
                return ()
            with_event = and_(
                workflow_runs.c.organization_id == organization_id,
                workflow_runs.c.created_at == at,
                workflow_runs.c.event_id == log_id,
            )
            condition = and_(
                log_entries.c.organization_id == organization_id,
                log_entries.c.created_at == at,
                log_entries.c.id == log_id,
            )
            return connection.execute(
                self._runs.join(log_entries, condition).where(with_event).order_by(workflow_runs.c.id)
            ).all()

        return await _runs(await self._database.read(read))

    async def run_counts(self, organization_id: str, *, since: datetime) -> Mapping[RunStatus, int]:
        counting = (
            select(workflow_runs.c.status, func.count().label("number"))
            .where(workflow_runs.c.organization_id == organization_id, workflow_runs.c.created_at >= to_ms(since))
            .group_by(workflow_runs.c.status)
        )
        count_rows = await self._database.rows(counting)
        return {RunStatus(row.status): row.number for row in count_rows}

    async def log_of(self, organization_id: str, run: RunState) -> str | None:
        """Read the entry that came with a run's event: it has the run's time and the event's id."""
        with_event = and_(
            log_entries.c.organization_id == workflow_runs.c.organization_id,
            log_entries.c.created_at == workflow_runs.c.created_at,
            log_entries.c.id == workflow_runs.c.event_id,
        )
        own = is_own(workflow_runs, organization_id, run.id)
        query = select(log_entries.c.id).select_from(workflow_runs).join(log_entries, with_event).where(own)
        return await self._database.read(lambda connection: connection.scalar(query))

    async def post_titles(self, organization_id: str, post_ids: Collection[str]) -> Mapping[str, str]:
        own = (posts.c.organization_id == organization_id, posts.c.id.in_(sorted(post_ids)))
        query = select(posts.c.id, posts.c.title).where(*own)
        post_rows = await self._database.rows(query)
        return {row.id: row.title for row in post_rows}

    async def _read_runs(self, query: Select[*tuple[Any, ...]]) -> list[ListedRun]:
        return await _runs(await self._database.rows(query))


async def _runs(run_rows: Sequence[rows.AnyRow]) -> list[ListedRun]:
    return await asyncio.to_thread(lambda: [workflow_rows.listed_run(row) for row in run_rows])
