"""Removed integrations and brand identities: the triggers and schedules that are disabled with them."""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeAlias, TypedDict, final

from attrs import evolve, field, frozen

from contentsvc_core.organizations import Integration
from contentsvc_core.values import Value
from contentsvc_core.workflows.causes import source_type
from contentsvc_core.workflows.schedules import Schedule, disabled
from contentsvc_core.workflows.triggers import Trigger


@final
class Disabled(Value, frozen=True):
    """A trigger or a schedule that was disabled because a resource that it names was removed."""

    id: str
    #: For people; may be empty.
    name: str


def _disabled(found: Iterable[Trigger | Schedule | Disabled]) -> tuple[Disabled, ...]:
    return tuple(Disabled(each.id, each.name) for each in sorted(found, key=lambda each: each.id))


@final
@frozen(kw_only=True)
class Removed:
    """The triggers and schedules that were disabled with the removal of an integration or a brand identity."""

    #: The triggers that were enabled until then, in ascending order of their ids.
    disabled_events: tuple[Disabled, ...] = field(converter=_disabled)
    disabled_schedules: tuple[Disabled, ...] = field(converter=_disabled)


class RemovedBody(TypedDict):
    disabledSchedules: list[str]
    disabledEvents: list[str]


def removed_body(removed: Removed) -> RemovedBody:
    return {
        "disabledSchedules": [each.id for each in removed.disabled_schedules],
        "disabledEvents": [each.id for each in removed.disabled_events],
    }


@final
@frozen(kw_only=True)
class Disabling:
    triggers: tuple[Trigger, ...] = field(converter=tuple[Trigger, ...])
    schedules: tuple[Schedule, ...] = field(converter=tuple[Schedule, ...])

    @property
    def removed(self) -> Removed:
        return Removed(disabled_events=self.triggers, disabled_schedules=self.schedules)


Removal: TypeAlias = Callable[[Sequence[Trigger], Sequence[Schedule]], Disabling]


def removal_of_integration(integration: Integration, still_connected: Collection[int]) -> Removal:
    """Return the rule for the removal of an integration; ``still_connected`` are the other repositories.

    A trigger for all repositories stays. A schedule is disabled if no other integration connects its repository.
    """
    gone = {repository.id for repository in integration.repositories}
    nowhere = gone.difference(still_connected)

    def rule(triggers: Sequence[Trigger], schedules: Sequence[Schedule], /) -> Disabling:
        return _disabling(
            [
                trigger
                for trigger in triggers
                if any(trigger.watches(source_type(integration.provider), id_) for id_ in gone)
                and not trigger.options.all_repositories
            ],
            [schedule for schedule in schedules if not nowhere.isdisjoint(schedule.repository_ids)],
        )

    return rule


def removal_of_brand(brand_id: str) -> Removal:
    """Return the rule for the removal of a brand identity: triggers and schedules that name it are disabled."""

    def rule(triggers: Sequence[Trigger], schedules: Sequence[Schedule], /) -> Disabling:
        return _disabling(
            [trigger for trigger in triggers if trigger.brand_identity_id == brand_id],
            [schedule for schedule in schedules if schedule.brand_identity_id == brand_id],
        )

    return rule


def _disabling(triggers: Sequence[Trigger], schedules: Sequence[Schedule]) -> Disabling:
    return Disabling(
        triggers=[evolve(trigger, enabled=False, due_at=None, since=None) for trigger in triggers if trigger.enabled],
        schedules=[disabled(schedule) for schedule in schedules if schedule.enabled],
    )
