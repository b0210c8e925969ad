"""Automations: the triggers and the schedules of organizations, which start runs."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from datetime import datetime
from typing import ClassVar, Final, Self, TypeVar, final
from zoneinfo import ZoneInfo

from attrs import evolve, frozen

from contentsvc_core.content.house_style import HouseStyle
from contentsvc_core.content.posts import ContentType
from contentsvc_core.refusals import Refusal, RefusalKind, too_many
from contentsvc_core.workflows.output_settings import OutputFields
from contentsvc_core.workflows.runs import WorkflowRun
from contentsvc_core.zones import DEFAULT_ZONE

#: The organization's time zone was changed concurrently, several times in a row; the client may retry.
ZONE_CHANGED: Final = Refusal(RefusalKind.CONFLICT, "The time zone was changed by another request at the same time")


@final
@frozen(kw_only=True)
class DueAutomation:
    id: str
    organization_id: str
    due_at: datetime


@final
@frozen(kw_only=True)
class Firing:
    automation_id: str
    #: The slot that was due; the store fires only if the automation is still due at this time.
    due_at: datetime
    slot: datetime
    next_due_at: datetime
    #: The time zone of the slots; an automation fires only if the organization still has this time zone.
    zone: ZoneInfo = DEFAULT_ZONE
    run: WorkflowRun


@frozen(kw_only=True)
class Automation(OutputFields, ABC):
    """What a trigger and a schedule have in common."""

    #: The word for several of its kind, the most of an organization, and the refusals of changes.
    plural: ClassVar[str]
    at_most: ClassVar[int]
    unknown: ClassVar[Refusal]
    duplicate: ClassVar[Refusal]
    #: Whether decisions on deliveries depend on it: each change raises the organization's version.
    decides: ClassVar[bool]

    id: str
    organization_id: str
    enabled: bool = True
    repository_ids: tuple[int, ...]
    output_type: ContentType
    house_style: HouseStyle | None = None
    created_at: datetime
    #: The time at which it fires next; ``None``: never.
    due_at: datetime | None

    def work(self) -> tuple[object, ...]:
        """Return what determines its posts; names and switches do not count."""
        output = self.output_type, self.brand_identity_id, self.house_style
        return self.organization_id, self.repository_ids, *output

    def does_the_same_as(self, other: Self) -> bool:
        """Check whether two write the same; an organization has only one of them (decisions, ``/v1``)."""
        return self.work() == other.work()

    @abstractmethod
    def due_from(self, now: datetime, zone: ZoneInfo) -> datetime:
        """Return the first time after ``now`` at which it fires in a time zone."""

    def moved(self, now: datetime, zone: ZoneInfo) -> Self:
        """Return it after its organization moved to another time zone at ``now``; a due time that has come stays."""
        if self.due_at is None or self.due_at <= now:
            return self
        return evolve(self, due_at=self.due_from(now, zone))

    @abstractmethod
    def after(self, firing: Firing) -> Self:
        """Return it after a firing."""

    def awaits(self, firing: Firing) -> bool:
        return self.enabled and self.due_at == firing.due_at


_Automation = TypeVar("_Automation", bound=Automation)


def refuse_addition(existing: Collection[_Automation], new: _Automation, *, at_most: int | None) -> Refusal | None:
    if any(new.does_the_same_as(other) for other in existing):
        return new.duplicate
    most = new.at_most if at_most is None else at_most
    return too_many(new.plural, most) if len(existing) >= most else None


def changed_automation(
    kind: type[_Automation],
    existing: Collection[_Automation],
    id_: str,
    change: Callable[[_Automation], _Automation | Refusal],
) -> _Automation | Refusal:
    current = next((each for each in existing if each.id == id_), None)
    if current is None:
        return kind.unknown
    changed = change(current)
    if isinstance(changed, Refusal):
        return changed
    # It may keep its function: duplicates may be older than this rule.
    if not changed.does_the_same_as(current) and any(changed.does_the_same_as(other) for other in existing):
        return kind.duplicate
    return changed
