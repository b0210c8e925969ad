"""The relay: hands pending runs to an engine."""

from typing import final

from contentsvc_core.ports import Clock, RunLedger, WorkflowStarter


@final
class Relay:
    """Moves runs from the ledger to an engine; safe to call at any time, from any number of processes."""

    def __init__(self, ledger: RunLedger, starter: WorkflowStarter, clock: Clock, *, batch: int = 64) -> None:
        """Take the ports; ``batch`` runs at most are handed over in one turn."""
        self._ledger = ledger
        self._starter = starter
        self._clock = clock
        self._batch = batch

    async def turn(self) -> bool:
        """Hand over one batch; tell whether there may be more.

        Raises:
            StoreUnavailable: Try again later; nothing was lost.
        """
        ids = await self._ledger.pending(self._clock.now(), limit=self._batch)
        if ids:
            await self._starter.start(ids)
        return len(ids) == self._batch
