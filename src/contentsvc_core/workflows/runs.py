"""Workflow runs: one for each match of a trigger (specification 6.4, step 2), each job and each slot of a schedule.

A run is a row that is written in the transaction of its cause. Work is started by that row, never by a call.

::

    pending ──take──▶ running ──▶ completed   its post is written
       ▲                 │  ├───▶ skipped     there was nothing to report, or it was reported already
       └──backoff, kill──┘  └───▶ failed      after MAX_ATTEMPTS or MAX_KILLS, with the reason

An operator may cancel a run that is pending or running: it is ``cancelled``, and its current step is the last. A run
that has ended without a post may be restarted: it is ``pending`` with all attempts left.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import Any, Final, Literal, Self, assert_never, final

from attrs import asdict
from msgspec import Struct

from contentsvc_core.events.normalized import EventType
from contentsvc_core.events.wire import event_data
from contentsvc_core.schemas import body_of
from contentsvc_core.values import Value
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
    """The state of a run."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    #: Ended without a post, since there was nothing to report; ``error`` has the reason.
    SKIPPED = "skipped"
    #: Ended after the last attempt; ``error`` has the reason.
    FAILED = "failed"
    CANCELLED = "cancelled"


UNENDED: Final = frozenset({RunStatus.PENDING, RunStatus.RUNNING})


class RunState(Value, frozen=True, kw_only=True):
    #: A UUIDv7, not derived from the delivery: after 24 hours the same delivery may start another run.
    id: str
    organization_id: str
    status: RunStatus = RunStatus.PENDING
    #: The number of attempts; attempts that ended with their process do not count.
    attempts: int = 0
    kills: int = 0
    #: The number of takes. Only the process with the last take may change the run.
    takes: int = 0
    #: The executor of the last take (:class:`~contentsvc_core.ports.Executors`); ``None``: the run was never taken.
    executor: str | None = None
    #: The reason of the end, or of the last failed attempt; ``None``: no fault.
    error: str | None = None
    post_id: str | None = None
    created_at: datetime
    due_at: datetime


@final
class WorkflowRun(RunState, frozen=True, kw_only=True):
    """One execution of a workflow: its cause and its state. Its ``cause`` has everything that it needs."""

    cause: Cause


@final
class ListedRun(RunState, frozen=True, kw_only=True):
    cause: ListedCause


def listed_run(run: WorkflowRun) -> ListedRun:
    parts = asdict(run, recurse=False, filter=lambda attribute, _: attribute.name != "cause")
    return ListedRun(**parts, cause=listed_cause(run.cause))


@final
class Due(Value, frozen=True, kw_only=True):
    """A pending run that may be taken now."""

    id: str
    organization_id: str


@final
class Taken(Value, frozen=True, kw_only=True):
    id: str
    organization_id: str
    takes: int


@final
class Recovered(Value, frozen=True, kw_only=True):
    pending: int = 0
    failed: int = 0


class RunLost(Exception):
    """The run was cancelled, or another process owns it now. The process stops work on it and changes nothing more."""


class Completion(Enum):
    """The result of completing a run with a post."""

    COMPLETED = auto()
    #: Another run has reported the same release; this run is skipped, without a post.
    ALREADY_REPORTED = auto()
    #: The run is not running any more, or another process owns it; nothing was written.
    GONE = auto()
    #: Another run has meanwhile reported one of several releases; nothing was written, and the run stays running.
    OVERTAKEN = auto()


#: The ends of runs without a post, which can be restarted.
RESTARTABLE: Final = frozenset({RunStatus.FAILED, RunStatus.SKIPPED, RunStatus.CANCELLED})
CANCELLED: Final = "cancelled by an operator"
#: The reason of a skipped run whose key another post carries.
ALREADY_REPORTED: Final = "another run has reported this release"
REPORTED_TOGETHER: Final = "reported together with {tag} by run {run}"
TRIGGER_DISABLED: Final = "the trigger is disabled"
SCHEDULE_DISABLED: Final = "the schedule is disabled"

#: The most attempts of a run; after the last one the run fails.
MAX_ATTEMPTS: Final = 8
#: The most kills of a run; then the run itself is considered the cause, and fails.
MAX_KILLS: Final = 20
#: From this number of kills on, a run is a suspect. It runs alone, so that the next kill has a clear cause.
SUSPECT_KILLS: Final = 2
#: The time after its creation for which a suspect waits for other runs: a steady load must not starve it.
SUSPECT_PATIENCE: Final = timedelta(minutes=1)
_FIRST_DELAY: Final = timedelta(seconds=1)
_LONGEST_DELAY: Final = timedelta(minutes=5)


def retry_delay(attempts: int) -> timedelta | None:
    """Return the backoff after the ``attempts``-th failed attempt, without jitter; ``None``: the run has failed."""
    if attempts >= MAX_ATTEMPTS:
        return None
    return min(_FIRST_DELAY * 2 ** (attempts - 1), _LONGEST_DELAY)


def takeable(pending: Sequence[tuple[str, int]], running: int | None) -> list[str]:
    """Return the ids of the runs that an executor may take, of the ids and kills of pending ones.

    ``running`` is the highest number of kills among the runs that it performs; ``None``: it performs none.
    """
    if running is not None and running >= SUSPECT_KILLS:
        return []
    if pending and pending[0][1] >= SUSPECT_KILLS:
        return [pending[0][0]] if running is None else []
    return [id_ for id_, kills in pending if kills < SUSPECT_KILLS]


@final
class RunBody(Struct, frozen=True, kw_only=True, rename="camel"):
    """A workflow run: its cause and its state."""

    id: str
    trigger_id: str | None
    schedule_id: str | None
    job_id: str | None
    event_type: EventType | None
    event_action: str | None
    event_data: dict[str, Any] | None
    repository_id: str | None
    delivery_id: str | None
    status: Literal["pending", "running", "completed", "failed", "skipped", "cancelled"]
    attempts: int
    kills: int
    error: str | None
    post_id: str | None
    created_at: str

    @classmethod
    def of(cls, run: WorkflowRun | ListedRun) -> Self:
        """Return the form of a run. The action and the data of its event are null if the run was listed."""
        return body_of(cls, run, **{**_NO_CAUSE, **_cause_fields(run.cause)}, status=run.status.value)


_NO_CAUSE: Final = dict.fromkeys(
    ("trigger_id", "schedule_id", "job_id", "event_type", "event_action", "event_data", "repository_id", "delivery_id")
)


def _cause_fields(cause: Cause | ListedCause) -> dict[str, Any]:
    match cause:
        case Delivered() | ListedDelivery():
            fields: dict[str, Any] = {
                "trigger_id": cause.trigger_id,
                "event_type": cause.event.type,
                "repository_id": str(cause.repository_id),
                "delivery_id": cause.delivery_id,
            }
            if isinstance(cause, Delivered):
                fields |= {"event_action": cause.event.action, "event_data": event_data(cause.event)}
            return fields
        case Generation():
            return {"trigger_id": cause.trigger_id, "schedule_id": cause.schedule_id, "job_id": cause.job_id}
        case SiteReading():
            return {"job_id": cause.job_id}
        case _:
            assert_never(cause)
