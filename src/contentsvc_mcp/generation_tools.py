import asyncio
from collections.abc import Sequence
from typing import Annotated, Any, Final, TypedDict

from msgspec import UNSET, Meta, Struct, UnsetType, to_builtins

from contentsvc_core.access.keys import ApiKey, Scope
from contentsvc_core.access.rates import rate_of
from contentsvc_core.application import Application
from contentsvc_core.text import one_line
from contentsvc_core.usecases.generate import GeneratePost, GenerationSettings
from contentsvc_core.workflows.causes import Generation, Source, sources_of
from contentsvc_core.workflows.jobs import GenerationJobBody, Job, JobEventBody, job_events, job_status
from contentsvc_mcp.context_tools import Notice
from contentsvc_mcp.toolbox import ToolAnswer, ToolRefused, accepted, chosen, tool

#: Maximum number of repositories in one call; more would be a mistake.
_MOST: Final = 100
#: Maximum number of connected repositories listed in the error for an unknown one.
_NAMED: Final = 10
#: Maximum wait for the end of a job, and the polling interval, in seconds.
_MOST_WAIT_S: Final = 20
_POLL_S: Final = 0.25
#: Maximum number of further polls of an ended job: its last events are stored a moment later.
_POLLS_AFTER_END: Final = 5
_ENDED: Final = frozenset({"completed", "failed", "skipped"})


class ListSources(Struct, forbid_unknown_fields=True, rename="camel"):
    """Arguments of ``list_sources``."""


class GenerationArguments(GenerationSettings, frozen=True, kw_only=True):
    brand_identity_id: Annotated[
        Annotated[str, Meta(max_length=64)] | None,
        Meta(description="Id of the brand identity, from list_sources. Without one, the default brand identity."),
    ] = None
    repositories: (
        Annotated[
            list[Annotated[str, Meta(min_length=1, max_length=201)]],
            Meta(
                max_length=_MOST,
                description="Only these repositories (owner/name). Default: all connected repositories.",
            ),
        ]
        | UnsetType
    ) = UNSET
    include_commits: Annotated[bool, Meta(description="Whether to include commits.")] = True
    include_releases: Annotated[bool, Meta(description="Whether to include releases.")] = True


class ReadJob(Struct, forbid_unknown_fields=True, rename="camel"):
    job_id: Annotated[str, Meta(min_length=1, max_length=64, description="Id of the job, from generate_post.")]
    wait_seconds: Annotated[
        int, Meta(ge=0, le=_MOST_WAIT_S, description="Seconds to wait for the job to end; 0: do not wait.")
    ] = 0


class SourceBody(TypedDict):
    """A connected repository."""

    provider: str
    repository: str


class SpeakerBody(TypedDict):
    """A brand identity."""

    id: str
    name: str
    isDefault: bool


class SourcesBody(TypedDict):
    """Connected repositories and brand identities."""

    repositories: list[SourceBody]
    brandIdentities: list[SpeakerBody]


class Sources(TypedDict):
    notice: Notice
    untrusted: SourcesBody


class EventBody(TypedDict):
    """One step in the history of a job."""

    type: str
    message: str
    createdAt: str


class JobTextsBody(TypedDict):
    """Texts about a job. They are untrusted because they contain titles of posts."""

    error: Annotated[str | None, Meta(description="Why there is no post, if status is failed or skipped.")]
    events: Annotated[list[EventBody], Meta(description="The history of the job, oldest first.")]


class JobState(TypedDict):
    """Answer of ``generate_post`` and ``read_job``."""

    notice: Notice
    jobId: str
    status: Annotated[str, Meta(description="queued, running, completed, failed or skipped; the last three are final.")]
    contentType: str
    lookbackWindow: str
    postId: Annotated[str | None, Meta(description="Id of the draft, once status is completed.")]
    createdAt: str
    untrusted: JobTextsBody


