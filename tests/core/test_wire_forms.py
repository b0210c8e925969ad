"""What clients and operators see of each value, field by field."""

from datetime import timedelta
from typing import Any, Final

import msgspec
import pytest
from attrs import evolve
from tests.refusals import message_of

from contentsvc_core import ContentType, LogEntry, LogStatus, PostStatus, Push, Release, RunStatus, Trigger, WorkflowRun
from contentsvc_core.code_hosts import HostDelivery, HostFault, missed
from contentsvc_core.content.posts import Post, post_body
from contentsvc_core.content.queries import read_post_query, unknown_brand
from contentsvc_core.content.windows import Lookback, LookbackWindow, window_at
from contentsvc_core.events.normalized import HeadCommit
from contentsvc_core.identifiers import is_full_name, is_own_id, is_slug, is_token, minted_ms, repository_id, slugify
from contentsvc_core.journal import log_body, read_log_query
from contentsvc_core.organizations import (
    Disabled,
    Integration,
    Removed,
    Repository,
    removed_body,
    webhook_path,
    webhook_url,
)
from contentsvc_core.read_model import LogSearch, refuse_uncounted, stretch_at
from contentsvc_core.refusals import Refusal
from contentsvc_core.testing import START
from contentsvc_core.workflows.bodies import TriggerBody
from contentsvc_core.workflows.causes import Delivered, Generation, SiteReading, Source, sources_of
from contentsvc_core.workflows.context import how_many_fit
from contentsvc_core.workflows.jobs import (
    Job,
    JobEvent,
    JobEventType,
    brand_job_body,
    generation_job_body,
    job_event,
    job_event_body,
    job_events,
    job_status,
)
from contentsvc_core.workflows.run_payloads import payload_from_json, payload_to_json
from contentsvc_core.workflows.runs import run_body
from contentsvc_core.workflows.triggers import matching
from contentsvc_core.zones import DEFAULT_ZONE

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
    trigger_id="trg_1",
    provider="codehost",
    event=_PUSH,
    repository_id=4242,
    repository="acme/lamp",
    delivery_id="d-1",
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


def _run(cause: Delivered | Generation | SiteReading, **values: Any) -> WorkflowRun:
    return WorkflowRun(id="run_1", organization_id="org_1", cause=cause, created_at=START, due_at=START, **values)


class TestPosts:
    POST: Final = Post(
        id="post_1",
        organization_id="org_1",
        title="Lamps",
        content="<p>Lamps</p>",
        markdown="Lamps",
        content_type=ContentType.TWITTER_POST,
        source_metadata={"runId": "run_1"},
        status=PostStatus.DRAFT,
        created_at=START,
        updated_at=_NOON,
    )

    def test_a_post_has_nine_fields(self) -> None:
        assert post_body(self.POST) == {
            "id": "post_1",
            "title": "Lamps",
            "content": "<p>Lamps</p>",
            "markdown": "Lamps",
            "contentType": "twitter_post",
            "sourceMetadata": {"runId": "run_1", "text": "Lamps"},
            "status": "draft",
            "createdAt": "2026-01-01T00:00:00.000Z",
            "updatedAt": "2026-01-01T12:00:00.000Z",
        }
        assert post_body(evolve(self.POST, source_metadata=None))["sourceMetadata"] is None

    @pytest.mark.parametrize(
        ("parameters", "error"),
        [
            ({"sort": "up\ndown"}, "Invalid sort: 'up down' is not one of asc, desc"),
            ({"sort": "x" * 65}, f"Invalid sort: '{'x' * 63}…' is not one of asc, desc"),
            ({"status": "draft,gone"}, "Invalid status: 'gone' is not one of draft, published"),
            (
                {"contentType": "poem"},
                "Invalid contentType: 'poem' is not one of changelog, blog_post, linkedin_post, twitter_post, inv",
            ),
            ({"contentType": "x" * 65}, "Invalid contentType: '" + "x" * 63 + "…' is not one of changelog,"),
        ],
    )
    def test_what_cannot_be_asked_for_is_named_with_what_can(self, parameters: dict[str, str], error: str) -> None:
        refused = read_post_query(parameters)
        assert isinstance(refused, Refusal)
        assert refused.message().startswith(error)

    def test_a_brand_identity_that_is_not_there_is_named(self) -> None:
        assert unknown_brand("brand_x").message() == "Invalid brandIdentityId: 'brand_x' is unknown"
        assert unknown_brand("x" * 65).message() == f"Invalid brandIdentityId: '{'x' * 63}…' is unknown"


