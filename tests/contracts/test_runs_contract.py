"""``RunLedger``: owners of runs, and ends of runs."""

import asyncio

import pytest
from attrs import evolve
from contract_values import EXECUTOR, SHARED_CLOCK, Tenant, a_post, due, later, take, tenant
from sqlalchemy import select, update

from contentsvc_adapters.sql import SqlStores
from contentsvc_adapters.sql.schema.deliveries import events
from contentsvc_adapters.sql.schema.work import workflow_runs
from contentsvc_core.errors import StoreUnavailable, Unstorable
from contentsvc_core.workflows.runs import Completion, RunStatus


@pytest.mark.usefixtures("shared_clock")
async def test_a_run_of_a_kind_of_a_newer_version_waits_for_its_nodes_and_others_run(databases: SqlStores) -> None:
    single = await tenant(databases, triggers=1)
    newer, known = await single.started(0, 1)
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
    (newer,) = await single.started(0)
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
    assert [(await acme.stored(run)).status for run in runs[:2]] == [RunStatus.COMPLETED, RunStatus.RUNNING]
    assert {post.id for post in await acme.stores.posts.posts(acme.id)} >= {posts[0].id, posts[3].id}
