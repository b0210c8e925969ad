"""``/v1/posts/generate``: asking for posts about a stretch of time (decisions, ``/v1``)."""

from typing import Annotated, Any, Final, Literal, TypedDict, final

import msgspec
from litestar import Request, Response, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import Parameter

from contentsvc_core.access.keys import Scope
from contentsvc_core.content.jobs import generation_job_body, job_event_body, job_events
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.windows import DEFAULT_LOOKBACK, Lookback
from contentsvc_core.identifiers import is_full_name, is_own_id
from contentsvc_core.ports import Jobs
from contentsvc_core.text import one_line
from contentsvc_core.usecases.generate import GenerationRequest, Generator
from contentsvc_core.usecases.operate import Refusal
from contentsvc_core.workflows.causes import Generation
from contentsvc_http.errors import Refused
from contentsvc_http.v1.bodies import read_body, takes
from contentsvc_http.v1.gate import Gate, errors
from contentsvc_http.v1.repository_ids import RepositoryId, read_repository_ids

#: More repositories than this in one request are a mistake.
_MOST: Final = 100


class NamedRepository(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """A repository, by its name."""

    owner: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
    repo: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]


class NamedRepositories(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """Repositories, by their names."""

    repositories: Annotated[list[NamedRepository], msgspec.Meta(max_length=_MOST)]


class DataPoints(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """What a post is written from."""

    include_commits: bool = True
    include_releases: bool = True


class GenerationBody(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """What ``POST /v1/posts/generate`` takes."""

    content_type: ContentType
    lookback_window: Lookback = DEFAULT_LOOKBACK
    brand_identity_id: str | None = None
    repository_ids: Annotated[list[RepositoryId], msgspec.Meta(max_length=_MOST)] | None = None
    codehost: NamedRepositories | None = None
    github: NamedRepositories | None = None
    data_points: DataPoints | None = None


class JobEventBody(TypedDict):
    """One thing that happened to a job."""

    id: str
    jobId: str
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
    createdAt: str
    metadata: dict[str, Any] | None


@final
class GenerationJobBody(TypedDict):
    """A job that writes a post."""

    id: str
    organizationId: str
    status: Literal["queued", "running", "completed", "failed", "skipped"]
    contentType: Literal["changelog", "blog_post", "linkedin_post", "twitter_post", "investor_update"]
    lookbackWindow: Literal["current_day", "yesterday", "last_7_days", "last_14_days", "last_30_days"]
    repositoryIds: list[str]
    brandVoiceId: str | None
    workflowRunId: str
    postId: str | None
    error: str | None
    source: str
    createdAt: str
    updatedAt: str
    completedAt: str | None


@final
class GenerationStartedBody(TypedDict):
    """The answer to a request for a post."""

    job: GenerationJobBody


@final
class GenerationProgressBody(TypedDict):
    """A job and what has happened to it."""

    job: GenerationJobBody
    events: list[JobEventBody]


def generation_routes(gate: Gate, generator: Generator, jobs: Jobs) -> list[HTTPRouteHandler]:
    """Give the routes."""

    @post(
        "/v1/posts/generate",
        status_code=202,
        name="generate_post",
        operation_id="generatePost",
        summary="Ask for a post about a stretch of time",
        tags=["posts"],
        operation_class=takes(GenerationBody),
        responses=errors(400, 413, 415),
    )
    async def generate_post(request: Request[Any, Any, Any]) -> Response[GenerationStartedBody]:
        key = await gate.caller(request, Scope.WRITE)
        wanted = _wanted(await read_body(request, GenerationBody))
        job = await generator.request(key.organization_id, wanted)
        if isinstance(job, Refusal):
            raise Refused(400, {"error": job.reason})
        return await gate.answer(key, {"job": generation_job_body(job)}, status=202)

    @get(
        "/v1/posts/generate/{job_id:str}",
        name="generation_job",
        operation_id="getGenerationJob",
        summary="Follow a request for a post",
        tags=["posts"],
        responses=errors(404),
    )
    async def generation_job(
        request: Request[Any, Any, Any], job_id: Annotated[str, Parameter(description="the job's id")]
    ) -> Response[GenerationProgressBody]:
        key = await gate.caller(request, Scope.READ)
        job = await jobs.job(key.organization_id, job_id) if is_own_id(job_id) else None
        if job is None or not isinstance(job.asked, Generation):
            raise Refused(404, {"error": "Job not found"})
        # Without the organization, even for a client of the hosted product (decisions).
        told = [job_event_body(event) for event in job_events(job)]
        return Response({"job": generation_job_body(job), "events": told})  # pyright: ignore[reportReturnType]

    return [generate_post, generation_job]


def _wanted(body: GenerationBody) -> GenerationRequest:
    names: list[tuple[str, str]] = []
    groups = (("codehost", body.codehost), ("github", body.github))
    for field, group in groups:
        for place, named in enumerate(group.repositories if group else ()):
            name = f"{named.owner}/{named.repo}"
            if not is_full_name(name):
                fault = f"{field}.repositories[{place}]: '{one_line(name, 201)}' is no repository's name"
                raise Refused(400, {"error": f"Invalid request: {fault}"})
            names.append((field, name))
    points = body.data_points or DataPoints()
    return GenerationRequest(
        content_type=body.content_type,
        lookback=body.lookback_window,
        brand_identity_id=body.brand_identity_id,
        repository_ids=(
            None if body.repository_ids is None else read_repository_ids("repositoryIds", body.repository_ids)
        ),
        repository_names=names if any(group is not None for _, group in groups) else None,
        include_commits=points.include_commits,
        include_releases=points.include_releases,
    )
