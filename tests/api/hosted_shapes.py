"""The answers that clients of the hosted product require, from the product's documented fields.

A field without a default is required. Further fields are allowed: clients ignore them.
"""

from typing import Annotated, Any, Final, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType, convert

_Count = Annotated[int, Meta(ge=0)]
_Number = Annotated[int, Meta(ge=1)]
_Kind: TypeAlias = Literal["changelog", "linkedin_post", "twitter_post", "blog_post", "investor_update", "image"]
_Window: TypeAlias = Literal["current_day", "yesterday", "last_7_days", "last_14_days", "last_30_days"]
_Status: TypeAlias = Literal["queued", "running", "completed", "failed", "skipped"]
_Event: TypeAlias = Literal[
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


class _Shape(Struct, rename="camel"):
    pass


class Organization(_Shape):
    id: str
    slug: str
    name: str
    logo: str | None


class Answer(_Shape, kw_only=True):
    organization: Organization


class Post(_Shape):
    id: str
    title: str
    slug: str | None
    content: str
    html_url: str | None
    markdown: str | None
    raw_html: str | None
    recommendations: str | None
    content_type: _Kind
    source_metadata: Any
    status: Literal["draft", "published"]
    created_at: str
    updated_at: str


class Pagination(_Shape):
    limit: _Number
    current_page: _Number
    next_page: _Number | None
    previous_page: _Number | None
    total_pages: _Number
    total_items: _Count


class Posts(Answer):
    posts: list[Post]
    pagination: Pagination


class OnePost(Answer):
    post: Post


class Gone(Answer):
    id: str


class Disabled(_Shape):
    id: str
    name: str


class GoneWithOthers(Gone):
    disabled_schedules: list[Disabled]
    disabled_events: list[Disabled]


class Job(_Shape):
    id: str
    organization_id: str
    status: _Status
    content_type: _Kind
    lookback_window: _Window
    repository_ids: list[str]
    brand_voice_id: str | None
    workflow_run_id: str | None
    post_id: str | None
    error: str | None
    source: Literal["api", "dashboard"]
    created_at: str
    updated_at: str
    completed_at: str | None


class JobEvent(_Shape):
    id: str
    job_id: str
    type: _Event
    message: str
    created_at: str
    metadata: dict[str, Any] | None


class StartedJob(Answer):
    job: Job


class FollowedJob(_Shape):
    job: Job
    events: list[JobEvent]
    #: The only answer without an organization.
    organization: UnsetType = UNSET


class Brand(_Shape):
    id: str
    name: str
    is_default: bool
    website_url: str
    company_name: str | None
    company_description: str | None
    tone_profile: str | None
    custom_tone: str | None
    custom_instructions: str | None
    audience: str | None
    language: str | None
    created_at: str
    updated_at: str


class Brands(Answer):
    brand_identities: list[Brand]


class OneBrand(Answer):
    brand_identity: Brand


class BrandJob(_Shape):
    id: str
    organization_id: str
    brand_identity_id: str
    status: Literal["queued", "running", "completed", "failed"]
    step: Literal["scraping", "extracting", "saving"] | None
    current_step: _Count
    total_steps: _Number
    workflow_run_id: str | None
    error: str | None
    created_at: str
    updated_at: str
    completed_at: str | None


class OneBrandJob(Answer):
    job: BrandJob


class Integration(_Shape):
    id: str
    display_name: str
    owner: str | None
    repo: str | None
    default_branch: str | None


class Integrations(Answer):
    github: list[Integration]
    slack: Annotated[list[Any], Meta(max_length=0)]
    linear: Annotated[list[Any], Meta(max_length=0)]


class OneIntegration(Answer):
    github: Integration


class Targets(_Shape):
    repository_ids: Annotated[list[str], Meta(min_length=1)]


class OutputConfig(_Shape):
    brand_voice_id: str | UnsetType = UNSET
    publish_destination: Literal["webflow", "framer", "custom"] | UnsetType = UNSET
    #: This service's name of ``brandVoiceId``: a client that changes one of the two and sends both is refused.
    brand_identity_id: UnsetType = UNSET


class Cron(_Shape):
    frequency: Literal["daily", "weekly", "monthly", "custom"]
    hour: Annotated[int, Meta(ge=0, le=23)]
    minute: Annotated[int, Meta(ge=0, le=59)]
    day_of_week: Annotated[int, Meta(ge=0, le=6)] | UnsetType = UNSET
    day_of_month: Annotated[int, Meta(ge=1, le=31)] | UnsetType = UNSET


class CronSource(_Shape):
    cron: Cron


class Schedule(_Shape):
    id: str
    organization_id: str
    name: str
    source_type: Literal["cron"]
    source_config: CronSource
    targets: Targets
    output_type: _Kind
    enabled: bool
    auto_publish: bool
    lookback_window: _Window
    created_at: str
    updated_at: str
    output_config: OutputConfig | UnsetType | None = UNSET


class Schedules(Answer):
    schedules: list[Schedule]
    repository_map: dict[str, str]


class OneSchedule(Answer):
    schedule: Schedule


class EventSource(_Shape):
    event_types: Annotated[list[Literal["push", "release"]], Meta(min_length=1)]
    include_pre_releases: bool
    ignore_commit_patterns: list[str]


class EventTrigger(_Shape):
    id: str
    organization_id: str
    name: str
    source_type: Literal["github_webhook"]
    source_config: EventSource
    targets: Targets
    output_type: _Kind
    enabled: bool
    auto_publish: bool
    created_at: str
    updated_at: str
    output_config: OutputConfig | UnsetType | None = UNSET


class EventTriggers(Answer):
    event_triggers: list[EventTrigger]
    repository_map: dict[str, str]


class OneEventTrigger(Answer):
    event_trigger: EventTrigger


class Error(_Shape):
    error: Annotated[str, Meta(min_length=1)]
    code: str | UnsetType = UNSET
    recovery: str | UnsetType = UNSET


class RateLimited(_Shape):
    error: Literal["Rate limit exceeded"]
    limit: _Number
    remaining: Annotated[int, Meta(ge=0, le=0)]
    #: A time in milliseconds: later than 2001, also with a manual clock.
    reset: Annotated[int, Meta(ge=10**12)]


#: The status and the body's type of a success, and the documented method, by ``METHOD path``. ``GET /v1/status`` is
#: missing: clients expect the product's name there.
SUCCESSES: Final[dict[str, tuple[int, type[Struct], str]]] = {
    "GET /v1/posts": (200, Posts, "listPosts"),
    "GET /v1/posts/{postId}": (200, OnePost, "getPost"),
    "PATCH /v1/posts/{postId}": (200, OnePost, "updatePost"),
    "DELETE /v1/posts/{postId}": (200, Gone, "deletePost"),
    "POST /v1/posts/generate": (202, StartedJob, "createPostGeneration"),
    "GET /v1/posts/generate/{jobId}": (200, FollowedJob, "getPostGeneration"),
    "GET /v1/brand-identities": (200, Brands, "listBrandIdentities"),
    "GET /v1/brand-identities/{brandIdentityId}": (200, OneBrand, "getBrandIdentity"),
    "PATCH /v1/brand-identities/{brandIdentityId}": (200, OneBrand, "updateBrandIdentity"),
    "DELETE /v1/brand-identities/{brandIdentityId}": (200, GoneWithOthers, "deleteBrandIdentity"),
    "POST /v1/brand-identities/generate": (202, OneBrandJob, "createBrandIdentity"),
    "GET /v1/brand-identities/generate/{jobId}": (200, OneBrandJob, "getBrandIdentityGeneration"),
    "GET /v1/integrations": (200, Integrations, "listIntegrations"),
    "POST /v1/integrations/github": (201, OneIntegration, "createGitHubIntegration"),
    "DELETE /v1/integrations/{integrationId}": (200, GoneWithOthers, "deleteIntegration"),
    "GET /v1/schedules": (200, Schedules, "listSchedules"),
    "POST /v1/schedules": (201, OneSchedule, "createSchedule"),
    "PATCH /v1/schedules/{scheduleId}": (200, OneSchedule, "updateSchedule"),
    "DELETE /v1/schedules/{scheduleId}": (200, Gone, "deleteSchedule"),
    "GET /v1/event-triggers": (200, EventTriggers, "listEventTriggers"),
    "POST /v1/event-triggers": (201, OneEventTrigger, "createEventTrigger"),
    "GET /v1/event-triggers/{triggerId}": (200, OneEventTrigger, "getEventTrigger"),
    "PATCH /v1/event-triggers/{triggerId}": (200, OneEventTrigger, "updateEventTrigger"),
    "DELETE /v1/event-triggers/{triggerId}": (200, Gone, "deleteEventTrigger"),
}


def check(operation: str, status: int, body: object) -> None:
    """Raise an error unless clients of the hosted product can read an answer."""
    if status == 429:
        convert(body, RateLimited)
    elif status >= 400:
        convert(body, Error)
    elif operation in SUCCESSES:
        expected, shape, _ = SUCCESSES[operation]
        assert status == expected
        convert(body, shape)
    elif operation not in {"GET /v1/organization", "PATCH /v1/organization"}:
        # An operation that the hosted product does not have; two of them return the organization itself.
        convert(body, Answer)
