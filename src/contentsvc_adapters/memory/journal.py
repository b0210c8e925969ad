"""The webhook log, and the claims that have expired."""

from collections.abc import Sequence
from datetime import datetime
from typing import final

from contentsvc_adapters.memory.state import State, of_organization, refuse_unstorable
from contentsvc_core.journal import LogEntry


@final
class MemoryJournal:
    """The journal."""

    def __init__(self, state: State) -> None:
        """Take the shared state."""
        self._state = state

    async def append(self, entry: LogEntry) -> None:
        """Write an entry; one that stands already is left as it is."""
        self._state.refuse_stranger(entry.organization_id)
        refuse_unstorable(entry)
        self._state.log.setdefault((entry.organization_id, entry.id), entry)

    async def entries(self, organization_id: str, *, limit: int | None = None) -> Sequence[LogEntry]:
        """List an organization's entries."""
        return of_organization(self._state.log.values(), organization_id, limit=limit)

    async def sweep(self, organization_id: str, *, before: datetime, limit: int) -> int:
        """Delete the oldest entries."""
        entries = of_organization(self._state.log.values(), organization_id, newest_first=False)
        swept = [entry for entry in entries if entry.created_at < before][:limit]
        for entry in swept:
            del self._state.log[organization_id, entry.id]
        return len(swept)

    async def sweep_claims(self, *, before: datetime, limit: int) -> int:
        """Delete the oldest claims."""
        expired = [key for key, claimed_at in self._state.claims.items() if claimed_at <= before]
        swept = sorted(expired, key=self._state.claims.__getitem__)[:limit]
        for key in swept:
            del self._state.claims[key]
        return len(swept)
