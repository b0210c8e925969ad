"""The workflow runs: the rows that work is started by, who works on them, and what their steps have given."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from contentsvc_core.content.posts import Post
from contentsvc_core.content.writing import Draft
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

    Whoever took a run may change it while it is running and nobody else has taken it since
    (:attr:`~contentsvc_core.workflows.runs.WorkflowRun.takes`): ``complete``, ``end``, ``retry`` and ``give_back`` do
    nothing otherwise. So a process that was given up for dead, and was not, does no harm.

    A run fails in one transaction with what its organization's webhook endpoints are told of that
    (:class:`~contentsvc_core.ports.WebhookEndpoints`), whatever has it fail.
    """

    async def pending(
        self, now: datetime, *, limit: int, per_organization: int, without: Collection[str] = ()
    ) -> Sequence[Due]:
        """Give at most ``limit`` runs that are pending and due.

        Those come first whose process was killed least often; of equals, the oldest. A suspect that has waited for
        ``SUSPECT_PATIENCE`` comes before all others. Of one organization at most ``per_organization`` are given, its
        first ones, and none of an organization in ``without``: one that has thousands keeps nobody else waiting.
        """
        ...

    async def take(self, ids: Sequence[str], executor: str) -> Sequence[WorkflowRun]:
        """Set pending runs running and count the attempt; give those that were pending. One caller gets each.

        Of callers that ask for the same runs at once, each may get some of them.

        A suspect (:data:`~contentsvc_core.workflows.runs.SUSPECT_KILLS`) runs alone in its process: it is given when
        it is asked for first and the executor runs nothing, and while it is running the executor is given nothing. A
        run that cannot be read is not given: it has failed, and says so. An executor that is not registered
        (:class:`Executors`) is given nothing.
        """
        ...

    async def stands(self, run: WorkflowRun) -> bool:
        """Tell whether a run that was taken is still running, and nobody else has taken it since."""
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
        """Store a run's post and end the run, in one transaction. A run has at most one post.

        ``pushes`` are the pushes that a release's post was written from, by the custom ids of their context records.
        As long as the release's post is published, the posts of these pushes and of the same type of content are
        contained in it (:attr:`~contentsvc_core.content.posts.Post.contained_in`), whichever post is written first. Of
        several releases that contain a push, the earliest counts, by the time of the event and then by id.

        ``once`` is a key that at most one post of the organization carries; ``None``: it is not limited so. The key of
        a post that was deleted is not free again. The organization's webhook endpoints are told of the post in the same
        transaction.

        ``also`` are further keys that the post carries. If another post carries one of them, nothing is written and the
        run is running still (:attr:`~contentsvc_core.workflows.runs.Completion.OVERTAKEN`).
        """
        ...

    async def told(self, organization_id: str, keys: Collection[str]) -> Collection[str]:
        """Return those of some keys that posts of the organization carry, or posts that were deleted."""
        ...

    async def of_releases(
        self, run: WorkflowRun, *, since: datetime, until: datetime, limit: int
    ) -> Sequence[ListedRun]:
        """List the runs of the same trigger that releases of the same repository started, oldest first.

        The first ``limit`` are listed that arrived from ``since`` on and before ``until``. Runs of replays are left
        out.
        """
        ...

    async def end(self, run: WorkflowRun, status: RunStatus, reason: str | None) -> None:
        """End a run without a post; ``reason`` says why, unless all is well."""
        ...

    async def retry(self, run: WorkflowRun, *, due_at: datetime, error: str) -> None:
        """Set a run pending again, to be taken from ``due_at`` on."""
        ...

    async def give_back(self, run: WorkflowRun | Taken) -> None:
        """Set a run pending again, due as before, as if it had not been taken."""
        ...

    async def cancel(self, organization_id: str, run_id: str, reason: str) -> bool:
        """End a run that has not ended yet, whoever works on it; False: it is unknown, or has ended."""
        ...

    async def restart(self, organization_id: str, run_id: str, *, due_at: datetime) -> bool:
        """Set a run pending that has ended without a post, due at ``due_at``, as if it had never been tried.

        False: it is unknown, has not ended, or has its post.
        """
        ...

    async def runs(self, organization_id: str, *, limit: int | None = None) -> Sequence[WorkflowRun]:
        """List runs, newest first; all of them without a limit."""
        ...


