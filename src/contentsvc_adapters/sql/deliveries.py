"""Where deliveries are decided on and settled."""

from datetime import datetime
from typing import Final, final

from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.endpoints import Endpoints
from contentsvc_adapters.sql.settling.queue import SettlementQueue
from contentsvc_core.ports import SecretSealer
from contentsvc_core.webhooks.delivery import Address, Endpoint
from contentsvc_core.webhooks.settlement import Settled, Settlement


@final
class SqlDeliveryStore:
    """The delivery store."""

    def __init__(self, database: Database, sealer: SecretSealer, queue: SettlementQueue) -> None:
        """Create the store over a database, what opens the webhook secrets, and where settlements wait."""
        endpoints = Endpoints(database, sealer)
        self._endpoints = endpoints
        self._queue = queue
        queue.on_stale = lambda settlement: endpoints.forget(settlement.organization_id, settlement.version)

        # What a delivery passes is the queue's own, and what it recalls.
        self.put: Final = queue.put
        self.recall: Final = endpoints.recall

    async def endpoint(self, address: Address, now: datetime, *, recall: bool = False) -> Endpoint | None:
        """Recall what is known at an address, or read it."""
        known = self.recall(address, now) if recall else None
        return known or await self._endpoints.read(address, now)

    async def settle(self, settlement: Settlement) -> Settled:
        """Make a settlement true, all of it or nothing."""
        return await self._queue.settle(settlement)
