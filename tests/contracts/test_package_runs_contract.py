"""``RunLedger``: runs of several releases with one post."""

import asyncio
from datetime import timedelta

import pytest
from attrs import evolve
from contract_values import Tenant, a_post, killed, later, push, release, tenant

from contentsvc_core.errors import Unstorable
from contentsvc_core.testing import START
from contentsvc_core.workflows.causes import ListedDelivery
from contentsvc_core.workflows.runs import Completion, RunStatus, listed_run


async def test_releases_reported_by_one_post_are_not_reported_again(acme: Tenant) -> None:
    ledger = acme.stores.ledger
    keys = ["a", "b", "c"]
    assert not await ledger.reported(acme.id, keys)
    assert not await ledger.reported(acme.id, [])

    run = await acme.taken()
    assert await ledger.complete(run, a_post(acme.id), once="a", also=["b", "c"]) is Completion.COMPLETED

    assert set(await ledger.reported(acme.id, [*keys, "d"])) == set(keys)
    for key in keys:
        again = await acme.taken()
        assert await ledger.complete(again, a_post(acme.id), once=key) is Completion.ALREADY_REPORTED
        assert (await acme.stored(again)).status is RunStatus.SKIPPED
    assert len(await acme.stores.posts.posts(acme.id)) == 1


async def test_keys_are_the_organizations_own(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith")
    ledger = acme.stores.ledger
    assert await ledger.complete(await acme.taken(), a_post(acme.id), once="a", also=["b"]) is Completion.COMPLETED
    assert not await ledger.reported(zenith.id, ["a", "b"])
    assert await ledger.complete(await zenith.taken(), a_post(zenith.id), once="b", also=["a"]) is Completion.COMPLETED


@pytest.mark.parametrize("reported", ["own", "beside"])
async def test_a_run_that_was_overtaken_writes_nothing_and_is_running_still(acme: Tenant, reported: str) -> None:
    ledger = acme.stores.ledger
    others = {"own": ("b", ()), "beside": ("z", ("b",))}[reported]
    assert await ledger.complete(await acme.taken(), a_post(acme.id), once=others[0], also=others[1])
    run, post = await acme.taken(), a_post(acme.id)

    assert await ledger.complete(run, post, once="a", also=["b", "c"]) is Completion.OVERTAKEN

    assert await acme.stores.posts.post(acme.id, post.id) is None
    assert (await acme.stored(run)).status is RunStatus.RUNNING
    assert not await ledger.reported(acme.id, ["a", "c"])
    # As in the next attempt.
    assert await ledger.complete(run, post, once="a", also=["c"]) is Completion.COMPLETED


async def test_a_run_lost_by_its_executor_reports_no_release(acme: Tenant) -> None:
    ledger = acme.stores.ledger
    run = await acme.taken()
    await killed(acme.stores)
    assert await ledger.complete(run, a_post(acme.id), once="a", also=["b"]) is Completion.GONE
    assert not await ledger.reported(acme.id, ["a", "b"])


async def test_of_concurrent_posts_one_reports_a_release(acme: Tenant) -> None:
    ledger = acme.stores.ledger
    runs = [await acme.taken() for _ in range(6)]
    reported: list[tuple[str, list[str]]] = [("a", ["b"]), ("b", []), ("a", []), ("c", ["b"]), ("b", ["a"]), ("c", [])]

    answers = await asyncio.gather(
        *(
            ledger.complete(run, a_post(acme.id), once=once, also=also)
            for run, (once, also) in zip(runs, reported, strict=True)
        )
    )

    written = [
        key
        for answer, (once, also) in zip(answers, reported, strict=True)
        if answer is Completion.COMPLETED
        for key in (once, *also)
    ]
    assert len(written) == len(set(written))
    assert len(await acme.stores.posts.posts(acme.id)) == answers.count(Completion.COMPLETED) > 0
    assert Completion.GONE not in answers


async def test_a_key_that_cannot_be_stored_changes_nothing(acme: Tenant) -> None:
    run = await acme.taken()
    with pytest.raises(Unstorable):
        await acme.stores.ledger.complete(run, a_post(acme.id), once="a", also=["\ud800"])
    assert (await acme.stored(run)).status is RunStatus.RUNNING


async def test_runs_of_releases_are_listed_by_trigger_repository_and_time(acme: Tenant) -> None:
    other = await tenant(acme.stores, "other", repository_id=2, full_name="acme/other")
    stores = acme.stores
    settled = [
        await acme.processed(f"r-{number}", release(f"cli@1.{number}.0"), later(milliseconds=number))
        for number in range(4)
    ]
    pushing = await acme.processed("p", push("feat: a lamp"), later(milliseconds=2))
    run_id, trigger = settled[1].started[0]
    replayed = evolve(
        await acme.processed("again", release("cli@1.1.0"), later(milliseconds=2)),
        started=((f"{run_id[:-4]}9999", trigger),),
        replayed=True,
    )
    for each in (*reversed(settled), pushing, replayed, await other.processed("o", release("cli@1.0.0"))):
        await stores.deliveries.settle(each)
    own = [each.runs[0] for each in settled]

    found = await stores.ledger.of_releases(own[1], since=later(milliseconds=1), until=later(milliseconds=3), limit=9)
    assert list(found) == [listed_run(run) for run in own[1:3]]
    always = {"since": START - timedelta(days=1), "until": START + timedelta(days=1)}
    found = await stores.ledger.of_releases(own[1], **always, limit=9)
    assert [each.id for each in found] == [run.id for run in own]
    assert list(await stores.ledger.of_releases(own[1], **always, limit=3)) == list(found)[:3]
    assert all(isinstance(each.cause, ListedDelivery) for each in found)
