"""The product's settlement queue and cached configurations, in front of a memory store."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Final, Protocol, final

from contentsvc_adapters.sql.settling.batch_writer import BatchItem
from contentsvc_adapters.sql.settling.queue import SettlementQueue
from contentsvc_adapters.sql.settling.settlement_rows import size_of
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.ports import DeliveryStore
from contentsvc_core.webhooks.delivery import Address, HookConfiguration
from contentsvc_core.webhooks.settlement import Settled, Settlement

_LANES: Final = 2
_BATCH: Final = 8
#: The number of times that a lane writes a batch with an unknown outcome again.
_TRIES: Final = 2


class Batches(Protocol):
    """Writes batches, as a database's transaction does."""

    async def write(self, batch: Sequence[BatchItem]) -> Sequence[Settled]:
        """Write all of a batch or nothing."""
        ...


@final
class MemoryBatches:
    """Batches in memory: without an await in a batch, as long as the store's ``settle`` has none."""

    def __init__(self, settle: Callable[[Settlement], Awaitable[Settled]]) -> None:
        self._settle = settle

    async def write(self, batch: Sequence[BatchItem]) -> Sequence[Settled]:
        return [await self._written(item) for item in batch]

    async def _written(self, item: BatchItem) -> Settled:
        settlement = item.settlement
        if not item.is_duplicate:
            return await self._settle(settlement)
        answer = await self._settle(settlement.duplicate)
        return answer if answer is Settled.STALE else Settled.ALREADY_CLAIMED


@final
class _Lane:
    def __init__(self, batches: Batches) -> None:
        self._batches = batches

    async def write(self, batch: Sequence[BatchItem]) -> Sequence[Settled]:
        for _ in range(_TRIES - 1):
            try:
                return await self._batches.write(batch)
            except StoreUnavailable:
                continue
        return await self._batches.write(batch)


@final
class QueuedStore:
    """The delivery store of a node."""

    def __init__(self, store: DeliveryStore, batches: Batches) -> None:
        self._store = store
        self._queue = SettlementQueue(
            [_Lane(batches) for _ in range(_LANES)], size_of=size_of, batch_items=_BATCH, max_items=64
        )
        self._remembered: dict[Address, HookConfiguration] = {}

    async def configuration(
        self, address: Address, now: datetime, *, allow_cached: bool = False
    ) -> HookConfiguration | None:
        if allow_cached and (known := self._remembered.get(address)) is not None:
            return known
        found = await self._store.configuration(address, now)
        if found is not None:
            self._remembered[address] = found
        return found

    async def settle(self, settlement: Settlement) -> Settled:
        """Settle a settlement in a batch with others."""
        settled = await self._queue.settle(settlement)
        if settled is Settled.STALE:
            self._remembered.clear()
        return settled
