from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cached_property, partial
from typing import Any, Final, final

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    FromClause,
    Integer,
    Select,
    Subquery,
    Update,
    bindparam,
    exists,
    func,
    literal_column,
    select,
    update,
)
from sqlalchemy.sql.dml import ReturningUpdate

from contentsvc_adapters.sql import rows, workflow_rows
from contentsvc_adapters.sql.batcher import Batcher
from contentsvc_adapters.sql.completion import RunCompletion, complete, complete_together, reported_keys
from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.dialects import Dialect
from contentsvc_adapters.sql.outgoing.enqueue import fail_runs
from contentsvc_adapters.sql.post_rows import once_digest
from contentsvc_adapters.sql.runs import changing, forget, full_runs, has_status, listed_runs, owned_by_taker
from contentsvc_adapters.sql.schema.deliveries import events
from contentsvc_adapters.sql.schema.work import executors, workflow_runs
from contentsvc_adapters.sql.shared_events import SharedEvents
from contentsvc_adapters.sql.store import distinct_values, is_own
from contentsvc_core.content.posts import Post
from contentsvc_core.errors import StoreUnavailable, UnreadableRow
from contentsvc_core.events.normalized import Release
from contentsvc_core.organizations import within_shares
from contentsvc_core.timestamps import to_ms
from contentsvc_core.workflows.causes import Delivered
from contentsvc_core.workflows.run_payloads import REQUESTED_KINDS
from contentsvc_core.workflows.runs import (
    RESTARTABLE,
    SUSPECT_KILLS,
    SUSPECT_PATIENCE,
    Completion,
    Due,
    ListedRun,
    RunStatus,
    Taken,
    WorkflowRun,
    takeable,
)
from contentsvc_core.workflows.triggers import EVENT_TYPES

#: The kinds of events and requests that this version performs. A node of a newer version may store others.
_KNOWN_KINDS: Final = frozenset(EVENT_TYPES) | REQUESTED_KINDS
#: The time for which a run of another kind is left to newer nodes, in milliseconds: they poll several times meanwhile.
_NEWER_MS: Final = 10_000
_CHOSEN: Final = workflow_runs.c.id.in_(bindparam("ids", expanding=True))
_PENDING: Final = select(workflow_runs.c.id, workflow_runs.c.kills).where(_CHOSEN, has_status(RunStatus.PENDING))
#: Whether an executor is alive, and the highest number of kills among its runs.
_EXECUTOR: Final = select(
    exists().where(executors.c.id == bindparam("executor")),
    select(func.max(workflow_runs.c.kills))
    .where(has_status(RunStatus.RUNNING), workflow_runs.c.executor == bindparam("executor"))
    .scalar_subquery(),
)
_ANY_DUE: Final = (
    select(workflow_runs.c.id)
    # A sum cannot be an index condition (see `_heads`).
    .where(has_status(RunStatus.PENDING), workflow_runs.c.due_at + 0 <= bindparam("now"))
    .limit(literal_column("1"))
)


