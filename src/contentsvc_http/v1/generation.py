from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final, TypedDict, TypeVar, cast
from zoneinfo import ZoneInfo

from litestar import Response
from litestar.handlers import HTTPRouteHandler
from litestar.params import Parameter
from msgspec import Meta, Struct, defstruct, structs

from contentsvc_core.content.windows import Lookback
from contentsvc_core.identifiers import is_full_name
from contentsvc_core.ports import Directory
from contentsvc_core.text import one_line
from contentsvc_core.usecases.generate import GeneratePost, GenerationSettings
from contentsvc_core.usecases.zones import zone_of
from contentsvc_core.webhooks.providers import HOSTED_PROVIDER, PROVIDERS
from contentsvc_core.workflows.causes import Generation
from contentsvc_core.workflows.jobs import GenerationJobBody, JobEventBody, job_events
from contentsvc_core.zones import DEFAULT_ZONE
from contentsvc_http.errors import Refused, accepted, refuse_request
from contentsvc_http.v1.gate import Caller, Gate, Sent
from contentsvc_http.v1.operations import LOCATED, Operations
from contentsvc_http.v1.output_config import one_brand, refuse_destination
from contentsvc_http.v1.repository_ids import ConnectedRepository, read_repositories

#: Maximum number of repositories in one list of a request; more would be a mistake.
_MOST: Final = 100
#: Names of UTC that are accepted as a time zone, in lower case.
_UTC: Final = frozenset({"utc", "etc/utc", "gmt", "etc/gmt"})
_WHOLE_DAYS: Final = frozenset({Lookback.CURRENT_DAY, Lookback.YESTERDAY})
_NO_LINEAR: Final = "Linear cannot be connected here"
_Base = TypeVar("_Base", bound=Struct)
_Ids = Annotated[list[ConnectedRepository], Meta(max_length=_MOST)]
#: Anything: generators of clients need the type of the items, and msgspec omits it.
_Items = Annotated[list[Any], Meta(extra_json_schema={"items": {}})]


def _with(base: type[_Base], name: str, description: str, fields: Sequence[tuple[str, Any, Any]]) -> type[_Base]:
    shape = defstruct(
        name,
        fields,
        bases=(base,),
        namespace={"__doc__": description},
        forbid_unknown_fields=True,
        rename="camel",
        frozen=True,
    )
    return cast("type[_Base]", shape)


class NamedRepository(Struct, forbid_unknown_fields=True, rename="camel", frozen=True):
    """A repository, by its name."""

    owner: Annotated[str, Meta(min_length=1, max_length=100)]
    repo: Annotated[str, Meta(min_length=1, max_length=100)]


class NamedRepositories(Struct, forbid_unknown_fields=True, rename="camel", frozen=True):
    """Repositories, by their names."""

    repositories: Annotated[list[NamedRepository], Meta(max_length=_MOST)]


class DataPoints(Struct, forbid_unknown_fields=True, rename="camel", frozen=True):
    """The sources of a post."""

    include_commits: bool = True
    include_releases: bool = True


class NestedRepository(NamedRepository, forbid_unknown_fields=True, rename="camel", frozen=True):
    """A repository, by its name."""

    owner: Annotated[str, Meta(min_length=1, max_length=2000)]


class NestedRepositories(Struct, forbid_unknown_fields=True, rename="camel", frozen=True):
    """Repositories, by their names."""

    repositories: Annotated[list[NestedRepository], Meta(max_length=_MOST)]


#: A field for each provider: repositories by their names.
_BY_NAMES: Final = [
    (provider.slug, (NestedRepositories if provider.has_nested_owners else NamedRepositories) | None, None)
    for provider in PROVIDERS
]


class GenerationFields(GenerationSettings, frozen=True, kw_only=True):
    """The fields of a post to write that do not depend on providers."""

    repository_ids: _Ids | None = None
    data_points: DataPoints | None = None


class HostedDataPoints(DataPoints, frozen=True):
    """The sources of a post. `includePullRequests` has no effect; `includeLinearData` must be false."""

    include_pull_requests: bool = True
    #: Always false: Linear cannot be connected.
    include_linear_data: bool = False


class HostedIntegrationFields(Struct, forbid_unknown_fields=True, rename="camel", frozen=True):
    """The fields of connected repositories that do not depend on providers."""

    #: Always empty: Linear cannot be connected.
    linear: list[str] | None = None


if TYPE_CHECKING:
    HostedIntegrations = HostedIntegrationFields
else:
    HostedIntegrations = _with(
        HostedIntegrationFields,
        "HostedIntegrations",
        "Connected repositories, by the ids of their integrations.",
        [(HOSTED_PROVIDER.slug, _Ids | None, None)],
    )


class HostedSelection(Struct, forbid_unknown_fields=True, rename="camel", frozen=True):
    """Selected items to write from. Leave it empty: a post covers everything in its window."""

    commit_shas: _Items | None = None
    pull_request_numbers: _Items | None = None
    release_tag_names: _Items | None = None
    linear_issue_ids: _Items | None = None


