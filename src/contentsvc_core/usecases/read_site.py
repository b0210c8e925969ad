from collections.abc import Collection
from contextlib import suppress
from functools import partial
from typing import Final, final
from urllib.parse import urlsplit

import msgspec
from attrs import asdict, evolve, field, frozen

from contentsvc_core.content.brand import BrandIdentity
from contentsvc_core.content.brand_changes import BRAND_NAME_TAKEN, is_taken, read_brand_name
from contentsvc_core.content.pages import SiteFacts, site_facts
from contentsvc_core.content.site_addresses import SiteHost, read_site_address, with_scheme
from contentsvc_core.content.site_brands import propose_brand
from contentsvc_core.errors import ContentServiceError
from contentsvc_core.ports import BrandIdentities, Clock, Jobs, Offload, RunLedger, SiteReader, Steps
from contentsvc_core.ports.brands import SiteFault, SitePage
from contentsvc_core.refusals import Refusal
from contentsvc_core.usecases.generate import JobStarter, note_event
from contentsvc_core.usecases.receive import run_inline
from contentsvc_core.workflows.causes import SiteReading
from contentsvc_core.workflows.jobs import Job, JobEventType, brand_id_of
from contentsvc_core.workflows.runs import RunStatus, WorkflowRun

#: The attempts to read a site: fewer than other runs have, since a user waits for the result.
SITE_ATTEMPTS: Final = 4


#: The step that reads the page. Its result has at most some 70 KB: 29 texts of 2,000 characters and the address.
_STEP: Final = "page"


@frozen(kw_only=True)
class _SiteResult:
    url: str
    facts: SiteFacts = field(factory=SiteFacts)
    error: str | None = None


@final
class SiteNotRead(ContentServiceError):
    """A site could not be read this time: the run is tried again."""


@final
class BrandGenerator:
    """Starts jobs that create brand identities; refuses addresses that are not public, and names that are taken."""

    def __init__(self, starter: JobStarter, brands: BrandIdentities, *, opened: Collection[SiteHost] = ()) -> None:
        self._starter = starter
        self._brands = brands
        self._opened = opened

    async def request(self, organization_id: str, *, name: str | None, website_url: str) -> Job | Refusal:
        """Start the job that creates an identity from a site; known faults are refused at once."""
        address = with_scheme(website_url)
        site = read_site_address(address, self._opened)
        if isinstance(site, Refusal):
            return evolve(site, field="website_url")
        called = None if name is None else read_brand_name(name)
        if isinstance(called, Refusal):
            return called
        if called is not None and is_taken(await self._brands.identities(organization_id), called):
            return BRAND_NAME_TAKEN
        return await self._starter.start(
            organization_id,
            lambda job_id: SiteReading(job_id=job_id, name=called, website_url=address),
            queued=f"A brand identity was requested, from {site.url}",
        )


@final
class BrandReader:
    """Performs the runs that propose a brand identity: reads a site, and adds the identity."""

    def __init__(
        self,
        sites: SiteReader,
        brands: BrandIdentities,
        *,
        ledger: RunLedger,
        jobs: Jobs,
        clock: Clock,
        offload: Offload = run_inline,
    ) -> None:
        """``offload`` runs the parsing of pages, which have up to 512 KiB."""
        self._offload = offload
        self._sites = sites
        self._brands = brands
        self._ledger = ledger
        self._note = partial(note_event, jobs, clock)
        self._clock = clock

    async def perform(self, run: WorkflowRun, cause: SiteReading, steps: Steps) -> RunStatus | None:
        """Perform a run and end it in the ledger; return its status, or ``None`` if another process owns it.

        The identity is added in the transaction that ends the run. ``SiteNotRead``: a later attempt may succeed.
        """
        await self._note(run, JobEventType.SCRAPING, f"Reading {cause.website_url}")

        async def read() -> str:
            page = await self._sites.read(cause.website_url)
            if isinstance(page, SitePage):
                site = _SiteResult(url=page.url, facts=await self._offload(partial(site_facts, page.html)))
            elif page.fault is SiteFault.PASSING and run.attempts < SITE_ATTEMPTS:
                # Raised inside the step, so that it is not stored: the next attempt asks the site again.
                raise SiteNotRead(page.error)
            else:
                site = _SiteResult(url=cause.website_url, error=page.error)
            return msgspec.json.encode(site).decode()

        site = msgspec.json.decode(await steps.run(_STEP, read), type=_SiteResult)
        if site.error is not None:
            return await self._fail(run, f"{cause.website_url} cannot be read: {site.error}")
        await self._note(run, JobEventType.EXTRACTING, f"Reading what {site.url} says of itself")
        proposed = self._proposed(run, cause, site)
        if not await self._ledger.owns(run):
            return None
        await self._note(run, JobEventType.SAVING, f"Saving the brand identity '{proposed.name}'")
        saved = await self._brands.complete(run, proposed)
        if saved is None:
            return None
        if isinstance(saved, Refusal):
            hint = "" if cause.name else f": the site calls itself '{proposed.name}', give another name"
            return await self._fail(run, f"{saved.message()}{hint}")
        with suppress(ContentServiceError):
            # The run has ended: clients see the result without this event, too.
            metadata = {"brandIdentityId": saved.id}
            await self._note(run, JobEventType.COMPLETED, f"The brand identity '{saved.name}' was made", metadata)
        return RunStatus.COMPLETED

    def _proposed(self, run: WorkflowRun, cause: SiteReading, site: _SiteResult) -> BrandIdentity:
        host = urlsplit(site.url).hostname or ""
        proposal = propose_brand(site.facts, host, name=cause.name)
        now = self._clock.now()
        return BrandIdentity(
            id=brand_id_of(run),
            organization_id=run.organization_id,
            website_url=cause.website_url,
            created_at=now,
            updated_at=now,
            **asdict(proposal),
        )

    async def _fail(self, run: WorkflowRun, error: str) -> RunStatus | None:
        if not await self._ledger.end(run, RunStatus.FAILED, error):
            return None
        with suppress(ContentServiceError):
            # The run has ended: clients see the failure without this event, too.
            await self._note(run, JobEventType.FAILED, error)
        return RunStatus.FAILED
