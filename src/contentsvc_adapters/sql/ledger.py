"""The workflow runs."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any, Final, final

from sqlalchemy import Connection, Select, Update, func, literal_column, select, update
from sqlalchemy.sql.elements import ColumnElement

from contentsvc_adapters.sql import rows
from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.schema import events, posts, workflow_runs
from contentsvc_core.content.posts import Post
from contentsvc_core.errors import StoreUnavailable, UnreadableRow
from contentsvc_core.timestamps import to_ms
from contentsvc_core.workflows.runs import (
    ALREADY_REPORTED,
    MAX_KILLS,
    SUSPECT_KILLS,
    SUSPECT_PATIENCE,
    Completion,
    RunStatus,
    WorkflowRun,
)


def _stands(status: RunStatus) -> ColumnElement[bool]:
    # Spelled out: behind a parameter, the planner would not see that a partial index serves.
    return workflow_runs.c.status == literal_column(f"'{status.value}'")


_RUNS: Final[Select[*tuple[Any, ...]]] = select(
    workflow_runs,
    events.c.provider,
    events.c.repository_id,
    events.c.repository,
    events.c.delivery_id,
    events.c.type,
    events.c.data,
).join(events, events.c.id == workflow_runs.c.event_id)


@final
class SqlRunLedger:
    """The run ledger."""

    def __init__(self, database: Database) -> None:
        """Take the database."""
        self._database = database

    async def pending(self, now: datetime, *, limit: int) -> Sequence[str]:
        """Read the ids of runs that are due."""
        due = (
            select(workflow_runs.c.id)
            .where(_stands(RunStatus.PENDING), workflow_runs.c.due_at <= to_ms(now))
            .order_by(workflow_runs.c.kills, workflow_runs.c.created_at, workflow_runs.c.id)
            .limit(limit)
        )
        # A question of its own: one order for both could not be read off the index.
        waited = due.where(
            workflow_runs.c.kills >= SUSPECT_KILLS, workflow_runs.c.created_at <= to_ms(now - SUSPECT_PATIENCE)
        )

        def read(connection: Connection) -> list[str]:
            first = connection.scalars(waited).all()
            return list(dict.fromkeys((*first, *connection.scalars(due).all())))[:limit]

        return await self._database.read(read)

    async def take(self, ids: Sequence[str]) -> Sequence[WorkflowRun]:
        """Set runs running; the update itself is the question, so that no two callers get one."""
        found = await self._database.write(partial(_take, list(dict.fromkeys(ids)))) if ids else ()
        # Read only now, each on its own: one that cannot be read must not hold up the others, again and again.
        runs, unreadable = await asyncio.to_thread(_readable, found)
        for id_, reason in unreadable.items():
            ended = update(workflow_runs).where(workflow_runs.c.id == id_, _stands(RunStatus.RUNNING))
            # The others must not be lost for it: one that stays is failed after the next start.
            with suppress(StoreUnavailable):
                await self._database.write(_executing(ended.values(status=RunStatus.FAILED.value, error=reason)))
        return runs

    async def complete(self, run: WorkflowRun, post: Post, *, once: str | None) -> Completion:
        """Store a post and end its run."""
        insertion = self._database.dialect.insert(posts).values(rows.post_row(post, run_id=run.id, once=once))
        reported = insertion.on_conflict_do_nothing(index_elements=["organization_id", "once_key"])

        def complete(connection: Connection) -> Completion:
            completed = _running(run).values(status=RunStatus.COMPLETED.value, error=None, post_id=post.id)
            if not connection.execute(completed).rowcount:
                return Completion.GONE
            if connection.execute(reported.returning(posts.c.id)).first() is not None:
                return Completion.COMPLETED
            skipped = update(workflow_runs).where(workflow_runs.c.id == run.id)
            connection.execute(skipped.values(status=RunStatus.SKIPPED.value, error=ALREADY_REPORTED, post_id=None))
            return Completion.ALREADY_REPORTED

        return await self._database.write(complete)

    async def end(self, run: WorkflowRun, status: RunStatus, reason: str) -> None:
        """End a running run."""
        ended = _running(run).values(status=status.value, error=reason)
        await self._database.write(_executing(ended))

    async def retry(self, run: WorkflowRun, *, due_at: datetime, error: str) -> None:
        """Set a running run pending again."""
        again = _running(run).values(status=RunStatus.PENDING.value, due_at=to_ms(due_at), error=error)
        await self._database.write(_executing(again))

    async def give_back(self, run: WorkflowRun) -> None:
        """Set a running run pending again, as if it had not been taken."""
        back = _running(run).values(status=RunStatus.PENDING.value, attempts=workflow_runs.c.attempts - 1)
        await self._database.write(_executing(back))

    async def recover(self, error: str) -> int:
        """Set every running run pending again, or failed."""
        running = update(workflow_runs).where(_stands(RunStatus.RUNNING))
        killed = {"attempts": workflow_runs.c.attempts - 1, "kills": workflow_runs.c.kills + 1}

        def recover(connection: Connection) -> int:
            spent = running.where(workflow_runs.c.kills + 1 >= MAX_KILLS)
            connection.execute(spent.values(status=RunStatus.FAILED.value, error=error, **killed))
            # Created is surely past: what was taken before it was due is due now, too.
            again = running.values(status=RunStatus.PENDING.value, due_at=workflow_runs.c.created_at, **killed)
            return connection.execute(again).rowcount

        return await self._database.write(recover)

    async def runs(self, organization_id: str, *, limit: int | None = None) -> Sequence[WorkflowRun]:
        """Read an organization's runs."""
        query = (
            _RUNS.where(workflow_runs.c.organization_id == organization_id)
            .order_by(workflow_runs.c.created_at.desc(), workflow_runs.c.id.desc())
            .limit(limit)
        )
        found = await self._database.read(lambda connection: connection.execute(query).all())
        return await asyncio.to_thread(lambda: [rows.workflow_run(row) for row in found])


