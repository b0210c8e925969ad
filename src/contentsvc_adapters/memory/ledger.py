"""The workflow runs."""

from collections.abc import Sequence
from datetime import datetime
from typing import final

from attrs import evolve

from contentsvc_adapters.memory.state import State, of_organization, place, refuse_unstorable
from contentsvc_core.content.posts import Post
from contentsvc_core.workflows.runs import (
    ALREADY_REPORTED,
    MAX_KILLS,
    SUSPECT_KILLS,
    SUSPECT_PATIENCE,
    Completion,
    RunStatus,
    WorkflowRun,
)


@final
class MemoryRunLedger:
    """The run ledger."""

    def __init__(self, state: State) -> None:
        """Take the shared state."""
        self._state = state

    async def pending(self, now: datetime, *, limit: int) -> Sequence[str]:
        """List the runs that are due."""
        due = [run for run in self._unfinished(RunStatus.PENDING) if run.due_at <= now]
        patience = now - SUSPECT_PATIENCE

        def order(run: WorkflowRun) -> tuple[object, ...]:
            waited = run.kills >= SUSPECT_KILLS and run.created_at <= patience
            return (not waited, run.kills, *place(run))

        return [run.id for run in sorted(due, key=order)[:limit]]

    async def take(self, ids: Sequence[str]) -> Sequence[WorkflowRun]:
        """Set runs running."""
        asked = [self._state.runs[id_] for id_ in dict.fromkeys(ids) if id_ in self._state.runs]
        pending = [run for run in asked if run.status is RunStatus.PENDING]
        at_work = self._unfinished(RunStatus.RUNNING)
        if any(run.kills >= SUSPECT_KILLS for run in at_work):
            return []
        if pending and pending[0].kills >= SUSPECT_KILLS:
            taken = [] if at_work else pending[:1]
        else:
            taken = [run for run in pending if run.kills < SUSPECT_KILLS]
        running = [evolve(run, status=RunStatus.RUNNING, attempts=run.attempts + 1) for run in taken]
        for run in running:
            self._state.put_run(run)
        return running

    async def complete(self, run: WorkflowRun, post: Post, *, once: str | None) -> Completion:
        """Store a post and end its run."""
        refuse_unstorable(post, once)
        running = self._running(run)
        if running is None:
            return Completion.GONE
        key = None if once is None else (post.organization_id, once)
        if key in self._state.once:
            skipped = evolve(running, status=RunStatus.SKIPPED, error=ALREADY_REPORTED)
            self._state.put_run(skipped)
            return Completion.ALREADY_REPORTED
        self._state.put_run(evolve(running, status=RunStatus.COMPLETED, error=None, post_id=post.id))
        self._state.posts[post.id] = post
        if key is not None:
            self._state.once.add(key)
        return Completion.COMPLETED

    async def end(self, run: WorkflowRun, status: RunStatus, reason: str) -> None:
        """End a running run."""
        refuse_unstorable(reason)
        running = self._running(run)
        if running is not None:
            self._state.put_run(evolve(running, status=status, error=reason))

    async def retry(self, run: WorkflowRun, *, due_at: datetime, error: str) -> None:
        """Set a running run pending again."""
        refuse_unstorable(error)
        running = self._running(run)
        if running is not None:
            self._state.put_run(evolve(running, status=RunStatus.PENDING, due_at=due_at, error=error))

    async def give_back(self, run: WorkflowRun) -> None:
        """Set a running run pending again, as if it had not been taken."""
        running = self._running(run)
        if running is not None:
            self._state.put_run(evolve(running, status=RunStatus.PENDING, attempts=running.attempts - 1))

    async def recover(self, error: str) -> int:
        """Set every running run pending again, or failed."""
        refuse_unstorable(error)
        recovered = 0
        for run in self._unfinished(RunStatus.RUNNING):
            killed = evolve(run, attempts=run.attempts - 1, kills=run.kills + 1)
            if killed.kills >= MAX_KILLS:
                self._state.put_run(evolve(killed, status=RunStatus.FAILED, error=error))
            else:
                self._state.put_run(evolve(killed, status=RunStatus.PENDING, due_at=run.created_at))
                recovered += 1
        return recovered

    async def runs(self, organization_id: str, *, limit: int | None = None) -> Sequence[WorkflowRun]:
        """List an organization's runs."""
        return of_organization(self._state.runs.values(), organization_id, limit=limit)

    def _unfinished(self, status: RunStatus) -> list[WorkflowRun]:
        runs = [self._state.runs[id_] for id_ in self._state.unfinished]
        return [run for run in runs if run.status is status]

    def _running(self, run: WorkflowRun) -> WorkflowRun | None:
        stored = self._state.runs.get(run.id)
        if stored is None or stored.organization_id != run.organization_id or stored.status is not RunStatus.RUNNING:
            return None
        return stored
