from collections.abc import Iterable
from typing import Any, Literal, Self, TypedDict, cast

import msgspec

from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.style_bodies import OutputConfigBody
from contentsvc_core.content.windows import Lookback
from contentsvc_core.events.normalized import EventType
from contentsvc_core.schemas import body_of
from contentsvc_core.timestamps import iso_ms
from contentsvc_core.workflows.filters import TriggerOptions
from contentsvc_core.workflows.schedules import Schedule
from contentsvc_core.workflows.slots import Frequency, cron_body
from contentsvc_core.workflows.triggers import Trigger, output_config_body


class TriggerTargetsBody(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The repositories that a trigger watches."""

    repository_ids: list[str]


class TriggerSourceBody(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The event types that start a run; empty: all."""

    event_types: list[EventType]


class TriggerBody(TriggerOptions, frozen=True, kw_only=True, omit_defaults=True):
    """An event trigger (specification 2.4). An option that is not set is absent."""

    id: str
    organization_id: str
    name: str
    source_type: str
    enabled: bool
    targets: TriggerTargetsBody
    source_config: TriggerSourceBody
    output_type: ContentType
    output_config: OutputConfigBody | None
    auto_publish: bool
    created_at: str

    @classmethod
    def of(cls, trigger: Trigger, **changes: Any) -> Self:  # noqa: ANN401  # fields of a subclass
        fields: dict[str, Any] = {
            **{name: getattr(trigger.options, name) for name in TriggerOptions.__struct_fields__},
            "targets": TriggerTargetsBody(repository_ids=[str(number) for number in trigger.repository_ids]),
            "source_config": TriggerSourceBody(event_types=listed(trigger.event_types)),
            "output_config": output_config_body(trigger.brand_identity_id, trigger.house_style),
        }
        return body_of(cls, trigger, **fields | changes)


def listed(event_types: Iterable[str]) -> list[EventType]:
    return [cast("EventType", each) for each in event_types]


class TriggerListBody(TypedDict):
    """An organization's event triggers, oldest first."""

    eventTriggers: list[TriggerBody]


class OneTriggerBody(TypedDict):
    """An event trigger."""

    eventTrigger: TriggerBody


class CronBody(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """When a schedule fires, in the organization's time zone."""

    frequency: Frequency
    hour: int
    minute: int
    day_of_week: int | msgspec.UnsetType = msgspec.UNSET
    day_of_month: int | msgspec.UnsetType = msgspec.UNSET


class SourceConfigBody(msgspec.Struct, frozen=True, kw_only=True):
    """When a schedule fires."""

    cron: CronBody


class TargetsBody(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The repositories that a schedule covers."""

    repository_ids: list[str]


class ScheduleBody(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A schedule."""

    id: str
    organization_id: str
    name: str
    source_type: Literal["cron"] = "cron"
    source_config: SourceConfigBody
    targets: TargetsBody
    output_type: ContentType
    output_config: OutputConfigBody | None
    enabled: bool
    auto_publish: bool
    lookback_window: Lookback
    next_run_at: str | None
    created_at: str
    updated_at: str

    @classmethod
    def of(cls, schedule: Schedule, **changes: Any) -> Self:  # noqa: ANN401  # fields with another form
        fields: dict[str, Any] = {
            "source_config": SourceConfigBody(cron=msgspec.convert(cron_body(schedule.cron), CronBody)),
            "targets": TargetsBody(repository_ids=[str(number) for number in schedule.repository_ids]),
            "output_config": output_config_body(schedule.brand_identity_id, schedule.house_style),
            "lookback_window": schedule.lookback,
            "next_run_at": None if schedule.due_at is None else iso_ms(schedule.due_at),
        }
        return body_of(cls, schedule, **fields | changes)
