from datetime import datetime
from typing import final

from attrs import evolve

from contentsvc_adapters.memory.state import SealedMemoryStore, of_organization, refuse_unstorable
from contentsvc_adapters.sealing import opened
from contentsvc_core.webhooks.delivery import Address, Belonging, HookConfiguration
from contentsvc_core.webhooks.settlement import Claim, Settled, Settlement, claim_is_held
from contentsvc_core.workflows.causes import source_type
from contentsvc_core.workflows.context import ContextRecord


@final
class MemoryDeliveryStore(SealedMemoryStore):
    async def configuration(
        self, address: Address, now: datetime, *, allow_cached: bool = False
    ) -> HookConfiguration | None:
        del allow_cached
        state = self._state
        integration = state.integrations.get(address.integration_id)
        if integration is None or (integration.organization_id, integration.provider) != (
            address.organization_id,
            address.provider,
        ):
            return None
        valid = [each.sealed for each in state.secrets[integration.id] if each.verifies(now)]
        secrets = opened(self._sealer, valid)
        triggers = of_organization(state.triggers.values(), address.organization_id, newest_first=False)
        return HookConfiguration(
            address=address,
            enabled=integration.enabled,
            secrets=secrets,
            former_secrets=opened(
                self._sealer, [each.sealed for each in state.secrets[integration.id] if not each.verifies(now)]
            ),
            unreadable=len(valid) - len(secrets),
            repository=self._belonging(address),
            branch=next((each.branch for each in integration.repositories if each.id == address.repository_id), None),
            triggers=[
                trigger
                for trigger in triggers
                if trigger.enabled and trigger.watches(source_type(address.provider), address.repository_id)
            ],
            version=state.versions[address.organization_id],
        )

    async def settle(self, settlement: Settlement) -> Settled:
        state = self._state
        log, context, runs = settlement.log, settlement.context, settlement.runs
        refuse_unstorable(log, context, runs)
        written = state.log.get((log.organization_id, log.id))
        if written is not None:
            # Sent again after an unknown outcome: which entry was written tells what the first answer was.
            return Settled.AS_DECIDED if written == log else Settled.ALREADY_CLAIMED
        if state.versions.get(settlement.organization_id) != settlement.version:
            return Settled.STALE
        key = settlement.key
        claimed_at = None if key is None else state.claims.get(key)
        if claimed_at is not None and claim_is_held(claimed_at, settlement.at):
            state.log[log.organization_id, log.id] = settlement.duplicate_log
            return Settled.ALREADY_CLAIMED
        if key is not None and settlement.claim is Claim.TAKE:
            state.claims[key] = settlement.at
        if context is not None:
            state.contexts[context.organization_id, context.custom_id] = self._upserted(context)
        for run in runs:
            state.put_run(run)
        state.log[log.organization_id, log.id] = log
        return Settled.AS_DECIDED

    def _belonging(self, address: Address) -> Belonging:
        for integration in self._state.integrations.values():
            if (integration.organization_id, integration.provider) != (address.organization_id, address.provider):
                continue
            if any(repository.id == address.repository_id for repository in integration.repositories):
                return Belonging.OURS if integration.id == address.integration_id else Belonging.ANOTHERS
        return Belonging.UNKNOWN

    def _upserted(self, record: ContextRecord) -> ContextRecord:
        stored = self._state.contexts.get((record.organization_id, record.custom_id))
        return record if stored is None else evolve(record, id=stored.id, created_at=stored.created_at)
