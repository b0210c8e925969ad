"""The results of use cases, field by field, and their refusals."""

from datetime import timedelta
from typing import Any

import pytest
from attrs import evolve
from tests.golden import REPOSITORY, REPOSITORY_ID
from tests.performing import performer_over
from tests.refusals import message_of
from tests.usecases.conftest import World
from tests.usecases.test_generate import Recorder, ask, follow, generator, only_the_request
from tests.usecases.test_perform import perform_all, pushed, released, taken
from tests.usecases.test_read_site import AWAY, PAGE, URL, Sites, brand_generator
from tests.usecases.test_read_site import ask as ask_for_brand
from tests.usecases.test_read_site import perform_all as perform_sites
from tests.usecases.test_schedule import Node, move_to, planned, planner
from tests.usecases.test_trigger_changes import a_brand, on_github

from contentsvc_adapters.markup import SafeMarkdown
from contentsvc_adapters.writers.deterministic import DeterministicWriter
from contentsvc_core import (
    ContentType,
    IssuedKey,
    LogEntry,
    LogStatus,
    Organization,
    PostStatus,
    Processed,
    Receiver,
    ReceivingFailed,
    RunStatus,
    StoreUnavailable,
    Trigger,
)
from contentsvc_core.access.keys import KEY_EXPIRED, ApiKey, Scope, digest
from contentsvc_core.content.posts import Post
from contentsvc_core.content.windows import Lookback, LookbackWindow
from contentsvc_core.content.writing import Brief, Chapter, Silence
from contentsvc_core.organizations import Integration, Repository
from contentsvc_core.refusals import Refusal
from contentsvc_core.testing import push_body, signed
from contentsvc_core.usecases.briefs import Briefs
from contentsvc_core.usecases.expire import Sweeper, Swept
from contentsvc_core.usecases.generate import GenerationRequest
from contentsvc_core.usecases.perform import Performer
from contentsvc_core.usecases.receive import LARGE_BODY, SERVER_ERROR
from contentsvc_core.usecases.triggers import SEVERAL_PROVIDERS, provider_of
from contentsvc_core.workflows.causes import Generation, Source
from contentsvc_core.workflows.jobs import Job, JobEvent, JobEventType
from contentsvc_core.workflows.schedules import Schedule
from contentsvc_core.workflows.slots import Cron, Frequency
from contentsvc_core.workflows.triggers import DUPLICATE_TRIGGER, UNKNOWN_TRIGGER, ChangeTrigger, CreateTrigger

_DAILY = Cron(frequency=Frequency.DAILY, hour=9, minute=0)


class TestOperators:
    async def test_an_organization_a_key_and_a_connection_are_made(self, world: World) -> None:
        now, operator = world.clock.now(), world.operator
        made = await operator.create_organization(" The  Acme ", retention_days=7)
        assert isinstance(made, Organization)
        assert made == Organization(id=made.id, slug="the-acme", name="The Acme", retention_days=7, created_at=now)
        assert made.id.startswith("org_")
        assert await world.stores.directory.organization("the-acme") == made

        issued = await operator.issue_key(made, name=" for\nme ", expires_at=now + timedelta(milliseconds=1))
        assert isinstance(issued, IssuedKey)
        assert issued.record == ApiKey(
            prefix=issued.key[:14],
            organization_id=made.id,
            name="for me",
            digest=digest(issued.key),
            scopes=[Scope.READ, Scope.WRITE],
            created_at=now,
            expires_at=now + timedelta(milliseconds=1),
        )
        assert await world.stores.keys.keys(made.id) == [issued.record]
        assert (len(issued.key), issued.key[:4], issued.key[14]) == (55, "csk_", "_")
        for expires_at in (now, now - timedelta(days=1)):
            late = await operator.issue_key(made, expires_at=expires_at)
            assert late is KEY_EXPIRED

        connected = await operator.connect(
            made, full_name="acme/lid", repository_id=7, provider="github", branch="stable"
        )
        assert not isinstance(connected, Refusal)
        assert connected.integration == Integration(
            id=connected.integration.id,
            organization_id=made.id,
            provider="github",
            repositories=[Repository(id=7, full_name="acme/lid", branch="stable")],
            created_at=now,
        )
        assert connected.integration.id.startswith("int_")
        assert (connected.secret[:6], len(connected.secret)) == ("whsec_", 46)

    async def test_refusals_say_what_would_do(self, world: World) -> None:
        async def created(name: str, slug: str | None = None) -> str:
            return message_of(await world.operator.create_organization(name, slug=slug))

        async def connected(name: str, number: int = 1, provider: str = "codehost") -> str:
            return message_of(
                await world.operator.connect(
                    world.organization, full_name=name, repository_id=number, provider=provider, branch=None
                )
            )

        assert await created("日本") == "no slug can be made from this name: give one, of a-z, 0-9 and inner hyphens"
        assert await created("x", "No\nSlug") == "'No Slug' is no slug: 1 to 64 of a-z, 0-9 and inner hyphens"
        assert await created("x", "a" * 65) == f"'{'a' * 63}…' is no slug: 1 to 64 of a-z, 0-9 and inner hyphens"
        assert await created("Acme") == "an organization with the slug 'acme' exists already"
        assert (
            await connected("a/b", provider="git\nlab")
            == "unknown provider 'git lab': codehost, github, gitlab, bitbucket"
        )
        assert await connected("a\nb") == "'a b' is not of the form OWNER/NAME"
        assert await connected("a/b", 0) == "the repository id must be from 1 to 9223372036854775807"
        # A name of a hundred characters is whole.
        long = await world.operator.create_organization("a" * 101)
        assert isinstance(long, Organization)
        assert long.name == "a" * 99 + "…"