@final
class SqlRunLedger:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._events = SharedEvents(database)
        self._runs = full_runs(database.dialect)
        self._runs_by_id = self._runs.where(_CHOSEN)
        self._listed = listed_runs(database.dialect)
        self._completing: Batcher[RunCompletion, Completion] = Batcher(self._complete)

    @cached_property
    def _pending(self) -> Sequence[Select[*tuple[Any, ...]]]:
        return _pending_queries(self._database.dialect)

    @cached_property
    def _taking(self) -> ReturningUpdate[str]:
        # Runs that another process is taking at this moment are skipped, not waited for. Only chosen runs are locked: a
        # caller that gets none must not keep them from others.
        free = self._database.dialect.locking(select(workflow_runs.c.id).where(_CHOSEN, has_status(RunStatus.PENDING)))
        return (
            update(workflow_runs)
            .where(workflow_runs.c.id.in_(free))
            .values(
                status=RunStatus.RUNNING.value,
                attempts=workflow_runs.c.attempts + 1,
                takes=workflow_runs.c.takes + 1,
                executor=bindparam("taker"),
            )
            .returning(workflow_runs.c.id)
        )

    async def pending(
        self, now: datetime, *, limit: int, per_organization: int, without: Collection[str] = ()
    ) -> Sequence[Due]:
        if limit <= 0 or per_organization <= 0:
            return ()
        # Most polls of an idle process end here.
        if not await self._database.poll(_ANY_DUE, now=to_ms(now)):
            return ()
        parameters = {
            "now": to_ms(now),
            "impatient": to_ms(now - SUSPECT_PATIENCE),
            "share": per_organization,
            "without": sorted(without),
            "most": limit,
        }

        def read(connection: Connection) -> list[Due]:
            run_rows = [row for query in self._pending for row in connection.execute(query, parameters)]
            due = {row.id: Due(id=row.id, organization_id=row.organization_id) for row in run_rows}
            return within_shares(due.values(), per_organization=per_organization)[:limit]

        return await self._database.read(read)

    async def take(self, ids: Sequence[str], executor: str) -> Sequence[WorkflowRun]:
        run_rows = await self._database.write(partial(self._take, list(dict.fromkeys(ids)), executor)) if ids else ()
        # Events are read one by one after the take: an unreadable event must not hold up the other runs each time.
        runs, unreadable = await self._events.runs(run_rows)
        for id_, reason in unreadable.items():
            ended = update(workflow_runs).where(workflow_runs.c.id == id_, has_status(RunStatus.RUNNING))
            # A failure here must not lose the other runs: the unreadable run fails when it is recovered and taken
            # again.
            with suppress(StoreUnavailable):
                await self._database.write(partial(self._fail, ended, reason))
        return runs

    def _postponing(self, ids: Sequence[str]) -> Update:
        again = {
            "status": RunStatus.PENDING.value,
            "attempts": workflow_runs.c.attempts - 1,
            "due_at": self._database.dialect.now_ms() + _NEWER_MS,
        }
        return update(workflow_runs).where(workflow_runs.c.id.in_(ids), has_status(RunStatus.RUNNING)).values(again)

    def _take(self, ids: list[str], executor: str, connection: Connection) -> Sequence[rows.AnyRow]:
        parameters = {"ids": ids, "executor": executor}
        is_alive, running = connection.execute(_EXECUTOR, parameters).one()
        if not is_alive:
            return ()
        kills: dict[str, int] = {row.id: row.kills for row in connection.execute(_PENDING, parameters)}
        chosen = takeable([(id_, kills[id_]) for id_ in ids if id_ in kills], running)
        if not chosen:
            return ()
        own = connection.scalars(self._taking, {"ids": chosen, "taker": executor}).all()
        if not own:
            return ()
        run_rows = {row.id: row for row in connection.execute(self._runs_by_id, {"ids": own})}
        if newer := [row.id for row in run_rows.values() if row.type not in _KNOWN_KINDS]:
            # In the same transaction: such a run is at no time this executor's, which would not perform it.
            connection.execute(self._postponing(newer))
        return [run_rows[id_] for id_ in ids if id_ in run_rows and id_ not in newer]

    async def owns(self, run: WorkflowRun) -> bool:
        query = select(exists().where(owned_by_taker(run)))
        return bool(await self._database.read(lambda connection: connection.scalar(query)))

    async def complete(
        self,
        run: WorkflowRun,
        post: Post,
        *,
        once: str | None,
        also: Collection[str] = (),
        pushes: Collection[str] = (),
    ) -> Completion:
        ending = RunCompletion(run=run, post=post, once=once, pushes=pushes)
        if also:
            dialect = self._database.dialect
            (completion,) = await self._write_completions(
                lambda connection: [complete_together(connection, dialect, ending, also)]
            )
            return completion
        return await self._completing(ending)

    async def reported(self, organization_id: str, keys: Collection[str]) -> Collection[str]:
        digests = {once_digest(key): key for key in keys}
        if not digests:
            return ()
        reported = await self._database.read(
            lambda connection: reported_keys(connection, organization_id, list(digests))
        )
        return {digests[each] for each in reported}

    async def of_releases(
        self, run: WorkflowRun, *, since: datetime, until: datetime, limit: int
    ) -> Sequence[ListedRun]:
        cause = run.cause
        assert isinstance(cause, Delivered)  # a run that a release has started
        query = (
            self._listed.where(
                workflow_runs.c.organization_id == run.organization_id,
                workflow_runs.c.created_at >= to_ms(since),
                workflow_runs.c.created_at < to_ms(until),
                workflow_runs.c.trigger_id == cause.trigger_id,
                workflow_runs.c.replayed.is_(False),
                events.c.provider == cause.provider,
                events.c.repository_id == cause.repository_id,
                events.c.type == Release.type,
            )
            .order_by(workflow_runs.c.created_at, workflow_runs.c.id)
            .limit(limit)
        )  # fmt: skip
        return await self._database.values(query, workflow_rows.listed_run)

    async def _complete(self, endings: Sequence[RunCompletion]) -> Sequence[Completion]:
        dialect = self._database.dialect
        return await self._write_completions(lambda connection: complete(connection, dialect, endings))

    async def _write_completions(self, work: Callable[[Connection], Sequence[Completion]]) -> Sequence[Completion]:
        return await self._database.write_once(work, _first_ends)

    async def end(self, run: WorkflowRun, status: RunStatus, reason: str | None) -> bool:
        ending = changing(run).values(status=status.value, error=reason)

        def end(connection: Connection) -> bool:
            if status is RunStatus.FAILED:
                return self._fail(changing(run), reason, connection)
            return _ended(connection, ending, run.id)

        return await self._database.write_once(end)

    def _fail(self, failing: Update, reason: str | None, connection: Connection) -> bool:
        failed = fail_runs(connection, self._database.dialect, failing, reason)
        if failed:
            forget(connection, failed)
        return bool(failed)

    async def retry(self, run: WorkflowRun, *, due_at: datetime, error: str) -> None:
        again = changing(run).values(status=RunStatus.PENDING.value, due_at=to_ms(due_at), error=error)
        await self._database.change(again)

    async def requeue(self, run: WorkflowRun | Taken) -> None:
        back = changing(run).values(status=RunStatus.PENDING.value, attempts=workflow_runs.c.attempts - 1)
        await self._database.change(back)

    async def cancel(self, organization_id: str, run_id: str, reason: str) -> bool:
        cancelled = (
            update(workflow_runs)
            .where(
                is_own(workflow_runs, organization_id, run_id),
                has_status(RunStatus.PENDING) | has_status(RunStatus.RUNNING),
            )
            .values(status=RunStatus.CANCELLED.value, error=reason)
        )

        return await self._database.write_once(lambda connection: _ended(connection, cancelled, run_id))

    async def restart(self, organization_id: str, run_id: str, *, due_at: datetime) -> bool:
        restarted = (
            update(workflow_runs)
            .where(
                is_own(workflow_runs, organization_id, run_id),
                workflow_runs.c.status.in_([status.value for status in RESTARTABLE]),
                workflow_runs.c.post_id.is_(None),
            )
            .values(status=RunStatus.PENDING.value, attempts=0, kills=0, error=None, due_at=to_ms(due_at))
        )
        return await self._database.change(restarted) > 0

    async def runs(self, organization_id: str, *, limit: int | None = None) -> Sequence[WorkflowRun]:
        query = (
            self._runs.where(workflow_runs.c.organization_id == organization_id)
            .order_by(workflow_runs.c.created_at.desc(), workflow_runs.c.id.desc())
            .limit(limit)
        )
        run_rows = await self._database.rows(query)
        runs, unreadable = await self._events.runs(run_rows)
        for reason in unreadable.values():
            raise UnreadableRow(reason)
        return runs


