from typing import Annotated, Any, TypedDict

from litestar import Request, Response
from litestar.handlers import HTTPRouteHandler
from litestar.params import Parameter

from contentsvc_core.identifiers import is_own_id
from contentsvc_core.ports import Directory, Jobs
from contentsvc_core.usecases.generate import Generator
from contentsvc_core.workflows.causes import Generation
from contentsvc_core.workflows.jobs import GenerationJobBody, JobEventBody, job_events
from contentsvc_http.errors import Refused, accepted
from contentsvc_http.v1.bodies import read_body
from contentsvc_http.v1.gate import Caller, Gate
from contentsvc_http.v1.generation_requests import GenerationBody, HostedGenerationBody, read_generation
from contentsvc_http.v1.operations import LOCATED, Operations


class GenerationStartedBody(TypedDict):
    """The job that was started."""

    job: GenerationJobBody


class GenerationProgressBody(TypedDict):
    """A job and its history."""

    job: GenerationJobBody
    events: list[JobEventBody]


def generation_routes(gate: Gate, generator: Generator, jobs: Jobs, directory: Directory) -> list[HTTPRouteHandler]:
    operation = Operations(gate, "posts")
    shape = HostedGenerationBody if gate.hosted else GenerationBody

    @operation(
        "POST /v1/posts/generate",
        "createPostGeneration",
        "Start writing a post about a time window",
        description="Returns a job. Poll it with `getPostGeneration` until it is completed, failed or skipped.",
        body=shape,
        status=202,
        headers=[LOCATED],
    )
    async def generate_post(request: Request[Any, Any, Any], key: Caller) -> Response[GenerationStartedBody]:
        generation_request = await read_generation(directory, key.organization_id, await read_body(request, shape))
        job = accepted(await generator.request(key.organization_id, generation_request))
        location = f"/v1/posts/generate/{job.id}"
        return await gate.answer(key, {"job": GenerationJobBody.of(job)}, location=location)

    @operation("GET /v1/posts/generate/{job_id:str}", "getPostGeneration", "Get a job that writes a post")
    async def generation_job(
        key: Caller, job_id: Annotated[str, Parameter(description="Id of the job.")]
    ) -> Response[GenerationProgressBody]:
        job = await jobs.job(key.organization_id, job_id) if is_own_id(job_id) else None
        if job is None or not isinstance(job.request, Generation):
            raise Refused(404, {"error": "Job not found"})
        # Without the gate: this response shows no organization, as in the hosted product.
        events = [JobEventBody.of(event) for event in job_events(job)]
        return Response(GenerationProgressBody(job=GenerationJobBody.of(job), events=events))

    return operation.routes