class TestTriggers:
    async def test_a_trigger_is_made_of_what_is_given_and_changed_field_by_field(self, world: World) -> None:
        brand = await a_brand(world, "Acme")
        owner, edit = world.organization.id, world.triggers
        made = await edit.create(
            owner,
            CreateTrigger(
                repository_ids=[REPOSITORY_ID],
                event_types=["release"],
                output_type=ContentType.BLOG_POST,
                brand_identity_id=brand.id,
                auto_publish=True,
                enabled=False,
                name=" For\nlamps ",
            ),
        )
        assert isinstance(made, Trigger)
        assert made == Trigger(
            id=made.id,
            organization_id=owner,
            name="For lamps",
            source_type="codehost_webhook",
            enabled=False,
            repository_ids=[REPOSITORY_ID],
            event_types=["release"],
            output_type=ContentType.BLOG_POST,
            brand_identity_id=brand.id,
            auto_publish=True,
            created_at=world.clock.now(),
        )
        assert made.id.startswith("trg_")
        changed = await edit.change(
            owner, made.id, ChangeTrigger(name=" Other\nlamps ", event_types=[], brand_identity_id=None)
        )
        assert changed == evolve(made, name="Other lamps", event_types=(), brand_identity_id=None)
        assert await world.stores.directory.trigger(owner, made.id) == changed
        plain = await edit.create(owner, CreateTrigger(repository_ids=[REPOSITORY_ID], event_types=["push"]))
        assert isinstance(plain, Trigger)
        assert (plain.output_type, plain.enabled, plain.auto_publish, plain.name) == (
            ContentType.CHANGELOG,
            True,
            False,
            "",
        )
        assert (
            await edit.create(owner, CreateTrigger(repository_ids=[REPOSITORY_ID], event_types=["push"]))
            is DUPLICATE_TRIGGER
        )
        for unknown in ("trg_unknown", "no id"):
            assert await edit.change(owner, unknown, ChangeTrigger(enabled=False)) is UNKNOWN_TRIGGER

    @pytest.mark.parametrize(
        ("given", "reason"),
        [
            ({"name": "x" * 101}, "a trigger's name has at most 100 characters"),
            ({"event_types": ["push", "pi\nng"]}, "unknown event type 'pi ng': push, release"),
            ({"event_types": ["x" * 65]}, f"unknown event type '{'x' * 63}…': push, release"),
            ({"brand_identity_id": "brand_x"}, "Unknown brand identity: 'brand_x'"),
            ({"repository_ids": []}, "a trigger needs a repository"),
            ({"repository_ids": [REPOSITORY_ID, 8]}, "Unknown repository: 8 is not connected"),
            (
                {"repository_ids": [REPOSITORY_ID], "provider": "github"},
                f"Unknown repository: {REPOSITORY_ID} is not connected at github",
            ),
            ({"repository_ids": [REPOSITORY_ID, 2]}, SEVERAL_PROVIDERS.message()),
        ],
    )
    async def test_what_no_trigger_can_be_is_refused(self, world: World, given: dict[str, Any], reason: str) -> None:
        await on_github(world)
        owner, edit = world.organization.id, world.triggers
        whole: dict[str, Any] = {"repository_ids": [REPOSITORY_ID], **given}
        assert message_of(await edit.create(owner, CreateTrigger(**whole))) == reason
        assert message_of(await edit.change(owner, world.trigger.id, ChangeTrigger(**given))) == reason
        assert await world.stores.directory.triggers(owner) == [world.trigger]

    async def test_a_repository_at_two_providers_stays_at_the_one_that_it_was_named_at(self, world: World) -> None:
        await world.operator.connect(
            world.organization, full_name=REPOSITORY, repository_id=REPOSITORY_ID, provider="github", branch=None
        )
        owner, edit = world.organization.id, world.triggers
        unsaid = await edit.create(owner, CreateTrigger(repository_ids=[REPOSITORY_ID], event_types=["push"]))
        assert message_of(unsaid) == "the repository is connected at codehost and github: say which provider"
        assert await edit.change(owner, world.trigger.id, ChangeTrigger(enabled=True)) == world.trigger
        moved = await edit.change(owner, world.trigger.id, ChangeTrigger(provider="github"))
        assert moved == evolve(world.trigger, source_type="github_webhook")
        assert await edit.change(owner, world.trigger.id, ChangeTrigger(repository_ids=[REPOSITORY_ID])) == moved
        assert await edit.change(owner, world.trigger.id, ChangeTrigger(name="x" * 100)) == evolve(
            world.trigger, source_type="github_webhook", name="x" * 100
        )
        assert [provider_of(source) for source in ("github_webhook", "codehost_webhook", "cron")] == [
            "github",
            "codehost",
            None,
        ]


