"""Reading the configuration for deliveries, and settling them."""

from datetime import datetime
from typing import Final, final

from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.hook_configurations import HookConfigurations
from contentsvc_adapters.sql.settling.queue import SettlementQueue
from contentsvc_core.ports import SecretSealer
from contentsvc_core.webhooks.delivery import Address, HookConfiguration
from contentsvc_core.webhooks.settlement import Settled, Settlement


@final
class SqlDeliveryStore:
    """The delivery store."""

    def __init__(self, database: Database, sealer: SecretSealer, queue: SettlementQueue) -> None:
        """Create the store over a database, the sealer of webhook secrets, and the queue of settlements."""
        hooks = HookConfigurations(database, sealer)
        self._hook_configurations = hooks
        self._queue = queue
        queue.on_stale = lambda settlement: hooks.forget(settlement.organization_id, settlement.version)

        # The hot path of a delivery calls these directly.
        self.put: Final = queue.put
        self.recall: Final = hooks.recall

    async def configuration(self, address: Address, now: datetime, *, recall: bool = False) -> HookConfiguration | None:
        known = self.recall(address, now) if recall else None
        return known or await self._hook_configurations.read(address, now)

    async def settle(self, settlement: Settlement) -> Settled:
        return await self._queue.settle(settlement)
