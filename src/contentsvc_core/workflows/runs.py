"""Workflow runs: one for each match of a trigger (specification 6.4, step 2), each job and each slot of a schedule.

A run is a row that is written with the other effects of what starts it; work is started by that row, never by a call.

::

    pending ──take──▶ running ──▶ completed   its post is written
       ▲                 │  ├───▶ skipped     there was nothing to report, or it was reported already
       └──backoff, kill──┘  └───▶ failed      after MAX_ATTEMPTS or MAX_KILLS, with the reason

An operator may cancel a run that is pending or running: it is ``cancelled``, and the step under way is its last. One
that has ended without a post may be started once more: it is ``pending`` as if it had never been tried.
"""

from datetime import datetime, timedelta
from enum import Enum, auto
from typing import Any, Final, assert_never, final

from attrs import asdict, frozen

from contentsvc_core.timestamps import iso_ms
from contentsvc_core.wire import event_data
from contentsvc_core.workflows.causes import (
    Cause,
    Delivered,
    Generation,
    ListedCause,
    ListedDelivery,
    SiteReading,
    listed_cause,
)


class RunStatus(Enum):
    """Where a run stands."""

    #: Waits to be taken, for the first time or for another attempt.
    PENDING = "pending"
    #: Taken; a process works on it.
    RUNNING = "running"
    #: Ended with a post.
    COMPLETED = "completed"
    #: Ended without a post, and rightly so; ``error`` says why.
    SKIPPED = "skipped"
    #: Ended after the last attempt; ``error`` says why.
    FAILED = "failed"
    #: Ended by an operator.
    CANCELLED = "cancelled"


@frozen(kw_only=True)
class RunState:
    """A workflow run without its cause: what whole runs and listed runs have in common."""

    #: A UUIDv7; minted, never derived: after 24 hours the same delivery may rightly start another run.
    id: str
    organization_id: str
    status: RunStatus = RunStatus.PENDING
    #: How often it was tried; an attempt that its process did not live through does not count.
    attempts: int = 0
    #: How often its process was killed while it was running.
    kills: int = 0
    #: How often it was taken, whatever became of it. Who took it last is the only one who may change it.
    takes: int = 0
    #: Who took it last (:class:`~contentsvc_core.ports.Executors`); ``None``: nobody yet.
    executor: str | None = None
    #: Why it ended as it did, or why its last attempt failed; ``None`` while all is well.
    error: str | None = None
    post_id: str | None = None
    created_at: datetime
    #: A pending run is not taken before this.
    due_at: datetime


@final
@frozen(kw_only=True)
class WorkflowRun(RunState):
    """One run of what a trigger, a client or a schedule starts."""

    #: Why it was started, and all that it is performed from.
    cause: Cause


@final
@frozen(kw_only=True)
class ListedRun(RunState):
    """A workflow run as lists show it: its event is a summary."""

    cause: ListedCause


def listed_run(run: WorkflowRun) -> ListedRun:
    """Return a run as lists show it."""
    parts = asdict(run, recurse=False, filter=lambda attribute, _: attribute.name != "cause")
    return ListedRun(**parts, cause=listed_cause(run.cause))


@final
@frozen(kw_only=True)
class Due:
    """A run that may be taken."""

    id: str
    organization_id: str


@final
@frozen(kw_only=True)
class Taken:
    """A run that is running in somebody's name: what is needed to give it back."""

    id: str
    organization_id: str
    takes: int


@final
@frozen(kw_only=True)
class Recovered:
    """What became of the runs of processes that are dead."""

    #: How many are pending again.
    pending: int = 0
    #: How many have seen too many kills, and have failed.
    failed: int = 0


class RunGone(Exception):
    """A run was cancelled, or is another process's now: whoever works on it stops, and changes nothing more."""


class Completion(Enum):
    """What became of a run's last step."""

    #: Its post is stored, and the run is completed.
    COMPLETED = auto()
    #: Another run has reported the same release; this one is skipped, without a post.
    ALREADY_REPORTED = auto()
    #: The run was not running any more, or was another process's by now; nothing was written.
    GONE = auto()
    #: Another run has meanwhile reported one of several releases; nothing was written, and the run is running still.
    OVERTAKEN = auto()


#: What an operator may have done once more. A completed run is not among them: it has its post.
RESTARTABLE: Final = frozenset({RunStatus.FAILED, RunStatus.SKIPPED, RunStatus.CANCELLED})
#: Why a run that an operator cancelled has ended.
CANCELLED: Final = "cancelled by an operator"
#: Why a run is skipped whose release another run has reported.
ALREADY_REPORTED: Final = "another run has reported this release"
#: Why a run is skipped whose release the run of another release of the same commit tells.
TOLD_TOGETHER: Final = "run {run} tells this release together with {tag}"
#: Why a run is skipped whose changes are all hidden.
NOTHING_TO_REPORT: Final = "nothing to report"
#: Why a run is skipped whose trigger was switched off after it had matched.
TRIGGER_DISABLED: Final = "the trigger is disabled"
#: Why a run is skipped whose schedule was switched off or deleted meanwhile.
SCHEDULE_DISABLED: Final = "the schedule is disabled"

#: A run is tried this often; then it has failed.
MAX_ATTEMPTS: Final = 8
#: A run whose process was killed this often while it was running is what kills it; then it has failed.
MAX_KILLS: Final = 20
#: A run whose process was killed this often is a suspect. It runs alone: so the next kill tells whose fault it is.
SUSPECT_KILLS: Final = 2
#: A suspect lets others go first, but no longer than this after it was created: a steady load must not starve it.
SUSPECT_PATIENCE: Final = timedelta(minutes=1)
_FIRST_DELAY: Final = timedelta(seconds=1)
_LONGEST_DELAY: Final = timedelta(minutes=5)


def retry_delay(attempts: int) -> timedelta | None:
    """Give how long a run waits after its ``attempts``-th attempt failed; ``None``: it has failed for good.

    Doubles from one second, at most five minutes. No jitter: the runs of one process queue behind its own
    concurrency limit anyway.
    """
    if attempts >= MAX_ATTEMPTS:
        return None
    return min(_FIRST_DELAY * 2 ** (attempts - 1), _LONGEST_DELAY)


def run_body(run: WorkflowRun | ListedRun) -> dict[str, Any]:
    """Return a run for operators: what has started it (specification 6.4), and its state.

    Of a listed run, ``eventAction`` and ``eventData`` are null.
    """
    return {
        "id": run.id,
        **_cause_body(run.cause),
        "status": run.status.value,
        "attempts": run.attempts,
        "kills": run.kills,
        "error": run.error,
        "postId": run.post_id,
        "createdAt": iso_ms(run.created_at),
    }


def _cause_body(cause: Cause | ListedCause) -> dict[str, Any]:
    body: dict[str, Any] = {
        "triggerId": None,
        "scheduleId": None,
        "jobId": None,
        "eventType": None,
        "eventAction": None,
        "eventData": None,
        "repositoryId": None,
        "deliveryId": None,
    }
    match cause:
        case Delivered() | ListedDelivery():
            body |= {
                "triggerId": cause.trigger_id,
                "eventType": cause.event.type,
                "repositoryId": str(cause.repository_id),
                "deliveryId": cause.delivery_id,
            }
            if isinstance(cause, Delivered):
                body |= {"eventAction": cause.event.action, "eventData": event_data(cause.event)}
        case Generation():
            body |= {"scheduleId": cause.schedule_id, "jobId": cause.job_id}
        case SiteReading():
            body |= {"jobId": cause.job_id}
        case _:
            assert_never(cause)
    return body
