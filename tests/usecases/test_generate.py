"""From a request for content to its post."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from msgspec import to_builtins
from tests import builders
from tests.golden import REPOSITORY, REPOSITORY_ID
from tests.performing import performer_over
from tests.refusals import accepted, existing, message_of
from tests.usecases.conftest import World, a_brand, only_the_request
from tests.usecases.test_perform import perform_all, pushed, released

from contentsvc_core import ContentType, Draft, PostStatus
from contentsvc_core.content.brand import BrandIdentity
from contentsvc_core.content.posts import Post
from contentsvc_core.content.windows import Lookback, LookbackWindow
from contentsvc_core.content.writing import Brief, Silence
from contentsvc_core.usecases import briefs
from contentsvc_core.usecases.generate import GeneratePost, Generator, JobStarter
from contentsvc_core.workflows.causes import Generation, Source
from contentsvc_core.workflows.jobs import GenerationJobBody, Job, JobEvent, JobEventType, job_events
from contentsvc_core.workflows.runs import CANCELLED, RunStatus, retry_delay

CHANGELOG = GeneratePost(content_type=ContentType.CHANGELOG)


def generator(world: World) -> Generator:
    stores = world.stores
    return Generator(JobStarter(stores.jobs, world.clock, world.ids), stores.directory, stores.brands, world.clock)


async def ask(world: World, command: GeneratePost = CHANGELOG) -> Job:
    return accepted(await generator(world).request(world.organization.id, command))


async def follow(world: World, job: Job) -> Job:
    return existing(await world.stores.jobs.job(world.organization.id, job.id))


def brand(world: World, *, is_default: bool = False) -> BrandIdentity:
    now = world.clock.now()
    return builders.a_brand(
        now,
        id=world.ids.new_id("brand_"),
        organization_id=world.organization.id,
        name="Lighthouse" if is_default else "Keeper",
        is_default=is_default,
    )


class Recorder:
    """A costly writer that records its briefs, and fails a number of times."""

    name = "model"
    costly = True

    def __init__(self, fails: int = 0) -> None:
        self.briefs: list[Brief] = []
        self.fails = fails
        self.usage: tuple[int, int] | None = None

    async def write(self, brief: Brief, _steps: object) -> Draft | Silence:
        self.briefs.append(brief)
        if len(self.briefs) <= self.fails:
            message = "no answer"
            raise RuntimeError(message)
        return Draft(title="News", markdown="News\n", usage=self.usage)


async def test_a_request_is_followed_from_the_queue_to_its_post(world: World) -> None:
    await pushed(world, "d-1", "feat: a lamp")
    await released(world, "d-2", "v1.0.0", published_at="2026-01-01T00:00:00Z")
    await only_the_request(world, later=timedelta(days=1))

    job = await ask(world, GeneratePost(content_type=ContentType.CHANGELOG, lookback=Lookback.LAST_7_DAYS))
    body = to_builtins(GenerationJobBody.of(job))
    assert (body["status"], body["postId"], body["completedAt"], body["source"]) == ("queued", None, None, "api")
    assert body["repositoryIds"] == [str(REPOSITORY_ID)]
    world.clock.advance(timedelta(seconds=2))
    await perform_all(world)

    done = await follow(world, job)
    (post,) = await world.stores.posts.posts(world.organization.id)
    body = to_builtins(GenerationJobBody.of(done))
    assert (body["status"], body["postId"], body["error"]) == ("completed", post.id, None)
    assert body["workflowRunId"] == done.run.id
    assert body["createdAt"] < body["completedAt"] == body["updatedAt"]
    assert [(event.type.value, event.message, event.metadata) for event in job_events(done)[2:]] == [
        ("running", "The run has started", None),
        ("fetching_repositories", "Reading what has happened in the repositories", None),
        ("generating_content", "Writing", None),
        ("post_created", f"The post '{post.title}' was created", {"postId": post.id}),
        ("completed", "Done", {"postId": post.id}),
    ]
    assert "lamp" in post.markdown
    assert post.source_metadata == {
        "jobId": job.id,
        "runId": done.run.id,
        "repositories": ["acme/lighthouse"],
        "deliveryIds": ["d-1", "d-2"],
        "eventTypes": ["push", "release"],
        "writer": "deterministic",
        "occurredAt": "2026-01-01T23:59:59.999Z",
    }
    assert post.status.value == "draft"


async def test_a_window_that_holds_nothing_ends_as_skipped(world: World) -> None:
    await pushed(world, "d-1", "feat: a lamp")
    await only_the_request(world, later=timedelta(days=8))

    job = await ask(world)
    await perform_all(world)

    done = await follow(world, job)
    assert (GenerationJobBody.of(done).status, done.run.error) == ("skipped", "nothing to report")
    assert (done.events[-1].type, done.events[-1].message) == (JobEventType.SKIPPED, "nothing to report")
    assert await world.stores.posts.posts(world.organization.id) == []


@pytest.mark.parametrize(("left_out", "delivery"), [("include_releases", "d-1"), ("include_commits", "d-2")])
async def test_a_request_selects_the_deliveries_of_its_post(world: World, left_out: str, delivery: str) -> None:
    await pushed(world, "d-1", "feat: a lamp")
    await released(world, "d-2", "v1.0.0", published_at=None)
    await only_the_request(world)

    options: dict[str, Any] = {left_out: False}
    await ask(world, GeneratePost(content_type=ContentType.CHANGELOG, **options))
    await perform_all(world)

    (post,) = await world.stores.posts.posts(world.organization.id)
    assert (post.source_metadata or {})["deliveryIds"] == [delivery]


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        (
            {"include_commits": False, "include_releases": False},
            "Nothing to write from: includeCommits and includeReleases are both false",
        ),
        ({"repository_ids": [7]}, "Unknown repository: 7 is not connected"),
        (
            {"repository_names": [("codehost", "acme/else")]},
            "Unknown repository: 'acme/else' is not connected at codehost",
        ),
        (
            {"repository_names": [("github", "acme/lighthouse")]},
            "Unknown repository: 'acme/lighthouse' is not connected at github",
        ),
        (
            {"repository_names": [("github", "A\n" + "x" * 300)]},
            f"Unknown repository: 'a {'x' * 198}…' is not connected at github",
        ),
        ({"repository_ids": []}, "No repository is chosen: name one at least, or leave the choice out for all"),
        ({"brand_identity_id": "brand_x"}, "Unknown brand identity: 'brand_x'"),
    ],
)
async def test_an_unknown_reference_is_refused_and_nothing_is_started(
    world: World, wanted: dict[str, Any], reason: str
) -> None:
    command = GeneratePost(content_type=ContentType.CHANGELOG, **wanted)
    assert message_of(await generator(world).request(world.organization.id, command)) == reason
    assert await world.stores.ledger.runs(world.organization.id) == []


async def test_without_a_connected_repository_there_is_nothing_to_ask_for(world: World) -> None:
    other = accepted(await world.operator.create_organization("Other"))

    assert message_of(await generator(world).request(other.id, CHANGELOG)) == "No repository is connected"


async def test_the_brand_that_is_named_speaks_else_the_default(world: World) -> None:
    default, named = brand(world, is_default=True), brand(world)
    for each in (default, named):
        await world.stores.brands.add(each)
    await pushed(world, "d-1", "feat: a lamp")
    await only_the_request(world)
    writer = Recorder()
    performer = performer_over(world.stores, world.clock, world.ids, writer)

    await ask(world, GeneratePost(content_type=ContentType.BLOG_POST, brand_identity_id=named.id))
    await perform_all(world, performer)
    await ask(world)
    await perform_all(world, performer)

    asked = [(brief.content_type, brief.brand.id if brief.brand else None) for brief in writer.briefs]
    assert asked == [(ContentType.BLOG_POST, named.id), (ContentType.CHANGELOG, default.id)]
    posts = await world.stores.posts.posts(world.organization.id)
    assert {(post.source_metadata or {})["brandIdentityId"] for post in posts} == {named.id, default.id}


async def test_after_repeated_failures_of_a_costly_writer_the_fallback_writes_and_the_post_names_it(
    world: World,
) -> None:
    await pushed(world, "d-1", "feat: a lamp")
    await only_the_request(world)
    writer, fallback = Recorder(fails=99), Recorder()
    fallback.name, fallback.costly = "rules", False
    performer = performer_over(world.stores, world.clock, world.ids, writer, fallback=fallback)

    job = await ask(world)
    for attempt in range(1, 4):
        await perform_all(world, performer)
        assert fallback.briefs == []
        world.clock.advance(retry_delay(attempt) or timedelta())
    await perform_all(world, performer)

    (post,) = await world.stores.posts.posts(world.organization.id)
    metadata = post.source_metadata or {}
    assert metadata["writer"] == "rules, since model failed"
    assert metadata["warnings"] == ["model failed, so rules wrote this post: RuntimeError: no answer"]
    assert (len(writer.briefs), len(fallback.briefs)) == (3, 1)
    assert GenerationJobBody.of(await follow(world, job)).error is None


async def test_a_cancelled_job_has_failed_with_a_final_event(world: World) -> None:
    job = await ask(world)
    await world.stores.ledger.cancel(world.organization.id, job.run.id, CANCELLED)

    done = await follow(world, job)
    body = to_builtins(GenerationJobBody.of(done))
    assert (body["status"], body["error"]) == ("failed", CANCELLED)
    assert [event.type.value for event in job_events(done)] == ["queued", "workflow_triggered", "failed"]


async def test_a_run_that_is_cancelled_while_it_is_written_ends_as_nothing_else(world: World) -> None:
    await pushed(world, "d-1", "feat: a lamp")
    await only_the_request(world)
    job, ends = await ask(world), list[RunStatus]()

    class Cancelling(Recorder):
        async def write(self, brief: Brief, _steps: object) -> Draft | Silence:
            self.briefs.append(brief)
            assert await world.stores.ledger.cancel(world.organization.id, job.run.id, CANCELLED)
            return Silence(reason="nothing new")

    await perform_all(world, performer_over(world.stores, world.clock, world.ids, Cancelling(), ended=ends.append))

    done = await follow(world, job)
    assert (done.run.status, job_events(done)[-1].message) == (RunStatus.CANCELLED, CANCELLED)
    assert JobEventType.SKIPPED not in {event.type for event in done.events}
    assert ends == []


async def test_a_job_that_is_done_once_more_goes_on_telling(world: World) -> None:
    job = await ask(world)
    await perform_all(world)
    assert (await follow(world, job)).run.status is RunStatus.SKIPPED

    await world.stores.ledger.restart(world.organization.id, job.run.id, due_at=world.clock.now())
    assert GenerationJobBody.of(await follow(world, job)).status == "queued"
    await perform_all(world)

    types = [event.type.value for event in (await follow(world, job)).events]
    assert types.count("skipped") == 2


async def test_records_beyond_the_limit_are_omitted_and_the_post_mentions_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        await pushed(world, f"d-{number}", f"feat: lamp number {number}")
    await only_the_request(world)
    monkeypatch.setattr(briefs, "_MOST", 900)
    monkeypatch.setattr(briefs, "_LEAST", 1)

    await ask(world)
    await perform_all(world)

    (post,) = await world.stores.posts.posts(world.organization.id)
    assert "amp number 3" in post.markdown
    assert "amp number 0" not in post.markdown
    assert "\n2 earlier events of this time are not covered here" in post.markdown
    assert (post.source_metadata or {})["deliveryIds"] == ["d-2", "d-3"]


async def test_a_job_is_started_with_all_that_was_asked_for(world: World) -> None:
    brand = await a_brand(world, "Acme")
    now = world.clock.now()
    command = GeneratePost(
        content_type=ContentType.BLOG_POST,
        lookback=Lookback.CURRENT_DAY,
        brand_identity_id=brand.id,
        include_releases=False,
    )
    job = await ask(world, command)
    run = job.run
    assert run.cause == Generation(
        job_id=job.id,
        content_type=ContentType.BLOG_POST,
        lookback=Lookback.CURRENT_DAY,
        window=LookbackWindow(since=now.replace(hour=0, minute=0, second=0, microsecond=0), until=now),
        sources=[Source(provider="codehost", repository_id=REPOSITORY_ID, full_name=REPOSITORY)],
        brand_identity_id=brand.id,
        include_releases=False,
    )
    assert (run.created_at, run.due_at, run.status) == (now, now, RunStatus.PENDING)
    assert str(UUID(run.id)) == run.id
    assert job.events == (
        JobEvent(
            id=f"evt_{run.id}_queued",
            job_id=job.id,
            type=JobEventType.QUEUED,
            message="Content was requested: blog post, current day",
            created_at=now,
        ),
        JobEvent(
            id=f"evt_{run.id}_workflow_triggered",
            job_id=job.id,
            type=JobEventType.WORKFLOW_TRIGGERED,
            message="A workflow run was created",
            metadata={"workflowRunId": run.id},
            created_at=now,
        ),
    )
    assert job.id.startswith("job_")
    assert await follow(world, job) == job


async def test_only_the_chosen_repositories_are_read(world: World) -> None:
    await world.connected("acme/buoy", 2, "github")
    lamp = Source(provider="codehost", repository_id=REPOSITORY_ID, full_name=REPOSITORY)
    buoy = Source(provider="github", repository_id=2, full_name="acme/buoy")

    async def sources(**chosen: Any) -> tuple[Source, ...]:
        job = await ask(world, GeneratePost(content_type=ContentType.CHANGELOG, **chosen))
        assert isinstance(job.run.cause, Generation)
        return job.run.cause.sources

    assert await sources() == (lamp, buoy)
    assert await sources(repository_ids=[2]) == (buoy,)
    assert await sources(repository_names=[("codehost", REPOSITORY.upper())]) == (lamp,)
    assert await sources(repository_ids=[2], repository_names=[("codehost", REPOSITORY)]) == (lamp, buoy)


async def test_a_post_that_was_asked_for_has_these_fields(world: World) -> None:
    await pushed(world, "d-1", "feat: a lamp")
    await only_the_request(world)
    await ask(world)
    await perform_all(world)
    (post,) = await world.stores.posts.posts(world.organization.id)
    assert post == Post(
        id=post.id,
        organization_id=world.organization.id,
        title="lighthouse: a lamp",
        content=post.content,
        markdown=post.markdown,
        content_type=ContentType.CHANGELOG,
        source_metadata=post.source_metadata,
        status=PostStatus.DRAFT,
        created_at=world.clock.now(),
        updated_at=world.clock.now(),
        occurred_at=post.occurred_at,
    )
    assert post.occurred_at == world.clock.now() - timedelta(milliseconds=1)
    assert post.id.startswith("post_")
    assert "<h2>Added</h2>" in post.content


async def test_a_window_knows_the_release_of_a_change_that_it_reverts(world: World) -> None:
    await pushed(world, "d-1", "feat: a lamp")
    await released(world, "d-2", "v1.0.0", published_at=None)
    await pushed(world, "d-3", 'Revert "feat: a lamp"')
    await only_the_request(world)
    writer = Recorder()
    await ask(world)
    await perform_all(world, performer_over(world.stores, world.clock, world.ids, writer))

    (chapter,) = writer.briefs[0].chapters
    assert list(chapter.undone.values()) == ["v1.0.0"]


async def test_a_post_names_the_tokens_that_its_text_has_used(world: World) -> None:
    await pushed(world, "d-1", "feat: a lamp")
    writer = Recorder()
    writer.usage = 12, 34
    await perform_all(world, performer_over(world.stores, world.clock, world.ids, writer))

    (post,) = await world.stores.posts.posts(world.organization.id)
    assert (post.source_metadata or {})["usage"] == {"promptTokens": 12, "completionTokens": 34}


async def test_a_post_names_its_hundred_newest_deliveries(world: World) -> None:
    for number in range(101):
        await pushed(world, f"d-{number}", f"feat: lamp {number}")
    await only_the_request(world)
    await ask(world)
    await perform_all(world)
    (post,) = await world.stores.posts.posts(world.organization.id)
    assert (post.source_metadata or {})["deliveryIds"] == [f"d-{number}" for number in range(1, 101)]
