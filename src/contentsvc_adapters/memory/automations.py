from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Generic, TypeVar, final
from zoneinfo import ZoneInfo

from contentsvc_adapters.memory.state import MemoryStore, State, of_organization, own, refuse_unstorable
from contentsvc_core.errors import Unstorable
from contentsvc_core.ports import SecretSealer
from contentsvc_core.refusals import Refusal
from contentsvc_core.workflows.automations import (
    Automation,
    DueAutomation,
    Firing,
    as_it_is,
    changed_automation,
    refuse_addition,
)

_Automation = TypeVar("_Automation", bound=Automation)


@final
class MemoryAutomations(MemoryStore, Generic[_Automation]):
    def __init__(
        self, state: State, sealer: SecretSealer, kind: type[_Automation], stored: dict[str, _Automation]
    ) -> None:
        super().__init__(state, sealer)
        self._kind = kind
        self._stored = stored

    async def add(
        self,
        automation: _Automation,
        *,
        timed: Callable[[_Automation, ZoneInfo], _Automation | Refusal] = as_it_is,
        checks_brand: bool = False,
        at_most: int | None = None,
    ) -> _Automation | Refusal:
        owner = automation.organization_id
        refuse_unstorable(automation)
        self._state.refuse_stranger(owner)
        if (stored := self._stored.get(automation.id)) is not None:
            if stored.organization_id != owner:
                raise Unstorable.of_another(automation.id)
            return stored
        new = timed(automation, self._zone(owner))
        if isinstance(new, Refusal):
            return new
        refused = refuse_addition(await self.all_of(owner), new, at_most=at_most)
        if refused is None and checks_brand:
            refused = self._state.unknown_brand(owner, new.brand_identity_id)
        if refused is not None:
            return refused
        self._put(new)
        return new

    async def find(self, organization_id: str, automation_id: str) -> _Automation | None:
        return own(self._stored, organization_id, automation_id)

    async def all_of(self, organization_id: str) -> Sequence[_Automation]:
        return of_organization(self._stored.values(), organization_id, newest_first=False)

    async def change(
        self,
        organization_id: str,
        automation_id: str,
        change: Callable[[_Automation, ZoneInfo], _Automation | Refusal],
        *,
        checks_brand: bool = False,
    ) -> _Automation | Refusal:
        existing = await self.all_of(organization_id)
        changed = changed_automation(
            self._kind, existing, automation_id, lambda each: change(each, self._zone(organization_id))
        )
        if isinstance(changed, Refusal):
            return changed
        refuse_unstorable(changed)
        unknown = self._state.unknown_brand(organization_id, changed.brand_identity_id)
        if checks_brand and unknown is not None:
            return unknown
        self._put(changed)
        return changed

    async def remove(self, organization_id: str, automation_id: str) -> bool:
        if await self.find(organization_id, automation_id) is None:
            return False
        del self._stored[automation_id]
        self._state.versions[organization_id] += self._kind.decides
        return True

    async def due(self, now: datetime, *, limit: int, after: DueAutomation | None = None) -> Sequence[DueAutomation]:
        waiting = sorted(
            (each.due_at, each.id, each.organization_id)
            for each in self._stored.values()
            if each.enabled
            and each.due_at is not None
            and each.due_at <= now
            and (after is None or (each.due_at, each.id) > (after.due_at, after.id))
        )
        return [
            DueAutomation(id=id_, organization_id=organization_id, due_at=due_at)
            for due_at, id_, organization_id in waiting[:limit]
        ]

    async def fire(self, firing: Firing) -> bool:
        refuse_unstorable(firing)
        run = firing.run
        stored = await self.find(run.organization_id, firing.automation_id)
        if stored is None or self._zone(run.organization_id) != firing.zone or not stored.awaits(firing):
            # A retry after an unknown outcome: if the run exists, this firing has moved the automation.
            return run.id in self._state.runs
        self._stored[stored.id] = stored.after(firing)
        self._state.put_run(run)
        return True

    def _put(self, automation: _Automation) -> None:
        self._stored[automation.id] = automation
        self._state.versions[automation.organization_id] += self._kind.decides

    def _zone(self, organization_id: str) -> ZoneInfo:
        return self._state.organizations[organization_id].time_zone
