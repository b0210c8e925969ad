"""``Executors``, ``RunStateStore``, and the owner of a run, which alone can change it."""

import asyncio

import pytest
from attrs import evolve
from contract_values import Stores, Tenant, a_post, due, killed, later, take, tenant

from contentsvc_core.content.writing import Draft
from contentsvc_core.testing import START
from contentsvc_core.workflows.runs import (
    MAX_KILLS,
    SUSPECT_KILLS,
    Completion,
    Due,
    Recovered,
    RunStatus,
    Taken,
    WorkflowRun,
)

DRAFT = Draft(title="Lighthouse 2.0", markdown="# ⚓")


@pytest.fixture
async def single(stores: Stores) -> Tenant:
    """An organization with one trigger, so that a delivery starts one run."""
    return await tenant(stores, "single", triggers=1)


async def _started(owner: Tenant, number: int) -> list[str]:
    ids: list[str] = []
    for each in range(number):
        settling = await owner.processed(f"d-{each}", at=later(seconds=each))
        await owner.stores.deliveries.settle(settling)
        ids.extend(run.id for run in settling.runs)
    return ids


async def _stored(owner: Tenant, run: WorkflowRun) -> WorkflowRun:
    return next(each for each in await owner.stores.ledger.runs(owner.id) if each.id == run.id)


async def test_beats_are_counted_and_everybodys_are_seen(stores: Stores) -> None:
    executors = stores.executors
    await executors.join("exe_a")
    await executors.join("exe_b")

    assert await executors.heartbeat("exe_a") == {"exe_a": 1, "exe_b": 0}
    assert await executors.heartbeat("exe_a") == {"exe_a": 2, "exe_b": 0}
    assert await executors.heartbeat("exe_b") == {"exe_a": 2, "exe_b": 1}


async def test_joining_again_keeps_the_beats(stores: Stores) -> None:
    executors = stores.executors
    await executors.join("exe_a")
    await executors.heartbeat("exe_a")
    await executors.join("exe_a")
    assert await executors.heartbeat("exe_a") == {"exe_a": 2}


async def test_an_executor_given_up_stays_so_despite_heartbeats(stores: Stores) -> None:
    executors = stores.executors
    await executors.join("exe_a")
    await executors.join("exe_b")

    assert await executors.recover("silent", lost={"exe_a": 0}) == Recovered()

    assert await executors.heartbeat("exe_a") == {"exe_b": 0}
    assert await executors.heartbeat("exe_a") == {"exe_b": 0}


async def test_an_executor_with_a_newer_heartbeat_is_not_given_up(single: Tenant) -> None:
    stores = single.stores
    run = await single.taken()
    beats = await stores.executors.heartbeat("nobody")
    await stores.executors.heartbeat(str(run.executor))

    assert await stores.executors.recover("silent", lost=beats) == Recovered()

    assert await _stored(single, run) == run


async def test_only_the_runs_of_dead_executors_are_pending_again(single: Tenant) -> None:
    stores = single.stores
    first, second, third = await _started(single, 3)
    (foreign,) = await take(stores, [first], "exe_dead")
    (own_value,) = await take(stores, [second], "exe_alive")

    assert await stores.executors.recover("silent", lost={"exe_dead": 0}) == Recovered(pending=1)

    recovered = evolve(foreign, status=RunStatus.PENDING, attempts=0, kills=1)
    assert await _stored(single, foreign) == recovered
    assert await _stored(single, own_value) == own_value
    assert await due(stores, later(days=1)) == [third, first]


async def test_a_process_that_is_no_worker_takes_no_run_and_blocks_no_executor(single: Tenant) -> None:
    stores = single.stores
    ids = await _started(single, 30)
    await stores.executors.join("exe_a")
    for id_ in ids:
        none, one = await asyncio.gather(stores.ledger.take([id_], "stranger"), stores.ledger.take([id_], "exe_a"))
        assert (list(none), [run.id for run in one]) == ([], [id_])


async def test_the_runs_of_a_left_executor_are_recovered(single: Tenant) -> None:
    stores = single.stores
    run = await single.taken()
    await stores.executors.leave(str(run.executor))

    assert await stores.executors.heartbeat("nobody") == {}
    assert await stores.executors.recover("left", lost={}) == Recovered(pending=1)

    assert (await _stored(single, run)).kills == 1


async def test_the_running_list_has_only_the_runs_of_its_executor(single: Tenant) -> None:
    first, second, third = await _started(single, 3)
    (one,) = await take(single.stores, [first], "exe_a")
    await take(single.stores, [second], "exe_b")
    (three,) = await take(single.stores, [third], "exe_a")
    await single.stores.ledger.end(three, RunStatus.SKIPPED, "done")

    held = Taken(id=one.id, organization_id=single.id, takes=1)
    assert list(await single.stores.executors.running("exe_a")) == [held]
    assert list(await single.stores.executors.running("exe_c")) == []


async def test_a_listed_run_can_be_given_back(single: Tenant) -> None:
    run = await single.taken()
    (held,) = await single.stores.executors.running(str(run.executor))

    await single.stores.ledger.requeue(held)

    stored = await _stored(single, run)
    assert (stored.status, stored.attempts, stored.kills) == (RunStatus.PENDING, 0, 0)
    await single.stores.ledger.requeue(held)
    assert await _stored(single, run) == stored


