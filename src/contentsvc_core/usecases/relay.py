"""The relay: hands pending runs to an engine."""

from typing import final

from contentsvc_core.ports import Clock, RunLedger, WorkflowStarter


@final
class Relay:
    """Moves runs from the ledger to an engine; safe to call at any time, from any number of processes."""

    def __init__(self, ledger: RunLedger, starter: WorkflowStarter, clock: Clock, *, per_organization: int) -> None:
        """Take the ports; of one organization, ``per_organization`` runs at most are handed over in one turn."""
        self._ledger = ledger
        self._starter = starter
        self._clock = clock
        self._per_organization = per_organization

    async def turn(self) -> bool:
        """Hand over as many runs as there is room for; tell whether there may be more.

        Raises:
            StoreUnavailable: Try again later; nothing was lost.
        """
        free, full = self._starter.room()
        due = await self._ledger.pending(
            self._clock.now(), limit=free, per_organization=self._per_organization, without=full
        )
        return bool(due) and await self._starter.start(due) > 0
