"""Expiry: what has been kept long enough is deleted (specification 8.2)."""

from typing import Final, final

from attrs import frozen

from contentsvc_core.journal import retention_cutoff
from contentsvc_core.ports import Clock, Directory, Journal
from contentsvc_core.webhooks.settlement import DEDUPE_WINDOW

#: Rows a transaction: small enough that a delivery never waits long behind one.
_BATCH: Final = 500


@final
@frozen(kw_only=True)
class Swept:
    """What a sweep deleted."""

    log_entries: int
    claims: int


@final
class Sweeper:
    """Deletes log entries by each organization's plan as it is now, and claims that no longer hold."""

    def __init__(self, journal: Journal, directory: Directory, clock: Clock) -> None:
        """Take the ports."""
        self._journal = journal
        self._directory = directory
        self._clock = clock

    async def sweep(self) -> Swept:
        """Delete in small batches, each a transaction of its own: a sweep that is cut short has lost nothing."""
        now = self._clock.now()
        entries = 0
        for organization in await self._directory.organizations():
            cutoff = retention_cutoff(organization.retention_days, now)
            while batch := await self._journal.sweep(organization.id, before=cutoff, limit=_BATCH):
                entries += batch
        claims = 0
        while batch := await self._journal.sweep_claims(before=now - DEDUPE_WINDOW, limit=_BATCH):
            claims += batch
        return Swept(log_entries=entries, claims=claims)