class TestSchedules:
    async def test_a_schedule_is_made_of_what_is_given(self, world: World) -> None:
        brand = await a_brand(world, "Acme")
        now = world.clock.now()
        made = await planned(
            world,
            name=" Every\nmorning ",
            output_type=ContentType.TWITTER_POST,
            brand_identity_id=brand.id,
            auto_publish=True,
            lookback=Lookback.YESTERDAY,
        )
        assert made == Schedule(
            id=made.id,
            organization_id=world.organization.id,
            name="Every morning",
            cron=_DAILY,
            repository_ids=[REPOSITORY_ID],
            output_type=ContentType.TWITTER_POST,
            brand_identity_id=brand.id,
            enabled=True,
            auto_publish=True,
            lookback=Lookback.YESTERDAY,
            created_at=now,
            updated_at=now,
            due_at=now.replace(hour=9, second=0, microsecond=0),
        )
        assert made.id.startswith("sch_")
        world.clock.advance(timedelta(minutes=1))
        changed = await planner(world).change(world.organization.id, made.id, name=" Each\nday ", auto_publish=False)
        assert changed == evolve(made, name="Each day", auto_publish=False, updated_at=world.clock.now())

    async def test_what_a_schedule_uses_is_looked_at_when_it_is_switched_on(self, world: World) -> None:
        made = await planned(world, enabled=False)
        owner, plan = world.organization.id, planner(world)
        await world.stores.directory.remove_integration(owner, world.connection.integration.id)
        assert isinstance(await plan.change(owner, made.id, name="Renamed", enabled=False), Schedule)
        assert message_of(await plan.change(owner, made.id, enabled=True)) == (
            f"Unknown repository: {REPOSITORY_ID} is not connected"
        )

    async def test_one_that_is_deleted_while_it_is_about_to_fire_starts_nothing(self, world: World) -> None:
        await planned(world)
        schedules = world.stores.schedules

        class Gone:
            def __getattr__(self, name: str) -> Any:
                return getattr(schedules, name)

            async def schedule(self, *_: object) -> None:
                return None

        gone: Any = Gone()
        node = Node(world, schedules=gone)
        move_to(world, "2026-01-01T09:00")
        assert (await node.turn(), node.faults) == (0, [])

    async def test_a_run_of_a_schedule_says_so_in_its_post(self, world: World) -> None:
        schedule = await planned(world)
        await pushed(world, "d-1", "feat: a lamp")
        await only_the_request(world)
        move_to(world, "2026-01-01T09:00")
        assert await Node(world).turn() == 1
        await perform_all(world)
        (post,) = await world.stores.posts.posts(world.organization.id)
        run = (await world.stores.ledger.runs(world.organization.id))[0]
        assert post.source_metadata == {
            "scheduleId": schedule.id,
            "runId": run.id,
            "repositories": [REPOSITORY],
            "deliveryIds": ["d-1"],
            "eventTypes": ["push"],
            "writer": "deterministic",
            # The window ended, and its last moment lies before.
            "occurredAt": "2026-01-01T08:59:59.999Z",
        }
        assert post.status is PostStatus.DRAFT


