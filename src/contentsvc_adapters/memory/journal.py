from collections.abc import Collection, Sequence
from datetime import datetime
from typing import final

import msgspec
from attrs import evolve

from contentsvc_adapters.memory.state import MemoryStore, of_organization, refuse_unstorable
from contentsvc_core.events.normalized import Push, Release
from contentsvc_core.events.wire import event_to_json
from contentsvc_core.journal import Direction, LogEntry, LogQuery, LogStatus, left_out
from contentsvc_core.lists.pagination import PageRequest, Pagination, paginate
from contentsvc_core.refusals import Refusal


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
        entries = [
            entry
            for entry in of_organization(self._state.log.values(), organization_id)
            if (not query.integration_ids or entry.integration_id in query.integration_ids)
            and (not query.statuses or entry.status in query.statuses)
        ]
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
        entries = of_organization(self._state.log.values(), organization_id, newest_first=False)
        swept = [entry for entry in entries if entry.created_at < before][:limit]
        for entry in swept:
            del self._state.log[organization_id, entry.id]
        return len(swept)

    async def sweep_claims(self, *, before: datetime, limit: int) -> int:
        expired = [key for key, claimed_at in self._state.claims.items() if claimed_at <= before]
        swept = sorted(expired, key=self._state.claims.__getitem__)[:limit]
        for key in swept:
            del self._state.claims[key]
        return len(swept)


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
