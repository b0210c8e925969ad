"""Schedules: content that is written at fixed times (decisions, ``/v1``, "Schedules").

A *slot* is a time at which a schedule fires: a minute in the organization's time zone. Each slot fires once, on however
many nodes. Of slots that passed while no server ran, only the latest one fires, when a server runs again.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Self, final
from zoneinfo import ZoneInfo

import msgspec
from attrs import evolve, field, frozen
from msgspec import Meta

from contentsvc_core.commands import Command, changing
from contentsvc_core.content.house_style import HouseStyle
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.windows import DEFAULT_LOOKBACK, Lookback, window_at
from contentsvc_core.identifiers import MAX_REPOSITORY_ID
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.workflows.automations import Automation, Firing
from contentsvc_core.workflows.causes import Generation, Source
from contentsvc_core.workflows.output_settings import AutoPublish, Enabled, OutputType, ascending_ids
from contentsvc_core.workflows.runs import RunStatus, WorkflowRun
from contentsvc_core.workflows.slots import Cron, latest_slot, next_slot, nominal_time

#: The longest name, in characters, as in the hosted product (decision 0039).
NAME_LIMIT: Final = 120
UNKNOWN_SCHEDULE: Final = Refusal(RefusalKind.NOT_FOUND, "Schedule not found")
DUPLICATE_SCHEDULE: Final = Refusal(RefusalKind.DUPLICATE, "Duplicate schedule")
#: The most schedules of an organization, disabled ones included: at most this many runs start in one minute.
MAX_SCHEDULES: Final = 100


class ScheduleSettings(Command, frozen=True, kw_only=True):
    """The fields of a schedule that have the same form in all drivers."""

    output_type: OutputType = ContentType.CHANGELOG
    auto_publish: AutoPublish = False
    enabled: Enabled = True
    name: Annotated[str, Meta(max_length=NAME_LIMIT, description="Name of the schedule.")]
    lookback: Annotated[Lookback, Meta(description="Time window of each post.")] = msgspec.field(
        default=DEFAULT_LOOKBACK, name="lookbackWindow"
    )


@final
class CreateSchedule(ScheduleSettings, frozen=True, kw_only=True):
    """Create a schedule."""

    repository_ids: Annotated[
        Sequence[Annotated[int, Meta(ge=1, le=MAX_REPOSITORY_ID)]],
        Meta(description="Connected repositories that the schedule covers."),
    ]
    cron: Cron
    brand_identity_id: Annotated[str | None, Meta(description="Brand identity of the posts.")] = None
    house_style: HouseStyle | None = None


@final
@changing(CreateSchedule, clears=("brand_identity_id", "house_style"))
class ChangeSchedule(Command, frozen=True):
    if TYPE_CHECKING:

        def __init__(self, **fields: object) -> None: ...


NO_REPOSITORY: Final = "none of the schedule's repositories is connected"


def _some(_schedule: object, _attribute: object, value: tuple[int, ...]) -> None:
    if not value:
        message = "a schedule needs a repository"
        raise ValueError(message)


@final
@frozen(kw_only=True)
class Schedule(Automation):
    """A rule that starts runs at fixed times, for chosen repositories."""

    plural: ClassVar[str] = "schedules"
    at_most: ClassVar[int] = MAX_SCHEDULES
    unknown: ClassVar[Refusal] = UNKNOWN_SCHEDULE
    duplicate: ClassVar[Refusal] = DUPLICATE_SCHEDULE
    decides: ClassVar[bool] = False

    #: For people; 1 to 120 characters in one line.
    name: str
    cron: Cron
    #: The repositories to report, in ascending order; they may belong to different providers.
    repository_ids: tuple[int, ...] = field(converter=ascending_ids, validator=_some)
    lookback: Lookback = DEFAULT_LOOKBACK
    updated_at: datetime
    last_slot: datetime | None = None

    def __attrs_post_init__(self) -> None:
        if self.enabled != (self.due_at is not None):
            message = "a schedule is due at some time when it is enabled, and only then"
            raise ValueError(message)

    def work(self) -> tuple[object, ...]:
        return *super().work(), self.cron, self.lookback

    def due_from(self, now: datetime, zone: ZoneInfo) -> datetime:
        return due_from(self.cron, now, zone, last_slot=self.last_slot)

    def firing(self, now: datetime, zone: ZoneInfo, *, sources: Iterable[Source], run_id: str) -> Firing | None:
        """Return the firing at ``now``; ``None``: not due. Without a connected repository, the run is skipped."""
        if self.due_at is None or self.due_at > now:
            return None
        slot = max(self.due_at, latest_slot(self.cron, now, zone))
        sources = tuple(source for source in sources if source.repository_id in self.repository_ids)
        cause = Generation(
            schedule_id=self.id,
            content_type=self.output_type,
            lookback=self.lookback,
            window=window_at(self.lookback, slot, zone, local=nominal_time(self.cron, slot, zone)),
            sources=sources,
            **self.post_settings(),
        )
        run = WorkflowRun(
            id=run_id,
            organization_id=self.organization_id,
            cause=cause,
            status=RunStatus.PENDING if sources else RunStatus.SKIPPED,
            error=None if sources else NO_REPOSITORY,
            created_at=now,
            due_at=now,
        )
        next_due_at = next_slot(self.cron, now, zone)
        return Firing(automation_id=self.id, due_at=self.due_at, slot=slot, next_due_at=next_due_at, zone=zone, run=run)

    def after(self, firing: Firing) -> Self:
        return evolve(self, due_at=firing.next_due_at, last_slot=firing.slot)


def due_from(cron: Cron, now: datetime, zone: ZoneInfo, *, last_slot: datetime | None) -> datetime:
    """Return the first slot from ``now`` on. A slot that has fired does not fire again after a clock step."""
    return next_slot(cron, now if last_slot is None else max(now, last_slot), zone)


def changed(schedule: Schedule, now: datetime, zone: ZoneInfo, changes: Mapping[str, Any]) -> Schedule:
    """Return a schedule with changes made at ``now``. Enabling and other times compute its next slot anew."""
    enabled = changes.get("enabled", schedule.enabled)
    cron = changes.get("cron", schedule.cron)
    due_at = schedule.due_at
    if not enabled:
        due_at = None
    elif due_at is None or cron != schedule.cron:
        due_at = due_from(cron, now, zone, last_slot=schedule.last_slot)
    return evolve(schedule, **changes, due_at=due_at, updated_at=now)


def disabled(schedule: Schedule) -> Schedule:
    return evolve(schedule, enabled=False, due_at=None)
