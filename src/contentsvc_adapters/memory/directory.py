from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import final
from zoneinfo import ZoneInfo

from attrs import evolve

from contentsvc_adapters.memory.state import (
    MemoryStore,
    Secret,
    of_organization,
    own,
    refuse_another,
    refuse_unstorable,
)
from contentsvc_core.code_hosts import HookAccess
from contentsvc_core.content.house_style import HouseStyle
from contentsvc_core.events.normalized import Push, Release
from contentsvc_core.organizations import Integration, Organization
from contentsvc_core.workflows.removals import Removed, removal_of_integration


@final
class MemoryDirectory(MemoryStore):
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

    async def retention_days(self) -> Mapping[str, int]:
        return {each.id: each.retention_days for each in self._state.organizations.values()}

    async def set_house_style(self, organization_id: str, house_style: HouseStyle | None) -> bool:
        return self._set(organization_id, house_style=house_style)

    def _set(self, organization_id: str, **fields: object) -> bool:
        refuse_unstorable(*fields.values())
        organization = self._state.organizations.get(organization_id)
        if organization is None:
            return False
        self._state.organizations[organization_id] = evolve(organization, **fields)
        return True

    async def change(
        self,
        organization_id: str,
        now: datetime,
        *,
        name: str | None = None,
        retention_days: int | None = None,
        time_zone: ZoneInfo | None = None,
    ) -> bool:
        fields = {"name": name, "retention_days": retention_days, "time_zone": time_zone}
        if not self._set(organization_id, **{field: value for field, value in fields.items() if value is not None}):
            return False
        if time_zone is None:
            return True
        for schedule in of_organization(self._state.schedules.values(), organization_id):
            self._state.schedules[schedule.id] = schedule.moved(now, time_zone)
        for trigger in of_organization(self._state.triggers.values(), organization_id):
            self._state.triggers[trigger.id] = trigger.moved(now, time_zone)
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

    async def owner_of(self, id: str) -> str | None:  # noqa: A002  # the port's word
        state = self._state
        processed = {entry.id: entry for entry in state.log.values() if isinstance(entry.detail, Push | Release)}
        set_up = (state.integrations, state.triggers, state.schedules, state.brands, state.endpoints)
        collections = (*set_up, state.runs, state.posts, processed)
        owners = (objects[id].organization_id for objects in collections if id in objects)
        return next(owners, None)

    def _raise_version(self, organization_id: str) -> None:
        self._state.versions[organization_id] += 1


def _connected(integration: Integration) -> set[tuple[str, str, int | str]]:
    keys = (key for each in integration.repositories for key in (each.id, each.full_name.lower()))
    return {(integration.organization_id, integration.provider, key) for key in keys}


@final
class MemoryHooks(MemoryStore):
    async def rotate_secret(
        self, organization_id: str, integration_id: str, secret: str, *, at: datetime, overlap_until: datetime
    ) -> bool:
        refuse_unstorable(secret)
        if own(self._state.integrations, organization_id, integration_id) is None:
            return False
        stored = self._state.secrets[integration_id]
        if stored and self._sealer.open(stored[0].sealed) == secret:
            return True
        ending = [
            evolve(each, expires_at=overlap_until if each.expires_at is None else min(each.expires_at, overlap_until))
            for each in stored
        ]
        self._state.secrets[integration_id] = [
            Secret(sealed=self._sealer.seal(secret)),
            *(each for index, each in enumerate(ending) if index == 0 or each.verifies(at)),
        ]
        self._state.versions[organization_id] += 1
        return True

    async def sweep_secrets(self, before: datetime) -> int:
        number = sum(map(len, self._state.secrets.values()))
        for integration_id, secrets in self._state.secrets.items():
            self._state.secrets[integration_id] = [each for each in secrets if each.verifies(before)]
        return number - sum(map(len, self._state.secrets.values()))

    async def access(self, organization_id: str, integration_id: str) -> HookAccess | None:
        if own(self._state.integrations, organization_id, integration_id) is None:
            return None
        sealed = self._state.tokens.get(integration_id)
        return HookAccess(
            hook_id=self._state.hooks.get(integration_id), token=None if sealed is None else self._sealer.open(sealed)
        )

    async def note_hook(self, organization_id: str, integration_id: str, hook_id: str) -> bool:
        refuse_unstorable(hook_id)
        if own(self._state.integrations, organization_id, integration_id) is None:
            return False
        self._state.hooks[integration_id] = hook_id
        return True
