"""Schedules: content that is written at fixed times (decisions, ``/v1``, "Schedules").

A *slot* is a time at which a schedule fires: a whole minute in UTC. Each slot fires once, on however many nodes. Of
slots that passed while no server ran, only the latest one fires, when a server runs again.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final, final

from attrs import evolve, field, frozen

from contentsvc_core.content.house_style import HouseStyle
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.windows import DEFAULT_LOOKBACK, Lookback, window_at
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.timestamps import iso_ms
from contentsvc_core.workflows.causes import Generation, Source
from contentsvc_core.workflows.runs import RunStatus, WorkflowRun
from contentsvc_core.workflows.slots import Cron, cron_body, latest_slot, next_slot
from contentsvc_core.workflows.triggers import output_config_body

#: The only ``sourceType`` of schedules.
SOURCE_TYPE: Final = "cron"
NAME_LIMIT: Final = 120
UNKNOWN_SCHEDULE: Final = Refusal(RefusalKind.NOT_FOUND, "Schedule not found")
#: Another schedule of the organization does the same.
DUPLICATE_SCHEDULE: Final = Refusal(RefusalKind.DUPLICATE, "Duplicate schedule")
#: The most schedules of an organization, disabled ones included: at most this many runs start in one minute.
MAX_SCHEDULES: Final = 100
#: The reason of a skipped run whose schedule found no connected repository when it fired.
NO_REPOSITORY: Final = "none of the schedule's repositories is connected"


def _ascending(ids: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(set(ids)))


def _some(_schedule: object, _attribute: object, value: tuple[int, ...]) -> None:
    if not value:
        message = "a schedule needs a repository"
        raise ValueError(message)


@final
@frozen(kw_only=True)
class Schedule:
    """Starts a run that writes content at fixed times."""

    id: str
    organization_id: str
    #: For people; 1 to 120 characters in one line.
    name: str
    cron: Cron
    #: The repositories to report, in ascending order; they may belong to different providers.
    repository_ids: tuple[int, ...] = field(converter=_ascending, validator=_some)
    #: The content type of its posts.
    output_type: ContentType
    #: ``None``: the organization's default identity.
    brand_identity_id: str | None = None
    enabled: bool = True
    #: True: its posts are published at once; False: they are drafts.
    auto_publish: bool = False
    #: Overrides the organization's house style; ``None``: no override.
    house_style: HouseStyle | None = None
    lookback: Lookback = DEFAULT_LOOKBACK
    created_at: datetime
    updated_at: datetime
    #: The next slot; ``None``: the schedule is disabled.
    due_at: datetime | None
    #: The last slot that has fired.
    last_slot: datetime | None = None

    def __attrs_post_init__(self) -> None:
        if self.enabled != (self.due_at is not None):
            message = "a schedule is due at some time when it is enabled, and only then"
            raise ValueError(message)

    def does_the_same_as(self, other: "Schedule") -> bool:
        """Check whether two schedules of an organization would write the same content at the same times.

        Name, ``enabled`` and ``auto_publish`` do not count: they do not change the content.
        """
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


def due_from(cron: Cron, now: datetime, *, last_slot: datetime | None) -> datetime:
    """Return the first slot of a schedule that is created, changed or enabled at ``now``.

    A slot that has fired does not fire again, even when the clock was stepped back since.
    """
    return next_slot(cron, now if last_slot is None else max(now, last_slot))


def changed(schedule: Schedule, now: datetime, changes: Mapping[str, Any]) -> Schedule:
    """Return a schedule with changes made at ``now``; repeated calls return the same schedule.

    When the schedule is enabled or its times change, its next slot is computed anew; else the slot stays, so that none
    is missed.
    """
    enabled = changes.get("enabled", schedule.enabled)
    cron = changes.get("cron", schedule.cron)
    due_at = schedule.due_at
    if not enabled:
        due_at = None
    elif due_at is None or cron != schedule.cron:
        due_at = due_from(cron, now, last_slot=schedule.last_slot)
    return evolve(schedule, **changes, due_at=due_at, updated_at=now)


def disabled(schedule: Schedule) -> Schedule:
    """Return a disabled schedule, because a resource that it needs was deleted."""
    return evolve(schedule, enabled=False, due_at=None)


@final
@frozen(kw_only=True)
class DueSchedule:
    """A schedule that may fire."""

    id: str
    organization_id: str
    #: The slot that is due.
    due_at: datetime


@final
@frozen(kw_only=True)
class Firing:
    """The effects of a firing schedule: its run and its next slot."""

    schedule_id: str
    #: The slot that was due; the store fires only if the schedule is still due at this time.
    due_at: datetime
    #: The slot that fires.
    slot: datetime
    next_due_at: datetime
    run: WorkflowRun


def firing(schedule: Schedule, now: datetime, *, sources: Iterable[Source], run_id: str) -> Firing | None:
    """Return the firing of a schedule at ``now``; ``None``: the schedule is not due.

    One firing covers all passed slots, with the window of the latest. Without a connected repository, the run is
    created as skipped, so that users see the reason.
    """
    if schedule.due_at is None or schedule.due_at > now:
        return None
    slot = max(schedule.due_at, latest_slot(schedule.cron, now))
    sources = tuple(sources)
    cause = Generation(
        schedule_id=schedule.id,
        content_type=schedule.output_type,
        lookback=schedule.lookback,
        window=window_at(schedule.lookback, slot),
        sources=sources,
        brand_identity_id=schedule.brand_identity_id,
        auto_publish=schedule.auto_publish,
    )
    return Firing(
        schedule_id=schedule.id,
        due_at=schedule.due_at,
        slot=slot,
        next_due_at=next_slot(schedule.cron, now),
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


def schedule_body(schedule: Schedule) -> dict[str, Any]:
    """Return a schedule's wire form (decisions); repository ids are strings in every answer."""
    return {
        "id": schedule.id,
        "organizationId": schedule.organization_id,
        "name": schedule.name,
        "sourceType": SOURCE_TYPE,
        "sourceConfig": {"cron": cron_body(schedule.cron)},
        "targets": {"repositoryIds": [str(number) for number in schedule.repository_ids]},
        "outputType": schedule.output_type.value,
        "outputConfig": output_config_body(schedule.brand_identity_id, schedule.house_style),
        "enabled": schedule.enabled,
        "autoPublish": schedule.auto_publish,
        "lookbackWindow": schedule.lookback.value,
        "nextRunAt": None if schedule.due_at is None else iso_ms(schedule.due_at),
        "createdAt": iso_ms(schedule.created_at),
        "updatedAt": iso_ms(schedule.updated_at),
    }
