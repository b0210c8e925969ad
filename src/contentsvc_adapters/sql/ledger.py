"""The workflow runs."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final, final

from sqlalchemy import Connection, Select, Update, literal_column, select, update
from sqlalchemy.sql.elements import ColumnElement

from contentsvc_adapters.sql import rows
from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.schema import events, posts, workflow_runs
from contentsvc_core.content.posts import Post
from contentsvc_core.ports import Completion
from contentsvc_core.timestamps import to_ms
from contentsvc_core.workflows.runs import MAX_ATTEMPTS, RunStatus, WorkflowRun

#: Why a run ended whose release had a post already.
_REPORTED: Final = "another run has reported this release"


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

    async def pending(self, now: datetime, *, limit: int, besides: Iterable[str] = ()) -> Sequence[str]:
        """Read the ids of runs that are due."""
        left_out = set(besides)
        query = (
            select(workflow_runs.c.id)
            .where(_stands(RunStatus.PENDING), workflow_runs.c.due_at <= to_ms(now))
            .order_by(workflow_runs.c.created_at, workflow_runs.c.id)
            # At most as many drop out again below: no list of any length goes into the statement.
            .limit(limit + len(left_out))
        )
        found = await self._database.read(lambda connection: connection.scalars(query).all())
        return [id_ for id_ in found if id_ not in left_out][:limit]

    async def take(self, ids: Sequence[str]) -> Sequence[WorkflowRun]:
        """Set runs running; the update itself is the question, so that no two callers get one."""
        return await self._database.write(partial(_take, list(dict.fromkeys(ids)))) if ids else ()

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
            connection.execute(skipped.values(status=RunStatus.SKIPPED.value, error=_REPORTED, post_id=None))
            return Completion.ALREADY_REPORTED

        return await self._database.write(complete)

    async def end(self, run: WorkflowRun, status: RunStatus, reason: str) -> None:
        """End a running run."""
        ended = _running(run).values(status=status.value, error=reason)
        await self._database.write(lambda connection: connection.execute(ended))

    async def retry(self, run: WorkflowRun, *, due_at: datetime, error: str) -> None:
        """Set a running run pending again."""
        again = _running(run).values(status=RunStatus.PENDING.value, due_at=to_ms(due_at), error=error)
        await self._database.write(lambda connection: connection.execute(again))

    async def recover(self, error: str) -> int:
        """Set every running run pending again, or failed."""
        running = update(workflow_runs).where(_stands(RunStatus.RUNNING))
        spent = running.where(workflow_runs.c.attempts >= MAX_ATTEMPTS)

        def recover(connection: Connection) -> int:
            connection.execute(spent.values(status=RunStatus.FAILED.value, error=error))
            # Created is surely past: what was taken before it was due is due now, too.
            again = running.values(status=RunStatus.PENDING.value, due_at=workflow_runs.c.created_at)
            return connection.execute(again).rowcount

        return await self._database.write(recover)

    async def runs(self, organization_id: str, *, limit: int | None = None) -> Sequence[WorkflowRun]:
        """Read an organization's runs."""
        query = (
            _RUNS.where(workflow_runs.c.organization_id == organization_id)
            .order_by(workflow_runs.c.created_at.desc(), workflow_runs.c.id.desc())
            .limit(limit)
        )
        return await self._database.read(
            lambda connection: [rows.workflow_run(row) for row in connection.execute(query)]
        )


def _running(run: WorkflowRun) -> Update:
    return update(workflow_runs).where(
        workflow_runs.c.id == run.id,
        workflow_runs.c.organization_id == run.organization_id,
        _stands(RunStatus.RUNNING),
    )


def _take(ids: list[str], connection: Connection) -> Sequence[WorkflowRun]:
    taken = (
        update(workflow_runs)
        .where(workflow_runs.c.id.in_(ids), _stands(RunStatus.PENDING))
        .values(status=RunStatus.RUNNING.value, attempts=workflow_runs.c.attempts + 1)
        .returning(workflow_runs.c.id)
    )
    ours = connection.scalars(taken).all()
    if not ours:
        return ()
    found = {row.id: rows.workflow_run(row) for row in connection.execute(_RUNS.where(workflow_runs.c.id.in_(ours)))}
    return [found[id_] for id_ in ids if id_ in found]