def _running(run: WorkflowRun) -> Update:
    return update(workflow_runs).where(
        workflow_runs.c.id == run.id,
        workflow_runs.c.organization_id == run.organization_id,
        _stands(RunStatus.RUNNING),
    )


def _executing(statement: Update) -> Callable[[Connection], object]:
    return lambda connection: connection.execute(statement)


def _readable(found: Sequence[rows.AnyRow]) -> tuple[list[WorkflowRun], dict[str, str]]:
    """Read runs; give those that can be read, and for each other one the reason."""
    runs: list[WorkflowRun] = []
    unreadable: dict[str, str] = {}
    for row in found:
        try:
            runs.append(rows.workflow_run(row))
        except UnreadableRow as exc:
            unreadable[row.id] = str(exc)
    return runs, unreadable


def _take(ids: list[str], connection: Connection) -> Sequence[rows.AnyRow]:
    pending = select(workflow_runs.c.id, workflow_runs.c.kills).where(
        workflow_runs.c.id.in_(ids), _stands(RunStatus.PENDING)
    )
    kills: dict[str, int] = {row.id: row.kills for row in connection.execute(pending)}
    running = connection.scalar(select(func.max(workflow_runs.c.kills)).where(_stands(RunStatus.RUNNING)))
    if running is not None and running >= SUSPECT_KILLS:
        return ()
    asked = [id_ for id_ in ids if id_ in kills]
    if asked and kills[asked[0]] >= SUSPECT_KILLS:
        chosen = asked[:1] if running is None else []
    else:
        chosen = [id_ for id_ in asked if kills[id_] < SUSPECT_KILLS]
    if not chosen:
        return ()
    taken = (
        update(workflow_runs)
        .where(workflow_runs.c.id.in_(chosen), _stands(RunStatus.PENDING))
        .values(status=RunStatus.RUNNING.value, attempts=workflow_runs.c.attempts + 1)
        .returning(workflow_runs.c.id)
    )
    ours = connection.scalars(taken).all()
    if not ours:
        return ()
    found = {row.id: row for row in connection.execute(_RUNS.where(workflow_runs.c.id.in_(ours)))}
    return [found[id_] for id_ in ids if id_ in found]