class HostedGenerationFields(GenerationFields, frozen=True):
    """The fields of a post to write, for clients of the hosted product."""

    data_points: HostedDataPoints | None = None
    #: Alias of ``brandIdentityId``.
    brand_voice_id: str | None = None
    integrations: HostedIntegrations | None = None
    #: Always empty: Linear cannot be connected.
    linear_integration_ids: list[str] | None = None
    selected_items: HostedSelection | None = None
    #: Must be the organization's time zone if the window begins at midnight.
    timezone: Annotated[str, Meta(max_length=100)] | None = None
    #: Always null: posts are not sent to other services.
    publish_destination: str | None = None


GenerationBody: Final[type[GenerationFields]] = _with(
    GenerationFields, "GenerationBody", "The post to write.", _BY_NAMES
)
HostedGenerationBody: Final[type[HostedGenerationFields]] = _with(
    HostedGenerationFields, "HostedGenerationBody", "The post to write.", _BY_NAMES
)


async def read_generation(directory: Directory, organization_id: str, body: GenerationFields) -> GeneratePost:
    brand, lists = body.brand_identity_id, {"repositoryIds": body.repository_ids}
    if isinstance(body, HostedGenerationFields):
        _refuse_what_is_not_done(body, await zone_of(directory, organization_id))
        brand = one_brand(brand, body.brand_voice_id)
        lists[f"integrations.{HOSTED_PROVIDER.slug}"] = getattr(body.integrations, HOSTED_PROVIDER.slug, None)
    groups: dict[str, NamedRepositories | None] = {
        provider.slug: getattr(body, provider.slug) for provider in PROVIDERS
    }
    names = [
        (field, _full_name(f"{field}.repositories[{index}]", named))
        for field, group in groups.items()
        for index, named in enumerate(group.repositories if group else ())
    ]
    numbers: list[int] = []
    for field, choice in lists.items():
        chosen = await read_repositories(directory, organization_id, field, choice or ())
        numbers += chosen.numbers
        names += chosen.names
    is_chosen = any(choice is not None for choice in (*lists.values(), *groups.values()))
    points = body.data_points or DataPoints()
    return GeneratePost(
        content_type=body.content_type,
        lookback=body.lookback,
        brand_identity_id=brand,
        repository_ids=numbers if is_chosen else None,
        repository_names=names if is_chosen else None,
        include_commits=points.include_commits,
        include_releases=points.include_releases,
    )


def _full_name(field: str, named: NamedRepository) -> str:
    name = f"{named.owner}/{named.repo}"
    if not is_full_name(name, nested=isinstance(named, NestedRepository)):
        refuse_request(f"{field}: '{one_line(name, 201)}' is not a repository name")
    return name


def _refuse_what_is_not_done(body: HostedGenerationFields, own: ZoneInfo) -> None:
    points, zone = body.data_points, body.timezone
    if body.linear_integration_ids:
        refuse_request(f"linearIntegrationIds: {_NO_LINEAR}; send an empty list or leave it out")
    if body.integrations is not None and body.integrations.linear:
        refuse_request(f"integrations.linear: {_NO_LINEAR}; send an empty list or leave it out")
    if points is not None and points.include_linear_data:
        refuse_request(f"dataPoints.includeLinearData: {_NO_LINEAR}; send false")
    if body.selected_items is not None and any(structs.astuple(body.selected_items)):
        refuse_request("selectedItems: a post always covers everything in the lookback window; leave it out")
    if body.publish_destination is not None:
        refuse_destination("publishDestination")
    names = _UTC if own == DEFAULT_ZONE else {own.key.lower()}
    if zone is not None and zone.lower() not in names and body.lookback in _WHOLE_DAYS:
        window = body.lookback.value
        fault = f"days begin at midnight {own.key} here; for {window}, send '{own.key}' or leave it out"
        refuse_request(f"timezone: '{one_line(zone, 64)}' is not supported: {fault}")


class GenerationStartedBody(TypedDict):
    """The job that was started."""

    job: GenerationJobBody


class GenerationProgressBody(TypedDict):
    """A job and its history."""

    job: GenerationJobBody
    events: list[JobEventBody]


def generation_routes(gate: Gate) -> list[HTTPRouteHandler]:
    operation = Operations(gate, "posts")
    app = gate.app
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
    async def generate_post(key: Caller, command: Sent[GenerationFields]) -> Response[GenerationStartedBody]:
        generation_request = await read_generation(app.stores.directory, key.organization_id, command)
        job = accepted(await app.generator.request(key.organization_id, generation_request))
        location = f"/v1/posts/generate/{job.id}"
        return await gate.answer(key, {"job": GenerationJobBody.of(job)}, location=location)

    @operation("GET /v1/posts/generate/{job_id:str}", "getPostGeneration", "Get a job that writes a post")
    async def generation_job(
        key: Caller, job_id: Annotated[str, Parameter(description="Id of the job.")]
    ) -> Response[GenerationProgressBody]:
        job = await app.stores.jobs.job(key.organization_id, job_id)
        if job is None or not isinstance(job.request, Generation):
            raise Refused(404, {"error": "Job not found"})
        # Without the gate: this response shows no organization, as in the hosted product.
        events = [JobEventBody.of(event) for event in job_events(job)]
        return Response(GenerationProgressBody(job=GenerationJobBody.of(job), events=events))

    return operation.routes