class TestRequests:
    async def test_a_job_is_started_with_all_that_was_asked_for(self, world: World) -> None:
        brand = await a_brand(world, "Acme")
        now = world.clock.now()
        wanted = GenerationRequest(
            content_type=ContentType.BLOG_POST,
            lookback=Lookback.CURRENT_DAY,
            brand_identity_id=brand.id,
            include_releases=False,
        )
        job = await ask(world, wanted)
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
        assert job.events == (
            JobEvent(
                id=f"evt_{run.id}_queued",
                job_id=job.id,
                type=JobEventType.QUEUED,
                message="A blog_post was asked for: current_day",
                created_at=now,
            ),
            JobEvent(
                id=f"evt_{run.id}_workflow_triggered",
                job_id=job.id,
                type=JobEventType.WORKFLOW_TRIGGERED,
                message="A workflow run will do the work",
                metadata={"workflowRunId": run.id},
                created_at=now,
            ),
        )
        assert job.id.startswith("job_")
        assert await follow(world, job) == job

    async def test_of_several_repositories_those_that_are_chosen_are_read(self, world: World) -> None:
        await on_github(world)
        lamp = Source(provider="codehost", repository_id=REPOSITORY_ID, full_name=REPOSITORY)
        buoy = Source(provider="github", repository_id=2, full_name="acme/buoy")

        async def sources(**chosen: Any) -> tuple[Source, ...]:
            job = await ask(world, GenerationRequest(content_type=ContentType.CHANGELOG, **chosen))
            assert isinstance(job.run.cause, Generation)
            return job.run.cause.sources

        assert await sources() == (lamp, buoy)
        assert await sources(repository_ids=[2]) == (buoy,)
        assert await sources(repository_names=[("codehost", REPOSITORY.upper())]) == (lamp,)
        assert await sources(repository_ids=[2], repository_names=[("codehost", REPOSITORY)]) == (lamp, buoy)
        long = GenerationRequest(content_type=ContentType.CHANGELOG, repository_names=[("github", "A\n" + "x" * 300)])
        assert message_of(await generator(world).request(world.organization.id, long)) == (
            f"Unknown repository: 'a {'x' * 198}…' is not connected at github"
        )

    async def test_who_follows_a_job_is_told_each_step(self, world: World) -> None:
        await pushed(world, "d-1", "feat: a lamp")
        await only_the_request(world)
        world.clock.advance(timedelta(minutes=1))
        job = await ask(world)
        await perform_all(world)
        done = await follow(world, job)
        (post,) = await world.stores.posts.posts(world.organization.id)
        assert [(event.type.value, event.message, event.metadata) for event in done.events[2:]] == [
            ("running", "The work has begun", None),
            ("fetching_repositories", "Reading what has happened in the repositories", None),
            ("generating_content", "Writing", None),
            ("post_created", "The post 'lighthouse: a lamp' was created", {"postId": post.id}),
            ("completed", "Done", {"postId": post.id}),
        ]
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

    async def test_a_job_that_finds_nothing_says_so(self, world: World) -> None:
        job = await ask(world)
        await perform_all(world)
        last = (await follow(world, job)).events[-1]
        assert (last.type, last.message) == (JobEventType.SKIPPED, "nothing to report")


