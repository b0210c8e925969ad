"""``RunLedger``: owners of runs, and ends of runs."""

import asyncio

import pytest
from attrs import evolve
from contract_values import EXECUTOR, SHARED_CLOCK, Tenant, a_post, due, killed, later, release, take, tenant
from sqlalchemy import select, update

from contentsvc_adapters.sql import SqlStores
from contentsvc_adapters.sql.schema.deliveries import events
from contentsvc_adapters.sql.schema.work import workflow_runs
from contentsvc_core.errors import StoreUnavailable, Unstorable
from contentsvc_core.testing import START
from contentsvc_core.workflows.runs import SUSPECT_PATIENCE, Completion, RunStatus, WorkflowRun


async def _pending(acme: Tenant, *hours: int) -> list[str]:
    """Settle a delivery for each hour; return the ids of the first run of each."""
    ids: list[str] = []
    for number, hour in enumerate(hours):
        settling = await acme.processed(f"d-{number}", at=later(hours=hour))
        await acme.stores.deliveries.settle(settling)
        ids.append(settling.runs[0].id)
    return ids


async def _run(acme: Tenant, run: WorkflowRun) -> WorkflowRun:
    return next(each for each in await acme.stores.ledger.runs(acme.id) if each.id == run.id)


@pytest.fixture
async def single(acme: Tenant) -> Tenant:
    """An organization with one trigger, so that a delivery starts one run."""
    return await tenant(acme.stores, "single", triggers=1)


async def test_runs_are_pending_once_they_are_due_oldest_first(single: Tenant) -> None:
    one, two, three, four = await _pending(single, 2, 0, 1, 0)
    stores = single.stores

    assert await due(stores, later(hours=2)) == [two, four, three, one]
    assert await due(stores, later(hours=2), limit=2) == [two, four]
    assert await due(stores, later(hours=1)) == [two, four, three]
    assert await due(stores, later(hours=1, milliseconds=-1)) == [two, four]
    assert await due(stores, later(milliseconds=-1)) == []
    assert await due(stores, later(hours=2), limit=0) == []


async def test_a_taken_run_is_running_and_counted(single: Tenant) -> None:
    ids = await _pending(single, 0, 0, 0)
    ledger = single.stores.ledger
    before = {run.id: run for run in await ledger.runs(single.id)}

    taken = await take(single.stores, [ids[2], ids[0], "unknown", ids[2]])

    assert taken == [
        evolve(before[id_], status=RunStatus.RUNNING, attempts=1, takes=1, executor=EXECUTOR)
        for id_ in (ids[2], ids[0])
    ]
    assert await due(single.stores, START, limit=10) == [ids[1]]
    assert await take(single.stores, [ids[0], ids[2]]) == []
    assert await take(single.stores, []) == []


@pytest.mark.usefixtures("shared_clock")
async def test_a_run_of_a_kind_of_a_newer_version_waits_for_its_nodes_and_others_run(databases: SqlStores) -> None:
    single = await tenant(databases, triggers=1)
    newer, known = await _pending(single, 0, 1)
    kind = update(events).where(events.c.id.in_(select(workflow_runs.c.event_id).where(workflow_runs.c.id == newer)))
    await databases.database.change(kind.values(type="issue"))
    SHARED_CLOCK.at = later(hours=2)

    for hour in (2, 3):
        assert newer in await due(databases, later(hours=hour))
        assert [run.id for run in await take(databases, [newer, known])] == [known] * (hour == 2)
        assert await due(databases, later(hours=hour)) == []
        SHARED_CLOCK.at = later(hours=hour + 1)
    # The version that knows the kind performs the run, and no attempt was counted.
    await databases.database.change(kind.values(type="push"))
    (run,) = await take(databases, [newer])
    assert (run.attempts, run.kills, run.error) == (1, 0, None)


