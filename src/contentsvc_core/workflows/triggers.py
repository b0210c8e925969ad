from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal, Self, cast, final
from zoneinfo import ZoneInfo

from attrs import Factory, evolve, field, frozen
from msgspec import Meta

from contentsvc_core.commands import Command, changing
from contentsvc_core.content.house_style import HouseStyle, style_body
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.style_bodies import OutputConfigBody
from contentsvc_core.content.windows import Lookback, LookbackWindow
from contentsvc_core.events.normalized import Event, Push
from contentsvc_core.identifiers import MAX_REPOSITORY_ID
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.text import one_line
from contentsvc_core.workflows.automations import Automation, Firing
from contentsvc_core.workflows.causes import Generation, Source, source_type
from contentsvc_core.workflows.filters import (
    NO_OPTIONS,
    Batch,
    EventFilter,
    Exclusion,
    TriggerOptions,
    filter_of,
)
from contentsvc_core.workflows.globs import MatchingBudget
from contentsvc_core.workflows.output_settings import AutoPublish, Enabled, OutputType, ascending_ids
from contentsvc_core.workflows.runs import WorkflowRun
from contentsvc_core.zones import day_of, end_of_day, end_of_week, start_of_day, week_of

EVENT_TYPES: Final = ("push", "release")
#: The ``sourceType`` of a trigger for all repositories of all providers.
ANY_SOURCE: Final = "any_webhook"
#: The most triggers of an organization, disabled ones included: one push starts at most this many runs.
MAX_TRIGGERS: Final = 200
UNKNOWN_TRIGGER: Final = Refusal(RefusalKind.NOT_FOUND, "Event trigger not found")
DUPLICATE_TRIGGER: Final = Refusal(RefusalKind.DUPLICATE, "Duplicate event trigger")
#: The trigger was changed concurrently, several times in a row; the client may retry.
TRIGGER_CHANGED: Final = Refusal(RefusalKind.CONFLICT, "Event trigger was changed by another request at the same time")
#: The longest name, in characters.
NAME_LIMIT: Final = 100
#: The time between the end of a window and its run: a delivery that arrived before the end is stored by then.
_BATCH_DELAY: Final = timedelta(seconds=60)
_LOOKBACKS: Final = {Batch.DAILY: Lookback.YESTERDAY, Batch.WEEKLY: Lookback.LAST_7_DAYS}


def _ascending_names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names)))


def _check_event_types(_trigger: object, _attribute: object, value: tuple[str, ...]) -> None:
    unknown = [name for name in value if name not in EVENT_TYPES]
    if unknown:
        message = f"unknown event type {unknown[0]!r}: a trigger takes {' or '.join(EVENT_TYPES)}"
        raise ValueError(message)


def _check_source_type(_trigger: object, _attribute: object, value: str) -> None:
    if not value.endswith(source_type("")):
        message = f"source type {value!r} matches no delivery: a trigger takes {source_type(value)!r} or {ANY_SOURCE!r}"
        raise ValueError(message)


@final
@frozen(kw_only=True)
class Trigger(Automation):
    """A rule that starts a run for matching events of an organization (specification 2.4)."""

    plural: ClassVar[str] = "event triggers"
    at_most: ClassVar[int] = MAX_TRIGGERS
    unknown: ClassVar[Refusal] = UNKNOWN_TRIGGER
    duplicate: ClassVar[Refusal] = DUPLICATE_TRIGGER
    decides: ClassVar[bool] = True

    #: For people; may be empty.
    name: str = ""
    #: ``<provider>_webhook``, or :data:`ANY_SOURCE`.
    source_type: str = field(validator=_check_source_type)
    #: The repositories whose events match, in ascending order; empty: all, if the options say so.
    repository_ids: tuple[int, ...] = field(converter=ascending_ids)
    #: The event types that match; empty: all.
    event_types: tuple[str, ...] = field(converter=_ascending_names, validator=_check_event_types)
    options: TriggerOptions = NO_OPTIONS
    #: Of an enabled trigger that batches: the end of the present window, and its beginning.
    due_at: datetime | None = None
    since: datetime | None = None
    #: The compiled filters; ``None``: every event of its types matches.
    filter: EventFilter | None = field(
        init=False, eq=False, repr=False, default=Factory(lambda self: filter_of(self.options), takes_self=True)
    )

    def watches(self, source_type: str, repository_id: int) -> bool:
        if self.source_type not in {source_type, ANY_SOURCE}:
            return False
        return self.options.all_repositories or repository_id in self.repository_ids

    def why_left_out(self, event: Event, budget: MatchingBudget | None = None) -> Exclusion | None:
        """Return why a filter leaves out an event of one of the trigger's types; ``None``: the event matches."""
        if isinstance(event, Push) and event.off_default and not self.options.branches:
            return Exclusion("branch", f"branch {one_line(event.branch, NAME_LIMIT)} is not the default branch")
        return None if self.filter is None else self.filter.why_left_out(event, budget)

    def reports(self, event: Event) -> bool:
        return (not self.event_types or event.type in self.event_types) and self.why_left_out(event) is None

    def work(self) -> tuple[object, ...]:
        return *super().work(), self.source_type, self.event_types or EVENT_TYPES, self.options

    def due_from(self, now: datetime, zone: ZoneInfo) -> datetime:
        return window_end(self.options.batch, now, zone)

    def firing(self, now: datetime, zone: ZoneInfo, *, sources: Iterable[Source], run_id: str) -> Firing | None:
        if self.due_at is None or self.since is None or not self.enabled or self.due_at > now:
            return None
        batch = self.options.batch
        until = max(self.due_at, latest_end(batch, now, zone))
        cause = Generation(
            trigger_id=self.id,
            content_type=self.output_type,
            lookback=_LOOKBACKS[batch],
            window=LookbackWindow(since=self.since, until=until),
            sources=[each for each in sources if self.watches(source_type(each.provider), each.repository_id)],
            **self.post_settings(),
        )
        run = WorkflowRun(
            id=run_id,
            organization_id=self.organization_id,
            cause=cause,
            created_at=now,
            due_at=max(now, until + _BATCH_DELAY),
        )
        next_due_at = window_end(batch, until, zone)
        return Firing(
            automation_id=self.id, due_at=self.due_at, slot=until, next_due_at=next_due_at, zone=zone, run=run
        )

    def after(self, firing: Firing) -> Self:
        return evolve(self, due_at=firing.next_due_at, since=firing.slot)


