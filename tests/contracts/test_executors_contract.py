"""``Executors``, ``RunStateStore``, and the owner of a run, which alone can change it."""

import asyncio

import pytest
from contract_values import Stores, Tenant, a_post, killed, take, tenant

from contentsvc_core.content.writing import Draft
from contentsvc_core.workflows.runs import (
    MAX_KILLS,
    Recovered,
    RunStatus,
    Taken,
)

DRAFT = Draft(title="Lighthouse 2.0", markdown="# ⚓")


@pytest.fixture
async def single(stores: Stores) -> Tenant:
    """An organization with one trigger, so that a delivery starts one run."""
    return await tenant(stores, "single", triggers=1)


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


async def test_a_process_that_is_no_worker_takes_no_run_and_blocks_no_executor(single: Tenant) -> None:
    stores = single.stores
    ids = await single.started(*range(30))
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

    assert (await single.stored(run)).kills == 1


async def test_the_running_list_has_only_the_runs_of_its_executor(single: Tenant) -> None:
    first, second, third = await single.started(*range(3))
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

    stored = await single.stored(run)
    assert (stored.status, stored.attempts, stored.kills) == (RunStatus.PENDING, 0, 0)
    await single.stores.ledger.requeue(held)
    assert await single.stored(run) == stored


async def test_a_run_that_has_seen_too_many_kills_is_counted_separately(single: Tenant) -> None:
    poison, other = await single.started(*range(2))
    for _ in range(MAX_KILLS - 1):
        await take(single.stores, [poison])
        await killed(single.stores)
    await take(single.stores, [poison], "exe_a")
    await take(single.stores, [other], "exe_b")

    assert await single.stores.executors.recover("killed", lost={"exe_a": 0, "exe_b": 0}) == Recovered(
        pending=1, failed=1
    )


async def test_an_executor_given_up_stores_no_step_result(single: Tenant) -> None:
    stores = single.stores
    run = await single.taken()
    await killed(stores)
    (again,) = await take(stores, [run.id], "exe_next")

    await stores.run_state.save(run, "write", "late")

    assert await stores.run_state.results(again) == {}


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


async def test_of_many_that_recover_at_once_each_run_is_recovered_once(single: Tenant) -> None:
    stores = single.stores
    ids = await single.started(*range(6))
    await take(stores, ids)
    beats = await stores.executors.heartbeat("nobody")

    recovered = await asyncio.gather(*(stores.executors.recover("silent", lost=beats) for _ in range(6)))

    assert sum(each.pending for each in recovered) == 6
    assert {run.kills for run in await stores.ledger.runs(single.id)} == {1}
