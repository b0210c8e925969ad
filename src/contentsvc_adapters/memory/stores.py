"""All stores over one state, under the names that every family of stores uses."""

from typing import final

from attrs import frozen

from contentsvc_adapters.memory.deliveries import MemoryDeliveryStore
from contentsvc_adapters.memory.directory import MemoryApiKeys, MemoryDirectory
from contentsvc_adapters.memory.executors import MemoryExecutors, MemoryRunMemory
from contentsvc_adapters.memory.journal import MemoryJournal
from contentsvc_adapters.memory.ledger import MemoryRunLedger
from contentsvc_adapters.memory.library import MemoryContextLibrary, MemoryPostLibrary
from contentsvc_adapters.memory.state import State
from contentsvc_core.ports import (
    ApiKeys,
    ContextLibrary,
    DeliveryStore,
    Directory,
    Executors,
    Journal,
    PostLibrary,
    RunLedger,
    RunMemory,
    SecretSealer,
)


@final
@frozen(kw_only=True)
class MemoryStores:
    """Stores of one event loop; durable as long as the process lives."""

    deliveries: DeliveryStore
    ledger: RunLedger
    executors: Executors
    run_memory: RunMemory
    contexts: ContextLibrary
    posts: PostLibrary
    journal: Journal
    directory: Directory
    keys: ApiKeys

    async def close(self) -> None:
        """Do nothing: there is nothing to be closed."""


def memory_stores(sealer: SecretSealer) -> MemoryStores:
    """Build stores that are empty."""
    state = State()
    return MemoryStores(
        deliveries=MemoryDeliveryStore(state, sealer),
        ledger=MemoryRunLedger(state),
        executors=MemoryExecutors(state),
        run_memory=MemoryRunMemory(state),
        contexts=MemoryContextLibrary(state),
        posts=MemoryPostLibrary(state),
        journal=MemoryJournal(state),
        directory=MemoryDirectory(state, sealer),
        keys=MemoryApiKeys(state),
    )
