from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from contentsvc_core.content.posts import Post
from contentsvc_core.workflows.jobs import Job, JobEvent
from contentsvc_core.workflows.runs import (
    Completion,
    Due,
    ListedRun,
    Recovered,
    RunState,
    RunStatus,
    Taken,
    WorkflowRun,
)


class RunLedger(Protocol):
    """The workflow runs.

    While a run is running, it belongs to the process whose take was the last one
    (:attr:`~contentsvc_core.workflows.runs.WorkflowRun.takes`). For any other caller, ``complete``, ``end``, ``retry``
    and ``requeue`` do nothing: a process that was declared dead by mistake does no harm. When a run fails, messages
    for webhook endpoints are written in the same transaction.
    """

    async def pending(
        self, now: datetime, *, limit: int, per_organization: int, without: Collection[str] = ()
    ) -> Sequence[Due]:
        """Return at most ``limit`` runs that are pending and due.

        Runs are sorted by kills, the fewest first, then by age, the oldest first, then by id. A suspect that has waited
        for ``SUSPECT_PATIENCE`` comes before all others. At most ``per_organization`` runs belong to one organization,
        and none to an organization in ``without``, so that a large backlog does not delay other organizations.
        """
        ...

    async def take(self, ids: Sequence[str], executor: str) -> Sequence[WorkflowRun]:
        """Set pending runs running, count the attempt, and return the runs taken. Each run goes to one caller.

        A suspect (:data:`~contentsvc_core.workflows.runs.SUSPECT_KILLS`) runs alone in its process. It is returned only
        when it is named first and the executor runs nothing; while it runs, the executor gets no other run. A run that
        cannot be read is failed, and not returned. A run of a kind that only a newer version knows stays pending, and
        is due again later. An executor that is not registered (:class:`Executors`) gets nothing.
        """
        ...

    async def owns(self, run: WorkflowRun) -> bool:
        """Check whether a taken run is still running, and no other process has taken it since."""
        ...

    async def complete(
        self,
        run: WorkflowRun,
        post: Post,
        *,
        once: str | None,
        also: Collection[str] = (),
        pushes: Collection[str] = (),
    ) -> Completion:
        """Store a run's post and complete the run, in one transaction. A run has at most one post.

        ``once`` is a key that at most one post of the organization carries; ``None``: no such limit. The key of a
        deleted post stays reserved. Messages for webhook endpoints are written in the same transaction.

        ``also`` are further keys that the post carries. If another post carries one of them, nothing is written and the
        run stays running (:attr:`~contentsvc_core.workflows.runs.Completion.OVERTAKEN`).

        ``pushes`` are the pushes that a release's post was written from, by the custom ids of their context records.
        While the release's post is published, their posts of the same content type are contained in it
        (:attr:`~contentsvc_core.content.posts.Post.contained_in`), in whatever order the posts are written. Of several
        releases that contain a push, the earliest counts, by the time of the event and then by id.
        """
        ...

    async def reported(self, organization_id: str, keys: Collection[str]) -> Collection[str]:
        """Return the keys that posts of the organization carry, deleted posts included."""
        ...

    async def of_releases(
        self, run: WorkflowRun, *, since: datetime, until: datetime, limit: int
    ) -> Sequence[ListedRun]:
        """List runs of the same trigger for releases of the same repository in a stretch of time, without replays."""
        ...

    async def end(self, run: WorkflowRun, status: RunStatus, reason: str | None) -> bool:
        """End a run without a post; ``reason`` is stored unless it is ``None``. ``False``: the run has another owner.

        A cancelled run has another owner as well, and is left unchanged.
        """
        ...

    async def retry(self, run: WorkflowRun, *, due_at: datetime, error: str) -> None: ...

    async def requeue(self, run: WorkflowRun | Taken) -> None:
        """Set a run pending again with its former due time, and do not count the attempt. The take still counts."""
        ...

    async def cancel(self, organization_id: str, run_id: str, reason: str) -> bool:
        """Cancel a run that has not ended, in any process; ``False``: it is unknown, or has ended."""
        ...

    async def restart(self, organization_id: str, run_id: str, *, due_at: datetime) -> bool:
        """Set a run that has ended without a post pending, with all attempts left; ``False``: there is no such run."""
        ...

    async def runs(self, organization_id: str, *, limit: int | None = None) -> Sequence[WorkflowRun]:
        """List runs, newest first, and those of one time by id, the greatest first; all of them without a limit."""
        ...


class Executors(Protocol):
    """The processes that work on runs. A running run belongs to one registered executor."""

    async def join(self, executor: str) -> None:
        """Register an executor, without heartbeats, under a name that was never used before."""
        ...

    async def heartbeat(self, executor: str) -> Mapping[str, int]:
        """Store a heartbeat of an executor, and return the number of heartbeats of each registered executor.

        If the executor itself is missing from the result, other executors have removed it, and it must not continue.
        """
        ...

    async def running(self, executor: str) -> Sequence[Taken]: ...

    async def recover(self, error: str, *, lost: Mapping[str, int]) -> Recovered:
        """Remove dead executors, and set every running run without a registered executor pending.

        Such a run is due at once: since its creation.
        ``lost`` has the last seen number of heartbeats of each; an executor with a newer heartbeat stays. The attempt
        of a recovered run does not count, the kill does. A run with too many kills
        (:data:`~contentsvc_core.workflows.runs.MAX_KILLS`) fails with ``error`` instead.
        """
        ...

    async def leave(self, executor: str) -> None:
        """Unregister an executor at an orderly stop. Its remaining runs are recovered."""
        ...


class RunStateStore(Protocol):
    """The results of runs' finished steps, kept until the runs end. Nothing is stored for a former owner of the run."""

    async def results(self, run: RunState) -> Mapping[str, str]: ...

    async def save(self, run: WorkflowRun, step: str, result: str) -> None:
        """Store the result of a step. A later result of the same step is ignored."""
        ...


class Steps(Protocol):
    """Runs the durable steps of a workflow; the engine provides it."""

    async def run(self, name: str, step: Callable[[], Awaitable[str]]) -> str:
        """Run a step unless it is finished, and return its result.

        A result has some 100 KB, at most 400 KB. A run that is resumed after a kill or an error, on any node, gets the
        results of its finished steps by their names. An interrupted step is run again, and so is a step that raises.
        Names are unique in a workflow. A resumed run may have other steps than before. ``RunLost``: the workflow ends
        here.
        """
        ...


class Workflow(Protocol):
    """The work that is done for a run. It does not depend on an engine."""

    async def perform(self, run: WorkflowRun, steps: Steps) -> None:
        """Perform a taken run, and end it in the ledger. A repeated call, on any node, only spares the steps."""
        ...

    async def failed(self, run: WorkflowRun, exc: Exception) -> None:
        """Set a run pending again after ``exc``, or fail it when no attempt is left."""
        ...


class Jobs(Protocol):
    """The jobs. A job's status is that of its run in the ledger (:class:`~contentsvc_core.ports.RunLedger`)."""

    async def start(self, job: Job) -> None:
        """Store a job, its run and its first events in one transaction. A repeated call changes nothing."""
        ...

    async def job(self, organization_id: str, job_id: str) -> Job | None:
        """Return a job with its current run, and its events in the order in which they were added."""
        ...

    async def note(self, events: Sequence[JobEvent]) -> None:
        """Append events to their jobs. Each event is stored once, even when several processes add it."""
        ...
