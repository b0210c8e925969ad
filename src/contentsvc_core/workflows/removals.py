"""Removed integrations and brand identities: the triggers and schedules that are disabled with them."""

from collections.abc import Collection, Sequence
from typing import Protocol, final

from attrs import evolve, field, frozen

from contentsvc_core.organizations import Integration, Removed
from contentsvc_core.workflows.causes import source_type
from contentsvc_core.workflows.schedules import Schedule, disabled
from contentsvc_core.workflows.triggers import Trigger


@final
@frozen(kw_only=True)
class Disabling:
    triggers: tuple[Trigger, ...] = field(converter=tuple)
    schedules: tuple[Schedule, ...] = field(converter=tuple)

    @property
    def removed(self) -> Removed:
        return Removed(disabled_events=self.triggers, disabled_schedules=self.schedules)


class Removal(Protocol):
    def __call__(self, triggers: Sequence[Trigger], schedules: Sequence[Schedule], /) -> Disabling: ...


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