class TestRuns:
    def test_a_run_that_a_delivery_started_has_its_event(self) -> None:
        run = _run(_DELIVERED, status=RunStatus.FAILED, attempts=8, kills=1, takes=9, error="no ink", post_id="post_1")
        assert run_body(run) == {
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
    def test_any_other_run_names_what_started_it(
        self, cause: Generation | SiteReading, job: str | None, schedule: str | None
    ) -> None:
        body = run_body(_run(cause))
        assert (body["jobId"], body["scheduleId"]) == (job, schedule)
        assert cause.started_by == (job or schedule)
        absent = ("triggerId", "eventType", "eventAction", "eventData", "repositoryId", "deliveryId")
        assert [body[name] for name in absent] == [None] * 6
        assert payload_from_json(cause.kind, payload_to_json(cause)) == cause

    def test_a_generation_belongs_to_a_job_to_a_schedule_or_to_a_trigger(self) -> None:
        for both in ({"schedule_id": "sch_1"}, {"job_id": None}):
            with pytest.raises(ValueError, match="belongs to a job, to a schedule or to a trigger"):
                evolve(_ASKED, **both)

    def test_what_is_connected_can_be_written_from(self) -> None:
        integration = Integration(
            id="int_1",
            organization_id="org_1",
            provider="codehost",
            repositories=(Repository(id=4242, full_name="acme/lamp", branch=None),),
            created_at=START,
        )
        assert sources_of([integration]) == [_SOURCE]
        assert webhook_path(integration, 7) == "/api/webhooks/codehost/org_1/int_1/7"
        assert webhook_url("https://x.example", integration, 7) == (
            "https://x.example/api/webhooks/codehost/org_1/int_1/7"
        )
        gone = Removed(
            disabled_events=[Disabled("b", ""), Disabled("a", "Each push")],
            disabled_schedules=[Disabled("c", "Weekly")],
        )
        assert gone.disabled_events == (Disabled("a", "Each push"), Disabled("b", ""))
        assert removed_body(gone) == {"disabledSchedules": ["c"], "disabledEvents": ["a", "b"]}


class TestJobs:
    FIRST: Final = JobEvent(
        id="evt_1", job_id="job_1", type=JobEventType.QUEUED, message="Asked", metadata={"a": 1}, created_at=_NOON
    )

    def test_a_job_that_writes_a_post_has_these_fields(self) -> None:
        job = Job(id="job_1", run=_run(_ASKED, post_id="post_1", status=RunStatus.COMPLETED), events=[self.FIRST])
        assert generation_job_body(job) == {
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
            # Another attempt begins anew.
            ([JobEventType.SAVING, JobEventType.SCRAPING, JobEventType.RUNNING], "scraping", 1),
        ],
    )
    def test_a_job_that_makes_an_identity_says_how_far_it_is(
        self, reached: list[JobEventType], step: str, number: int
    ) -> None:
        events = [evolve(self.FIRST, type=kind) for kind in reached]
        job = Job(id="job_1", run=_run(_READING, status=RunStatus.RUNNING, error="away"), events=events)
        assert brand_job_body(job) == {
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
        assert brand_job_body(done)["brandIdentityId"] == "brand_run_1"

    @pytest.mark.parametrize(
        ("status", "attempts", "said"),
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
    def test_a_job_stands_where_its_run_does(self, status: RunStatus, attempts: int, said: str) -> None:
        assert job_status(Job(id="job_1", run=_run(_ASKED, status=status, attempts=attempts))) == said

    def test_a_job_that_was_ended_from_outside_has_an_end_all_the_same(self) -> None:
        job = Job(id="job_1", run=_run(_ASKED, status=RunStatus.CANCELLED, error="cancelled"), events=[self.FIRST])
        end = JobEvent(
            id="evt_run_1_end", job_id="job_1", type=JobEventType.FAILED, message="cancelled", created_at=_NOON
        )
        assert job_events(job) == (self.FIRST, end)
        silent = evolve(job, run=_run(_ASKED, status=RunStatus.COMPLETED), events=[])
        assert job_events(silent) == (
            evolve(end, type=JobEventType.COMPLETED, message="The work has ended", created_at=START),
        )
        assert job_events(evolve(job, events=[end])) == (end,)
        assert job_events(evolve(job, run=_run(_ASKED))) == (self.FIRST,)

    def test_an_event_is_told_with_what_belongs_to_it(self) -> None:
        assert job_event_body(self.FIRST) == {
            "id": "evt_1",
            "jobId": "job_1",
            "type": "queued",
            "message": "Asked",
            "createdAt": "2026-01-01T12:00:00.000Z",
            "metadata": {"a": 1},
        }
        assert job_event_body(evolve(self.FIRST, metadata=None))["metadata"] is None

    def test_what_happens_to_a_run_happens_to_its_job_if_it_has_one(self) -> None:
        noted = JobEvent(
            id="evt_run_1_3_saving",
            job_id="job_1",
            type=JobEventType.SAVING,
            message="Saving",
            metadata={"a": 1},
            created_at=_NOON,
        )
        for cause in (_ASKED, _READING):
            run = _run(cause, takes=3)
            assert job_event(run, JobEventType.SAVING, "Saving", at=_NOON, metadata={"a": 1}) == noted
        for cause in (_DELIVERED, evolve(_ASKED, job_id=None, schedule_id="sch_1")):
            assert job_event(_run(cause), JobEventType.SAVING, "Saving", at=_NOON) is None


class TestTriggers:
    TRIGGER: Final = Trigger(
        id="trg_1",
        organization_id="org_1",
        name="Lamps",
        source_type="codehost_webhook",
        repository_ids=(2, 1, 2),
        event_types=("release", "push"),
        output_type=ContentType.CHANGELOG,
        created_at=START,
    )

    def test_a_trigger_has_these_fields(self) -> None:
        body = {
            "id": "trg_1",
            "organizationId": "org_1",
            "name": "Lamps",
            "sourceType": "codehost_webhook",
            "enabled": True,
            "targets": {"repositoryIds": ["1", "2"]},
            "sourceConfig": {"eventTypes": ["push", "release"]},
            "outputType": "changelog",
            "outputConfig": None,
            "autoPublish": False,
            "createdAt": "2026-01-01T00:00:00.000Z",
        }
        assert msgspec.to_builtins(TriggerBody.of(self.TRIGGER)) == body
        branded = evolve(self.TRIGGER, brand_identity_id="brand_1")
        assert msgspec.to_builtins(TriggerBody.of(branded)) == body | {"outputConfig": {"brandIdentityId": "brand_1"}}

    @pytest.mark.parametrize(
        ("given", "found"),
        [
            ({}, True),
            ({"organization_id": "org_2"}, False),
            ({"source_type": "github_webhook"}, False),
            ({"repository_id": 3}, False),
            ({"event_type": "ping"}, False),
        ],
    )
    def test_a_trigger_is_started_by_events_of_its_own(self, given: dict[str, Any], *, found: bool) -> None:
        event: dict[str, Any] = {
            "organization_id": "org_1",
            "source_type": "codehost_webhook",
            "repository_id": 2,
            "event_type": "push",
        }
        event |= given
        assert matching([self.TRIGGER], **event) == ((self.TRIGGER,) if found else ())
        assert matching([evolve(self.TRIGGER, enabled=False)], **event) == ()
        anything = evolve(self.TRIGGER, event_types=())
        found = found or event["event_type"] == "ping"
        assert matching([anything], **event) == ((anything,) if found else ())

    def test_an_unknown_event_is_none_that_a_trigger_takes(self) -> None:
        with pytest.raises(ValueError, match="unknown event type 'ping': a trigger takes push or release"):
            evolve(self.TRIGGER, event_types=("push", "ping"))

    @pytest.mark.parametrize(
        ("changes", "same"),
        [
            ({"name": "x", "enabled": False, "auto_publish": True, "id": "trg_2"}, True),
            ({"event_types": ()}, True),
            ({"event_types": ("push",)}, False),
            ({"source_type": "github_webhook"}, False),
            ({"repository_ids": (1,)}, False),
            ({"output_type": ContentType.BLOG_POST}, False),
            ({"brand_identity_id": "brand_1"}, False),
        ],
    )
    def test_two_triggers_do_the_same_when_they_write_the_same(self, changes: dict[str, Any], *, same: bool) -> None:
        assert self.TRIGGER.does_the_same_as(evolve(self.TRIGGER, **changes)) is same

    def test_a_release_is_reported_once_unless_somebody_asks_again(self) -> None:
        from_release = evolve(_DELIVERED, event=_release("v1/2", "2026/01"))
        assert from_release.once_key == "trg_1/4242/2026%2F01/v1/2"
        assert from_release.started_by == "trg_1"
        for other in (
            _DELIVERED,
            evolve(from_release, replayed=True),
            evolve(_DELIVERED, event=_release("v1", None)),
        ):
            assert other.once_key is None


def _release(tag: str, published_at: str | None) -> Release:
    return Release(
        action="published",
        tag_name=tag,
        name=None,
        body=None,
        prerelease=False,
        draft=False,
        published_at=published_at,
        url="",
    )


class TestLogs:
    ENTRY: Final = LogEntry(
        id="log_1",
        organization_id="org_1",
        integration_id="int_1",
        repository_id=4242,
        reference_id="d-1",
        title="Processed push event",
        integration_type="codehost",
        status=LogStatus.SUCCESS,
        status_code=200,
        error_message="None at all",
        detail=_PUSH,
        reason="1 workflow run started",
        created_at=START,
    )

    def test_an_entry_has_ten_fields(self) -> None:
        assert log_body(self.ENTRY) == {
            "id": "log_1",
            "referenceId": "d-1",
            "title": "Processed push event",
            "integrationType": "codehost",
            "direction": "incoming",
            "status": "success",
            "statusCode": 200,
            "errorMessage": "None at all",
            "payload": {"event": "push", "action": "pushed", "data": _PUSH_DATA},
            "createdAt": "2026-01-01T00:00:00.000Z",
        }
        assert evolve(self.ENTRY, detail=None).payload is None
        assert evolve(self.ENTRY, detail={"a": 1}).payload == {"a": 1}

    @pytest.mark.parametrize(
        ("parameters", "error"),
        [
            ({"status": "lost"}, "Invalid status: 'lost' is not one of success, failed, pending"),
            ({"integrationId": "int_1,no id"}, "Invalid integrationId: 'no id' is unknown"),
            ({"integrationId": "x" * 65}, f"Invalid integrationId: '{'x' * 63}…' is unknown"),
        ],
    )
    def test_what_a_log_cannot_be_asked_for_is_named(self, parameters: dict[str, str], error: str) -> None:
        assert message_of(read_log_query(parameters)) == error

    @pytest.mark.parametrize(
        ("search", "found"),
        [
            (LogSearch(), True),
            (LogSearch(integration_ids=["int_1", "int_2"], statuses=[LogStatus.SUCCESS]), True),
            (LogSearch(integration_ids=["int_2"]), False),
            (LogSearch(statuses=[LogStatus.FAILED, LogStatus.PENDING]), False),
            (LogSearch(event="push"), True),
            (LogSearch(event="pus"), False),
            (LogSearch(event="Processed"), False),
            (LogSearch(text="D-1"), True),
            (LogSearch(text="none AT all"), True),
            (LogSearch(text="workflow"), True),
            (LogSearch(text="processed"), True),
            (LogSearch(text="codehost"), False),
        ],
    )
    def test_entries_are_found_by_what_people_remember_of_them(self, search: LogSearch, *, found: bool) -> None:
        assert search.finds(self.ENTRY) is found

    def test_entries_are_counted_by_the_hour_and_by_the_day_alone(self) -> None:
        at = START + timedelta(days=2, hours=3, minutes=4, seconds=5)
        assert stretch_at(at, timedelta(hours=1)) == START + timedelta(days=2, hours=3)
        assert stretch_at(at, timedelta(days=1)) == START + timedelta(days=2)
        refuse_uncounted(timedelta(hours=1))
        with pytest.raises(ValueError, match=r"are counted by the hour and by the day, not by 0:05:00"):
            refuse_uncounted(timedelta(minutes=5))


class TestHosts:
    def test_what_any_attempt_has_delivered_is_not_missed(self) -> None:
        def attempt(id_: str, delivery_id: str, status: int, minute: int) -> HostDelivery:
            return HostDelivery(
                id=id_,
                delivery_id=delivery_id,
                event="push",
                action=None,
                status_code=status,
                delivered_at=START + timedelta(minutes=minute),
            )

        attempts = [
            attempt("5", "d-late", 0, 9),
            attempt("3", "d-again", 500, 3),
            attempt("1", "d-again", 504, 1),
            attempt("2", "d-fine", 504, 1),
            attempt("4", "d-fine", 299, 2),
            attempt("6", "d-wrong", 300, 3),
        ]
        assert [each.id for each in missed(attempts)] == ["3", "6", "5"]
        assert [each.succeeded for each in attempts] == [False, False, False, False, True, False]
        assert {fault for fault in HostFault if fault.is_unknown} == {HostFault.UNREACHABLE, HostFault.STRANGE}


class TestTexts:
    @pytest.mark.parametrize(
        ("text", "number"),
        [("1", 1), ("0", None), ("01", None), (str(2**63 - 1), 2**63 - 1), (str(2**63), None), ("1_0", None)],
    )
    def test_a_repositorys_id_fits_into_every_store(self, text: str, number: int | None) -> None:
        assert repository_id(text) == number

    def test_what_can_be_an_id_a_slug_a_name_or_a_token_is_known_by_its_form(self) -> None:
        assert [is_own_id(text) for text in ("a_-9", "x" * 64, "x" * 65, "", "a b")] == [
            True,
            True,
            False,
            False,
            False,
        ]
        assert [is_slug(text) for text in ("a-b", "x" * 64, "x" * 65, "-a", "a-")] == [True, True, False, False, False]
        assert [is_full_name(text) for text in ("a/b", "a/..", "../a", "a")] == [True, False, False, False]
        assert [is_token(text) for text in ("x" * 1000, "x" * 1001, "a b", "")] == [True, False, False, False]

    def test_a_slug_is_cut_and_has_no_hyphen_at_its_ends(self) -> None:
        assert slugify(f"--{'a' * 63}-b") == "a" * 63
        # Characters that are trimmed at both ends do not count for the limit.
        assert slugify(f"--{'a' * 70}") == "a" * 64
        assert slugify("A!?B") == "a-b"

    def test_an_id_tells_when_it_was_minted(self) -> None:
        assert minted_ms("log_0000018c-5b1f-7000-8000-000000000001") == 0x018C5B1F
        assert minted_ms("log_00000001-0000-7000-8000-000000000001") == 65_536
        assert minted_ms("log_00000000-0000-4000-8000-000000000001") is None

    @pytest.mark.parametrize(
        ("sizes", "room", "fit"),
        [([], 5, 0), ([9], 5, 1), ([2, 3], 5, 2), ([2, 3, 1], 5, 2), ([2, 4], 5, 1), ([9, 1], 5, 1)],
    )
    def test_of_any_things_one_always_fits(self, sizes: list[int], room: int, fit: int) -> None:
        assert how_many_fit(sizes, room) == fit

    @pytest.mark.parametrize(
        ("lookback", "since", "until"),
        [
            (Lookback.CURRENT_DAY, "2026-03-02T00:00", "2026-03-02T10:11:12.013"),
            (Lookback.YESTERDAY, "2026-03-01T00:00", "2026-03-02T00:00"),
            (Lookback.LAST_7_DAYS, "2026-02-23T10:11:12.013", "2026-03-02T10:11:12.013"),
            (Lookback.LAST_14_DAYS, "2026-02-16T10:11:12.013", "2026-03-02T10:11:12.013"),
            (Lookback.LAST_30_DAYS, "2026-01-31T10:11:12.013", "2026-03-02T10:11:12.013"),
        ],
    )
    def test_a_lookback_ends_now_or_at_midnight(self, lookback: Lookback, since: str, until: str) -> None:
        now = START.replace(month=3, day=2, hour=10, minute=11, second=12, microsecond=13_000)
        window = window_at(lookback, now, DEFAULT_ZONE)
        begin, end = (START.fromisoformat(f"{text}+00:00") for text in (since, until))
        assert (window.since, window.until) == (begin, end)
