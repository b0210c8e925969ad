"""The model's rules for workflow runs, executors and results of steps, from the ports' docstrings."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from attrs import evolve
from campaigns.model.model import Model

from contentsvc_core.content.posts import Post
from contentsvc_core.workflows.runs import Completion, Due, Recovered, RunStatus, Taken, WorkflowRun

#: A run whose process was killed this often is a suspect: it runs alone in its process ...
SUSPECT: Final = 2
#: ... and is the first one after this time.
PATIENCE: Final = timedelta(minutes=1)
#: A run whose process was killed this often has failed.
TOO_MANY: Final = 20

_UNFINISHED: Final = {RunStatus.PENDING, RunStatus.RUNNING}


def pending(
    model: Model, now: datetime, *, limit: int, per_organization: int, without: Collection[str]
) -> Sequence[Due]:
    """Return the due runs in their order."""
    due = [
        run
        for run in model.runs.values()
        if run.status is RunStatus.PENDING and run.due_at <= now and run.organization_id not in without
    ]
    due.sort(key=lambda run: (run.kills, run.created_at, run.id))
    waited = [run for run in due if run.kills >= SUSPECT and run.created_at <= now - PATIENCE]
    shares = dict.fromkeys(model.organizations, per_organization)
    given: list[Due] = []
    for run in [*waited, *(run for run in due if run not in waited)]:
        if shares[run.organization_id] and len(given) < limit:
            shares[run.organization_id] -= 1
            given.append(Due(id=run.id, organization_id=run.organization_id))
    return given


def take(model: Model, ids: Sequence[str], executor: str) -> Sequence[WorkflowRun]:
    """Set pending runs to running; a suspect runs alone."""
    busy = [model.runs[held.id] for held in running(model, executor)]
    if executor not in model.executors or any(run.kills >= SUSPECT for run in busy):
        return []
    asked: list[WorkflowRun] = []
    for id_ in ids:
        run = model.runs.get(id_)
        if run is not None and run.status is RunStatus.PENDING and run not in asked:
            asked.append(run)
    if asked and asked[0].kills >= SUSPECT:
        given = [] if busy else asked[:1]
    else:
        given = [run for run in asked if run.kills < SUSPECT]
    taken = [
        evolve(run, status=RunStatus.RUNNING, attempts=run.attempts + 1, takes=run.takes + 1, executor=executor)
        for run in given
    ]
    for run in taken:
        model.runs[run.id] = run
    return taken


def running(model: Model, executor: str) -> Sequence[Taken]:
    """List the runs of an executor."""
    runs = [run for run in model.runs.values() if run.status is RunStatus.RUNNING and run.executor == executor]
    held = [Taken(id=run.id, organization_id=run.organization_id, takes=run.takes) for run in runs]
    return sorted(held, key=lambda run: run.id)


def owns(model: Model, run: WorkflowRun) -> bool:
    """Check whether a run still belongs to the executor that took it."""
    stored = model.runs[run.id]
    return stored.status is RunStatus.RUNNING and stored.takes == run.takes


def complete(model: Model, run: WorkflowRun, post: Post, once: str | None) -> Completion:
    if not owns(model, run):
        return Completion.GONE
    if once is not None and (run.organization_id, once) in model.reported:
        end(model, run, RunStatus.SKIPPED, "another run has reported this release")
        return Completion.ALREADY_REPORTED
    if once is not None:
        model.reported[run.organization_id, once] = post.id
    model.posts[post.id] = post
    _put(model, evolve(model.runs[run.id], status=RunStatus.COMPLETED, error=None, post_id=post.id))
    return Completion.COMPLETED


def end(model: Model, run: WorkflowRun, status: RunStatus, reason: str) -> bool:
    """End a run without a post; ``False``: it has another owner."""
    owned = owns(model, run)
    if owned:
        _put(model, evolve(model.runs[run.id], status=status, error=reason))
    return owned


def retry(model: Model, run: WorkflowRun, due_at: datetime, error: str) -> None:
    """Set a run pending for a retry."""
    if owns(model, run):
        _put(model, evolve(model.runs[run.id], status=RunStatus.PENDING, due_at=due_at, error=error))


def requeue(model: Model, run: WorkflowRun) -> None:
    """Set a run pending without counting the take."""
    if owns(model, run):
        stored = model.runs[run.id]
        _put(model, evolve(stored, status=RunStatus.PENDING, attempts=stored.attempts - 1))


def cancel(model: Model, organization_id: str, run_id: str, reason: str) -> bool:
    """Cancel a run in any state but an ended one."""
    run = model.runs.get(run_id)
    if run is None or run.organization_id != organization_id or run.status not in _UNFINISHED:
        return False
    _put(model, evolve(run, status=RunStatus.CANCELLED, error=reason))
    return True


def heartbeat(model: Model, executor: str) -> Mapping[str, int]:
    """Store a heartbeat of an executor."""
    if executor in model.executors:
        model.executors[executor] += 1
    return dict(model.executors)


def recover(model: Model, error: str, lost: Mapping[str, int]) -> Recovered:
    """Remove executors, and recover their runs."""
    for executor, beats in lost.items():
        if model.executors.get(executor) == beats:
            del model.executors[executor]
    pending = failed = 0
    for run in list(model.runs.values()):
        if run.status is not RunStatus.RUNNING or run.executor in model.executors:
            continue
        killed = evolve(run, attempts=run.attempts - 1, kills=run.kills + 1)
        if killed.kills >= TOO_MANY:
            failed += 1
            _put(model, evolve(killed, status=RunStatus.FAILED, error=error))
        else:
            pending += 1
            _put(model, evolve(killed, status=RunStatus.PENDING, due_at=run.created_at))
    return Recovered(pending=pending, failed=failed)


def keep(model: Model, run: WorkflowRun, step: str, result: str) -> None:
    """Store the result of a step."""
    if owns(model, run):
        model.steps.setdefault((run.id, step), result)


def kept(model: Model, run: WorkflowRun) -> Mapping[str, str]:
    """Return the results of a run's steps."""
    return {step: result for (run_id, step), result in model.steps.items() if run_id == run.id}


def _put(model: Model, run: WorkflowRun) -> None:
    model.runs[run.id] = run
    if run.status not in _UNFINISHED:
        # Results of steps are kept until the run ends.
        for key in [key for key in model.steps if key[0] == run.id]:
            del model.steps[key]
