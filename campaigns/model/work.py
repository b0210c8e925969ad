"""Operations on workflow runs and on executors."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from campaigns.model import runs
from campaigns.model.model import Model
from campaigns.model.sides import Side, Step, Stores

from contentsvc_core.content.posts import Post
from contentsvc_core.workflows.runs import RunStatus, WorkflowRun


def pending(stores: Stores, now: datetime, *, limit: int, each: int, without: Collection[str]) -> Step:
    """Read the due runs."""

    async def perform() -> object:
        return list(await stores.ledger.pending(now, limit=limit, per_organization=each, without=without))

    return Step(
        what=f"{limit} pending runs at {now}, {each} of each, without {without}",
        perform=perform,
        predict=lambda model: runs.pending(model, now, limit=limit, per_organization=each, without=without),
    )


def take(side: Side, ids: Sequence[str], executor: str) -> Step:
    async def perform() -> object:
        taken = list(await side.stores.ledger.take(ids, executor))
        side.taken.extend(taken)
        return taken

    return Step(what=f"{executor} takes {ids}", perform=perform, predict=lambda model: runs.take(model, ids, executor))


def complete(stores: Stores, run: WorkflowRun, post: Post, once: str | None) -> Step:
    return Step(
        what=f"complete {run.id}, taken as number {run.takes}, with {post.id}, once {once}",
        perform=lambda: stores.ledger.complete(run, post, once=once),
        predict=lambda model: runs.complete(model, run, post, once),
    )


def end(stores: Stores, run: WorkflowRun, status: RunStatus) -> Step:
    return Step(
        what=f"end {run.id}, taken as number {run.takes}, as {status.value}",
        perform=lambda: stores.ledger.end(run, status, "so it is"),
        predict=lambda model: runs.end(model, run, status, "so it is"),
    )


def retry(stores: Stores, run: WorkflowRun, due_at: datetime) -> Step:
    """Set a run pending for a retry."""
    return Step(
        what=f"retry {run.id}, taken as number {run.takes}, from {due_at}",
        perform=lambda: stores.ledger.retry(run, due_at=due_at, error="the writer was away"),
        predict=lambda model: runs.retry(model, run, due_at, "the writer was away"),
    )


def requeue(stores: Stores, run: WorkflowRun) -> Step:
    """Set a run pending without counting the take."""
    return Step(
        what=f"give back {run.id}, taken as number {run.takes}",
        perform=lambda: stores.ledger.requeue(run),
        predict=lambda model: runs.requeue(model, run),
    )


def cancel(stores: Stores, organization_id: str, run_id: str) -> Step:
    return Step(
        what=f"cancel {run_id} of {organization_id}",
        perform=lambda: stores.ledger.cancel(organization_id, run_id, "no more"),
        predict=lambda model: runs.cancel(model, organization_id, run_id, "no more"),
    )


def remember(stores: Stores, run: WorkflowRun, step: str, result: str) -> Step:
    """Store the result of a step; read it back, and check whether the run still belongs to the executor."""

    async def perform() -> object:
        memory = stores.run_state
        await memory.save(run, step, result)
        return dict(await memory.results(run)), await stores.ledger.owns(run)

    def predict(model: Model) -> object:
        runs.keep(model, run, step, result)
        return runs.kept(model, run), runs.owns(model, run)

    return Step(what=f"keep {step}={result} of {run.id}, taken as number {run.takes}", perform=perform, predict=predict)


def join(stores: Stores, executor: str) -> Step:
    """Register an executor."""

    def predict(model: Model) -> None:
        model.executors[executor] = 0

    return Step(what=f"{executor} joins", perform=lambda: stores.executors.join(executor), predict=predict)


def heartbeat(stores: Stores, executor: str) -> Step:
    """Send an executor's heartbeat; return the executors that it sees, and its runs."""

    async def perform() -> object:
        beats = dict(await stores.executors.heartbeat(executor))
        return beats, sorted(await stores.executors.running(executor), key=lambda run: run.id)

    return Step(
        what=f"{executor} beats",
        perform=perform,
        predict=lambda model: (runs.heartbeat(model, executor), runs.running(model, executor)),
    )


def leave(stores: Stores, executor: str) -> Step:
    """Unregister an executor."""

    def predict(model: Model) -> None:
        model.executors.pop(executor, None)

    return Step(what=f"{executor} leaves", perform=lambda: stores.executors.leave(executor), predict=predict)


def recover(stores: Stores, lost: Mapping[str, int]) -> Step:
    """Remove executors, and recover their runs."""
    return Step(
        what=f"recover, lost {lost}",
        perform=lambda: stores.executors.recover("the process ended", lost=lost),
        predict=lambda model: runs.recover(model, "the process ended", lost),
    )
