"""Causes of workflow runs: the closed union of everything that starts a run."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import ClassVar, Final, assert_never, final

from attrs import field, frozen

from contentsvc_core.content.packages import package_tag
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.windows import Lookback, LookbackWindow
from contentsvc_core.events.normalized import Event, Push, Release
from contentsvc_core.events.summaries import EventSummary
from contentsvc_core.organizations import Integration
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.timestamps import read_iso
from contentsvc_core.values import Value
from contentsvc_core.workflows.output_settings import OutputFields

#: The earliest date that counts. Earlier ones come from clocks that were never set, which begin in 1970 or 1980.
EARLIEST: Final = datetime(1990, 1, 1, tzinfo=UTC)
_LAST_MOMENT: Final = timedelta(milliseconds=1)


def source_type(provider: str) -> str:
    return f"{provider}_webhook"


class TriggerMatch(Value, frozen=True, kw_only=True):
    trigger_id: str
    provider: str
    repository_id: int
    repository: str
    delivery_id: str
    #: The delivery is a replay that a user requested: its run may report the same release again.
    replayed: bool = False

    @property
    def started_by(self) -> str:
        return self.trigger_id


@final
class Delivered(TriggerMatch, frozen=True, kw_only=True):
    """A delivery that matched a trigger."""

    event: Event

    @property
    def once_key(self) -> str | None:
        """Return the key of the one post about a release, which code hosts may announce twice; ``None``: no limit."""
        return None if self.replayed else once_key(self.trigger_id, self.repository_id, self.event)

    @property
    def shares_a_post(self) -> bool:
        """Check whether one post may also report other packages' releases of the commit. A replay has its own post."""
        event = self.event
        return self.once_key is not None and isinstance(event, Release) and package_tag(event.tag_name) is not None


def once_key(trigger_id: str, repository_id: int, event: Event) -> str | None:
    """Return the key of one release for one trigger; ``None``: the event is no release, or has no publication time."""
    if not isinstance(event, Release) or event.published_at is None:
        return None
    # The free text last and the rest without slashes: no two keys share a spelling.
    return f"{trigger_id}/{repository_id}/{event.published_at.replace('/', '%2F')}/{event.tag_name}"


@final
class ListedDelivery(TriggerMatch, frozen=True, kw_only=True):
    event: EventSummary


@final
@frozen(kw_only=True)
class Source:
    provider: str
    repository_id: int
    full_name: str


def sources_of(integrations: Iterable[Integration]) -> list[Source]:
    return [
        Source(provider=integration.provider, repository_id=repository.id, full_name=repository.full_name)
        for integration in integrations
        for repository in integration.repositories
    ]


@final
@frozen(kw_only=True)
class Generation(OutputFields):
    """A request for content about a window, by a job, a schedule or a trigger with a batch."""

    kind: ClassVar[str] = "generation"

    #: The job, the schedule or the trigger with a batch that started the run; exactly one is set.
    job_id: str | None = None
    schedule_id: str | None = None
    trigger_id: str | None = None
    content_type: ContentType
    lookback: Lookback
    window: LookbackWindow
    sources: tuple[Source, ...] = field(converter=tuple[Source, ...])
    include_commits: bool = True
    include_releases: bool = True

    def __attrs_post_init__(self) -> None:
        if [self.job_id, self.schedule_id, self.trigger_id].count(None) != 2:  # noqa: PLR2004  # exactly one of the three is set
            message = "a generation belongs to a job, to a schedule or to a trigger"
            raise ValueError(message)

    @property
    def started_by(self) -> str:
        return self.job_id or self.schedule_id or self.trigger_id or ""


@final
@frozen(kw_only=True)
class SiteReading:
    kind: ClassVar[str] = "site_reading"

    job_id: str
    name: str | None
    website_url: str

    @property
    def started_by(self) -> str:
        return self.job_id


Cause = Delivered | Generation | SiteReading
"""A closed union: a new cause fails type checking wherever causes are distinguished, until it is handled there."""

ListedCause = ListedDelivery | Generation | SiteReading
"""The data of a cause in lists: all but events."""


def listed_cause(cause: Cause) -> ListedCause:
    if not isinstance(cause, Delivered):
        return cause
    return ListedDelivery(
        trigger_id=cause.trigger_id,
        provider=cause.provider,
        repository_id=cause.repository_id,
        repository=cause.repository,
        delivery_id=cause.delivery_id,
        replayed=cause.replayed,
        event=EventSummary.of(cause.event),
    )


def occurred_at(cause: Delivered | Generation, received_at: datetime) -> datetime:
    """Return the time of the events that a run reports: publication, newest commit, or end of the window.

    A date that is not between :data:`EARLIEST` and ``received_at``, the arrival, or cannot be read, counts as that.
    """
    match cause:
        case Delivered():
            at = _dated(cause.event)
        case Generation():
            at = cause.window.until - _LAST_MOMENT
        case _:
            assert_never(cause)
    return at if at is not None and EARLIEST <= at <= received_at else received_at


def _dated(event: Event) -> datetime | None:
    match event:
        case Release():
            return None if event.published_at is None else read_iso(event.published_at)
        case Push():
            # Commits that were rebased or merged are in no order of time.
            return max((at for commit in event.commits if (at := read_iso(commit.timestamp)) is not None), default=None)
        case _:
            assert_never(event)


def unknown_repository(named: int | str, where: str = "") -> Refusal:
    fault = f"Unknown repository: {named} is not connected{where}"
    return Refusal(RefusalKind.UNSUITABLE, fault, "repository_ids")
