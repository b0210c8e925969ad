from collections.abc import Mapping, Sequence
from typing import final

from attrs import evolve

from contentsvc_adapters.memory.outgoing import enqueue_of_run
from contentsvc_adapters.memory.state import MemoryStore, refuse_unstorable
from contentsvc_core.workflows.runs import MAX_KILLS, Recovered, RunState, RunStatus, Taken, WorkflowRun


@final
class MemoryExecutors(MemoryStore):
    async def join(self, executor: str) -> None:
        self._state.executors.setdefault(executor, 0)

    async def heartbeat(self, executor: str) -> Mapping[str, int]:
        if executor in self._state.executors:
            self._state.executors[executor] += 1
        return dict(self._state.executors)

    async def running(self, executor: str) -> Sequence[Taken]:
        return [
            Taken(id=run.id, organization_id=run.organization_id, takes=run.takes)
            for run in self._state.unfinished_runs(RunStatus.RUNNING)
            if run.executor == executor
        ]

    async def recover(self, error: str, *, lost: Mapping[str, int]) -> Recovered:
        refuse_unstorable(error)
        for id_, beats in lost.items():
            if self._state.executors.get(id_) == beats:
                del self._state.executors[id_]
        pending = failed = 0
        for run in self._state.unfinished_runs(RunStatus.RUNNING):
            if run.executor in self._state.executors:
                continue
            killed = evolve(run, attempts=run.attempts - 1, kills=run.kills + 1)
            if killed.kills >= MAX_KILLS:
                ended = evolve(killed, status=RunStatus.FAILED, error=error)
                self._state.put_run(ended)
                enqueue_of_run(self._state, ended)
                failed += 1
            else:
                self._state.put_run(evolve(killed, status=RunStatus.PENDING, due_at=run.created_at))
                pending += 1
        return Recovered(pending=pending, failed=failed)

    async def leave(self, executor: str) -> None:
        self._state.executors.pop(executor, None)


@final
class MemoryRunStateStore(MemoryStore):
    async def results(self, run: RunState) -> Mapping[str, str]:
        return dict(self._state.steps.get(run.id, {}))

    async def save(self, run: WorkflowRun, step: str, result: str) -> None:
        refuse_unstorable(step, result)
        if self._state.owned_by_taker(run) is not None:
            self._state.steps.setdefault(run.id, {}).setdefault(step, result)