class _Silent:
    """A costly writer that has nothing to say."""

    name = "silent"
    costly = True

    def __init__(self) -> None:
        self.briefs: list[Brief] = []

    async def write(self, brief: Brief, _steps: object) -> Silence:
        self.briefs.append(brief)
        return Silence(reason="nothing to report: all is quiet")


class TestPerforming:
    async def test_whoever_counts_runs_is_told_how_each_ends(self, world: World) -> None:
        ends: list[RunStatus] = []
        stores = world.stores
        performer = Performer(
            ledger=stores.ledger,
            jobs=stores.jobs,
            briefs=Briefs(stores.contexts, stores.brands),
            directory=stores.directory,
            schedules=stores.schedules,
            writer=DeterministicWriter(),
            renderer=SafeMarkdown(),
            clock=world.clock,
            ids=world.ids,
            ended=ends.append,
        )
        await pushed(world, "d-1", "feat: a lamp")
        await perform_all(world, performer)
        await pushed(world, "d-2", "ci: run")
        await perform_all(world, performer)
        for delivery_id in ("d-3", "d-4"):
            await released(world, delivery_id, "v1", published_at="2026-01-01T00:00:00Z")
        await perform_all(world, performer)
        assert ends == [RunStatus.COMPLETED, RunStatus.SKIPPED, RunStatus.COMPLETED, RunStatus.SKIPPED]

    async def test_where_no_sites_are_read_a_run_that_wants_one_has_failed(self, world: World) -> None:
        job = await ask_for_brand(world)
        await perform_all(world)
        run = (await follow(world, job)).run
        assert (run.status, run.error) == (RunStatus.FAILED, "websites are not read here")

    async def test_a_costly_writer_that_has_nothing_to_say_is_asked_once(self, world: World) -> None:
        await pushed(world, "d-1", "feat: a lamp")
        writer = _Silent()
        (run,) = await perform_all(world, performer_over(world.stores, world.clock, world.ids, writer))
        assert (run.status, run.error, len(writer.briefs)) == (RunStatus.SKIPPED, "nothing to report: all is quiet", 1)

    @pytest.mark.parametrize(
        ("exc", "error"),
        [
            (RuntimeError("no\nink"), "RuntimeError: no ink"),
            (RuntimeError(), "RuntimeError"),
            (ValueError("x" * 600), "ValueError: " + "x" * 487 + "…"),
        ],
    )
    async def test_a_failure_is_said_in_one_line(self, world: World, exc: Exception, error: str) -> None:
        await pushed(world, "d-1", "feat: a lamp")
        (run,) = await taken(world)
        await world.performer.failed(run, exc)
        (failed,) = await world.stores.ledger.runs(world.organization.id)
        assert (failed.error, failed.status) == (error, RunStatus.PENDING)


