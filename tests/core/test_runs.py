"""Runs and jobs: their causes, their states, and their wire forms."""

from datetime import timedelta
from typing import Any, Final

import pytest
from attrs import evolve
from msgspec import to_builtins
from tests.builders import a_release

from contentsvc_core import ContentType, Push, Release, RunStatus, WorkflowRun
from contentsvc_core.content.windows import Lookback, LookbackWindow
from contentsvc_core.events.normalized import HeadCommit
from contentsvc_core.organizations import within_shares
from contentsvc_core.testing import START
from contentsvc_core.workflows.causes import Delivered, Generation, SiteReading, Source
from contentsvc_core.workflows.jobs import (
    BrandJobBody,
    GenerationJobBody,
    Job,
    JobEvent,
    JobEventBody,
    JobEventType,
    job_events,
    job_status,
)
from contentsvc_core.workflows.run_payloads import payload_from_json, payload_to_json
from contentsvc_core.workflows.runs import MAX_ATTEMPTS, Due, RunBody, retry_delay, takeable

_NOON: Final = START + timedelta(hours=12)


_PUSH: Final = Push(
    ref="refs/heads/main", branch="main", commits=(), head_commit=HeadCommit(id="a" * 40, message="feat: x")
)


_PUSH_DATA: Final[dict[str, Any]] = {
    "ref": "refs/heads/main",
    "branch": "main",
    "commits": [],
    "headCommit": {"id": "a" * 40, "message": "feat: x"},
}


_SOURCE: Final = Source(provider="codehost", repository_id=4242, full_name="acme/lamp")


_DELIVERED: Final = Delivered(
    trigger_id="trg_1", provider="codehost", event=_PUSH, repository_id=4242, repository="acme/lamp", delivery_id="d-1"
)


_ASKED: Final = Generation(
    job_id="job_1",
    content_type=ContentType.BLOG_POST,
    lookback=Lookback.YESTERDAY,
    window=LookbackWindow(since=START, until=_NOON),
    sources=(_SOURCE,),
    brand_identity_id="brand_1",
)


_READING: Final = SiteReading(job_id="job_1", name="Acme", website_url="https://acme.example")


FIRST: Final = JobEvent(
    id="evt_1", job_id="job_1", type=JobEventType.QUEUED, message="Asked", metadata={"a": 1}, created_at=_NOON
)


def _run(cause: Delivered | Generation | SiteReading, **values: Any) -> WorkflowRun:
    return WorkflowRun(id="run_1", organization_id="org_1", cause=cause, created_at=START, due_at=START, **values)


def _release(tag: str, published_at: str | None) -> Release:
    return a_release(tag, published_at=published_at)


def test_the_backoff_doubles_until_a_run_has_failed() -> None:
    delays = [retry_delay(attempt) for attempt in range(1, 9)]

    assert MAX_ATTEMPTS == 8
    assert [delay and delay.total_seconds() for delay in delays] == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, None]


@pytest.mark.parametrize(
    ("kills", "running", "taken"),
    [
        ([0, 1, 1], None, [0, 1, 2]),
        ([1, 0], 1, [0, 1]),
        # While other runs are first, no suspect is taken; the first suspect is taken alone.
        ([0, 2, 1], None, [0, 2]),
        ([2, 2, 0], None, [0]),
        # While a run is running, no suspect is taken, and no run overtakes the first suspect.
        ([2, 0], 0, []),
        # While a suspect runs, nothing is taken.
        ([0], 2, []),
        ([], None, []),
    ],
)
def test_a_suspect_runs_alone(kills: list[int], running: int | None, taken: list[int]) -> None:
    pending = [(str(position), number) for position, number in enumerate(kills)]

    assert takeable(pending, running) == [str(position) for position in taken]


def test_each_organization_has_its_places() -> None:
    due = [Due(id=id_, organization_id=id_[0]) for id_ in ("a1", "a2", "b1", "a3", "b2")]

    assert [each.id for each in within_shares(due, per_organization=2)] == ["a1", "a2", "b1", "b2"]
    assert [each.id for each in within_shares(due, per_organization=2, at_work={"a": 1, "b": 3})] == ["a1"]


def test_a_run_of_a_delivery_has_its_event() -> None:
    run = _run(_DELIVERED, status=RunStatus.FAILED, attempts=8, kills=1, takes=9, error="no ink", post_id="post_1")
    assert to_builtins(RunBody.of(run)) == {
        "id": "run_1",
        "triggerId": "trg_1",
        "scheduleId": None,
        "jobId": None,
        "eventType": "push",
        "eventAction": "pushed",
        "eventData": _PUSH_DATA,
        "repositoryId": "4242",
        "deliveryId": "d-1",
        "status": "failed",
        "attempts": 8,
        "kills": 1,
        "error": "no ink",
        "postId": "post_1",
        "createdAt": "2026-01-01T00:00:00.000Z",
    }


@pytest.mark.parametrize(
    ("cause", "job", "schedule"),
    [
        (_ASKED, "job_1", None),
        (evolve(_ASKED, job_id=None, schedule_id="sch_1"), None, "sch_1"),
        (_READING, "job_1", None),
    ],
)
def test_a_run_of_another_cause_names_the_cause(
    cause: Generation | SiteReading, job: str | None, schedule: str | None
) -> None:
    body = to_builtins(RunBody.of(_run(cause)))
    assert (body["jobId"], body["scheduleId"]) == (job, schedule)
    assert cause.started_by == (job or schedule)
    absent = ("triggerId", "eventType", "eventAction", "eventData", "repositoryId", "deliveryId")
    assert [body[name] for name in absent] == [None] * 6
    assert payload_from_json(cause.kind, payload_to_json(cause)) == cause


