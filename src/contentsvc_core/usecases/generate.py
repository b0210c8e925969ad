from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, final

import msgspec
from attrs import field, frozen
from msgspec import Meta

from contentsvc_core.commands import Command
from contentsvc_core.content.brand import no_such_brand
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.windows import DEFAULT_LOOKBACK, Lookback, window_at
from contentsvc_core.identifiers import MAX_REPOSITORY_ID
from contentsvc_core.organizations import Integration
from contentsvc_core.ports import BrandIdentities, Clock, Directory, IdSource, Jobs
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.text import one_line
from contentsvc_core.usecases.zones import zone_of
from contentsvc_core.values import nothing
from contentsvc_core.workflows.causes import Generation, SiteReading, Source, sources_of, unknown_repository
from contentsvc_core.workflows.jobs import Job, JobEvent, JobEventType, job_event
from contentsvc_core.workflows.runs import WorkflowRun


class GenerationSettings(Command, frozen=True, kw_only=True):
    """The fields of a request for content that have the same form in all drivers."""

    content_type: Annotated[ContentType, Meta(description="Content type of the post.")]
    lookback: Annotated[Lookback, Meta(description="Time window of the post, up to now.")] = msgspec.field(
        default=DEFAULT_LOOKBACK, name="lookbackWindow"
    )
    brand_identity_id: Annotated[
        str | None, Meta(description="Id of the brand identity. Without one, the default brand identity.")
    ] = None


@final
class GeneratePost(GenerationSettings, frozen=True, kw_only=True):
    """Write a post about a time window. Without a choice of repositories, about all of them."""

    repository_ids: Annotated[
        Sequence[Annotated[int, Meta(ge=1, le=MAX_REPOSITORY_ID)]] | None,
        Meta(description="Only these connected repositories."),
    ] = None
    #: Repositories by provider and name ``owner/name``; ``None``: no choice by name.
    repository_names: Sequence[tuple[str, str]] | None = None
    include_commits: bool = True
    include_releases: bool = True


async def note_event(
    jobs: Jobs,
    clock: Clock,
    run: WorkflowRun,
    kind: JobEventType,
    message: str,
    metadata: Mapping[str, Any] | None = None,
) -> None:
    """Add an event to the job of a run; a run without a job has no events."""
    event = job_event(run, kind, message, at=clock.now(), metadata=metadata)
    if event is not None:
        await jobs.note([event])


@final
@frozen(eq=False, repr=False)
class JobStarter:
    """Starts jobs: each has one run and a history."""

    _jobs: Jobs
    _clock: Clock
    _ids: IdSource
    _notify: Callable[[], None] = field(default=nothing, kw_only=True, alias="notify")

    async def start(
        self, organization_id: str, cause_for: Callable[[str], Generation | SiteReading], *, queued: str
    ) -> Job:
        """Start a job; ``cause_for`` returns the cause of the run for the job's id; ``queued`` is the first event."""
        now = self._clock.now()
        job_id = self._ids.new_id("job_")
        run = WorkflowRun(
            id=self._ids.new_id(""),
            organization_id=organization_id,
            cause=cause_for(job_id),
            created_at=now,
            due_at=now,
        )

        def event(kind: JobEventType, message: str) -> JobEvent:
            metadata = {"workflowRunId": run.id} if kind is JobEventType.WORKFLOW_TRIGGERED else None
            return JobEvent(
                id=f"evt_{run.id}_{kind.value}",
                job_id=job_id,
                type=kind,
                message=message,
                metadata=metadata,
                created_at=now,
            )

        first = (
            event(JobEventType.QUEUED, queued),
            event(JobEventType.WORKFLOW_TRIGGERED, "A workflow run was created"),
        )
        job = Job(id=job_id, run=run, events=first)
        await self._jobs.start(job)
        self._notify()
        return job


@final
@frozen(eq=False, repr=False)
class Generator:
    """Starts jobs that write posts; refuses unknown repositories and identities, and an empty choice of events."""

    _starter: JobStarter
    _directory: Directory
    _brands: BrandIdentities
    _clock: Clock

    async def request(self, organization_id: str, command: GeneratePost) -> Job | Refusal:
        if not (command.include_commits or command.include_releases):
            fault = "Nothing to write from: includeCommits and includeReleases are both false"
            return Refusal(RefusalKind.UNSUITABLE, fault, "include_commits")
        sources = _chosen(await self._directory.integrations(organization_id), command)
        if isinstance(sources, Refusal):
            return sources
        brand_id = command.brand_identity_id
        if brand_id is not None and await self._brands.identity(organization_id, brand_id) is None:
            return no_such_brand(brand_id)
        zone = await zone_of(self._directory, organization_id)
        window = window_at(command.lookback, self._clock.now(), zone)

        def cause_for(job_id: str) -> Generation:
            return Generation(
                job_id=job_id,
                content_type=command.content_type,
                lookback=command.lookback,
                window=window,
                sources=sources,
                brand_identity_id=brand_id,
                include_commits=command.include_commits,
                include_releases=command.include_releases,
            )

        asked = f"{command.content_type.value}, {command.lookback.value}".replace("_", " ")
        return await self._starter.start(organization_id, cause_for, queued=f"Content was requested: {asked}")


def _chosen(integrations: Sequence[Integration], request: GeneratePost) -> list[Source] | Refusal:
    connected = sources_of(integrations)
    if not connected:
        return Refusal(RefusalKind.UNSUITABLE, "No repository is connected")
    if request.repository_ids is None and request.repository_names is None:
        return connected
    # In order, and without repeats: a body has room for half a million ids, and each source is looked up.
    ids = dict.fromkeys(request.repository_ids or ())
    names = dict.fromkeys((provider, name.lower()) for provider, name in request.repository_names or ())
    if not (ids or names):
        # An empty choice does not mean all repositories.
        fault = "No repository is chosen: name one at least, or leave the choice out for all"
        return Refusal(RefusalKind.UNSUITABLE, fault, "repository_ids")
    connected_ids = {source.repository_id for source in connected}
    connected_names = {(source.provider, source.full_name.lower()) for source in connected}
    for number in ids:
        if number not in connected_ids:
            return unknown_repository(number)
    for provider, name in names:
        if (provider, name) not in connected_names:
            return unknown_repository(f"'{one_line(name, 201)}'", f" at {provider}")
    return [
        source
        for source in connected
        if source.repository_id in ids or (source.provider, source.full_name.lower()) in names
    ]