class TestBriefs:
    async def test_a_post_about_a_push_is_written_from_it_alone(self, world: World) -> None:
        brand = await a_brand(world, "Acme")
        writer = Recorder()
        performer = performer_over(world.stores, world.clock, world.ids, writer)
        await pushed(world, "d-1", "feat: a lamp")
        await pushed(world, "d-2", "feat: a beam")
        await perform_all(world, performer)
        brief = writer.briefs[-1]
        assert brief.brand == await world.stores.brands.identity(world.organization.id, brand.id)
        assert brief == Brief(
            content_type=ContentType.CHANGELOG,
            chapters=[Chapter(repository=REPOSITORY, events=brief.events)],
            brand=brief.brand,
        )
        assert len(brief.events) == 1

    async def test_a_post_about_a_release_is_written_from_what_came_before_it(self, world: World) -> None:
        writer = Recorder()
        performer = performer_over(world.stores, world.clock, world.ids, writer)
        await pushed(world, "d-0", "feat: a wick")
        await released(world, "d-1", "v1", published_at=None)
        await pushed(world, "d-2", "feat: a lamp")
        await released(world, "d-3", "v2-rc", prerelease=True, published_at=None)
        await pushed(world, "d-4", "feat: a beam")
        await released(world, "d-5", "v2", published_at=None)
        await perform_all(world, performer)
        told = [
            (brief.release.tag_name, brief.previous_tag, [_message(event) for event in brief.events])
            for brief in writer.briefs
            if brief.release is not None
        ]
        assert told == [
            ("v1", None, ["feat: a wick"]),
            ("v2-rc", "v1", ["feat: a lamp"]),
            ("v2", "v1", ["feat: a lamp", "feat: a beam"]),
        ]

    async def test_a_post_about_a_window_names_the_repositories_as_they_are_called_now(self, world: World) -> None:
        await pushed(world, "d-1", "feat: a lamp")
        body = push_body("feat: a beam", repository_id=REPOSITORY_ID, repository="acme/beacon")
        await world.receiver.receive(signed(body, at=world.at, secret=world.secret, delivery_id="d-2"))
        await only_the_request(world)
        world.clock.advance(timedelta(minutes=1))
        writer = Recorder()
        job = await ask(world)
        await perform_all(world, performer_over(world.stores, world.clock, world.ids, writer))
        (brief,) = writer.briefs
        assert isinstance(job.run.cause, Generation)
        assert (brief.repository, brief.window, brief.left_out) == ("acme/beacon", job.run.cause.window, 0)
        assert [_message(event) for event in brief.events] == ["feat: a lamp", "feat: a beam"]

    async def test_a_post_names_its_hundred_newest_deliveries(self, world: World) -> None:
        for number in range(101):
            await pushed(world, f"d-{number}", f"feat: lamp {number}")
        await only_the_request(world)
        world.clock.advance(timedelta(minutes=1))
        await ask(world)
        await perform_all(world)
        (post,) = await world.stores.posts.posts(world.organization.id)
        assert (post.source_metadata or {})["deliveryIds"] == [f"d-{number}" for number in range(1, 101)]


def _message(event: Any) -> str:
    return event.commits[0].message


class TestSites:
    async def test_who_follows_a_site_being_read_is_told_each_step(self, world: World) -> None:
        job = await ask_for_brand(world)
        assert job.events[0].message == f"A brand identity was asked for, from {URL}/"
        await perform_sites(world, Sites(PAGE))
        (brand,) = await world.stores.brands.identities(world.organization.id)
        done = await follow(world, job)
        assert [(event.type.value, event.message, event.metadata) for event in done.events[3:]] == [
            ("scraping", f"Reading {URL}", None),
            ("extracting", f"Reading what {URL}/ says of itself", None),
            ("saving", "Saving the brand identity 'Acme'", None),
            ("completed", "The brand identity 'Acme' was made", {"brandIdentityId": brand.id}),
        ]
        assert (brand.id, brand.created_at, brand.updated_at) == (
            f"brand_{job.run.id}",
            done.events[-1].created_at,
            done.events[-1].created_at,
        )

    async def test_a_site_that_stays_away_is_said_to_have_failed(self, world: World) -> None:
        job = await ask_for_brand(world, "Mine")
        await perform_sites(world, Sites(AWAY))
        done = await follow(world, job)
        assert (done.events[-1].type, done.events[-1].message) == (
            JobEventType.FAILED,
            f"{URL} cannot be read: the site cannot be reached",
        )

    async def test_what_can_be_refused_is_refused_with_the_clients_words(self, world: World) -> None:
        asked = brand_generator(world).request
        owner = world.organization.id
        assert message_of(await asked(owner, name=None, website_url="ftp://acme.example")) == (
            "websiteUrl must begin with http:// or https://"
        )
        assert message_of(await asked(owner, name="", website_url=URL)) == "name must be 1 to 120 characters long"
        named = await asked(owner, name=" Mine\n", website_url=URL)
        assert isinstance(named, Job)
        assert getattr(named.asked, "name", None) == "Mine"