@pytest.mark.usefixtures("shared_clock")
async def test_a_run_of_a_kind_of_a_newer_version_is_postponed_together_with_the_take(
    databases: SqlStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    single = await tenant(databases, triggers=1)
    (newer,) = await _pending(single, 0)
    kind = update(events).where(events.c.id.in_(select(workflow_runs.c.event_id).where(workflow_runs.c.id == newer)))
    await databases.database.change(kind.values(type="issue"))
    SHARED_CLOCK.at = later(hours=2)

    async def change(*_: object) -> None:
        raise StoreUnavailable

    await databases.executors.join(EXECUTOR)
    with monkeypatch.context() as outage:
        outage.setattr(type(databases.database), "change", change)
        assert list(await databases.ledger.take([newer], EXECUTOR)) == []

    SHARED_CLOCK.at = later(hours=3)
    assert await due(databases, later(hours=3)) == [newer]


async def test_of_concurrent_takers_one_gets_each_run(single: Tenant) -> None:
    ids = await _pending(single, *([0] * 12))

    hands = await asyncio.gather(*(take(single.stores, ids[n % 3 :], f"exe_{n}") for n in range(8)))

    taken = [run.id for hand in hands for run in hand]
    assert sorted(taken) == sorted(ids)
    assert all(run.attempts == 1 for hand in hands for run in hand)


async def test_a_run_has_one_post(acme: Tenant) -> None:
    run = await acme.taken()
    posts = [a_post(acme.id) for _ in range(8)]

    answers = await asyncio.gather(*(acme.stores.ledger.complete(run, post, once=None) for post in posts))

    assert sorted(answer.name for answer in answers) == ["COMPLETED"] + ["GONE"] * 7
    winner = posts[answers.index(Completion.COMPLETED)]
    assert await acme.stores.posts.posts(acme.id) == [winner]
    assert (await _run(acme, run)).post_id == winner.id


async def test_runs_that_end_at_the_same_time_end_each_for_itself(acme: Tenant) -> None:
    runs = [await acme.taken() for _ in range(4)]
    gone = evolve(runs[1], takes=9)
    # No database can store a lone surrogate; memory can.
    posts = [a_post(acme.id, title="half: \ud800" if number == 2 else "whole") for number in range(4)]

    answers = await asyncio.gather(
        *(
            acme.stores.ledger.complete(run, post, once=None)
            for run, post in zip([runs[0], gone, *runs[2:]], posts, strict=True)
        ),
        return_exceptions=True,
    )

    assert [answers[0], answers[1], answers[3]] == [Completion.COMPLETED, Completion.GONE, Completion.COMPLETED]
    assert answers[2] is Completion.COMPLETED or isinstance(answers[2], Unstorable)
    assert [(await _run(acme, run)).status for run in runs[:2]] == [RunStatus.COMPLETED, RunStatus.RUNNING]
    assert {post.id for post in await acme.stores.posts.posts(acme.id)} >= {posts[0].id, posts[3].id}


async def test_completing_forgets_the_error_of_an_earlier_attempt(acme: Tenant) -> None:
    run = await acme.taken()
    await acme.stores.ledger.retry(run, due_at=START, error="the writer was away")
    (again,) = await take(acme.stores, [run.id])
    assert (again.attempts, again.error) == (2, "the writer was away")

    await acme.stores.ledger.complete(again, a_post(acme.id), once=None)

    assert (await _run(acme, run)).error is None


async def test_one_release_is_reported_once(acme: Tenant) -> None:
    ledger = acme.stores.ledger
    runs = [await acme.taken(release()) for _ in range(6)]
    key = "trg/1/2026/" + "v" * 5000

    answers = await asyncio.gather(*(ledger.complete(run, a_post(acme.id), once=key) for run in runs))

    assert sorted(answer.name for answer in answers) == ["ALREADY_REPORTED"] * 5 + ["COMPLETED"]
    assert len(await acme.stores.posts.posts(acme.id)) == 1
    for run, answer in zip(runs, answers, strict=True):
        stored = await _run(acme, run)
        if answer is Completion.ALREADY_REPORTED:
            assert stored == evolve(run, status=RunStatus.SKIPPED, error="another run has reported this release")


async def test_another_release_or_none_or_another_organization_is_not_limited(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith")
    ledger = acme.stores.ledger

    for owner, once in [(acme, "v1"), (acme, "v2"), (acme, None), (acme, None), (zenith, "v1")]:
        completion = await ledger.complete(await owner.taken(), a_post(owner.id), once=once)
        assert completion is Completion.COMPLETED

    assert len(await acme.stores.posts.posts(acme.id)) == 4
    assert len(await acme.stores.posts.posts(zenith.id)) == 1


@pytest.mark.parametrize("status", [RunStatus.SKIPPED, RunStatus.FAILED, RunStatus.CANCELLED])
async def test_a_run_ends_without_a_post(acme: Tenant, status: RunStatus) -> None:
    run = await acme.taken()

    assert await acme.stores.ledger.end(run, status, "so it is")

    assert await _run(acme, run) == evolve(run, status=status, error="so it is")
    assert run.id not in await due(acme.stores, later(days=9), limit=99)


@pytest.mark.parametrize("state", ["pending", "ended"])
async def test_a_run_that_is_not_running_is_left_unchanged(acme: Tenant, state: str) -> None:
    ledger = acme.stores.ledger
    run = await acme.taken()
    if state == "pending":
        await ledger.retry(run, due_at=later(hours=1), error="first")
    else:
        await ledger.end(run, RunStatus.SKIPPED, "first")
    before = await acme.left()

    for status in (RunStatus.FAILED, RunStatus.SKIPPED):
        assert not await ledger.end(run, status, "second")
    await ledger.retry(run, due_at=START, error="second")
    assert await ledger.complete(run, a_post(acme.id), once="v1") is Completion.GONE
    assert await killed(acme.stores, "lost") == 0

    assert await acme.left() == before
    assert not await acme.stores.posts.posts(acme.id)
    # The release is not marked as reported either.
    assert await ledger.complete(await acme.taken(), a_post(acme.id), once="v1") is Completion.COMPLETED


async def test_a_run_of_another_organization_is_not_touched(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith")
    run = await acme.taken()
    foreign = evolve(run, organization_id=zenith.id)

    await acme.stores.ledger.end(foreign, RunStatus.FAILED, "not yours")
    await acme.stores.ledger.retry(foreign, due_at=START, error="not yours")
    assert await acme.stores.ledger.complete(foreign, a_post(zenith.id), once=None) is Completion.GONE

    assert await _run(acme, run) == run
    assert await acme.stores.ledger.runs(zenith.id) == []


async def test_a_retried_run_waits_until_it_is_due(single: Tenant) -> None:
    run = await single.taken()
    ledger = single.stores.ledger

    await ledger.retry(run, due_at=later(seconds=3), error="the writer was away")

    stored = await _run(single, run)
    assert stored == evolve(run, status=RunStatus.PENDING, due_at=later(seconds=3), error="the writer was away")
    assert await due(single.stores, later(seconds=3, milliseconds=-1), limit=9) == []
    assert await due(single.stores, later(seconds=3), limit=9) == [run.id]


async def test_recovery_sets_running_runs_pending_until_they_have_seen_too_many_kills(single: Tenant) -> None:
    ledger = single.stores.ledger
    ended = await single.taken()
    await ledger.end(ended, RunStatus.SKIPPED, "nothing to report")
    run = await single.taken()
    for kills in range(1, 20):
        assert (await _run(single, run)).attempts == 1
        assert await killed(single.stores, "the process ended") == 1
        assert await due(single.stores, START, limit=9) == [run.id]
        stored = await _run(single, run)
        # The process was killed during the attempt, so it does not count.
        assert (stored.attempts, stored.kills) == (0, kills)
        await take(single.stores, [run.id])

    assert await killed(single.stores, "the process ended") == 0

    stored = await _run(single, run)
    assert (stored.status, stored.kills, stored.error) == (RunStatus.FAILED, 20, "the process ended")
    assert await due(single.stores, later(days=9), limit=9) == []
    assert (await _run(single, ended)).error == "nothing to report"


async def test_runs_with_the_fewest_kills_come_first_and_suspects_run_alone(single: Tenant) -> None:
    ids = list(await _pending(single, 0, 0, 0, 0))
    first, second, third, fourth = ids
    for _ in range(2):
        # Neither is a suspect yet, so both are taken at once.
        assert len(await take(single.stores, [first, second])) == 2
        await killed(single.stores, "killed")

    assert await due(single.stores, START, limit=9) == [third, fourth, first, second]
    assert [run.id for run in await take(single.stores, [third, first, second])] == [third]
    assert await take(single.stores, [first, fourth]) == []


async def test_a_suspect_that_has_waited_long_enough_comes_first(single: Tenant) -> None:
    ids = list(await _pending(single, 0, 0, 0))
    for _ in range(2):
        await take(single.stores, [ids[1]])
        await killed(single.stores, "killed")

    assert await due(single.stores, START, limit=9) == [ids[0], ids[2], ids[1]]
    assert await due(single.stores, START + SUSPECT_PATIENCE, limit=9) == [ids[1], ids[0], ids[2]]
    assert await due(single.stores, START + SUSPECT_PATIENCE, limit=2) == [ids[1], ids[0]]


async def test_a_returned_run_counts_no_attempt(single: Tenant) -> None:
    ledger = single.stores.ledger
    (id_,) = await _pending(single, 0)
    (before,) = await ledger.runs(single.id)
    (run,) = await take(single.stores, [id_])

    for _ in range(2):
        await ledger.requeue(run)
        assert list(await ledger.runs(single.id)) == [evolve(before, takes=1, executor=EXECUTOR)]
    (again,) = await take(single.stores, [id_])
    await ledger.end(again, RunStatus.SKIPPED, "done")
    await ledger.requeue(again)
    assert (await _run(single, again)).status is RunStatus.SKIPPED


async def test_a_run_taken_before_it_was_due_is_recovered_as_due(single: Tenant) -> None:
    ledger = single.stores.ledger
    run = await single.taken()
    await ledger.retry(run, due_at=later(days=1), error="busy")
    await take(single.stores, [run.id])

    await killed(single.stores, "the process ended")

    assert await due(single.stores, START, limit=9) == [run.id]


async def test_runs_are_listed_newest_first(single: Tenant) -> None:
    one, two, three, four = await _pending(single, 2, 0, 1, 0)
    runs = single.stores.ledger.runs

    assert [run.id for run in await runs(single.id)] == [one, three, four, two]
    assert [run.id for run in await runs(single.id, limit=2)] == [one, three]
