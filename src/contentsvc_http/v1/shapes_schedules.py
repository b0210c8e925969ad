"""Response schemas of schedules, for the OpenAPI document."""

from typing import Literal, NotRequired, TypedDict, final

from contentsvc_http.v1.output_config import OutputConfigBody


@final
class CronBody(TypedDict):
    """When a schedule fires, in UTC."""

    frequency: Literal["daily", "weekly", "monthly"]
    hour: int
    minute: int
    dayOfWeek: NotRequired[int]
    dayOfMonth: NotRequired[int]


@final
class SourceConfigBody(TypedDict):
    """When a schedule fires."""

    cron: CronBody


@final
class TargetsBody(TypedDict):
    """The repositories that a schedule covers."""

    repositoryIds: list[str]


@final
class ScheduleBody(TypedDict):
    """A schedule."""

    id: str
    organizationId: str
    name: str
    sourceType: Literal["cron"]
    sourceConfig: SourceConfigBody
    targets: TargetsBody
    outputType: Literal["changelog", "blog_post", "linkedin_post", "twitter_post", "investor_update"]
    outputConfig: OutputConfigBody | None
    enabled: bool
    autoPublish: bool
    lookbackWindow: Literal["current_day", "yesterday", "last_7_days", "last_14_days", "last_30_days"]
    nextRunAt: str | None
    createdAt: str
    updatedAt: str


@final
class ScheduleListBody(TypedDict):
    """All schedules, oldest first, and the names of their repositories by id."""

    schedules: list[ScheduleBody]
    repositoryMap: dict[str, str]


@final
class OneScheduleBody(TypedDict):
    """One schedule."""

    schedule: ScheduleBody


@final
class ScheduleRemovedBody(TypedDict):
    """The id of the deleted schedule."""

    id: str