async def test_a_run_that_has_seen_too_many_kills_is_counted_separately(single: Tenant) -> None:
    poison, other = await _started(single, 2)
    for _ in range(MAX_KILLS - 1):
        await take(single.stores, [poison])
        await killed(single.stores)
    await take(single.stores, [poison], "exe_a")
    await take(single.stores, [other], "exe_b")

    assert await single.stores.executors.recover("killed", lost={"exe_a": 0, "exe_b": 0}) == Recovered(
        pending=1, failed=1
    )


async def test_a_suspect_stops_its_own_process_and_no_other(single: Tenant) -> None:
    stores = single.stores
    first, second, third = await _started(single, 3)
    for _ in range(SUSPECT_KILLS):
        await take(stores, [first])
        await killed(stores)
    assert [run.id for run in await take(stores, [first], "exe_a")] == [first]

    assert await take(stores, [second], "exe_a") == []
    assert [run.id for run in await take(stores, [second, third], "exe_b")] == [second, third]


async def test_an_executor_given_up_changes_no_run(single: Tenant) -> None:
    stores = single.stores
    run = await single.taken()
    await killed(stores)
    (foreign,) = await take(stores, [run.id], "exe_next")
    before = await _stored(single, run)

    assert not await stores.ledger.owns(run)
    await stores.ledger.end(run, RunStatus.FAILED, "late")
    await stores.ledger.retry(run, due_at=later(days=1), error="late")
    await stores.ledger.requeue(run)
    assert await stores.ledger.complete(run, a_post(single.id), once="v1") is Completion.GONE
    await stores.run_state.save(run, "write", "late")

    assert await _stored(single, run) == before == foreign
    assert await stores.run_state.results(foreign) == {}
    assert await stores.ledger.owns(foreign)
    assert await stores.ledger.complete(foreign, a_post(single.id), once="v1") is Completion.COMPLETED


async def test_step_results_are_kept_for_the_next_executor_of_the_run(single: Tenant) -> None:
    stores = single.stores
    run = await single.taken()
    await stores.run_state.save(run, "write", "written")
    await stores.run_state.save(run, "write", "written otherwise")
    other = await tenant(stores, "other", triggers=1)
    await killed(stores)
    (again,) = await take(stores, [run.id], "exe_next")

    assert await stores.run_state.results(again) == {"write": "written"}
    assert await stores.run_state.results(await other.taken()) == {}


@pytest.mark.parametrize("ending", ["complete", "end", "cancel"])
async def test_step_results_are_deleted_at_the_end_of_the_run(single: Tenant, ending: str) -> None:
    stores = single.stores
    run = await single.taken()
    await stores.run_state.save(run, "write", "written")
    match ending:
        case "complete":
            await stores.ledger.complete(run, a_post(single.id), once=None)
        case "end":
            await stores.ledger.end(run, RunStatus.FAILED, "so it is")
        case _:
            assert await stores.ledger.cancel(single.id, run.id, "so it is")

    assert await stores.run_state.results(run) == {}


@pytest.mark.parametrize("state", ["pending", "running"])
async def test_a_cancelled_run_has_ended(single: Tenant, state: str) -> None:
    stores = single.stores
    run = await single.taken()
    if state == "pending":
        await stores.ledger.retry(run, due_at=START, error="busy")

    assert await stores.ledger.cancel(single.id, run.id, "an operator cancelled it")

    stored = await _stored(single, run)
    assert (stored.status, stored.error) == (RunStatus.CANCELLED, "an operator cancelled it")
    assert await due(stores, later(days=1)) == []
    assert not await stores.ledger.owns(run)
    assert await stores.ledger.complete(run, a_post(single.id), once=None) is Completion.GONE
    assert not await stores.ledger.cancel(single.id, run.id, "again")
    assert await killed(stores) == 0


async def test_a_foreign_or_unknown_run_cannot_be_cancelled(single: Tenant) -> None:
    run = await single.taken()
    other = await tenant(single.stores, "other")

    assert not await single.stores.ledger.cancel(other.id, run.id, "not yours")
    assert not await single.stores.ledger.cancel(single.id, "run_unknown", "unknown")

    assert await _stored(single, run) == run


async def test_many_runs_of_one_organization_do_not_delay_other_organizations(stores: Stores) -> None:
    busy = await tenant(stores, "busy", triggers=1)
    other = await tenant(stores, "other", triggers=1)
    foreign = await _started(busy, 9)
    settling = await other.processed("late", at=later(hours=1))
    await stores.deliveries.settle(settling)
    late = settling.runs[0].id
    pending = stores.ledger.pending
    now = later(hours=2)

    assert [each.id for each in await pending(now, limit=4, per_organization=3)] == [*foreign[:3], late]
    assert await pending(now, limit=9, per_organization=9, without=[busy.id]) == [
        Due(id=late, organization_id=other.id)
    ]
    assert [each.id for each in await pending(now, limit=9, per_organization=2, without=[other.id])] == foreign[:2]
    assert list(await pending(now, limit=9, per_organization=9, without=[busy.id, other.id])) == []
    # Runs that are not due do not count.
    assert [each.id for each in await pending(later(seconds=1), limit=9, per_organization=9)] == foreign[:2]


async def test_of_many_that_recover_at_once_each_run_is_recovered_once(single: Tenant) -> None:
    stores = single.stores
    ids = await _started(single, 6)
    await take(stores, ids)
    beats = await stores.executors.heartbeat("nobody")

    recovered = await asyncio.gather(*(stores.executors.recover("silent", lost=beats) for _ in range(6)))

    assert sum(each.pending for each in recovered) == 6
    assert {run.kills for run in await stores.ledger.runs(single.id)} == {1}
