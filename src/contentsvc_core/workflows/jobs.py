"""Jobs: requests of clients whose progress they follow (decisions, ``/v1``). A job's status is that of its run."""

from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from typing import Any, Final, Literal, Self, TypeAlias, TypedDict, final

from attrs import field, frozen
from msgspec import Struct

from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.windows import Lookback
from contentsvc_core.schemas import body_of
from contentsvc_core.timestamps import iso_ms
from contentsvc_core.workflows.causes import Generation, SiteReading
from contentsvc_core.workflows.runs import RunState, RunStatus, WorkflowRun

JobStatus: TypeAlias = Literal["queued", "running", "completed", "failed", "skipped"]


class JobEventType(Enum):
    QUEUED = "queued"
    WORKFLOW_TRIGGERED = "workflow_triggered"
    RUNNING = "running"
    FETCHING_REPOSITORIES = "fetching_repositories"
    GENERATING_CONTENT = "generating_content"
    POST_CREATED = "post_created"
    SCRAPING = "scraping"
    EXTRACTING = "extracting"
    SAVING = "saving"
    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"


@final
@frozen(kw_only=True)
class JobEvent:
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
    """A generation of a post on demand, with its run and its events."""

    id: str
    run: WorkflowRun
    events: tuple[JobEvent, ...] = field(converter=tuple[JobEvent, ...], factory=tuple)

    @property
    def request(self) -> Generation | SiteReading:
        request = self.run.cause
        assert isinstance(request, Generation | SiteReading)
        return request


#: A run that waits for a retry counts as running: a job never returns to an earlier status.
_STATUSES: Final[Mapping[RunStatus, JobStatus]] = {
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


def job_status(job: Job) -> JobStatus:
    if job.run.status is RunStatus.PENDING and job.run.attempts:
        return "running"
    return _STATUSES[job.run.status]


class JobBody(Struct, frozen=True, kw_only=True, rename="camel"):
    """The fields that all jobs have."""

    id: str
    organization_id: str
    status: JobStatus
    error: str | None
    created_at: str
    updated_at: str
    completed_at: str | None

    @classmethod
    def of(cls, job: Job, **changes: Any) -> Self:  # noqa: ANN401  # fields of a subclass
        last, status = _last_change_of(job), job_status(job)
        ended = status in _ENDS
        fields: dict[str, Any] = {
            "id": job.id,
            "organization_id": job.run.organization_id,
            "status": status,
            # The faults of earlier attempts are for the operator only.
            "error": job.run.error if ended else None,
            "created_at": iso_ms(job.run.created_at),
            "updated_at": iso_ms(last),
            # A run that was ended from outside has no event for its end: the last event gives the time.
            "completed_at": iso_ms(last) if ended else None,
        }
        return cls(**fields | changes)


@final
class GenerationJobBody(JobBody, frozen=True, kw_only=True):
    """A job that writes a post."""

    content_type: ContentType
    lookback_window: Lookback
    repository_ids: list[str]
    brand_voice_id: str | None
    workflow_run_id: str
    post_id: str | None
    source: str

    @classmethod
    def of(cls, job: Job, **changes: Any) -> Self:  # noqa: ANN401  # as above
        request = job.request
        assert isinstance(request, Generation)
        fields: dict[str, Any] = {
            "content_type": request.content_type,
            "lookback_window": request.lookback,
            "repository_ids": [str(source.repository_id) for source in request.sources],
            "brand_voice_id": request.brand_identity_id,
            "workflow_run_id": job.run.id,
            "post_id": job.run.post_id,
            "source": "api",
        }
        return super().of(job, **fields | changes)


class BrandJobBody(JobBody, frozen=True, kw_only=True):
    """A job that makes a brand identity."""

    name: str | None
    website_url: str
    step: Literal["scraping", "extracting", "saving"]
    current_step: int
    total_steps: int
    brand_identity_id: str | None

    @classmethod
    def of(cls, job: Job, **changes: Any) -> Self:  # noqa: ANN401  # as above
        request = job.request
        assert isinstance(request, SiteReading)
        reached = [_BRAND_STEPS.index(event.type) for event in job.events if event.type in _BRAND_STEPS]
        step = reached[-1] if reached else 0
        fields: dict[str, Any] = {
            "name": request.name,
            "website_url": request.website_url,
            "step": _BRAND_STEPS[step].value,
            "current_step": step + 1,
            "total_steps": len(_BRAND_STEPS),
            "brand_identity_id": brand_id_of(job.run) if job.run.status is RunStatus.COMPLETED else None,
        }
        return super().of(job, **fields | changes)


def brand_id_of(run: RunState) -> str:
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
            created_at=_last_change_of(job),
        ),
    )


class JobFactsBody(TypedDict, total=False):
    """The result of a step of a job."""

    workflowRunId: str
    postId: str


@final
class JobEventBody(Struct, frozen=True, kw_only=True, rename="camel"):
    """One step in the history of a job."""

    id: str
    job_id: str
    type: Literal[
        "queued",
        "workflow_triggered",
        "running",
        "fetching_repositories",
        "generating_content",
        "post_created",
        "completed",
        "failed",
        "skipped",
    ]
    message: str
    created_at: str
    metadata: JobFactsBody | None

    @classmethod
    def of(cls, event: JobEvent) -> Self:
        return body_of(cls, event, type=event.type.value)


def _last_change_of(job: Job) -> datetime:
    return job.events[-1].created_at if job.events else job.run.created_at


def job_event(  # one parameter a column
    run: WorkflowRun,
    kind: JobEventType,
    message: str,
    *,
    at: datetime,
    metadata: Mapping[str, Any] | None = None,
) -> JobEvent | None:
    """Return an event of a run's job, whose id contains the take; ``None``: the run has no job."""
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
