"""Schedules: content that is written at fixed times (decisions, ``/v1``, "Schedules").

A *slot* is a time at which a schedule fires: a minute in the organization's time zone. Each slot fires once, on however
many nodes. Of slots that passed while no server ran, only the latest one fires, when a server runs again.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, final
from zoneinfo import ZoneInfo

import msgspec
from attrs import evolve, field, frozen
from msgspec import Meta

from contentsvc_core.commands import changes_of
from contentsvc_core.content.house_style import HouseStyle
from contentsvc_core.content.windows import DEFAULT_LOOKBACK, Lookback, window_at
from contentsvc_core.identifiers import MAX_REPOSITORY_ID
from contentsvc_core.refusals import Refusal, RefusalKind, too_many
from contentsvc_core.workflows.causes import Generation, Source
from contentsvc_core.workflows.output_settings import Output, OutputSettings, ascending_ids
from contentsvc_core.workflows.runs import RunStatus, WorkflowRun
from contentsvc_core.workflows.slots import Cron, latest_slot, next_slot, nominal_time
from contentsvc_core.zones import DEFAULT_ZONE

NAME_LIMIT: Final = 120
UNKNOWN_SCHEDULE: Final = Refusal(RefusalKind.NOT_FOUND, "Schedule not found")
DUPLICATE_SCHEDULE: Final = Refusal(RefusalKind.DUPLICATE, "Duplicate schedule")
#: The organization's time zone was changed concurrently, several times in a row; the client may retry.
ZONE_CHANGED: Final = Refusal(RefusalKind.CONFLICT, "The time zone was changed by another request at the same time")
#: The most schedules of an organization, disabled ones included: at most this many runs start in one minute.
MAX_SCHEDULES: Final = 100


class ScheduleSettings(OutputSettings, frozen=True, kw_only=True):
    """The fields of a schedule that have the same form in all drivers."""

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


ChangeSchedule = changes_of(CreateSchedule, "ChangeSchedule", clears=("brand_identity_id", "house_style"))

NO_REPOSITORY: Final = "none of the schedule's repositories is connected"


def _some(_schedule: object, _attribute: object, value: tuple[int, ...]) -> None:
    if not value:
        message = "a schedule needs a repository"
        raise ValueError(message)


@final
@frozen(kw_only=True)
class Schedule(Output):
    """A rule that starts runs at fixed times, for chosen repositories."""

    id: str
    organization_id: str
    #: For people; 1 to 120 characters in one line.
    name: str
    cron: Cron
    #: The repositories to report, in ascending order; they may belong to different providers.
    repository_ids: tuple[int, ...] = field(converter=ascending_ids, validator=_some)
    enabled: bool = True
    lookback: Lookback = DEFAULT_LOOKBACK
    created_at: datetime
    updated_at: datetime
    #: The next slot; ``None``: the schedule is disabled.
    due_at: datetime | None
    last_slot: datetime | None = None

    def __attrs_post_init__(self) -> None:
        if self.enabled != (self.due_at is not None):
            message = "a schedule is due at some time when it is enabled, and only then"
            raise ValueError(message)

    def does_the_same_as(self, other: "Schedule") -> bool:
        """Check whether two schedules write the same content at the same times; names and switches do not count."""
        return _content(self) == _content(other)


def _content(schedule: Schedule) -> tuple[object, ...]:
    return (
        schedule.organization_id,
        schedule.cron,
        schedule.repository_ids,
        schedule.output_type,
        schedule.brand_identity_id,
        schedule.house_style,
        schedule.lookback,
    )


def refuse_schedule(existing: Iterable[Schedule], schedule: Schedule, *, at_most: int | None = None) -> Refusal | None:
    others = [each for each in existing if each.id != schedule.id]
    if any(each.does_the_same_as(schedule) for each in others):
        return DUPLICATE_SCHEDULE
    return None if at_most is None or len(others) < at_most else too_many("schedules", at_most)


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


def moved(schedule: Schedule, now: datetime, zone: ZoneInfo) -> Schedule:
    """Return a schedule after its organization moved to another time zone at ``now``; a slot that is due stays due."""
    if schedule.due_at is None or schedule.due_at <= now:
        return schedule
    return evolve(schedule, due_at=due_from(schedule.cron, now, zone, last_slot=schedule.last_slot))


def disabled(schedule: Schedule) -> Schedule:
    return evolve(schedule, enabled=False, due_at=None)


@final
@frozen(kw_only=True)
class DueSchedule:
    id: str
    organization_id: str
    due_at: datetime


@final
@frozen(kw_only=True)
class Firing:
    schedule_id: str
    #: The slot that was due; the store fires only if the schedule is still due at this time.
    due_at: datetime
    slot: datetime
    next_due_at: datetime
    #: The time zone of the slots; a schedule fires only if the organization still has this time zone.
    zone: ZoneInfo = DEFAULT_ZONE
    run: WorkflowRun


def firing(
    schedule: Schedule, now: datetime, zone: ZoneInfo, *, sources: Iterable[Source], run_id: str
) -> Firing | None:
    """Return the firing of a schedule at ``now``; ``None``: the schedule is not due.

    One firing covers all passed slots. Without a connected repository, the run is created as skipped.
    """
    if schedule.due_at is None or schedule.due_at > now:
        return None
    slot = max(schedule.due_at, latest_slot(schedule.cron, now, zone))
    sources = tuple(sources)
    cause = Generation(
        schedule_id=schedule.id,
        content_type=schedule.output_type,
        lookback=schedule.lookback,
        window=window_at(schedule.lookback, slot, zone, local=nominal_time(schedule.cron, slot, zone)),
        sources=sources,
        **schedule.post_settings(),
    )
    return Firing(
        schedule_id=schedule.id,
        due_at=schedule.due_at,
        slot=slot,
        next_due_at=next_slot(schedule.cron, now, zone),
        zone=zone,
        run=WorkflowRun(
            id=run_id,
            organization_id=schedule.organization_id,
            cause=cause,
            status=RunStatus.PENDING if sources else RunStatus.SKIPPED,
            error=None if sources else NO_REPOSITORY,
            created_at=now,
            due_at=now,
        ),
    )
