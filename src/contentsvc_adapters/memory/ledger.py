from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import final

from attrs import evolve

from contentsvc_adapters.memory.containment import note_pushes
from contentsvc_adapters.memory.outgoing import enqueue, enqueue_of_run
from contentsvc_adapters.memory.state import MemoryStore, of_organization, own, refuse_unstorable
from contentsvc_core.content.posts import Post
from contentsvc_core.events.normalized import Release
from contentsvc_core.lists.cursors import Cursor
from contentsvc_core.organizations import within_shares
from contentsvc_core.outgoing.events import post_written
from contentsvc_core.workflows.causes import Cause, Delivered
from contentsvc_core.workflows.context import push_id
from contentsvc_core.workflows.jobs import Job, JobEvent
from contentsvc_core.workflows.runs import (
    ALREADY_REPORTED,
    MAX_KILLS,
    RESTARTABLE,
    SUSPECT_KILLS,
    SUSPECT_PATIENCE,
    Completion,
    Due,
    ListedRun,
    Recovered,
    RunState,
    RunStatus,
    Taken,
    WorkflowRun,
    listed_run,
    takeable,
)


@final
class MemoryRunLedger(MemoryStore):
    async def pending(
        self, now: datetime, *, limit: int, per_organization: int, without: Collection[str] = ()
    ) -> Sequence[Due]:
        patience = now - SUSPECT_PATIENCE

        def order(run: WorkflowRun) -> tuple[object, ...]:
            waited = run.kills >= SUSPECT_KILLS and run.created_at <= patience
            return (not waited, run.kills, run.created_at, run.id)

        due = [
            Due(id=run.id, organization_id=run.organization_id)
            for run in sorted(self._state.unfinished_runs(RunStatus.PENDING), key=order)
            if run.due_at <= now and run.organization_id not in without
        ]
        return within_shares(due, per_organization=per_organization)[:limit]

    async def take(self, ids: Sequence[str], executor: str) -> Sequence[WorkflowRun]:
        if executor not in self._state.executors:
            return []
        runs = [self._state.runs[id_] for id_ in dict.fromkeys(ids) if id_ in self._state.runs]
        pending = [(run.id, run.kills) for run in runs if run.status is RunStatus.PENDING]
        own = [run.kills for run in self._state.unfinished_runs(RunStatus.RUNNING) if run.executor == executor]
        taken = [self._state.runs[id_] for id_ in takeable(pending, max(own, default=None))]
        running = [
            evolve(run, status=RunStatus.RUNNING, attempts=run.attempts + 1, takes=run.takes + 1, executor=executor)
            for run in taken
        ]
        for run in running:
            self._state.put_run(run)
        return running

    async def owns(self, run: WorkflowRun) -> bool:
        return self._state.owned_by_taker(run) is not None

    async def complete(
        self,
        run: WorkflowRun,
        post: Post,
        *,
        once: str | None,
        also: Collection[str] = (),
        pushes: Collection[str] = (),
    ) -> Completion:
        refuse_unstorable(post, once, *also, *pushes)
        running = self._state.owned_by_taker(run)
        if running is None:
            return Completion.GONE
        if any((post.organization_id, each) in self._state.once for each in also):
            return Completion.OVERTAKEN
        key = None if once is None else (post.organization_id, once)
        if key in self._state.once:
            skipped = evolve(running, status=RunStatus.SKIPPED, error=ALREADY_REPORTED)
            self._state.put_run(skipped)
            return Completion.ALREADY_REPORTED
        self._state.put_run(evolve(running, status=RunStatus.COMPLETED, error=None, post_id=post.id))
        self._state.posts[post.id] = post
        note_pushes(self._state, post, push_id(run.cause), pushes)
        self._state.address(post.id)
        self._state.count_public(post)
        self._state.once.update((post.organization_id, each) for each in also)
        if key is not None:
            self._state.once.add(key)
        enqueue(self._state, post_written(post))
        return Completion.COMPLETED

    async def reported(self, organization_id: str, keys: Collection[str]) -> Collection[str]:
        return {key for key in keys if (organization_id, key) in self._state.once}

    async def of_releases(
        self, run: WorkflowRun, *, since: datetime, until: datetime, limit: int
    ) -> Sequence[ListedRun]:
        runs = [
            other
            for other in self._state.runs.values()
            if other.organization_id == run.organization_id
            and since <= other.created_at < until
            and isinstance(other.cause, Delivered)
            and isinstance(other.cause.event, Release)
            and not other.cause.replayed
            and _event_source(other.cause) == _event_source(run.cause)
        ]
        return [listed_run(other) for other in sorted(runs, key=Cursor.of)[:limit]]

    async def end(self, run: WorkflowRun, status: RunStatus, reason: str | None) -> bool:
        refuse_unstorable(reason)
        running = self._state.owned_by_taker(run)
        if running is None:
            return False
        ended = evolve(running, status=status, error=reason)
        self._state.put_run(ended)
        enqueue_of_run(self._state, ended)
        return True

    async def retry(self, run: WorkflowRun, *, due_at: datetime, error: str) -> None:
        refuse_unstorable(error)
        running = self._state.owned_by_taker(run)
        if running is not None:
            self._state.put_run(evolve(running, status=RunStatus.PENDING, due_at=due_at, error=error))

    async def requeue(self, run: WorkflowRun | Taken) -> None:
        running = self._state.owned_by_taker(run)
        if running is not None:
            self._state.put_run(evolve(running, status=RunStatus.PENDING, attempts=running.attempts - 1))

    async def cancel(self, organization_id: str, run_id: str, reason: str) -> bool:
        refuse_unstorable(reason)
        run = own(self._state.runs, organization_id, run_id)
        if run is None or run.id not in self._state.unfinished:
            return False
        self._state.put_run(evolve(run, status=RunStatus.CANCELLED, error=reason))
        return True

    async def restart(self, organization_id: str, run_id: str, *, due_at: datetime) -> bool:
        run = own(self._state.runs, organization_id, run_id)
        if run is None or run.status not in RESTARTABLE or run.post_id is not None:
            return False
        again = evolve(run, status=RunStatus.PENDING, attempts=0, kills=0, error=None, due_at=due_at)
        self._state.put_run(again)
        return True

    async def runs(self, organization_id: str, *, limit: int | None = None) -> Sequence[WorkflowRun]:
        return of_organization(self._state.runs.values(), organization_id, limit=limit)


def _event_source(cause: Cause) -> tuple[str, str, int] | None:
    return (cause.trigger_id, cause.provider, cause.repository_id) if isinstance(cause, Delivered) else None


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


@final
class MemoryJobs(MemoryStore):
    async def start(self, job: Job) -> None:
        refuse_unstorable(job)
        self._state.refuse_stranger(job.run.organization_id)
        if job.id not in self._state.jobs:
            self._state.jobs[job.id] = job
            self._state.put_run(job.run)

    async def job(self, organization_id: str, job_id: str) -> Job | None:
        job = self._state.jobs.get(job_id)
        if job is None or job.run.organization_id != organization_id:
            return None
        return evolve(job, run=self._state.runs[job.run.id])

    async def note(self, events: Sequence[JobEvent]) -> None:
        refuse_unstorable(*events)
        for event in events:
            job = self._state.jobs[event.job_id]
            if all(event.id != each.id for each in job.events):
                self._state.jobs[job.id] = evolve(job, events=(*job.events, event))
