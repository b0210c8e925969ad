from collections.abc import Mapping, Sequence
from typing import Final, final

from sqlalchemy import Connection, and_, bindparam, delete, false, literal_column, or_, select, update

from contentsvc_adapters.sql.outgoing.enqueue import fail_runs
from contentsvc_adapters.sql.runs import forget, has_status, owned_by_taker
from contentsvc_adapters.sql.schema.work import executors, run_steps, workflow_runs
from contentsvc_adapters.sql.store import SqlStore
from contentsvc_core.workflows.runs import MAX_KILLS, Recovered, RunState, RunStatus, Taken, WorkflowRun

#: Built once, since each process executes them every two seconds.
_BEATING: Final = update(executors).where(executors.c.id == bindparam("executor")).values(beats=executors.c.beats + 1)
_BEATS: Final = select(executors.c.id, executors.c.beats)
_ORPHANED: Final = has_status(RunStatus.RUNNING) & (
    workflow_runs.c.executor.is_(None) | workflow_runs.c.executor.not_in(select(executors.c.id))
)
_ANY_ORPHAN: Final = select(workflow_runs.c.id).where(_ORPHANED).limit(literal_column("1"))
_OWN: Final = select(workflow_runs.c.id, workflow_runs.c.organization_id, workflow_runs.c.takes).where(
    has_status(RunStatus.RUNNING), workflow_runs.c.executor == bindparam("executor")
)


@final
class SqlExecutors(SqlStore):
    async def join(self, executor: str) -> None:
        joining = self._database.dialect.insert(executors).values(id=executor, beats=0)
        once = joining.on_conflict_do_nothing(index_elements=["id"])
        await self._database.change(once)

    async def heartbeat(self, executor: str) -> Mapping[str, int]:
        beats = await self._database.poll(_BEATING, _BEATS, executor=executor)
        return {row["id"]: row["beats"] for row in beats}

    async def running(self, executor: str) -> Sequence[Taken]:
        return [Taken(**row) for row in await self._database.poll(_OWN, executor=executor)]

    async def recover(self, error: str, *, lost: Mapping[str, int]) -> Recovered:
        # A write transaction would hold up others, most often for nothing.
        if not lost and not await self._database.poll(_ANY_ORPHAN):
            return Recovered()
        dead = or_(false(), *(and_(executors.c.id == id_, executors.c.beats == beats) for id_, beats in lost.items()))
        orphan = update(workflow_runs).where(_ORPHANED)
        killed = {"attempts": workflow_runs.c.attempts - 1, "kills": workflow_runs.c.kills + 1}

        def recover(connection: Connection) -> Recovered:
            if lost:
                connection.execute(delete(executors).where(dead))
            spent = orphan.where(workflow_runs.c.kills + 1 >= MAX_KILLS)
            given_up = fail_runs(connection, self._database.dialect, spent.values(**killed), error)
            forget(connection, given_up)
            # The creation time is past, so the run is due at once, even if it was taken before it was due.
            again = orphan.values(status=RunStatus.PENDING.value, due_at=workflow_runs.c.created_at, **killed)
            return Recovered(pending=connection.execute(again).rowcount, failed=len(given_up))

        return await self._database.write(recover)

    async def leave(self, executor: str) -> None:
        leaving = delete(executors).where(executors.c.id == executor)
        await self._database.change(leaving)


@final
class SqlRunStateStore(SqlStore):
    async def results(self, run: RunState) -> Mapping[str, str]:
        query = select(run_steps.c.name, run_steps.c.result).where(run_steps.c.run_id == run.id)
        rows = await self._database.rows(query)
        return {row.name: row.result for row in rows}

    async def save(self, run: WorkflowRun, step: str, result: str) -> None:
        addition = self._database.dialect.insert(run_steps).values(run_id=run.id, name=step, result=result)
        once = addition.on_conflict_do_nothing(index_elements=["run_id", "name"])
        await self._database.write(lambda connection: _if_held(connection, run) and connection.execute(once))


def _if_held(connection: Connection, run: WorkflowRun) -> bool:
    return (
        connection.scalar(select(workflow_runs.c.id).where(owned_by_taker(run)).with_for_update(read=True)) is not None
    )