def _pending_queries(dialect: Dialect) -> Sequence[Select[*tuple[Any, ...]]]:
    runs = workflow_runs.alias("mine")
    # A separate query: no index provides a common order of both.
    patient = (runs.c.kills >= SUSPECT_KILLS) & (runs.c.created_at <= bindparam("impatient"))
    return [_heads(dialect, runs, *conditions) for conditions in ((patient,), ())]


def _heads(dialect: Dialect, runs: FromClause, *conditions: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    """Create the query for the first runs of each organization, up to the limit, in the overall order.

    Each result belongs to an organization whose very first run is among the first runs of all organizations. So with
    many organizations only one run of each is read, and several runs of a few organizations.
    """
    most = bindparam("most", type_=Integer)

    def first(outer: FromClause, number: BindParameter[int] | int) -> Subquery:
        owner = has_status(RunStatus.PENDING, runs), runs.c.organization_id == outer.c.organization_id
        inner = (
            select(runs.c.id, runs.c.organization_id, runs.c.kills, runs.c.created_at)
            # A sum cannot be an index condition: with the plain column, PostgreSQL would skip-scan the index columns
            # before it.
            .where(*owner, runs.c.due_at + 0 <= bindparam("now"), *conditions)
            .order_by(runs.c.kills, runs.c.created_at, runs.c.id)
            .limit(number)
            .correlate(outer)
        )
        return dialect.for_each(outer, inner, of=workflow_runs)

    def ordered(found: Subquery, *columns: ColumnElement[Any]) -> Select[*tuple[Any, ...]]:
        return select(*columns).order_by(found.c.kills, found.c.created_at, found.c.id).limit(most)

    organization = workflow_runs.c.organization_id
    is_waiting = has_status(RunStatus.PENDING) & organization.not_in(bindparam("without", expanding=True))
    one = first(distinct_values(organization, is_waiting), 1)
    leading = ordered(one, one.c.organization_id).cte("leading")
    several = first(leading, bindparam("share", type_=Integer))
    return ordered(several, several.c.id, several.c.organization_id)


def _first_ends(now: Sequence[Completion], before: Sequence[Completion]) -> Sequence[Completion]:
    """Return the ends of runs whose work runs again: a run that is gone then was completed the first time."""
    return [was if each is Completion.GONE else each for each, was in zip(now, before, strict=True)]


def _ended(connection: Connection, ending: Update, run_id: str) -> bool:
    if not connection.execute(ending).rowcount:
        return False
    forget(connection, [run_id])
    return True
