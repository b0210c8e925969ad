"""Concurrent copies of one delivery: one copy is processed, and the others are duplicates."""

import asyncio
import random
import tempfile
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from attrs import evolve
from tests import postgres
from tests.contracts.contract_values import SECRET, RotatingSealer, Stores, tenant

from contentsvc_adapters.clocks import SystemClock
from contentsvc_adapters.ids import RandomIds
from contentsvc_adapters.memory import memory_stores
from contentsvc_adapters.sql import Database, SqlStores, upgrade
from contentsvc_core.testing import push_body, signed
from contentsvc_core.usecases.receive import Receiver
from contentsvc_core.webhooks.delivery import Address, Delivery
from contentsvc_core.webhooks.outcomes import Outcome

COPIES: Final = 64
#: The time over which the copies of a round arrive, in seconds: at once, or while the first one is settled.
_SPREADS_S: Final = (0.0, 0.0, 0.002, 0.01)
_EXPECTED: Final = Counter({"Processed": 1, "Duplicate": COPIES - 1})

#: Opens the stores of processes that share a database; resources to close go onto the stack.
Opening = Callable[[AsyncExitStack], Awaitable[Sequence[Stores]]]


async def _memory(_stack: AsyncExitStack) -> Sequence[Stores]:
    return [memory_stores(RotatingSealer())]


async def _sqlite(stack: AsyncExitStack) -> Sequence[Stores]:
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="contentsvc-races-"))
    return await _opened(stack, f"sqlite+aiosqlite:///{Path(folder) / 'store.db'}", processes=2)


async def _postgresql(stack: AsyncExitStack) -> Sequence[Stores]:
    return await _opened(stack, stack.enter_context(postgres.database()), processes=2)


async def _opened(stack: AsyncExitStack, url: str, *, processes: int) -> Sequence[Stores]:
    databases = [Database(url) for _ in range(processes)]
    for database in databases:
        stack.push_async_callback(database.dispose)
    await upgrade(databases[0])
    return [SqlStores(database, RotatingSealer()) for database in databases]


#: The stores by name; a database has the stores of two processes, which get the copies in turn.
STORES: Final[dict[str, Opening]] = {"memory": _memory, "SQLite": _sqlite, "PostgreSQL": _postgresql}


async def race(
    opening: Opening, *, rounds: int, seed: int = 1, on_round: Callable[[], object] = lambda: None
) -> list[str]:
    """Race copies, round after round; return the faults."""
    chance = random.Random(seed)  # noqa: S311  # no secret
    faults: list[str] = []
    async with AsyncExitStack() as stack:
        processes = await opening(stack)
        acme = await tenant(processes[0])
        receivers = [Receiver(stores.deliveries, stores.journal, SystemClock(), RandomIds()) for stores in processes]
        for number in range(rounds):
            delivery = _delivery(acme.address, chance)
            spread_s = chance.choice(_SPREADS_S)
            outcomes = await asyncio.gather(
                *(_arrive(chance.choice(receivers), delivery, chance.uniform(0, spread_s)) for _ in range(COPIES))
            )
            counted = Counter(type(outcome).__name__ for outcome in outcomes)
            if counted != _EXPECTED:
                faults.append(f"round {number}: {dict(counted)}")
            on_round()
        runs = len(await acme.stores.ledger.runs(acme.id))
        contexts = len(await acme.stores.contexts.records(acme.id))
        entries = len(await acme.stores.journal.entries(acme.id))
    if contexts != rounds or entries != rounds * COPIES or runs % rounds:
        faults.append(f"{rounds} rounds have left {contexts} context records, {entries} log entries, {runs} runs")
    return faults


async def _arrive(receiver: Receiver, delivery: Delivery, after_s: float) -> Outcome:
    if after_s:
        await asyncio.sleep(after_s)
    return await receiver.receive(evolve(delivery))


def _delivery(at: Address, chance: random.Random) -> Delivery:
    delivery_id = str(uuid.UUID(int=chance.getrandbits(128), version=4))
    titles = [f"feat: lamp {delivery_id[:8]} {number}" for number in range(chance.randint(1, 20))]
    return signed(push_body(*titles, repository_id=at.repository_id), at=at, secret=SECRET, delivery_id=delivery_id)
