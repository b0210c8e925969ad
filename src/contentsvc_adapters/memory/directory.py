from collections.abc import Sequence
from datetime import datetime
from typing import final
from zoneinfo import ZoneInfo

from attrs import evolve

from contentsvc_adapters.memory.schedules import due_among
from contentsvc_adapters.memory.state import (
    MemoryStore,
    SealedMemoryStore,
    Secret,
    of_organization,
    own,
    refuse_another,
    refuse_unstorable,
)
from contentsvc_core.access.keys import ISSUER_ENDED, MAX_KEYS, ApiKey, is_active
from contentsvc_core.content.house_style import HouseStyle
from contentsvc_core.errors import Unstorable
from contentsvc_core.events.normalized import Push, Release
from contentsvc_core.organizations import Integration, Organization
from contentsvc_core.refusals import Refusal, too_many
from contentsvc_core.workflows.removals import Removed, removal_of_integration
from contentsvc_core.workflows.schedules import DueSchedule, Firing, moved
from contentsvc_core.workflows.triggers import (
    MAX_TRIGGERS,
    Trigger,
    TriggerChange,
    change_trigger,
    moved_window,
    refuse_trigger,
)


@final
class MemoryDirectory(SealedMemoryStore):
    async def add_organization(self, organization: Organization) -> bool:
        refuse_unstorable(organization)
        stored = await self.organization(organization.slug)
        if stored is not None:
            return stored.id == organization.id
        refuse_another(self._state.organizations, organization)
        self._state.organizations[organization.id] = organization
        self._state.versions[organization.id] = 1
        return True

    async def organization(self, slug: str) -> Organization | None:
        return next((each for each in self._state.organizations.values() if each.slug == slug), None)

    async def organization_of(self, organization_id: str) -> Organization | None:
        return self._state.organizations.get(organization_id)

    async def organizations(self) -> Sequence[Organization]:
        return sorted(self._state.organizations.values(), key=lambda organization: organization.slug)

    async def set_house_style(self, organization_id: str, house_style: HouseStyle | None) -> bool:
        refuse_unstorable(house_style)
        organization = self._state.organizations.get(organization_id)
        if organization is None:
            return False
        self._state.organizations[organization_id] = evolve(organization, house_style=house_style)
        return True

    async def set_time_zone(self, organization_id: str, zone: ZoneInfo, now: datetime) -> bool:
        organization = self._state.organizations.get(organization_id)
        if organization is None:
            return False
        self._state.organizations[organization_id] = evolve(organization, time_zone=zone)
        for schedule in of_organization(self._state.schedules.values(), organization_id, newest_first=False):
            self._state.schedules[schedule.id] = moved(schedule, now, zone)
        for trigger in await self.triggers(organization_id):
            self._state.triggers[trigger.id] = moved_window(trigger, now, zone)
        self._raise_version(organization_id)
        return True

    async def add_integration(self, integration: Integration, secret: str, *, token: str | None = None) -> bool:
        refuse_unstorable(integration, secret, token)
        self._state.refuse_stranger(integration.organization_id)
        if refuse_another(self._state.integrations, integration):
            return True
        connected = _connected(integration)
        if len(connected) < 2 * len(integration.repositories) or any(
            connected & _connected(other) for other in self._state.integrations.values()
        ):
            return False
        self._state.secrets[integration.id] = [Secret(sealed=self._sealer.seal(secret))]
        if token is not None:
            self._state.tokens[integration.id] = self._sealer.seal(token)
        self._state.integrations[integration.id] = integration
        self._raise_version(integration.organization_id)
        return True

    async def integrations(self, organization_id: str) -> Sequence[Integration]:
        return of_organization(self._state.integrations.values(), organization_id, newest_first=False)

    async def integration(self, organization_id: str, integration_id: str) -> Integration | None:
        return own(self._state.integrations, organization_id, integration_id)

    async def remove_integration(self, organization_id: str, integration_id: str) -> Removed | None:
        integration = await self.integration(organization_id, integration_id)
        if integration is None:
            return None
        for table in (
            self._state.integrations,
            self._state.secrets,
            self._state.hooks,
            self._state.tokens,
            self._state.alerts,
        ):
            table.pop(integration_id, None)
        remaining = [
            repository.id for each in await self.integrations(organization_id) for repository in each.repositories
        ]
        self._raise_version(organization_id)
        return self._state.disable(organization_id, removal_of_integration(integration, remaining))

    async def secrets(self, organization_id: str, integration_id: str, now: datetime) -> tuple[str, ...]:
        if await self.integration(organization_id, integration_id) is None:
            return ()
        return tuple(
            self._sealer.open(each.sealed) for each in self._state.secrets[integration_id] if each.verifies(now)
        )

    async def enable_integration(self, organization_id: str, integration_id: str, *, enabled: bool) -> bool:
        integration = own(self._state.integrations, organization_id, integration_id)
        if integration is None:
            return False
        self._state.integrations[integration_id] = evolve(integration, enabled=enabled)
        self._raise_version(organization_id)
        return True

    async def add_trigger(
        self, trigger: Trigger, *, checks_brand: bool = False, at_most: int = MAX_TRIGGERS
    ) -> Trigger | Refusal:
        refuse_unstorable(trigger)
        self._state.refuse_stranger(trigger.organization_id)
        if refuse_another(self._state.triggers, trigger):
            return trigger
        refused = refuse_trigger(await self.triggers(trigger.organization_id), trigger, at_most=at_most)
        if refused is None and checks_brand:
            refused = self._state.unknown_brand(trigger.organization_id, trigger.brand_identity_id)
        if refused is not None:
            return refused
        self._state.triggers[trigger.id] = trigger
        self._raise_version(trigger.organization_id)
        return trigger

    async def change_trigger(
        self, organization_id: str, trigger_id: str, change: TriggerChange, *, checks_brand: bool = False
    ) -> Trigger | Refusal:
        changed = change_trigger(await self.triggers(organization_id), trigger_id, change)
        if isinstance(changed, Refusal):
            return changed
        refuse_unstorable(changed)
        unknown = self._state.unknown_brand(organization_id, changed.brand_identity_id)
        if checks_brand and unknown is not None:
            return unknown
        self._state.triggers[trigger_id] = changed
        self._raise_version(organization_id)
        return changed

    async def remove_trigger(self, organization_id: str, trigger_id: str) -> bool:
        if await self.trigger(organization_id, trigger_id) is None:
            return False
        del self._state.triggers[trigger_id]
        self._raise_version(organization_id)
        return True

    async def trigger(self, organization_id: str, trigger_id: str) -> Trigger | None:
        return own(self._state.triggers, organization_id, trigger_id)

    async def triggers(self, organization_id: str) -> Sequence[Trigger]:
        return of_organization(self._state.triggers.values(), organization_id, newest_first=False)

    async def due_triggers(
        self, now: datetime, *, limit: int, after: DueSchedule | None = None
    ) -> Sequence[DueSchedule]:
        return due_among((each for each in self._state.triggers.values() if each.enabled), now, limit, after)

    async def fire_trigger(self, firing: Firing) -> bool:
        refuse_unstorable(firing)
        run = firing.run
        stored = await self.trigger(run.organization_id, firing.schedule_id)
        if stored is None or not stored.enabled or stored.due_at != firing.due_at:
            # A retry after an unknown outcome: if the run exists, this firing has moved the trigger.
            return run.id in self._state.runs
        self._state.triggers[stored.id] = evolve(stored, due_at=firing.next_due_at, since=firing.slot)
        self._state.put_run(run)
        return True

    async def owner_of(self, id: str) -> str | None:  # noqa: A002  # the port's word
        state = self._state
        processed = {entry.id: entry for entry in state.log.values() if isinstance(entry.detail, Push | Release)}
        set_up = (state.integrations, state.triggers, state.schedules, state.brands, state.endpoints)
        places = (*set_up, state.runs, state.posts, processed)
        owners = (place[id].organization_id for place in places if id in place)
        return next(owners, None)

    def _raise_version(self, organization_id: str) -> None:
        self._state.versions[organization_id] += 1


