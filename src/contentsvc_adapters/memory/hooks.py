from datetime import datetime
from typing import final

from attrs import evolve

from contentsvc_adapters.memory.state import SealedMemoryStore, Secret, own, refuse_unstorable
from contentsvc_core.code_hosts import HookAccess


@final
class MemoryHooks(SealedMemoryStore):
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
            *(each for place, each in enumerate(ending) if place == 0 or each.verifies(at)),
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
