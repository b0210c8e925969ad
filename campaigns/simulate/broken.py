"""Stores with one fault each: the simulation must find each fault."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, Final

from attrs import evolve
from campaigns.simulate.episode import Build
from tests.contracts.contract_values import RotatingSealer

from contentsvc_adapters.memory import MemoryStores, memory_stores
from contentsvc_adapters.memory.state import State
from contentsvc_core.content.posts import Post
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.webhooks.settlement import Claim, Settled, Settlement, claim_is_held
from contentsvc_core.workflows.runs import Completion, Recovered, RunStatus, WorkflowRun

#: The time between the two parts of a broken transaction, in seconds.
_BETWEEN_S: Final = 1.0
_Settle = Callable[[Settlement], Awaitable[Settled]]
#: The loop itself keeps only weak references.
_LATER: Final[set["asyncio.Future[None]"]] = set()


def _settling(change: Callable[[State, _Settle, Settlement], Awaitable[Settled]]) -> Build:
    def build(state: State) -> MemoryStores:
        stores = memory_stores(RotatingSealer(), state)
        settle = stores.deliveries.settle

        async def settled(settlement: Settlement) -> Settled:
            return await change(state, settle, settlement)

        return _with(stores, stores.deliveries, settle=settled)

    return build


def _with(stores: MemoryStores, store: object, **methods: Callable[..., Awaitable[Any]]) -> MemoryStores:
    for name, method in methods.items():
        setattr(store, name, method)
    return stores


def _takes(state: State, settlement: Settlement) -> bytes | None:
    """Return the key of a free claim that the settlement takes."""
    key = settlement.key
    if settlement.claim is not Claim.TAKE or key is None:
        return None
    claimed_at = state.claims.get(key)
    return None if claimed_at is not None and claim_is_held(claimed_at, settlement.at) else key


async def _claim_in_its_own_commit(state: State, settle: _Settle, settlement: Settlement) -> Settled:
    if (key := _takes(state, settlement)) is None:
        return await settle(settlement)
    state.claims[key] = settlement.at
    await asyncio.sleep(_BETWEEN_S)
    return await settle(evolve(settlement, claim=Claim.NONE, key=None))


async def _check_then_insert(state: State, settle: _Settle, settlement: Settlement) -> Settled:
    if (key := _takes(state, settlement)) is None:
        return await settle(settlement)
    await asyncio.sleep(_BETWEEN_S)
    state.claims.pop(key, None)
    return await settle(settlement)


async def _answer_before_commit(state: State, settle: _Settle, settlement: Settlement) -> Settled:
    if _takes(state, settlement) is None:
        return await settle(settlement)

    async def later() -> None:
        await asyncio.sleep(_BETWEEN_S)
        await settle(settlement)

    # The task belongs to the node, and ends with it.
    _LATER.add(task := asyncio.ensure_future(later()))
    task.add_done_callback(_LATER.discard)
    return Settled.AS_DECIDED


async def _claim_kept_after_a_failure(state: State, settle: _Settle, settlement: Settlement) -> Settled:
    key = _takes(state, settlement)
    if key is not None and int(settlement.id[-3:]) % 10 == 0:
        state.claims[key] = settlement.at
        message = "something fails in the middle"
        raise StoreUnavailable(message)
    return await settle(settlement)


async def _global_key(_state: State, settle: _Settle, settlement: Settlement) -> Settled:
    key = settlement.key
    anywhere = evolve(settlement.hook.address, organization_id="", integration_id="", repository_id=0)
    hook = evolve(settlement.hook, address=anywhere)
    return await settle(evolve(settlement, key=key and hook.claim_key(settlement.outcome.delivery_id or "")))


def _completing_what_is_anothers(state: State) -> MemoryStores:
    stores = memory_stores(RotatingSealer(), state)
    complete = stores.ledger.complete

    async def completed(run: WorkflowRun, post: Post, **more: Any) -> Completion:
        stored = state.runs[run.id]
        if stored.status in {RunStatus.RUNNING, RunStatus.COMPLETED}:
            state.runs[run.id] = evolve(stored, status=RunStatus.RUNNING, takes=run.takes)
        return await complete(run, post, **more)

    return _with(stores, stores.ledger, complete=completed)


def _reporting_twice(state: State) -> MemoryStores:
    stores = memory_stores(RotatingSealer(), state)
    complete = stores.ledger.complete

    async def completed(
        run: WorkflowRun, post: Post, *, once: str | None, also: Collection[str] = (), **more: Any
    ) -> Completion:
        del once, also
        return await complete(run, post, once=None, **more)

    return _with(stores, stores.ledger, complete=completed)


def _forgetting_the_dead(state: State) -> MemoryStores:
    stores = memory_stores(RotatingSealer(), state)

    async def recovered(_error: str, *, lost: Mapping[str, int]) -> Recovered:
        for executor in lost:
            state.executors.pop(executor, None)
        return Recovered()

    return _with(stores, stores.executors, recover=recovered)


#: The broken stores, by the name of the fault.
BUGS: Final[dict[str, Build]] = {
    "claim in its own commit": _settling(_claim_in_its_own_commit),
    "check then insert": _settling(_check_then_insert),
    "answer before commit": _settling(_answer_before_commit),
    "claim kept after a failure": _settling(_claim_kept_after_a_failure),
    "one key for all hooks": _settling(_global_key),
    "a run completed by who lost it": _completing_what_is_anothers,
    "a release reported twice": _reporting_twice,
    "runs of the dead left alone": _forgetting_the_dead,
}
