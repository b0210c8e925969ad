"""Automations: the triggers and the schedules of organizations, which start runs."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable
from datetime import datetime
from typing import ClassVar, Final, Self, TypeVar, final
from zoneinfo import ZoneInfo

from attrs import evolve, frozen

from contentsvc_core.content.house_style import HouseStyle
from contentsvc_core.content.posts import ContentType
from contentsvc_core.refusals import Refusal, RefusalKind, too_many
from contentsvc_core.workflows.causes import Source
from contentsvc_core.workflows.output_settings import OutputFields
from contentsvc_core.workflows.runs import WorkflowRun
from contentsvc_core.zones import DEFAULT_ZONE, zone_fault

#: Maximum number of repositories of one trigger or schedule; more would be a mistake.
MAX_REPOSITORIES: Final = 100


def too_many_repositories(resource: str, repository_ids: Collection[int]) -> Refusal | None:
    if len(set(repository_ids)) <= MAX_REPOSITORIES:
        return None
    fault = f"a {resource} has at most {MAX_REPOSITORIES} repositories: choose fewer"
    return Refusal(RefusalKind.UNSUITABLE, fault, "repository_ids")


@final
@frozen(kw_only=True)
class DueAutomation:
    """An automation whose time has come."""

    id: str
    organization_id: str
    due_at: datetime


@final
@frozen(kw_only=True)
class Firing:
    """A run that an automation starts at its due time, and the automation's next due time."""

    automation_id: str
    #: The slot or window end that was due; the store fires only if the automation is still due at this time.
    due_at: datetime
    slot: datetime
    next_due_at: datetime
    #: The time zone of the slots; an automation fires only if the organization still has this time zone.
    zone: ZoneInfo = DEFAULT_ZONE
    run: WorkflowRun


@frozen(kw_only=True)
class Automation(OutputFields, ABC):
    """The common fields and rules of triggers and schedules."""

    #: The name of the kind in refusals.
    plural: ClassVar[str]
    #: The maximum number of the kind in an organization.
    at_most: ClassVar[int]
    unknown: ClassVar[Refusal]
    duplicate: ClassVar[Refusal]
    #: Whether decisions on deliveries depend on the kind: then each change raises the organization's version.
    decides: ClassVar[bool]

    id: str
    organization_id: str
    enabled: bool = True
    repository_ids: tuple[int, ...]
    output_type: ContentType
    house_style: HouseStyle | None = None
    created_at: datetime
    #: The time of the next firing; ``None``: never.
    due_at: datetime | None

    def work(self) -> tuple[object, ...]:
        """Return the fields that determine the posts; names and switches do not count."""
        output = self.output_type, self.brand_identity_id, self.house_style
        return self.organization_id, self.repository_ids, *output

    def does_the_same_as(self, other: Self) -> bool:
        """Check whether two automations write the same posts; an organization may have only one of them."""
        return self.work() == other.work()

    @abstractmethod
    def due_from(self, now: datetime, zone: ZoneInfo) -> datetime:
        """Return the time of the first firing after ``now`` in a time zone."""

    def moved(self, now: datetime, zone: ZoneInfo) -> Self:
        """Return the automation after its organization's move to another time zone; a due time before ``now`` stays."""
        if self.due_at is None or self.due_at <= now:
            return self
        return evolve(self, due_at=self.due_from(now, zone))

    @abstractmethod
    def firing(self, now: datetime, zone: ZoneInfo, *, sources: Iterable[Source], run_id: str) -> Firing | None:
        """Return the firing at ``now``; ``None``: the automation is not due. One firing covers all passed times."""

    @abstractmethod
    def after(self, firing: Firing) -> Self:
        """Return the automation after a firing."""

    def awaits(self, firing: Firing) -> bool:
        return self.enabled and self.due_at == firing.due_at


_Automation = TypeVar("_Automation", bound=Automation)


def in_known_zone(automation: _Automation, zone: ZoneInfo, *, was: _Automation | None = None) -> _Automation | Refusal:
    """Return a created or changed automation; refuse a new due time in a zone that this machine does not know.

    The time would be that of UTC, and other machines, which know the zone, would fire then.
    """
    fault = zone_fault(zone, automation.organization_id)
    if fault is None or automation.due_at is None or (was is not None and was.due_at == automation.due_at):
        return automation
    return Refusal(RefusalKind.UNSUITABLE, f"{fault}; update its tzdata, or choose another time zone")


def as_it_is(automation: _Automation, _zone: ZoneInfo) -> _Automation:
    """Return an automation with the times that it has."""
    return automation


def refuse_addition(existing: Collection[_Automation], new: _Automation, *, at_most: int | None) -> Refusal | None:
    """Return why a new automation is refused, or ``None``; ``existing`` are its organization's others of its kind."""
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
    """Return the changed automation, or why the change is refused; ``existing`` are those of the organization."""
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
