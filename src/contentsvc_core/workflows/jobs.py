"""Jobs: requests of clients whose progress they follow (decisions, ``/v1``). A job's status is that of its run."""

from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from typing import Any, Final, final

from attrs import field, frozen

from contentsvc_core.timestamps import iso_ms
from contentsvc_core.workflows.causes import Generation, SiteReading
from contentsvc_core.workflows.runs import RunState, RunStatus, WorkflowRun


class JobEventType(Enum):
    QUEUED = "queued"
    WORKFLOW_TRIGGERED = "workflow_triggered"
    RUNNING = "running"
    FETCHING_REPOSITORIES = "fetching_repositories"
    GENERATING_CONTENT = "generating_content"
    POST_CREATED = "post_created"
    #: The steps that create a brand identity.
    SCRAPING = "scraping"
    EXTRACTING = "extracting"
    SAVING = "saving"
    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"


@final
@frozen(kw_only=True)
class JobEvent:
    """One event of a job."""

    #: Stored once per id: a repeated event has the same id.
    id: str
    job_id: str
    type: JobEventType
    message: str
    metadata: Mapping[str, Any] | None = None
    created_at: datetime


@final
@frozen(kw_only=True)
class Job:
    """A job with its current run and its events, in order."""

    id: str
    run: WorkflowRun
    events: tuple[JobEvent, ...] = field(converter=tuple, factory=tuple)

    @property
    def asked(self) -> Generation | SiteReading:
        """Return the request."""
        request = self.run.cause
        assert isinstance(request, Generation | SiteReading)
        return request


#: A run that waits for a retry counts as running: a job never returns to an earlier status.
_STATUSES: Final[Mapping[RunStatus, str]] = {
    RunStatus.PENDING: "queued",
    RunStatus.RUNNING: "running",
    RunStatus.COMPLETED: "completed",
    RunStatus.SKIPPED: "skipped",
    RunStatus.FAILED: "failed",
    RunStatus.CANCELLED: "failed",
}
_ENDS: Final[Mapping[str, JobEventType]] = {
    kind.value: kind for kind in (JobEventType.COMPLETED, JobEventType.FAILED, JobEventType.SKIPPED)
}
_BRAND_STEPS: Final = (JobEventType.SCRAPING, JobEventType.EXTRACTING, JobEventType.SAVING)


def job_status(job: Job) -> str:
    """Return the status of a job: ``queued``, ``running``, ``completed``, ``failed`` or ``skipped``."""
    if job.run.status is RunStatus.PENDING and job.run.attempts:
        return "running"
    return _STATUSES[job.run.status]


def generation_job_body(job: Job) -> dict[str, Any]:
    request = job.asked
    assert isinstance(request, Generation)
    return {
        **_common(job),
        "contentType": request.content_type.value,
        "lookbackWindow": request.lookback.value,
        "repositoryIds": [str(source.repository_id) for source in request.sources],
        "brandVoiceId": request.brand_identity_id,
        "workflowRunId": job.run.id,
        "postId": job.run.post_id,
        "source": "api",
    }


def brand_job_body(job: Job) -> dict[str, Any]:
    request = job.asked
    assert isinstance(request, SiteReading)
    reached = [_BRAND_STEPS.index(event.type) for event in job.events if event.type in _BRAND_STEPS]
    step = _BRAND_STEPS[reached[-1]] if reached else _BRAND_STEPS[0]
    return {
        **_common(job),
        "name": request.name,
        "websiteUrl": request.website_url,
        "step": step.value,
        "currentStep": _BRAND_STEPS.index(step) + 1,
        "totalSteps": len(_BRAND_STEPS),
        "brandIdentityId": made_brand_id(job.run) if job.run.status is RunStatus.COMPLETED else None,
    }


def made_brand_id(run: RunState) -> str:
    """Return the id of the identity that a run creates. It is derived from the run: a repeated run has the same id."""
    return f"brand_{run.id}"


def job_events(job: Job) -> tuple[JobEvent, ...]:
    """Return the events of a job, with an event for its end: a run that was cancelled has stored none."""
    end = _ENDS.get(job_status(job))
    if end is None or (job.events and job.events[-1].type is end):
        return job.events
    return (
        *job.events,
        JobEvent(
            id=f"evt_{job.run.id}_end",
            job_id=job.id,
            type=end,
            message=job.run.error or "The work has ended",
            created_at=_last_heard_of(job),
        ),
    )


def job_event_body(event: JobEvent) -> dict[str, Any]:
    return {
        "id": event.id,
        "jobId": event.job_id,
        "type": event.type.value,
        "message": event.message,
        "createdAt": iso_ms(event.created_at),
        "metadata": None if event.metadata is None else dict(event.metadata),
    }


def _common(job: Job) -> dict[str, Any]:
    run = job.run
    last = _last_heard_of(job)
    status = job_status(job)
    ended = status in _ENDS
    return {
        "id": job.id,
        "organizationId": run.organization_id,
        "status": status,
        # The faults of earlier attempts are for the operator only.
        "error": run.error if ended else None,
        "createdAt": iso_ms(run.created_at),
        "updatedAt": iso_ms(last),
        # A run that was ended from outside has no event for its end: the last event gives the time.
        "completedAt": iso_ms(last) if ended else None,
    }


def _last_heard_of(job: Job) -> datetime:
    return job.events[-1].created_at if job.events else job.run.created_at


def job_event(  # one parameter a column
    run: WorkflowRun,
    kind: JobEventType,
    message: str,
    *,
    at: datetime,
    metadata: Mapping[str, Any] | None = None,
) -> JobEvent | None:
    """Return an event of a run's job; ``None``: the run has no job.

    The id contains the take: repeated events of one take are one event, and a new take begins anew.
    """
    job_id = run.cause.job_id if isinstance(run.cause, Generation | SiteReading) else None
    if job_id is None:
        return None
    return JobEvent(
        id=f"evt_{run.id}_{run.takes}_{kind.value}",
        job_id=job_id,
        type=kind,
        message=message,
        metadata=metadata,
        created_at=at,
    )
