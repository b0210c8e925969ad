"""Tools that have posts written: what can be written about, asking for it, and following it."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Final, TypedDict, final

from msgspec import UNSET, Meta, Struct, UnsetType

from contentsvc_core.access.keys import ApiKey, Scope
from contentsvc_core.access.rates import rate_of
from contentsvc_core.content.jobs import Job, generation_job_body, job_events
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.windows import DEFAULT_LOOKBACK, Lookback
from contentsvc_core.identifiers import is_own_id
from contentsvc_core.text import one_line
from contentsvc_core.timestamps import iso_ms
from contentsvc_core.usecases.generate import GenerationRequest
from contentsvc_core.usecases.operate import Refusal
from contentsvc_core.workflows.causes import Generation, Source, sources_of
from contentsvc_mcp.context_tools import Notice
from contentsvc_mcp.toolbox import Answer, Refused, Tool, Toolbox

#: More repositories than this in one request are a mistake.
_MOST: Final = 100
#: How many of the connected ones are named to who has named another one.
_NAMED: Final = 10
#: How long an answer may wait for the end of a job, in seconds, and how often it looks meanwhile.
_PATIENCE_S: Final = 20
_LOOK_S: Final = 0.25
#: How often it is looked once more at a job that has ended: it notes its last events a moment later.
_FOR_ITS_LAST_WORDS: Final = 5
_ENDED: Final = frozenset({"completed", "failed", "skipped"})


class ListSources(Struct, forbid_unknown_fields=True, rename="camel"):
    """What ``list_sources`` takes."""


class GeneratePost(Struct, forbid_unknown_fields=True, rename="camel"):
    """What ``generate_post`` takes."""

    content_type: Annotated[ContentType, Meta(description="what kind of post")]
    lookback_window: Annotated[Lookback, Meta(description="about which stretch of time, in UTC, up to now")] = (
        DEFAULT_LOOKBACK
    )
    repositories: (
        Annotated[
            list[Annotated[str, Meta(min_length=1, max_length=201)]],
            Meta(
                max_length=_MOST, description="only about these, each as owner/name; left out: all that are connected"
            ),
        ]
        | UnsetType
    ) = UNSET
    brand_identity_id: (
        Annotated[
            str,
            Meta(max_length=64, description="who speaks, as list_sources gives it; left out: the default"),
        ]
        | UnsetType
    ) = UNSET
    include_commits: Annotated[bool, Meta(description="whether commits are told of")] = True
    include_releases: Annotated[bool, Meta(description="whether releases are told of")] = True


class ReadJob(Struct, forbid_unknown_fields=True, rename="camel"):
    """What ``read_job`` takes."""

    job_id: Annotated[str, Meta(min_length=1, max_length=64, description="the job's id, as generate_post gives it")]
    wait_seconds: Annotated[
        int, Meta(ge=0, le=_PATIENCE_S, description="how long to wait for its end before answering; 0: not at all")
    ] = 0


@final
class SourceBody(TypedDict):
    """A connected repository."""

    provider: str
    repository: str


@final
class SpeakerBody(TypedDict):
    """A brand identity."""

    id: str
    name: str
    isDefault: bool


@final
class SourcesBody(TypedDict):
    """What there is to choose from."""

    repositories: list[SourceBody]
    brandIdentities: list[SpeakerBody]


@final
class Sources(TypedDict):
    """What ``list_sources`` gives."""

    notice: Notice
    untrusted: SourcesBody


@final
class EventBody(TypedDict):
    """One thing that happened to a job."""

    type: str
    message: str
    createdAt: str


@final
class ToldBody(TypedDict):
    """What is said of a job, in sentences: they name posts, whose titles others have written."""

    error: Annotated[str | None, Meta(description="why there is no post, when status is failed or skipped")]
    events: Annotated[list[EventBody], Meta(description="what has happened, in order")]


@final
class JobState(TypedDict):
    """What ``generate_post`` and ``read_job`` give."""

    notice: Notice
    jobId: str
    status: Annotated[str, Meta(description="queued, running, completed, failed or skipped; the last three are ends")]
    contentType: str
    lookbackWindow: str
    postId: Annotated[str | None, Meta(description="the draft that was written, once status is completed")]
    createdAt: str
    untrusted: ToldBody


async def _sources(box: Toolbox, key: ApiKey, wanted: ListSources) -> Answer:
    del wanted
    connected = sources_of(await box.directory.integrations(key.organization_id))
    brands = await box.brands.identities(key.organization_id)
    body = {
        "repositories": [{"provider": each.provider, "repository": each.full_name} for each in connected],
        "brandIdentities": [{"id": each.id, "name": each.name, "isDefault": each.is_default} for each in brands],
    }
    return Answer(facts={}, untrusted=body)


async def _generate(box: Toolbox, key: ApiKey, wanted: GeneratePost) -> Answer:
    names = None if wanted.repositories is UNSET else wanted.repositories
    connected = () if names is None else sources_of(await box.directory.integrations(key.organization_id))
    request = GenerationRequest(
        content_type=wanted.content_type,
        lookback=wanted.lookback_window,
        brand_identity_id=None if wanted.brand_identity_id is UNSET else wanted.brand_identity_id,
        repository_names=None if names is None else _named(names, connected),
        include_commits=wanted.include_commits,
        include_releases=wanted.include_releases,
    )
    job = await box.generator.request(key.organization_id, request)
    if isinstance(job, Refusal):
        raise Refused(job.reason)
    return _answer(job)


def _named(names: Sequence[str], connected: Sequence[Source]) -> list[tuple[str, str]]:
    """Find repositories by name, at whatever code host they are connected."""
    found: list[tuple[str, str]] = []
    for name in names:
        same = [(each.provider, each.full_name) for each in connected if each.full_name.lower() == name.strip().lower()]
        if not same:
            others = ", ".join(each.full_name for each in connected[:_NAMED]) or "none"
            message = f"Unknown repository: '{one_line(name, 201)}' is not connected. Connected are: {others}"
            raise Refused(message if len(connected) <= _NAMED else f"{message}, and more: see list_sources")
        found += same
    return found


async def _read(box: Toolbox, key: ApiKey, wanted: ReadJob) -> Answer:
    job = await _job(box, key, wanted.job_id)
    looks, more_looks = int(wanted.wait_seconds / _LOOK_S), _FOR_ITS_LAST_WORDS
    while looks and more_looks and not _has_told_its_end(job):
        looks -= 1
        more_looks -= generation_job_body(job)["status"] in _ENDED
        await asyncio.sleep(_LOOK_S)
        job = await _job(box, key, wanted.job_id)
    return _answer(job)


def _has_told_its_end(job: Job) -> bool:
    return generation_job_body(job)["status"] in _ENDED and job_events(job) == job.events


async def _job(box: Toolbox, key: ApiKey, job_id: str) -> Job:
    job = await box.jobs.job(key.organization_id, job_id) if is_own_id(job_id) else None
    if job is None or not isinstance(job.asked, Generation):
        message = "Job not found: generate_post gives the id of a job"
        raise Refused(message)
    return job


def _answer(job: Job) -> Answer:
    body = generation_job_body(job)
    told = [
        {"type": event.type.value, "message": event.message, "createdAt": iso_ms(event.created_at)}
        for event in job_events(job)
    ]
    kept = ("status", "contentType", "lookbackWindow", "postId", "createdAt")
    return Answer(
        facts={"jobId": job.id, **{name: body[name] for name in kept}},
        untrusted={"error": body["error"], "events": told},
    )


GENERATION_TOOLS: Final = (
    Tool(
        name="list_sources",
        title="List repositories and brand identities",
        description=(
            "List the connected repositories, which posts can be written about, and the brand identities in whose name "
            "they can be written. Use it before generate_post when not everything is meant."
        ),
        takes=ListSources,
        gives=Sources,
        scope=Scope.READ,
        work=_sources,
    ),
    Tool(
        name="generate_post",
        title="Have a post written",
        description=(
            "Start a job that writes a post about what has happened in the repositories: a changelog, blog post, "
            "LinkedIn post, X post or investor update about a stretch of time. The post is a draft; nobody sees it "
            "before publish_post. The answer is the job, not the post: follow it with read_job. Each call starts "
            "another job, and few are allowed in a minute."
        ),
        takes=GeneratePost,
        gives=JobState,
        scope=Scope.WRITE,
        rate=rate_of("POST", "/v1/posts/generate"),
        is_idempotent=False,
        work=_generate,
    ),
    Tool(
        name="read_job",
        title="Follow a job",
        description=(
            "Tell how far a job of generate_post is; with waitSeconds, wait for its end that long. When its status is "
            "completed, postId is the draft: read it with read_post. A job that is skipped found nothing to report."
        ),
        takes=ReadJob,
        gives=JobState,
        scope=Scope.READ,
        work=_read,
    ),
)