def test_a_generation_has_one_cause() -> None:
    for both in ({"schedule_id": "sch_1"}, {"job_id": None}):
        with pytest.raises(ValueError, match=r"^a generation belongs to a job, to a schedule or to a trigger$"):
            evolve(_ASKED, **both)


def test_a_release_is_reported_once_unless_it_is_replayed() -> None:
    from_release = evolve(_DELIVERED, event=_release("v1/2", "2026/01"))
    assert from_release.once_key == "trg_1/4242/2026%2F01/v1/2"
    assert from_release.started_by == "trg_1"
    for other in (_DELIVERED, evolve(from_release, replayed=True), evolve(_DELIVERED, event=_release("v1", None))):
        assert other.once_key is None


def test_the_wire_form_of_a_job_that_writes_a_post() -> None:
    job = Job(id="job_1", run=_run(_ASKED, post_id="post_1", status=RunStatus.COMPLETED), events=[FIRST])
    assert to_builtins(GenerationJobBody.of(job)) == {
        "id": "job_1",
        "organizationId": "org_1",
        "status": "completed",
        "error": None,
        "createdAt": "2026-01-01T00:00:00.000Z",
        "updatedAt": "2026-01-01T12:00:00.000Z",
        "completedAt": "2026-01-01T12:00:00.000Z",
        "contentType": "blog_post",
        "lookbackWindow": "yesterday",
        "repositoryIds": ["4242"],
        "brandVoiceId": "brand_1",
        "workflowRunId": "run_1",
        "postId": "post_1",
        "source": "api",
    }


@pytest.mark.parametrize(
    ("reached", "step", "number"),
    [
        ([], "scraping", 1),
        ([JobEventType.SCRAPING], "scraping", 1),
        ([JobEventType.SCRAPING, JobEventType.EXTRACTING], "extracting", 2),
        ([JobEventType.SCRAPING, JobEventType.EXTRACTING, JobEventType.SAVING], "saving", 3),
        # Another attempt starts from the beginning.
        ([JobEventType.SAVING, JobEventType.SCRAPING, JobEventType.RUNNING], "scraping", 1),
    ],
)
def test_the_wire_form_of_a_job_that_creates_a_brand_identity_has_its_step(
    reached: list[JobEventType], step: str, number: int
) -> None:
    events = [evolve(FIRST, type=kind) for kind in reached]
    job = Job(id="job_1", run=_run(_READING, status=RunStatus.RUNNING, error="away"), events=events)
    assert to_builtins(BrandJobBody.of(job)) == {
        "id": "job_1",
        "organizationId": "org_1",
        "status": "running",
        "error": None,
        "createdAt": "2026-01-01T00:00:00.000Z",
        "updatedAt": "2026-01-01T12:00:00.000Z" if reached else "2026-01-01T00:00:00.000Z",
        "completedAt": None,
        "name": "Acme",
        "websiteUrl": "https://acme.example",
        "step": step,
        "currentStep": number,
        "totalSteps": 3,
        "brandIdentityId": None,
    }
    done = evolve(job, run=_run(_READING, status=RunStatus.COMPLETED))
    assert BrandJobBody.of(done).brand_identity_id == "brand_run_1"


@pytest.mark.parametrize(
    ("status", "attempts", "expected"),
    [
        (RunStatus.PENDING, 0, "queued"),
        (RunStatus.PENDING, 1, "running"),
        (RunStatus.RUNNING, 1, "running"),
        (RunStatus.SKIPPED, 1, "skipped"),
        (RunStatus.FAILED, 8, "failed"),
        (RunStatus.CANCELLED, 0, "failed"),
        (RunStatus.CANCELLED, 1, "failed"),
    ],
)
def test_the_status_of_a_job_is_that_of_its_run(status: RunStatus, attempts: int, expected: str) -> None:
    assert job_status(Job(id="job_1", run=_run(_ASKED, status=status, attempts=attempts))) == expected


def test_a_job_that_was_cancelled_has_a_last_event() -> None:
    job = Job(id="job_1", run=_run(_ASKED, status=RunStatus.CANCELLED, error="cancelled"), events=[FIRST])
    end = JobEvent(id="evt_run_1_end", job_id="job_1", type=JobEventType.FAILED, message="cancelled", created_at=_NOON)
    assert job_events(job) == (FIRST, end)
    silent = evolve(job, run=_run(_ASKED, status=RunStatus.COMPLETED), events=[])
    assert job_events(silent) == (
        evolve(end, type=JobEventType.COMPLETED, message="The work has ended", created_at=START),
    )
    assert job_events(evolve(job, events=[end])) == (end,)
    assert job_events(evolve(job, run=_run(_ASKED))) == (FIRST,)


def test_the_wire_form_of_a_job_event() -> None:
    assert to_builtins(JobEventBody.of(FIRST)) == {
        "id": "evt_1",
        "jobId": "job_1",
        "type": "queued",
        "message": "Asked",
        "createdAt": "2026-01-01T12:00:00.000Z",
        "metadata": {"a": 1},
    }
    assert JobEventBody.of(evolve(FIRST, metadata=None)).metadata is None
