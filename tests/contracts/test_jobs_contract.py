"""Guarantees of each store about jobs, and about runs without a delivery."""

import asyncio
from datetime import timedelta

import pytest
from attrs import evolve
from contract_values import IDS, Tenant, a_post, due, later, take, tenant
from tests.refusals import existing

from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.windows import Lookback, LookbackWindow, window_at
from contentsvc_core.events.wire import event_to_json
from contentsvc_core.testing import START
from contentsvc_core.workflows.causes import Generation, SiteReading, Source
from contentsvc_core.workflows.jobs import Job, JobEvent, JobEventType
from contentsvc_core.workflows.runs import Completion, RunStatus, WorkflowRun
from contentsvc_core.zones import DEFAULT_ZONE


def _job(acme: Tenant, asked: Generation | SiteReading | None = None) -> Job:
    job_id = IDS.new_id("job_")
    cause = asked or Generation(
        job_id=job_id,
        content_type=ContentType.BLOG_POST,
        lookback=Lookback.LAST_7_DAYS,
        window=window_at(Lookback.LAST_7_DAYS, START, DEFAULT_ZONE),
        sources=[Source(provider="codehost", repository_id=2**63 - 1, full_name="acme/läuft")],
        brand_identity_id="brand_1",
        include_releases=False,
    )
    run = WorkflowRun(id=IDS.new_id(""), organization_id=acme.id, cause=cause, created_at=START, due_at=START)
    return Job(id=cause.job_id or job_id, run=run, events=[_event(job_id, JobEventType.QUEUED)])


def _event(job_id: str, kind: JobEventType, at: timedelta = timedelta()) -> JobEvent:
    return JobEvent(
        id=f"evt_{job_id}_{kind.value}",
        job_id=job_id,
        type=kind,
        message="Wait: ⏳",
        metadata={"postId": "post_1"} if kind is JobEventType.COMPLETED else None,
        created_at=START + at,
    )


async def test_a_job_is_found_with_its_run_and_its_events(acme: Tenant) -> None:
    job = _job(acme)
    await acme.stores.jobs.start(job)

    assert await acme.stores.jobs.job(acme.id, job.id) == job
    assert await due(acme.stores, START) == [job.run.id]
    assert await acme.stores.jobs.job(acme.id, "job_unknown") is None


async def test_the_request_of_a_job_is_stored_unchanged(acme: Tenant) -> None:
    job_id = IDS.new_id("job_")
    reading = _job(acme, SiteReading(job_id=job_id, name=None, website_url="https://acme.example/é"))
    await acme.stores.jobs.start(evolve(reading, events=()))

    (run,) = await take(acme.stores, [reading.run.id])

    assert run.cause == reading.run.cause
    (listed,) = await acme.stores.ledger.runs(acme.id)
    assert listed == run


async def test_a_job_that_is_started_twice_is_one(acme: Tenant) -> None:
    job = _job(acme)

    await asyncio.gather(*(acme.stores.jobs.start(job) for _ in range(4)))
    await acme.stores.jobs.start(job)

    assert await acme.stores.jobs.job(acme.id, job.id) == job
    assert len(await acme.stores.ledger.runs(acme.id)) == 1
    # A repeated call that arrives late performs no ended run again.
    assert await acme.stores.ledger.cancel(acme.id, job.run.id, "enough")
    await acme.stores.jobs.start(job)
    assert [run.status for run in await acme.stores.ledger.runs(acme.id)] == [RunStatus.CANCELLED]


async def test_events_are_kept_in_the_order_of_their_noting_each_once(acme: Tenant) -> None:
    job = _job(acme)
    await acme.stores.jobs.start(job)
    later_one, sooner = (
        _event(job.id, JobEventType.COMPLETED),
        _event(job.id, JobEventType.RUNNING, timedelta(hours=-1)),
    )

    await acme.stores.jobs.note([later_one])
    await acme.stores.jobs.note([sooner, later_one])
    await acme.stores.jobs.note([])

    found = existing(await acme.stores.jobs.job(acme.id, job.id))
    assert found.events == (*job.events, later_one, sooner)


