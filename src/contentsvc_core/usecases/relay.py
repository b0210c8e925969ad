"""The relay: hands pending runs to an engine."""

from typing import final

from contentsvc_core.ports import Clock, RunLedger, WorkflowStarter


@final
class Relay:
    """Moves due runs from the ledger to an engine; safe to call at any time, from any number of processes."""

    def __init__(self, ledger: RunLedger, starter: WorkflowStarter, clock: Clock, *, per_organization: int) -> None:
        """Create the relay; one turn hands over at most ``per_organization`` runs of an organization."""
        self._ledger = ledger
        self._starter = starter
        self._clock = clock
        self._per_organization = per_organization

    async def turn(self) -> bool:
        """Hand over as many runs as the engine has capacity for; return whether there may be more.

        Raises:
            StoreUnavailable: Try again later; nothing was lost.
        """
        free, full = self._starter.room()
        due = await self._ledger.pending(
            self._clock.now(), limit=free, per_organization=self._per_organization, without=full
        )
        return bool(due) and await self._starter.start(due) > 0