def output_config_body(brand_identity_id: str | None, house_style: HouseStyle | None) -> OutputConfigBody | None:
    fields = {"brandIdentityId": brand_identity_id, "houseStyle": style_body(house_style)}
    return cast("OutputConfigBody | None", {name: each for name, each in fields.items() if each is not None} or None)


class TriggerSettings(TriggerOptions, frozen=True, kw_only=True):
    name: Annotated[str, Meta(max_length=NAME_LIMIT, description="Name of the trigger.")] = ""
    output_type: OutputType = ContentType.CHANGELOG
    auto_publish: AutoPublish = False
    enabled: Enabled = True


@final
class CreateTrigger(TriggerSettings, frozen=True, kw_only=True):
    """Create an event trigger."""

    repository_ids: Annotated[
        Sequence[Annotated[int, Meta(ge=1, le=MAX_REPOSITORY_ID)]],
        Meta(description="Connected repositories to watch."),
    ] = ()
    event_types: Annotated[
        Sequence[Literal["push", "release"]],
        Meta(description="Event types that start a run."),
    ] = ()
    brand_identity_id: Annotated[str | None, Meta(description="Brand identity of the posts.")] = None
    #: ``None``: the provider that the repositories are connected at; all providers, if all repositories are watched.
    provider: Annotated[str | None, Meta(description="Provider of the repositories.")] = None
    house_style: HouseStyle | None = None


@final
@changing(CreateTrigger, clears=("brand_identity_id", "house_style", "provider"))
class ChangeTrigger(Command, frozen=True):
    if TYPE_CHECKING:

        def __init__(self, **fields: object) -> None: ...


def matching(
    triggers: Iterable[Trigger],
    *,
    organization_id: str,
    source_type: str,
    repository_id: int,
    event_type: str,
) -> tuple[Trigger, ...]:
    """Return the triggers for a repository's events of a type, before their filters (specification 6.4, step 2)."""
    matched = [
        trigger
        for trigger in triggers
        if trigger.organization_id == organization_id
        and trigger.enabled
        and trigger.watches(source_type, repository_id)
        and (not trigger.event_types or event_type in trigger.event_types)
    ]
    return tuple(matched)


def window_end(batch: Batch, after: datetime, zone: ZoneInfo) -> datetime:
    """Return the first end of a local day or week that is later than ``after``."""
    return end_of_week(zone, after) if batch is Batch.WEEKLY else end_of_day(zone, after)


def latest_end(batch: Batch, at: datetime, zone: ZoneInfo) -> datetime:
    """Return the last end of a local day or week that is not later than ``at``."""
    return start_of_day(zone, week_of(zone, at) if batch is Batch.WEEKLY else day_of(zone, at))


def collecting(trigger: Trigger, now: datetime, zone: ZoneInfo, *, was: Trigger | None = None) -> Trigger:
    """Return a created or changed trigger with the window that its events are collected for."""
    batch = trigger.options.batch
    if batch is Batch.NONE or not trigger.enabled:
        return evolve(trigger, due_at=None, since=None)
    open_window = was if was is not None and was.enabled and was.since is not None else None
    if open_window is not None and open_window.options.batch is batch:
        return evolve(trigger, due_at=open_window.due_at, since=open_window.since)
    return evolve(trigger, due_at=window_end(batch, now, zone), since=now if open_window is None else open_window.since)