class Executors(Protocol):
    """The processes that work on runs. A run that is running belongs to one of them that is registered."""

    async def join(self, executor: str) -> None:
        """Register an executor; its name was never used before."""
        ...

    async def beat(self, executor: str) -> Mapping[str, int]:
        """Say that an executor lives: its number of beats is raised.

        Gives the number of each registered executor. When it is missing itself, others have given it up: it stays so.
        """
        ...

    async def running(self, executor: str) -> Sequence[Taken]:
        """List the runs that are running in the name of an executor."""
        ...

    async def recover(self, error: str, *, lost: Mapping[str, int]) -> Recovered:
        """Give up executors, and set every running run that belongs to no registered one pending again, due at once.

        ``lost`` has the last number of beats that was seen of each; one that has beaten since stays. The attempt of a
        recovered run does not count, the kill does. A run that has seen too many
        (:data:`~contentsvc_core.workflows.runs.MAX_KILLS`) fails with ``error`` instead.
        """
        ...

    async def leave(self, executor: str) -> None:
        """Unregister an executor, in order. What it has not given back is recovered."""
        ...


class RunMemory(Protocol):
    """What the finished steps of runs have given, until the runs end.

    As in the ledger, nothing is kept for who does not hold the run any more.
    """

    async def kept(self, run: RunState) -> Mapping[str, str]:
        """Give the results of a run's finished steps, by the steps' names."""
        ...

    async def keep(self, run: WorkflowRun, step: str, result: str) -> None:
        """Keep the result of a step. The first one stays."""
        ...

    async def draft(self, run: WorkflowRun) -> Draft | None:
        """Give a run's draft."""
        ...

    async def keep_draft(self, run: WorkflowRun, draft: Draft) -> None:
        """Keep a run's draft. The first one stays."""
        ...


class Steps(Protocol):
    """What a workflow's body does its lasting work with; it comes from the engine."""

    async def run(self, name: str, step: Callable[[], Awaitable[str]]) -> str:
        """Do a step unless it is finished, and return its result: some 100 KB at most; longer content has stores.

        A run that is resumed, after a kill or an error, on whatever node, is given the results of its finished steps.
        A step that was under way is done again. Names are unique in a body.

        Raises:
            RunGone: The run was cancelled, or is another process's now: the body ends here.
        """
        ...


class Workflow(Protocol):
    """What is done for a run. It knows no engine."""

    async def perform(self, run: WorkflowRun, steps: Steps) -> None:
        """Perform a run that was taken, and end it in the ledger.

        May be begun again at any time, on any node: what is no step of it is done again. May raise anything.
        """
        ...

    async def failed(self, run: WorkflowRun, exc: Exception) -> None:
        """Have a run tried again after ``exc``, or end it when it was tried often enough."""
        ...


class WorkflowStarter(Protocol):
    """Starts work on runs."""

    def room(self) -> tuple[int, Collection[str]]:
        """Tell how many more runs may be worked on now, and of which organizations none."""
        ...

    async def start(self, due: Sequence[Due]) -> int:
        """Take these runs and work on them; give how many could be taken.

        A run that is being worked on already, here or elsewhere, is not started twice.
        """
        ...


class WorkflowHost(Protocol):
    """Where runs are worked on, from its launch until it is closed."""

    @property
    def is_running(self) -> bool:
        """Tell whether it takes work."""
        ...

    async def launch(self) -> None:
        """Begin to take work; what dead processes have left is taken up in time."""
        ...

    def nudge(self) -> None:
        """Say that there may be work."""
        ...

    async def close(self, *, within_s: float) -> None:
        """Take no more work, wait for what is being done, and give back what is not done by then, in seconds."""
        ...