@final
class MemoryApiKeys(MemoryStore):
    async def add(self, key: ApiKey, *, at_most: int = MAX_KEYS) -> Refusal | None:
        refuse_unstorable(key)
        self._state.refuse_stranger(key.organization_id)
        stored = self._state.keys.get(key.prefix)
        if stored is not None:
            if stored.digest != key.digest:
                message = f"'{key.prefix}' is the prefix of another key"
                raise Unstorable(message)
            return None
        active = {each.prefix for each in await self.keys(key.organization_id) if is_active(each, key.created_at)}
        if key.issued_by is not None and key.issued_by not in active:
            return ISSUER_ENDED
        if len(active) >= at_most:
            return too_many("active API keys", at_most)
        self._state.keys[key.prefix] = key
        return None

    async def key(self, prefix: str) -> ApiKey | None:
        return self._state.keys.get(prefix)

    async def keys(self, organization_id: str | None = None) -> Sequence[ApiKey]:
        keys = sorted(self._state.keys.values(), key=lambda key: (key.created_at, key.prefix))
        return [key for key in keys if organization_id in {None, key.organization_id}]

    async def revoke(self, prefix: str, at: datetime) -> bool:
        if prefix not in self._state.keys:
            return False
        ending: set[str | None] = {prefix}
        keys = self._state.keys.values()
        while issued := {key.prefix for key in keys if key.issued_by in ending} - ending:
            ending |= issued
        for key in [key for key in keys if key.prefix in ending]:
            self._state.keys[key.prefix] = evolve(key, revoked_at=key.revoked_at or at)
        return True

    async def touch(self, prefix: str, at: datetime) -> None:
        key = self._state.keys.get(prefix)
        if key is not None:
            self._state.keys[prefix] = evolve(key, last_used_at=at)


def _connected(integration: Integration) -> set[tuple[str, str, int | str]]:
    keys = (key for each in integration.repositories for key in (each.id, each.full_name.lower()))
    return {(integration.organization_id, integration.provider, key) for key in keys}
