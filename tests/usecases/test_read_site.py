"""From a website to a brand identity."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any, TypeVar, cast, final

import pytest
from msgspec import to_builtins
from tests.forwarding import Forwarding
from tests.performing import performer_over
from tests.refusals import accepted, existing, the_refusal
from tests.usecases.conftest import World
from tests.usecases.test_generate import follow
from tests.usecases.test_perform import perform_all as perform_without_sites

from contentsvc_adapters.engine.inline import InlineExecution
from contentsvc_adapters.writers.deterministic import DeterministicWriter
from contentsvc_core.content.brand import BrandIdentity, ToneProfile
from contentsvc_core.content.brand_changes import BRAND_NAME_TAKEN
from contentsvc_core.errors import ContentServiceError, StoreUnavailable
from contentsvc_core.ports import BrandIdentities, Jobs
from contentsvc_core.ports.brands import NotRead, SiteFault, SitePage
from contentsvc_core.testing import PlainSteps
from contentsvc_core.usecases.generate import JobStarter
from contentsvc_core.usecases.read_site import SITE_ATTEMPTS, BrandGenerator, BrandReader
from contentsvc_core.values import nothing
from contentsvc_core.workflows.causes import SiteReading
from contentsvc_core.workflows.jobs import BrandJobBody, Job, JobEvent, JobEventType, job_events
from contentsvc_core.workflows.runs import CANCELLED, RunStatus, WorkflowRun

_T = TypeVar("_T")

URL = "https://acme.example"
PAGE = SitePage(
    url=f"{URL}/",
    html="<html lang=en><title>Acme | Lamps</title><meta name=description content=\"We're for sailors. You'll see.\">",
)
AWAY = NotRead(fault=SiteFault.PASSING, error="the site cannot be reached")


class Sites:
    """Returns the given answers in order, and repeats the last one."""

    def __init__(self, *answers: SitePage | NotRead) -> None:
        self.answers = list(answers)
        self.urls: list[str] = []

    async def read(self, url: str) -> SitePage | NotRead:
        self.urls.append(url)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def brand_generator(world: World) -> BrandGenerator:
    return BrandGenerator(JobStarter(world.stores.jobs, world.clock, world.ids), world.stores.brands)


async def ask(world: World, name: str | None = None, url: str = URL) -> Job:
    return accepted(await brand_generator(world).request(world.organization.id, name=name, website_url=url))


async def test_a_page_is_read_aside(world: World) -> None:
    await ask(world)
    stores, done = world.stores, list[str]()

    async def offload(work: Callable[[], _T], /) -> _T:
        result = work()
        done.append(type(result).__name__)
        return result

    reader = BrandReader(
        Sites(PAGE), stores.brands, ledger=stores.ledger, jobs=stores.jobs, clock=world.clock, offload=offload
    )
    run = existing(await take(world))
    assert isinstance(run.cause, SiteReading)

    assert await reader.perform(run, run.cause, PlainSteps()) is RunStatus.COMPLETED
    assert done == ["SiteFacts"]


async def test_a_resumed_run_does_not_ask_the_site_again(world: World) -> None:
    await ask(world)
    stores, sites = world.stores, Sites(PAGE)

    class Away:
        async def complete(self, *_: object) -> None:
            raise StoreUnavailable

    engine = InlineExecution(stores.ledger, stores.run_state)
    run = existing(await take(world))
    for brands in (cast("BrandIdentities", Away()), stores.brands):
        reader = BrandReader(sites, brands, ledger=stores.ledger, jobs=stores.jobs, clock=world.clock)
        performer = performer_over(stores, world.clock, world.ids, DeterministicWriter(), sites=reader)
        with suppress(StoreUnavailable):
            await engine.perform(run, performer)

    (brand,) = await stores.brands.identities(world.organization.id)
    assert (brand.name, len(sites.urls)) == ("Acme", 1)


async def take(world: World) -> WorkflowRun | None:
    stores = world.stores
    if "exe_1" not in await stores.executors.heartbeat("exe_1"):
        await stores.executors.join("exe_1")
    due = await stores.ledger.pending(world.clock.now(), limit=1, per_organization=1)
    taken = await stores.ledger.take([each.id for each in due], "exe_1")
    return taken[0] if taken else None


async def perform_all(
    world: World, sites: Sites, jobs: Jobs | None = None, ended: Callable[[RunStatus], None] = nothing
) -> int:
    """Perform due runs until none is left, skipping all pauses; return the number of attempts."""
    stores = world.stores
    reader = BrandReader(sites, stores.brands, ledger=stores.ledger, jobs=jobs or stores.jobs, clock=world.clock)
    performer = performer_over(stores, world.clock, world.ids, DeterministicWriter(), sites=reader, ended=ended)
    times = 0
    for _ in range(20):
        world.clock.advance(timedelta(minutes=5))
        run = await take(world)
        if run is None:
            break
        times += 1
        try:
            await performer.perform(run, PlainSteps())
        except ContentServiceError as exc:
            await performer.failed(run, exc)
    return times


async def test_an_identity_is_made_from_a_site(world: World) -> None:
    job = await ask(world)
    assert BrandJobBody.of(job).status == "queued"

    await perform_all(world, Sites(PAGE))

    done = await follow(world, job)
    (brand,) = await world.stores.brands.identities(world.organization.id)
    body = to_builtins(BrandJobBody.of(done))
    assert body["status"] == "completed"
    assert (body["step"], body["currentStep"], body["totalSteps"]) == ("saving", 3, 3)
    assert (body["brandIdentityId"], body["error"]) == (brand.id, None)
    assert [event.type.value for event in job_events(done)] == [
        *("queued", "workflow_triggered", "running", "scraping", "extracting", "saving", "completed")
    ]
    assert job_events(done)[0].message == f"A brand identity was requested, from {URL}/"
    assert job_events(done)[-1].metadata == {"brandIdentityId": brand.id}
    assert job_events(done)[4].message == f"Reading what {URL}/ says of itself"
    assert brand == BrandIdentity(
        id=brand.id,
        organization_id=world.organization.id,
        name="Acme",
        is_default=True,
        website_url=URL,
        company_name="Acme",
        company_description="We're for sailors. You'll see.",
        tone_profile=ToneProfile.CONVERSATIONAL,
        language="English",
        created_at=brand.created_at,
        updated_at=brand.created_at,
    )


async def test_a_permanent_fault_ends_the_job_at_once(world: World) -> None:
    job = await ask(world)
    sites = Sites(NotRead(fault=SiteFault.LASTING, error="the site answers with status 404"))
    ends: list[RunStatus] = []

    assert await perform_all(world, sites, ended=ends.append) == 1

    assert ends == [RunStatus.FAILED]
    body = to_builtins(BrandJobBody.of(await follow(world, job)))
    assert (body["status"], body["step"]) == ("failed", "scraping")
    assert body["error"] == f"{URL} cannot be read: the site answers with status 404"
    assert await world.stores.brands.identities(world.organization.id) == []


async def test_a_site_that_stays_away_is_given_up(world: World) -> None:
    job = await ask(world)
    sites = Sites(AWAY)

    await perform_all(world, sites)

    done = await follow(world, job)
    body = to_builtins(BrandJobBody.of(done))
    assert (done.events[-1].type, done.events[-1].message) == (JobEventType.FAILED, body["error"])
    assert len(sites.urls) == SITE_ATTEMPTS
    assert (body["status"], body["error"]) == ("failed", f"{URL} cannot be read: the site cannot be reached")


@final
class Cut(Forwarding):
    """Jobs whose store fails once, for the event of completion."""

    cuts = 0

    async def note(self, events: Sequence[JobEvent]) -> None:
        if not self.cuts and events[0].type is JobEventType.COMPLETED:
            self.cuts += 1
            message = "away"
            raise StoreUnavailable(message)
        await self.real.note(events)


async def test_a_run_cut_off_after_saving_the_identity_has_ended_with_it(world: World) -> None:
    job = await ask(world)
    cut: Any = Cut(world.stores.jobs)

    assert await perform_all(world, Sites(PAGE), cut) == 1

    (brand,) = await world.stores.brands.identities(world.organization.id)
    followed = await follow(world, job)
    assert cut.cuts == 1
    assert (BrandJobBody.of(followed).status, BrandJobBody.of(followed).brand_identity_id) == ("completed", brand.id)
    assert job_events(followed)[-1].type is JobEventType.COMPLETED


async def test_a_cancelled_job_saves_nothing(world: World) -> None:
    job = await ask(world)
    stores = world.stores

    class Cancelling(Sites):
        async def read(self, url: str) -> SitePage | NotRead:
            await stores.ledger.cancel(world.organization.id, job.run.id, CANCELLED)
            return await super().read(url)

    await perform_all(world, Cancelling(PAGE))

    body = to_builtins(BrandJobBody.of(await follow(world, job)))
    assert (body["status"], body["error"], body["brandIdentityId"]) == ("failed", CANCELLED, None)
    assert await stores.brands.identities(world.organization.id) == []


async def test_a_job_that_is_cancelled_at_the_last_moment_saves_nothing_and_ends_as_nothing_else(world: World) -> None:
    job = await ask(world)
    stores = world.stores
    run = existing(await take(world))

    @final
    class Late(Forwarding):
        """Jobs whose run is cancelled at the event of saving: after every check."""

        async def note(self, events: Sequence[JobEvent]) -> None:
            await stores.jobs.note(events)
            if events[0].type is JobEventType.SAVING:
                assert await stores.ledger.cancel(world.organization.id, job.run.id, CANCELLED)

    late: Any = Late(stores.jobs)
    reader = BrandReader(Sites(PAGE), stores.brands, ledger=stores.ledger, jobs=late, clock=world.clock)
    assert isinstance(run.cause, SiteReading)

    assert await reader.perform(run, run.cause, PlainSteps()) is None

    followed = await follow(world, job)
    assert (BrandJobBody.of(followed).status, BrandJobBody.of(followed).brand_identity_id) == ("failed", None)
    assert JobEventType.COMPLETED not in {event.type for event in followed.events}
    assert await stores.brands.identities(world.organization.id) == []


async def test_a_name_that_was_taken_meanwhile_fails_the_job(world: World) -> None:
    first, second = await ask(world, "Mine"), await ask(world, "MINE")
    third, fourth = await ask(world), await ask(world)

    await perform_all(world, Sites(PAGE))

    jobs = [to_builtins(BrandJobBody.of(await follow(world, job))) for job in (first, second, third, fourth)]
    assert [job["status"] for job in jobs] == ["completed", "failed", "completed", "failed"]
    assert jobs[1]["error"] == "Brand identity name already exists"
    assert jobs[3]["error"] == "Brand identity name already exists: the site calls itself 'Acme', give another name"
    assert [each.name for each in await world.stores.brands.identities(world.organization.id)] == ["Mine", "Acme"]


@pytest.mark.parametrize(
    ("name", "url", "reason"),
    [
        (None, "http://127.0.0.1/", "websiteUrl must be the address of a public site"),
        (None, "ftp://acme.example", "websiteUrl must begin with http:// or https://"),
        ("  ", URL, "name must be 1 to 120 characters long"),
        ("a" * 121, URL, "name must be 1 to 120 characters long"),
    ],
)
async def test_an_invalid_request_is_refused_at_once(world: World, name: str | None, url: str, reason: str) -> None:
    refused = the_refusal(await brand_generator(world).request(world.organization.id, name=name, website_url=url))

    assert refused.message().startswith(reason)
    assert await take(world) is None


async def test_a_name_that_is_taken_is_refused_at_once(world: World) -> None:
    await ask(world, "Mine")
    await perform_all(world, Sites(PAGE))

    asked = brand_generator(world).request
    assert await asked(world.organization.id, name=" mine\n", website_url=URL) is BRAND_NAME_TAKEN


async def test_where_no_sites_are_read_a_run_that_wants_one_has_failed(world: World) -> None:
    job = await ask(world)
    await perform_without_sites(world)
    run = (await follow(world, job)).run
    assert (run.status, run.error) == (RunStatus.FAILED, "websites are not read here")
