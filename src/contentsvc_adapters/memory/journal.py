from collections.abc import Collection, Sequence
from datetime import datetime
from typing import final

import msgspec
from attrs import evolve

from contentsvc_adapters.memory.state import MemoryStore, of_organization, refuse_unstorable, remove_first
from contentsvc_adapters.sealing import opened
from contentsvc_core.events.normalized import Push, Release
from contentsvc_core.events.wire import event_to_json
from contentsvc_core.journal import Direction, LogEntry, LogQuery, LogStatus, left_out
from contentsvc_core.lists.pagination import PageRequest, Pagination, paginate
from contentsvc_core.refusals import Refusal
from contentsvc_core.webhooks.delivery import Address, Belonging, HookConfiguration
from contentsvc_core.webhooks.settlement import Claim, Settled, Settlement, claim_is_held
from contentsvc_core.workflows.causes import source_type
from contentsvc_core.workflows.context import ContextRecord


@final
class MemoryJournal(MemoryStore):
    async def append(self, entry: LogEntry) -> None:
        self._state.refuse_stranger(entry.organization_id)
        refuse_unstorable(entry)
        self._state.log.setdefault((entry.organization_id, entry.id), entry)

    async def finish(self, entry: LogEntry) -> None:
        refuse_unstorable(entry)
        stored = self._state.log.get((entry.organization_id, entry.id))
        if stored is not None:
            self._state.log[entry.organization_id, entry.id] = evolve(
                stored,
                status=entry.status,
                status_code=entry.status_code,
                error_message=entry.error_message,
                reason=entry.reason,
            )

    async def answered(
        self, organization_id: str, integration_id: str, delivery_ids: Collection[str], *, since: datetime
    ) -> set[str]:
        answered = {
            entry.reference_id
            for entry in self._state.log.values()
            if (entry.organization_id, entry.integration_id) == (organization_id, integration_id)
            and entry.created_at >= since
            and entry.direction is Direction.INCOMING
            and entry.status is LogStatus.SUCCESS
        }
        return {delivery_id for delivery_id in delivery_ids if delivery_id in answered}

    async def entries(self, organization_id: str, *, limit: int | None = None) -> Sequence[LogEntry]:
        return of_organization(self._state.log.values(), organization_id, limit=limit)

    async def page(
        self, organization_id: str, query: LogQuery, request: PageRequest, *, max_bytes: int
    ) -> tuple[Sequence[LogEntry], Pagination] | Refusal:
        entries = list(filter(query.finds, of_organization(self._state.log.values(), organization_id)))
        pagination = paginate(request, len(entries))
        if isinstance(pagination, Refusal):
            return pagination
        page = entries[request.offset : request.offset + request.limit]
        without = left_out(list(map(_size, page)), max_bytes)
        return [_without_payload(each) if at in without else each for at, each in enumerate(page)], pagination

    async def entry(self, organization_id: str, log_id: str, *, max_bytes: int | None = None) -> LogEntry | None:
        entry = self._state.log.get((organization_id, log_id))
        if entry is None or max_bytes is None or _size(entry) <= max_bytes:
            return entry
        return _without_payload(entry)

    async def sweep(self, organization_id: str, *, before: datetime, limit: int) -> int:
        log = self._state.log
        old = [(entry.created_at, key) for key, entry in log.items() if entry.created_at < before]
        return remove_first(log, [each for each in old if each[1][0] == organization_id], limit)

    async def sweep_claims(self, *, before: datetime, limit: int) -> int:
        claims = self._state.claims
        return remove_first(claims, [(at, key) for key, at in claims.items() if at <= before], limit)


def _size(entry: LogEntry) -> int:
    match entry.detail:
        case None:
            return 0
        case Push() | Release():
            return len(event_to_json(entry.detail))
        case payload:
            return len(msgspec.json.encode(dict(payload)))


def _without_payload(entry: LogEntry) -> LogEntry:
    return evolve(entry, detail=None, left_out=_size(entry))


@final
class MemoryDeliveryStore(MemoryStore):
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
            # Sent again after an unknown outcome: which entry was written shows what the first answer was.
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
                return (
                    Belonging.THIS_INTEGRATION
                    if integration.id == address.integration_id
                    else Belonging.ANOTHER_INTEGRATION
                )
        return Belonging.UNKNOWN

    def _upserted(self, record: ContextRecord) -> ContextRecord:
        stored = self._state.contexts.get((record.organization_id, record.custom_id))
        return record if stored is None else evolve(record, id=stored.id, created_at=stored.created_at)
