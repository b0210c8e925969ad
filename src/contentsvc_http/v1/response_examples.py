"""Examples of successful responses in the OpenAPI document. They continue the story of the examples of requests."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from attrs import evolve
from msgspec import convert, to_builtins

from contentsvc_core.access.keys import DEFAULT_SCOPES
from contentsvc_core.code_hosts import HostDelivery
from contentsvc_core.commands import values_of
from contentsvc_core.content.brand import BrandBody, BrandIdentity
from contentsvc_core.content.brand_changes import ChangeBrand
from contentsvc_core.content.house_style import HouseStyle, style_body
from contentsvc_core.content.posts import BY_HAND, ContentType, Label, Post, PostStatus
from contentsvc_core.content.public.changelogs import ChangelogBody, Exposure, PublicChangelog, exposure_body
from contentsvc_core.content.public.changes import CreateChangelog
from contentsvc_core.content.style_fields import options_body, options_of
from contentsvc_core.content.versions import PostVersion, VersionBody, differences
from contentsvc_core.content.windows import Lookback, window_at
from contentsvc_core.events.normalized import Release
from contentsvc_core.journal import LogEntry, LogStatus, log_body
from contentsvc_core.lists.pagination import Pagination
from contentsvc_core.organizations import Integration, Organization, OrganizationBody, Repository, webhook_url
from contentsvc_core.outgoing.endpoints import ChangeEndpoint, EndpointBody, WebhookEndpoint
from contentsvc_core.search.excerpts import record_hit_body
from contentsvc_core.timestamps import iso_ms
from contentsvc_core.usecases.consents import ConfirmationRequests, confirmations_body
from contentsvc_core.usecases.diagnoses import Explained
from contentsvc_core.usecases.reconcile import Missed, MissedEnd, Reconciled
from contentsvc_core.usecases.replay_many import ReplayCount, ReplayedBatch
from contentsvc_core.webhooks.diagnosis import diagnose
from contentsvc_core.webhooks.outcomes import Duplicate, Fault, Filtered, Ignored, Pong, Processed, answer
from contentsvc_core.webhooks.providers import HOSTED_PROVIDER, PROVIDERS, Provider
from contentsvc_core.workflows.causes import Cause, Delivered, Generation, SiteReading, Source, source_type
from contentsvc_core.workflows.context import ContextRecord, RecordBody
from contentsvc_core.workflows.filters import TriggerOptions
from contentsvc_core.workflows.jobs import GenerationJobBody, Job, JobEventBody, JobEventType, job_event
from contentsvc_core.workflows.removals import Disabled, Removed
from contentsvc_core.workflows.runs import RunBody, RunStatus, WorkflowRun
from contentsvc_core.workflows.schedules import Schedule
from contentsvc_core.workflows.slots import cron_of, next_slot
from contentsvc_core.workflows.triggers import Trigger
from contentsvc_http.v1.answers import Answers
from contentsvc_http.v1.examples import EXAMPLES
from contentsvc_http.v1.schemas_integrations import IntegrationBody, ReconciledBody, integration_body
from contentsvc_http.v1.schemas_webhook_logs import OneLogBody, ReplayCountBody, ReplayedBatchBody

_BASE_URL: Final = "https://contentsvc.example"
_NOW: Final = datetime(2026, 11, 23, 9, tzinfo=UTC)
_ZONE: Final = ZoneInfo(EXAMPLES["updateOrganization"]["timeZone"])
#: The ends of ids: of everything that belongs to the release, of the request for content, and of other requests.
_UUID: Final = "01a21f35-cc56-7591-8dbc-28e26b263089"
_ASKED: Final = "01a21f35-ddb7-7017-aa4c-1cc2204ce801"
_OTHER: Final = "01a21f35-dd75-7716-8e1c-6e2ef3cd91a1"
_OWNED: Final[Mapping[str, Any]] = {"organization_id": f"org_{_UUID}", "created_at": _NOW}
_SENT: Final[Mapping[str, Any]] = {"delivery_id": "72d3162e-cc78-11e3-81ab-4c9367dc0958"}
_REFUSED: Final = "6bd8d1f0-cc77-11e3-9a3c-0f4b1f6f6f11"
_SECRET: Final = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"  # noqa: S105  # opens nothing
_FULL_NAME: Final = "acme/beacon"
_OF_REPOSITORY: Final[Mapping[str, Any]] = {"provider": "codehost", "repository_id": 7001}
_NAMED: Final[Mapping[str, Any]] = {**_OF_REPOSITORY, "repository": _FULL_NAME}
#: The organization of all examples.
ORGANIZATION: Final = Organization(id=f"org_{_UUID}", slug="acme", name="Acme", time_zone=_ZONE, created_at=_NOW)
_RELEASE: Final = Release(
    action="published",
    tag_name="v1.2.0",
    name="Beacon 1.2",
    body="The lamp has a slow mode.",
    prerelease=False,
    draft=False,
    published_at="2026-11-23T08:59:58Z",
    url="https://codehost.example/acme/beacon/releases/v1.2.0",
)


def delivery_examples() -> dict[str, Any]:
    """Return an example of each answer to an accepted delivery, by the outcome."""
    outcomes = {
        "processed": Processed(event=_RELEASE, repository_id=7001, repository=_FULL_NAME, **_SENT),
        "duplicate": Duplicate(kind="release", **_SENT),
        "ignored": Ignored(kind="issues", **_SENT),
        "filtered": Filtered(event=evolve(_RELEASE, action="created", draft=True), reason="", **_SENT),
        "ping": Pong(**_SENT),
    }
    return {name: {"value": answer(outcome)} for name, outcome in outcomes.items()}


def response_examples(answers: Answers) -> dict[str, Any]:
    """Return an example of each successful response to ``/v1``, by the name of its body."""
    groups = (
        _posts(answers),
        _jobs(),
        _brands(answers),
        _automations(answers),
        _integrations(answers),
        _received(),
        _endpoints(),
        _changelogs(),
        _organization(),
    )
    examples = {name: example for group in groups for name, example in group.items()}
    return to_builtins({**examples, "StatusBody": {"status": "ok", "version": "1.0.0"}})


def _post() -> Post:
    """Return the post that the run of the release has written."""
    return Post(
        **_OWNED,
        id=f"post_{_UUID}",
        title="Beacon 1.2",
        content="<h2>New</h2>\n<ul>\n<li>The lamp has a slow mode.</li>\n</ul>\n",
        markdown=EXAMPLES["createPost"]["markdown"],
        content_type=ContentType.CHANGELOG,
        source_metadata={
            "triggerId": f"trg_{_UUID}",
            "runId": _UUID,
            "repositories": [_FULL_NAME],
            "deliveryIds": list(_SENT.values()),
            "eventTypes": [_RELEASE.type],
            "releaseTags": [_RELEASE.tag_name],
        },
        status=PostStatus.DRAFT,
        updated_at=_NOW,
    )


def _posts(answers: Answers) -> dict[str, Any]:
    post, new = _post(), EXAMPLES["createPost"]
    by_hand = evolve(
        post,
        id=f"post_{_OTHER}",
        source_metadata={"writer": BY_HAND},
        summary=new["summary"],
        labels=convert(new["labels"], list[Label]),
    )
    posts = [answers.post(each) for each in (by_hand, post)]
    version = VersionBody.of(PostVersion(number=1, text=post.text, saved_at=_NOW))
    return {
        "PostListBody": {"posts": posts, "pagination": _one_page(2)},
        "OnePostBody": {"post": posts[0]},
        "PostRemovedBody": {"id": post.id},
        "SeveralPostsBody": {"action": "publish", "done": [post.id], "failed": [], "remaining": 0},
        "VersionListBody": {
            "versions": [{"number": 1, "title": post.title, "savedAt": version.saved_at, "author": None}]
        },
        "OneVersionBody": {"version": version, "changes": differences(post.markdown, post.markdown)},
        "RestoredPostBody": {"post": posts[1]},
    }


def _one_page(items: int) -> Any:  # noqa: ANN401  # JSON
    return Pagination(limit=10, current_page=1, total_pages=1, total_items=items).body


def _run(id_: str, cause: Cause, **changes: Any) -> WorkflowRun:  # noqa: ANN401  # fields
    return WorkflowRun(**_OWNED, id=id_, due_at=_NOW, cause=cause, **changes)


def _jobs() -> dict[str, Any]:
    wanted, job_id = EXAMPLES["createPostGeneration"], f"job_{_ASKED}"
    lookback = Lookback(wanted["lookbackWindow"])
    cause = Generation(
        job_id=job_id,
        content_type=ContentType(wanted["contentType"]),
        lookback=lookback,
        window=window_at(lookback, _NOW, _ZONE),
        sources=[Source(**_OF_REPOSITORY, full_name=_FULL_NAME)],
    )
    run = _run(_ASKED, cause, status=RunStatus.COMPLETED, takes=1, post_id=f"post_{_ASKED}")
    steps = [
        job_event(run, JobEventType.RUNNING, "The run has started", at=_NOW + timedelta(seconds=1)),
        job_event(
            run, JobEventType.COMPLETED, "Done", at=_NOW + timedelta(seconds=8), metadata={"postId": run.post_id}
        ),
    ]
    done = Job(id=job_id, run=run, events=filter(None, steps))
    return {
        "GenerationStartedBody": {"job": GenerationJobBody.of(Job(id=job_id, run=_run(_ASKED, cause)))},
        "GenerationProgressBody": {
            "job": GenerationJobBody.of(done),
            "events": [JobEventBody.of(event) for event in done.events],
        },
    }


def _brands(answers: Answers) -> dict[str, Any]:
    wanted, changes = EXAMPLES["createBrandIdentity"], EXAMPLES["updateBrandIdentity"]
    brand = BrandBody.of(
        BrandIdentity(
            **_OWNED,
            **values_of(convert({**wanted, **changes}, ChangeBrand)),
            id=f"brand_{_OTHER}",
            company_name="Acme",
            language="English",
            updated_at=_NOW,
        )
    )
    planned = Disabled(f"sch_{_UUID}", EXAMPLES["createSchedule"]["name"])
    removed = Removed(disabled_events=[], disabled_schedules=[planned])
    reading = SiteReading(job_id=f"job_{_OTHER}", name=brand.name, website_url=brand.website_url)
    return {
        "OneBrandJobBody": {"job": answers.brand_job(Job(id=reading.job_id, run=_run(_OTHER, reading)))},
        "OneBrandBody": {"brandIdentity": brand},
        "BrandListBody": {"brandIdentities": [brand]},
        "BrandRemovedBody": {"id": brand.id, **answers.disabled(removed)},
    }


def _automations(answers: Answers) -> dict[str, Any]:
    new, planned = EXAMPLES["createEventTrigger"], EXAMPLES["createSchedule"]
    cron = cron_of(planned["sourceConfig"]["cron"])
    trigger = Trigger(
        **_OWNED,
        id=f"trg_{_UUID}",
        name=new["name"],
        source_type=source_type(_OF_REPOSITORY["provider"]),
        repository_ids=new["targets"]["repositoryIds"],
        event_types=new["sourceConfig"]["eventTypes"],
        output_type=ContentType(new["outputType"]),
        options=TriggerOptions(tags=tuple(new["tags"]), pre_releases=new["preReleases"]),
    )
    _, connected, repository = _connected(HOSTED_PROVIDER)
    other = evolve(
        trigger, id=f"trg_{_OTHER}", source_type=source_type(connected.provider), repository_ids=[repository.id]
    )
    triggers = answers.event_triggers([trigger, other], [connected])
    schedule = answers.schedule(
        Schedule(
            **_OWNED,
            id=f"sch_{_UUID}",
            name=planned["name"],
            cron=cron,
            repository_ids=planned["targets"]["repositoryIds"],
            output_type=ContentType(planned["outputType"]),
            lookback=Lookback(planned["lookbackWindow"]),
            due_at=next_slot(cron, _NOW, _ZONE),
            updated_at=_NOW,
        )
    )
    return {
        "OneTriggerBody": {"eventTrigger": triggers["eventTriggers"][0]},
        "TriggerListBody": triggers,
        "TriggerRemovedBody": {"id": trigger.id},
        "OneScheduleBody": {"schedule": schedule},
        "ScheduleListBody": {"schedules": [schedule], "repositoryMap": {"7001": _FULL_NAME}},
        "ScheduleRemovedBody": {"id": schedule.id},
    }


def _connected(provider: Provider) -> tuple[str, Integration, Repository]:
    """Return the address of the webhook, the integration, and its repository."""
    wanted = EXAMPLES[provider.operation_id]
    full_name = f"{wanted['owner']}/{wanted['repo']}"
    repository = Repository(id=wanted["repositoryId"], full_name=full_name, branch=wanted.get("branch"))
    integration = Integration(**_OWNED, id=f"int_{_UUID}", provider=provider.slug, repositories=(repository,))
    return webhook_url(_BASE_URL, integration, repository.id), integration, repository


def _integrations(answers: Answers) -> dict[str, Any]:
    id_ = f"int_{_UUID}"
    connected: dict[str, Any] = {}
    lists: dict[str, list[IntegrationBody]] = {provider.slug: [] for provider in PROVIDERS}
    for provider in PROVIDERS:
        url, integration, repository = _connected(provider)
        body = integration_body(integration, repository)
        connected[f"Connected{provider.slug.title()}Body"] = {
            provider.slug: body,
            "webhook": {"url": url, "secret": _SECRET, "createdAtHost": False},
        }
        if provider.slug == _OF_REPOSITORY["provider"]:
            lists[provider.slug].append(body)
    attempt = HostDelivery(
        id="9", event="release", action="published", status_code=403, delivered_at=_NOW, delivery_id=_REFUSED
    )
    trigger = Disabled(f"trg_{_UUID}", EXAMPLES["createEventTrigger"]["name"])
    removed = Removed(disabled_events=[trigger], disabled_schedules=[])
    missed = Missed(attempt=attempt, repository=_FULL_NAME, end=MissedEnd.REQUESTED)
    return {
        **connected,
        "IntegrationListBody": answers.integrations(lists),
        "IntegrationStateBody": {"id": id_, **EXAMPLES["updateIntegration"]},
        "IntegrationRemovedBody": {"id": id_, **answers.disabled(removed)},
        "IntegrationSecretBody": {
            "id": id_,
            "secret": _SECRET,
            "overlapUntil": iso_ms(_NOW + timedelta(hours=24)),
            "changedAtHost": False,
            "hostError": None,
        },
        "ReconciledBody": ReconciledBody.of(Reconciled(missed=[missed], complete=True)),
    }


def _received() -> dict[str, Any]:
    """Return the traces of the delivery of the release: log, run and context; a second delivery is refused."""
    entry = LogEntry(
        **_OWNED,
        id=f"log_{_UUID}",
        integration_id=f"int_{_UUID}",
        repository_id=7001,
        reference_id=_SENT["delivery_id"],
        title="Processed release event",
        integration_type="codehost",
        status=LogStatus.SUCCESS,
        status_code=Processed.status,
        detail=_RELEASE,
    )
    fault = Fault.INTEGRATION_DISABLED
    refused = evolve(
        entry,
        id=f"log_{_OTHER}",
        reference_id=_REFUSED,
        title=fault.log_title,
        status=LogStatus.FAILED,
        status_code=fault.status,
        error_message=fault.log_title,
        detail=None,
    )
    cause = Delivered(**_NAMED, **_SENT, trigger_id=f"trg_{_UUID}", event=_RELEASE)
    run = RunBody.of(_run(_UUID, cause, status=RunStatus.COMPLETED, attempts=1, post_id=f"post_{_UUID}"))
    record = ContextRecord(**_OWNED, **_NAMED, **_SENT, id=_UUID, event=_RELEASE)
    return {
        "LogListBody": {"logs": [log_body(refused), log_body(entry)], "pagination": _one_page(2)},
        "OneLogBody": OneLogBody.of(refused, Explained(diagnosis=diagnose(refused))),
        "ReplayBody": {"deliveryId": _OTHER},
        "ReplayCountBody": ReplayCountBody.of(ReplayCount(replayable=1, not_kept=1, is_more=False)),
        "ReplayedBatchBody": ReplayedBatchBody.of(ReplayedBatch(replayed=[entry.id], runs=1)),
        "OneRunBody": {"run": run},
        "RunListBody": {"runs": [run], "next": None},
        "HitListBody": {"context": [record_hit_body(record, ())], "next": None, "behind": 0},
        "OneRecordBody": {"context": RecordBody.of(record)},
    }


def _endpoints() -> dict[str, Any]:
    endpoint = EndpointBody.of(
        WebhookEndpoint(
            **_OWNED,
            **values_of(convert(EXAMPLES["createWebhookEndpoint"], ChangeEndpoint)),
            id=f"whe_{_UUID}",
        ),
        {},
    )
    asked = ConfirmationRequests(addresses=("ada@acme.example",), not_asked={})
    return {
        "OneEndpointBody": {"webhookEndpoint": endpoint},
        "NewSecretBody": {"webhookEndpoint": endpoint, "secret": _SECRET},
        "EndpointListBody": {"webhookEndpoints": [endpoint]},
        "EndpointRemovedBody": {"id": endpoint.id},
        "TestSentBody": {"messageId": f"msg_{_UUID}"},
        "AskedBody": confirmations_body(asked),
    }


def _changelogs() -> dict[str, Any]:
    wanted = values_of(convert(EXAMPLES["createChangelog"], CreateChangelog))
    changelog = PublicChangelog(**_OWNED, **wanted, updated_at=_NOW)
    body = ChangelogBody.of(changelog, url=f"{_BASE_URL}/changelog/{changelog.slug}")
    return {
        "OneChangelogBody": {"changelog": body},
        "ChangelogListBody": {"changelogs": [body]},
        "ChangelogRemovedBody": {"id": body.id},
        "ExposureBody": exposure_body(Exposure(posts=1, repositories={_FULL_NAME: 1}), [_post()]),
    }


def _organization() -> dict[str, Any]:
    style = HouseStyle(EXAMPLES["setHouseStyle"]["houseStyle"])
    return {
        "OneOrganizationBody": {
            "organization": OrganizationBody.of(ORGANIZATION),
            "key": {"prefix": "csk_UtwPN0N9Fw", "name": "website", "scopes": list(DEFAULT_SCOPES)},
        },
        "OneHouseStyleBody": {"houseStyle": style_body(style), "effective": options_body(options_of(style))},
    }
