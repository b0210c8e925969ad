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
    def __init__(self, database: Database, sealer: SecretSealer, queue: SettlementQueue) -> None:
        hooks = HookConfigurations(database, sealer)
        self._hook_configurations = hooks
        self._queue = queue
        queue.on_stale = lambda settlement: hooks.forget(settlement.organization_id, settlement.version)

        # The hot path of a delivery calls these directly.
        self.put: Final = queue.put
        self.cached: Final = hooks.cached

    async def configuration(
        self, address: Address, now: datetime, *, allow_cached: bool = False
    ) -> HookConfiguration | None:
        configuration = self.cached(address, now) if allow_cached else None
        return configuration or await self._hook_configurations.read(address, now)

    async def settle(self, settlement: Settlement) -> Settled:
        return await self._queue.settle(settlement)