@tool(
    "List repositories and brand identities",
    "List the connected repositories and the brand identities that posts can use. Use it before generate_post "
    "to choose repositories or a brand identity.",
    returns=Sources,
)
async def list_sources(app: Application, key: ApiKey, arguments: ListSources) -> ToolAnswer:
    del arguments
    connected = sources_of(await app.stores.directory.integrations(key.organization_id))
    brands = await app.stores.brands.identities(key.organization_id)
    body = {
        "repositories": [
            {"provider": repository.provider, "repository": repository.full_name} for repository in connected
        ],
        "brandIdentities": [{"id": brand.id, "name": brand.name, "isDefault": brand.is_default} for brand in brands],
    }
    return ToolAnswer(facts={}, untrusted=body)


@tool(
    "Write a post",
    "Start a job that writes a post about the events of a time window: a changelog, blog post, LinkedIn post, "
    "X post or investor update. The post is a draft; readers do not see it before publish_post. The answer is "
    "the job, not the post: follow it with read_job. Each call starts another job, and the number of calls in "
    "a minute is limited.",
    returns=JobState,
    scope=Scope.WRITE,
    rate=rate_of("POST", "/v1/posts/generate"),
    is_idempotent=False,
)
async def generate_post(app: Application, key: ApiKey, arguments: GenerationArguments) -> ToolAnswer:
    names = None if arguments.repositories is UNSET else arguments.repositories
    connected = () if names is None else sources_of(await app.stores.directory.integrations(key.organization_id))
    request = GeneratePost(
        repository_names=None if names is None else _named(names, connected),
        **{name: getattr(arguments, name) for name in GeneratePost.__struct_fields__ if hasattr(arguments, name)},
    )
    return _answer(accepted(await app.generator.request(key.organization_id, request)))


def _named(names: Sequence[str], connected: Sequence[Source]) -> list[tuple[str, str]]:
    repositories: list[tuple[str, str]] = []
    for name in names:
        same = [
            (source.provider, source.full_name)
            for source in connected
            if source.full_name.lower() == name.strip().lower()
        ]
        if not same:
            others = ", ".join(source.full_name for source in connected[:_NAMED]) or "none"
            message = f"Unknown repository: '{one_line(name, 201)}' is not connected. Connected are: {others}"
            raise ToolRefused(message if len(connected) <= _NAMED else f"{message}, and more: see list_sources")
        repositories += same
    return repositories


@tool(
    "Get a job",
    "Get the state of a generate_post job. With waitSeconds, wait up to that long for the job to end. When the "
    "status is completed, postId is the draft: read it with read_post. A skipped job found nothing to report.",
    returns=JobState,
)
async def read_job(app: Application, key: ApiKey, arguments: ReadJob) -> ToolAnswer:
    job = await _job(app, key, arguments.job_id)
    polls, polls_after_end = int(arguments.wait_seconds / _POLL_S), _POLLS_AFTER_END
    while polls and polls_after_end and not _is_over(job):
        polls -= 1
        polls_after_end -= job_status(job) in _ENDED
        await asyncio.sleep(_POLL_S)
        job = await _job(app, key, arguments.job_id)
    return _answer(job)


def _is_over(job: Job) -> bool:
    return job_status(job) in _ENDED and job_events(job) == job.events


async def _job(app: Application, key: ApiKey, job_id: str) -> Job:
    job = await app.stores.jobs.job(key.organization_id, job_id)
    if job is None or not isinstance(job.request, Generation):
        message = "Job not found. generate_post returns the id of a job"
        raise ToolRefused(message)
    return job


def _answer(job: Job) -> ToolAnswer:
    body: dict[str, Any] = to_builtins(GenerationJobBody.of(job))
    events = [chosen(to_builtins(JobEventBody.of(event)), EventBody) for event in job_events(job)]
    return ToolAnswer(
        facts={"jobId": job.id, **chosen(body, JobState)},
        untrusted={"error": body["error"], "events": events},
    )