class TestReceiving:
    async def test_a_fault_of_ours_is_logged_like_this(self, world: World) -> None:
        class Broken:
            def __getattr__(self, name: str) -> Any:
                return getattr(world.stores.deliveries, name)

            async def settle(self, settlement: object) -> object:
                raise KeyError(settlement)

        store: Any = Broken()
        receiver = Receiver(store, world.stores.journal, world.clock, world.ids)
        delivery = signed(push_body("feat: x", repository_id=REPOSITORY_ID), at=world.at, secret=world.secret)
        with pytest.raises(ReceivingFailed, match="^" + SERVER_ERROR):
            await receiver.receive(delivery)
        (entry,) = await world.stores.journal.entries(world.organization.id)
        assert entry == LogEntry(
            id=entry.id,
            organization_id=world.organization.id,
            integration_id=world.connection.integration.id,
            repository_id=REPOSITORY_ID,
            reference_id="72d3162e-cc78-11e3-81ab-4c9367dc0958",
            title="Webhook processing failed",
            integration_type="codehost",
            status=LogStatus.FAILED,
            status_code=500,
            error_message="Internal server error processing webhook",
            reason="Internal server error processing webhook",
            created_at=world.clock.now(),
        )
        assert entry.id.startswith("log_")

    @pytest.mark.parametrize(("more", "large"), [(0, False), (1, True)])
    async def test_a_large_body_is_read_aside(self, world: World, more: int, *, large: bool) -> None:
        asides: list[object] = []

        async def aside(work: Any, /) -> Any:
            asides.append(work)
            return work()

        stores = world.stores
        receiver = Receiver(stores.deliveries, stores.journal, world.clock, world.ids, aside=aside)
        body = push_body("feat: x", repository_id=REPOSITORY_ID)
        size = len(signed({**body, "pad": ""}, at=world.at, secret="x").body)
        padded = {**body, "pad": "x" * (LARGE_BODY - size + more)}
        delivery = signed(padded, at=world.at, secret=world.secret)
        assert len(delivery.body) == LARGE_BODY + more
        assert isinstance(await receiver.receive(delivery), Processed)
        assert bool(asides) is large
        (record,) = await stores.contexts.records(world.organization.id)
        assert _message(record.event) == "feat: x"
        # Without an executor for long work, it is read at once.
        again = signed(padded, at=world.at, secret=world.secret, delivery_id="d-2")
        assert isinstance(await world.receiver.receive(again), Processed)

    async def test_what_is_refused_by_its_headers_is_refused_before_its_body_is_read(self, world: World) -> None:
        delivery = signed(b"", at=world.at, secret=world.secret)
        assert await world.receiver.preflight(delivery) is None
        nowhere = await world.receiver.preflight(evolve(delivery, address=evolve(world.at, integration_id="int_x")))
        assert nowhere is not None
        assert nowhere.status == 404


class TestSweeping:
    async def test_a_part_that_cannot_be_swept_holds_up_no_other(self, world: World) -> None:
        stores = world.stores
        world.clock.advance(timedelta(days=40))
        old = LogEntry(
            id="log_1",
            organization_id=world.organization.id,
            integration_id="int_1",
            repository_id=1,
            reference_id=None,
            title="old",
            integration_type="codehost",
            status=LogStatus.SUCCESS,
            status_code=200,
            created_at=world.clock.now() - timedelta(days=31),
        )
        await stores.journal.append(old)
        fault = RuntimeError("no claims")

        class Broken:
            def __getattr__(self, name: str) -> Any:
                return getattr(stores.journal, name)

            async def sweep_claims(self, **_: object) -> int:
                raise fault

        journal: Any = Broken()
        faults: list[Exception] = []
        pauses: list[int] = []

        async def pause() -> None:
            pauses.append(1)

        others = (stores.rate_limits, stores.hooks, stores.sessions, stores.endpoints)
        ports = (stores.directory, *others, stores.outbox, stores.subscribers, stores.mailbox, world.clock)
        told = await Sweeper(journal, *ports, pause=pause, on_fault=faults.append).sweep()
        assert told == Swept(log_entries=1, claims=0, windows=0, secrets=0, sessions=0, messages=0)
        assert (faults, pauses) == ([fault], [1])
        with pytest.raises(RuntimeError, match="no claims"):
            await Sweeper(journal, *ports).sweep()
        fault = StoreUnavailable("away")
        with pytest.raises(StoreUnavailable):
            await Sweeper(journal, *ports, on_fault=faults.append).sweep()
        assert len(faults) == 1
