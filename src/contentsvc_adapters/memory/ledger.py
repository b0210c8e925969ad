"""The workflow runs."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import final

from attrs import evolve

from contentsvc_adapters.memory.state import State, of_organization, place, refuse_unstorable
from contentsvc_core.content.posts import Post
from contentsvc_core.ports import Completion
from contentsvc_core.workflows.runs import MAX_ATTEMPTS, RunStatus, WorkflowRun


@final
class MemoryRunLedger:
    """The run ledger."""

    def __init__(self, state: State) -> None:
        """Take the shared state."""
        self._state = state

    async def pending(self, now: datetime, *, limit: int, besides: Iterable[str] = ()) -> Sequence[str]:
        """List the runs that are due."""
        left_out = set(besides)
        due = [run for run in self._unfinished(RunStatus.PENDING) if run.due_at <= now and run.id not in left_out]
        return [run.id for run in sorted(due, key=place)[:limit]]

    async def take(self, ids: Sequence[str]) -> Sequence[WorkflowRun]:
        """Set runs running."""
        taken: list[WorkflowRun] = []
        for id_ in ids:
            run = self._state.runs.get(id_)
            if run is not None and run.status is RunStatus.PENDING:
                running = evolve(run, status=RunStatus.RUNNING, attempts=run.attempts + 1)
                self._state.put_run(running)
                taken.append(running)
        return taken

    async def complete(self, run: WorkflowRun, post: Post, *, once: str | None) -> Completion:
        """Store a post and end its run."""
        refuse_unstorable(post, once)
        running = self._running(run)
        if running is None:
            return Completion.GONE
        key = None if once is None else (post.organization_id, once)
        if key in self._state.once:
            skipped = evolve(running, status=RunStatus.SKIPPED, error="another run has reported this release")
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

    async def recover(self, error: str) -> int:
        """Set every running run pending again, or failed."""
        refuse_unstorable(error)
        recovered = 0
        for run in self._unfinished(RunStatus.RUNNING):
            if run.attempts >= MAX_ATTEMPTS:
                self._state.put_run(evolve(run, status=RunStatus.FAILED, error=error))
            else:
                self._state.put_run(evolve(run, status=RunStatus.PENDING, due_at=run.created_at))
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