async def test_a_job_shows_the_current_state_of_its_run(acme: Tenant) -> None:
    job = _job(acme)
    await acme.stores.jobs.start(job)
    (run,) = await take(acme.stores, [job.run.id])
    post = a_post(acme.id)

    assert await acme.stores.ledger.complete(run, post, once=None) is Completion.COMPLETED

    found = existing(await acme.stores.jobs.job(acme.id, job.id))
    assert (found.run.status, found.run.post_id) == (RunStatus.COMPLETED, post.id)


async def test_a_job_of_another_organization_is_not_found(acme: Tenant) -> None:
    other = await tenant(acme.stores, "other")
    job = _job(acme)
    await acme.stores.jobs.start(job)

    assert await acme.stores.jobs.job(other.id, job.id) is None


@pytest.mark.parametrize("status", [RunStatus.FAILED, RunStatus.SKIPPED, RunStatus.CANCELLED])
async def test_a_run_that_has_ended_without_a_post_can_be_started_once_more(acme: Tenant, status: RunStatus) -> None:
    job = _job(acme)
    ledger = acme.stores.ledger
    await acme.stores.jobs.start(job)
    (run,) = await take(acme.stores, [job.run.id])
    assert not await ledger.restart(acme.id, run.id, due_at=later(hours=1))
    await ledger.end(run, status, "enough")

    assert await ledger.restart(acme.id, run.id, due_at=later(hours=1))
    assert not await ledger.restart(acme.id, run.id, due_at=later(hours=2))

    assert await due(acme.stores, later(minutes=59)) == []
    (again,) = await take(acme.stores, [run.id])
    assert again == evolve(run, attempts=1, takes=2, due_at=later(hours=1))
    # The first taker cannot change the run after its retry.
    await ledger.end(run, RunStatus.FAILED, "too late")
    assert await ledger.owns(again)


async def test_a_window_holds_what_arrived_from_its_beginning_until_before_its_end(acme: Tenant) -> None:
    for number, hour in enumerate((0, 1, 2, 3)):
        await acme.stores.deliveries.settle(await acme.processed(f"d-{number}", at=later(hours=hour)))
    window = LookbackWindow(since=later(hours=1), until=later(hours=3))

    async def found(**asked: object) -> tuple[list[str], int]:
        where: dict[str, object] = {"provider": "codehost", "repository_id": 1, "window": window, **asked}
        where = {"limit": 9, "max_bytes": 10_000, **where}
        records, left_out = await acme.stores.contexts.within(acme.id, **where)  # pyright: ignore[reportArgumentType]
        return [record.delivery_id for record in records], left_out

    assert await found() == (["d-2", "d-1"], 0)
    assert await found(limit=1) == (["d-2"], 1)
    # One job is returned, regardless of its size.
    assert await found(max_bytes=1) == (["d-2"], 1)
    assert await found(repository_id=2) == ([], 0)
    assert await found(provider="github") == ([], 0)


async def test_earlier_records_are_read_in_pages_of_bounded_size(acme: Tenant) -> None:
    for number in range(4):
        await acme.stores.deliveries.settle(await acme.processed(f"d-{number}", at=later(hours=number)))
    newest = (await acme.stores.contexts.records(acme.id, limit=1))[0]
    size = len(event_to_json(newest.event))

    async def before(limit: int, max_bytes: int) -> list[str]:
        found = await acme.stores.contexts.before(newest, limit=limit, max_bytes=max_bytes)
        return [record.delivery_id for record in found]

    assert await before(9, 10 * size) == ["d-2", "d-1", "d-0"]
    assert await before(9, 2 * size) == ["d-2", "d-1"]
    assert await before(1, 10 * size) == ["d-2"]
    assert await before(9, 1) == ["d-2"]
