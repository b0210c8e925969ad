"""Memory stores with one fault each: the state machine must find each fault."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, final

from attrs import evolve, frozen
from campaigns.model.bench import Opening
from campaigns.model.sides import Stores
from tests.contracts.contract_values import RotatingSealer

from contentsvc_adapters.memory.state import State
from contentsvc_adapters.memory.stores import MemoryStores, memory_stores
from contentsvc_core.content.posts import Post
from contentsvc_core.lists.pagination import PageRequest
from contentsvc_core.webhooks.settlement import Claim, Settled, Settlement
from contentsvc_core.workflows.runs import Completion, Recovered, RunStatus, WorkflowRun

_MS: Final = timedelta(milliseconds=1)


@final
@frozen(kw_only=True)
class Broken:
    """Stores and their state; a bug replaces a method of one of the stores."""

    state: State
    stores: MemoryStores


Bug = Callable[[Broken], None]


def _settling(change: Callable[[State, Settlement], Settlement]) -> Bug:
    """Break settlements before they are settled."""

    def bug(broken: Broken) -> None:
        settle = broken.stores.deliveries.settle

        async def settled(settlement: Settlement) -> Settled:
            return await settle(change(broken.state, settlement))

        _replace(broken.stores.deliveries, settle=settled)

    return bug


def _once_settled(change: Callable[[State, State, Settlement], None]) -> Bug:
    """Break the state after a settlement as decided; ``change`` gets the states before and after."""

    def bug(broken: Broken) -> None:
        settle = broken.stores.deliveries.settle

        async def settled(settlement: Settlement) -> Settled:
            state = broken.state
            before = evolve(state, contexts=dict(state.contexts), claims=dict(state.claims), log=dict(state.log))
            answer = await settle(settlement)
            if answer is Settled.AS_DECIDED and settlement.id not in {id_ for _, id_ in before.log}:
                change(before, state, settlement)
            return answer

        _replace(broken.stores.deliveries, settle=settled)

    return bug


def _replace(store: object, **methods: Callable[..., Awaitable[Any]]) -> None:
    for name, method in methods.items():
        setattr(store, name, method)


def _claim_moved(by: timedelta) -> Bug:
    def moved(_before: State, state: State, settlement: Settlement) -> None:
        if settlement.claim is Claim.TAKE and settlement.key is not None:
            state.claims[settlement.key] += by

    return _once_settled(moved)


def _without_claim(_state: State, settlement: Settlement) -> Settlement:
    return evolve(settlement, claim=Claim.CHECK) if settlement.claim is Claim.TAKE else settlement


def _blind(_state: State, settlement: Settlement) -> Settlement:
    return evolve(settlement, claim=Claim.NONE, key=None) if settlement.claim is Claim.CHECK else settlement


def _with_global_key(_state: State, settlement: Settlement) -> Settlement:
    key = settlement.key
    anywhere = evolve(settlement.hook.address, organization_id="", integration_id="", repository_id=0)
    hook = evolve(settlement.hook, address=anywhere)
    return evolve(settlement, key=key and hook.claim_key(settlement.outcome.delivery_id or ""))


def _with_any_version(state: State, settlement: Settlement) -> Settlement:
    return evolve(settlement, hook=evolve(settlement.hook, version=state.versions[settlement.organization_id]))


def _mistitled(_before: State, state: State, settlement: Settlement) -> None:
    entry = settlement.log
    title = entry.title.replace("Filtered", "Processed")
    state.log[entry.organization_id, entry.id] = evolve(entry, title=title)


def _old_context(before: State, state: State, settlement: Settlement) -> None:
    context = settlement.context
    if context is not None and (current := before.contexts.get((context.organization_id, context.custom_id))):
        state.contexts[context.organization_id, context.custom_id] = current


def _new_context(_before: State, state: State, settlement: Settlement) -> None:
    if settlement.context is not None:
        state.contexts[settlement.organization_id, settlement.context.custom_id] = settlement.context


def _check_then_insert(broken: Broken) -> None:
    settle = broken.stores.deliveries.settle

    async def settled(settlement: Settlement) -> Settled:
        key = settlement.key
        is_free = key is not None and key not in broken.state.claims
        await asyncio.sleep(0)
        if is_free and key is not None:
            broken.state.claims.pop(key, None)
        return await settle(settlement)

    _replace(broken.stores.deliveries, settle=settled)


def _settled_twice(broken: Broken) -> None:
    settle = broken.stores.deliveries.settle

    async def settled(settlement: Settlement) -> Settled:
        # The broken store loses its own settlement.
        log = settlement.log
        broken.state.log.pop((log.organization_id, log.id), None)
        return await settle(settlement)

    _replace(broken.stores.deliveries, settle=settled)


def _given_twice(broken: Broken) -> None:
    take = broken.stores.ledger.take

    async def taken(ids: Sequence[str], executor: str) -> Sequence[WorkflowRun]:
        runs = await take(ids, executor)
        for run in runs:
            broken.state.put_run(evolve(run, status=RunStatus.PENDING, takes=run.takes - 1, attempts=run.attempts - 1))
        return runs

    _replace(broken.stores.ledger, take=taken)


def _unfenced(broken: Broken) -> None:
    complete = broken.stores.ledger.complete

    async def completed(run: WorkflowRun, post: Post, *, once: str | None) -> Completion:
        takes = broken.state.runs[run.id].takes
        return await complete(evolve(run, takes=takes), post, once=once)

    _replace(broken.stores.ledger, complete=completed)


def _unfair(broken: Broken) -> None:
    pending = broken.stores.ledger.pending

    async def asked(now: datetime, *, limit: int, per_organization: int, without: Any = ()) -> Any:
        _ = per_organization
        return await pending(now, limit=limit, per_organization=limit, without=without)

    _replace(broken.stores.ledger, pending=asked)


def _recovering_the_living(broken: Broken) -> None:
    recover = broken.stores.executors.recover

    async def recovered(error: str, *, lost: Mapping[str, int]) -> Recovered:
        beats = broken.state.executors
        return await recover(error, lost={id_: beats.get(id_, seen) for id_, seen in lost.items()})

    _replace(broken.stores.executors, recover=recovered)


def _unscoped_posts(broken: Broken) -> None:
    page = broken.stores.posts.page

    async def read(organization_id: str, query: Any, request: PageRequest) -> Any:
        _ = organization_id
        return await page(next(iter(broken.state.organizations)), query, request)

    _replace(broken.stores.posts, page=read)


def _unscoped_log(broken: Broken) -> None:
    async def entries(organization_id: str, *, limit: int | None = None) -> Any:
        _ = organization_id
        newest = sorted(broken.state.log.values(), key=lambda entry: (entry.created_at, entry.id), reverse=True)
        return newest[:limit]

    _replace(broken.stores.journal, entries=entries)


def _sweeping_the_newest(broken: Broken) -> None:
    async def swept(organization_id: str, *, before: datetime, limit: int) -> int:
        log = broken.state.log
        old = [key for key, entry in log.items() if key[0] == organization_id and entry.created_at < before]
        for key in sorted(old, key=lambda key: key[1], reverse=True)[:limit]:
            del log[key]
        return min(limit, len(old))

    _replace(broken.stores.journal, sweep=swept)


def _revoked_again(broken: Broken) -> None:
    revoke = broken.stores.keys.revoke

    async def revoked(prefix: str, at: datetime) -> bool:
        if (key := broken.state.keys.get(prefix)) is not None:
            broken.state.keys[prefix] = evolve(key, revoked_at=None)
        return await revoke(prefix, at)

    _replace(broken.stores.keys, revoke=revoked)


BUGS: Final[dict[str, Bug]] = {
    "the claim is not taken": _settling(_without_claim),
    "the claim is not looked at": _settling(_blind),
    "the claim's key is the delivery id alone": _settling(_with_global_key),
    "the claim holds a millisecond too long": _claim_moved(_MS),
    "the claim holds a millisecond too short": _claim_moved(-_MS),
    "the claim is looked at first and taken later": _check_then_insert,
    "what was settled is not known again": _settled_twice,
    "what is stale is settled": _settling(_with_any_version),
    "a context is not replaced": _once_settled(_old_context),
    "a context is replaced with its id": _once_settled(_new_context),
    "a log entry has the wrong title": _once_settled(_mistitled),
    "a run is given to two takers": _given_twice,
    "a run is completed by who has lost it": _unfenced,
    "an organization is given more than its share": _unfair,
    "who has beaten since is given up": _recovering_the_living,
    "a page shows another organization's posts": _unscoped_posts,
    "a log shows another organization's entries": _unscoped_log,
    "a sweep deletes the newest": _sweeping_the_newest,
    "a key is revoked anew": _revoked_again,
}


def broken(bug: Bug) -> Opening:
    """Open memory stores with a bug."""

    async def opening(_stack: object) -> Callable[[], Awaitable[Stores]]:
        async def fresh() -> Stores:
            state, sealer = State(), RotatingSealer()
            stores = memory_stores(sealer, state)
            bug(Broken(state=state, stores=stores))
            return stores

        return fresh

    return opening
