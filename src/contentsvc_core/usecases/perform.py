from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from datetime import datetime
from typing import Any, Final, assert_never, final

from attrs import evolve, field, frozen

from contentsvc_core.content.brand import BrandIdentity, unsupported_settings
from contentsvc_core.content.editing import halved
from contentsvc_core.content.house_style import HouseStyle, merged_styles
from contentsvc_core.content.posts import ContentType, Post, PostStatus
from contentsvc_core.content.style_fields import options_of
from contentsvc_core.content.writing import NOTHING_TO_REPORT, Brief, Chapter, Draft, Silence
from contentsvc_core.errors import ContentServiceError
from contentsvc_core.events.normalized import Push, Release
from contentsvc_core.ports import (
    Clock,
    ContentWriter,
    Directory,
    IdSource,
    Jobs,
    MarkupRenderer,
    RunLedger,
    Schedules,
    Steps,
    Triggers,
)
from contentsvc_core.text import one_line
from contentsvc_core.timestamps import iso_ms
from contentsvc_core.usecases.briefs import Briefs, BriefSources
from contentsvc_core.usecases.companions import Companions
from contentsvc_core.usecases.generate import note_event
from contentsvc_core.usecases.pull_requests import PullRequestReader
from contentsvc_core.usecases.read_site import BrandReader
from contentsvc_core.values import nothing
from contentsvc_core.workflows.causes import Delivered, Generation, SiteReading, Source, occurred_at
from contentsvc_core.workflows.jobs import JobEventType
from contentsvc_core.workflows.packages import ReleaseRun
from contentsvc_core.workflows.runs import (
    SCHEDULE_DISABLED,
    TRIGGER_DISABLED,
    Completion,
    RunStatus,
    WorkflowRun,
    retry_delay,
)
from contentsvc_core.workflows.triggers import Trigger

_ERROR_LENGTH: Final = 500
#: The longest tag of a post, in characters: a file's name, which git makes of a tag. Deliveries have no limit for tags,
#: and public lists show them. A longer one loses its middle: it begins with a package, and ends with a version.
_TAG_LENGTH: Final = 255
NO_COMMIT: Final = "no commit matches the paths and scopes of the trigger"
_NO_SITES: Final = "websites are not read here"
#: The attempts of a costly writer. After them the fallback writes, so that the run ends with a post.
COSTLY_ATTEMPTS: Final = 3


@frozen(kw_only=True)
class _Order:
    content_type: ContentType
    status: PostStatus
    brand: BrandIdentity | None
    once: str | None
    companions: tuple[ReleaseRun, ...] = field(converter=tuple[ReleaseRun, ...], default=())
    occurred_at: datetime
    house_style: HouseStyle | None
    trigger: Trigger | None = None
    gather: Callable[[], Awaitable[BriefSources | None]]


@frozen(kw_only=True)
class _WriterResult:
    draft: Draft
    writer: str
    gathered: BriefSources
    warnings: tuple[str, ...] = field(converter=tuple[str, ...])


@final
@frozen(kw_only=True, eq=False, repr=False)
class Performer:
    """Performs taken runs: each one ends, or stays running with an error.

    ``fallback`` writes when ``writer`` is costly and has failed :data:`COSTLY_ATTEMPTS` times.
    """

    _ledger: RunLedger = field(alias="ledger")
    _jobs: Jobs = field(alias="jobs")
    _briefs: Briefs = field(alias="briefs")
    _directory: Directory = field(alias="directory")
    _triggers: Triggers = field(alias="triggers")
    _schedules: Schedules = field(alias="schedules")
    _sites: BrandReader | None = field(default=None, alias="sites")
    _pull_requests: PullRequestReader | None = field(default=None, alias="pull_requests")
    _writer: ContentWriter = field(alias="writer")
    _fallback: ContentWriter | None = field(default=None, alias="fallback")
    _renderer: MarkupRenderer = field(alias="renderer")
    _clock: Clock = field(alias="clock")
    _ids: IdSource = field(alias="ids")
    _ended: Callable[[RunStatus], None] = field(default=nothing, alias="ended")

    async def perform(self, run: WorkflowRun, steps: Steps) -> None:
        await self._note(run, JobEventType.RUNNING, "The run has started")
        match run.cause:
            case Delivered():
                order = await self._order_of_trigger(run, run.cause)
            case Generation():
                order = await self._order_of_request(run, run.cause)
            case SiteReading():
                if self._sites is None:
                    await self._end(run, RunStatus.FAILED, _NO_SITES)
                elif (ended := await self._sites.perform(run, run.cause, steps)) is not None:
                    self._ended(ended)
                return
            case _:
                assert_never(run.cause)
        if isinstance(order, str):
            await self._end(run, RunStatus.SKIPPED, order)
            return
        written = await self._write(run, order, steps)
        if isinstance(written, Silence):
            await self._end(run, RunStatus.SKIPPED, written.reason)
            return
        await self._complete(run, order, written)

    async def failed(self, run: WorkflowRun, exc: Exception) -> None:
        error = one_line(f"{type(exc).__name__}: {exc}" if str(exc) else type(exc).__name__, _ERROR_LENGTH)
        delay = retry_delay(run.attempts)
        if delay is None:
            await self._end(run, RunStatus.FAILED, error)
        else:
            await self._ledger.retry(run, due_at=self._clock.now() + delay, error=error)

    async def _order_of_trigger(self, run: WorkflowRun, cause: Delivered) -> _Order | str:
        trigger = await self._triggers.find(run.organization_id, cause.trigger_id)
        if trigger is None or not trigger.enabled:
            return TRIGGER_DISABLED
        companions = await Companions(self._ledger, self._briefs.library).find(run, cause)
        if isinstance(companions, str):
            return companions
        brand = await self._briefs.brand(run.organization_id, trigger.brand_identity_id)
        return _Order(
            content_type=trigger.output_type,
            status=trigger.post_status,
            brand=brand,
            once=cause.once_key,
            companions=companions,
            occurred_at=occurred_at(cause, run.created_at),
            house_style=trigger.house_style,
            trigger=trigger,
            gather=lambda: self._briefs.build_for_delivery(
                run.organization_id, cause, trigger.output_type, brand, companions=companions
            ),
        )

    async def _order_of_request(self, run: WorkflowRun, cause: Generation) -> _Order | str:
        house_style: HouseStyle | None = None
        trigger: Trigger | None = None
        if cause.trigger_id is not None:
            trigger = await self._triggers.find(run.organization_id, cause.trigger_id)
            if trigger is None or not trigger.enabled:
                return TRIGGER_DISABLED
            house_style = trigger.house_style
        if cause.schedule_id is not None:
            schedule = await self._schedules.find(run.organization_id, cause.schedule_id)
            if schedule is None or not schedule.enabled:
                return SCHEDULE_DISABLED
            house_style = schedule.house_style
        brand = await self._briefs.brand(run.organization_id, cause.brand_identity_id)

        async def gather() -> BriefSources | None:
            await self._note(run, JobEventType.FETCHING_REPOSITORIES, "Reading what has happened in the repositories")
            if trigger is None:
                return await self._briefs.build_for_window(run.organization_id, cause, brand)
            return await self._briefs.build_for_window(run.organization_id, cause, brand, trigger.reports)

        return _Order(
            content_type=cause.content_type,
            status=cause.post_status,
            brand=brand,
            once=None,
            occurred_at=occurred_at(cause, run.created_at),
            house_style=house_style,
            trigger=trigger,
            gather=gather,
        )

    async def _write(self, run: WorkflowRun, order: _Order, steps: Steps) -> _WriterResult | Silence:
        gathered, missing = await order.gather(), None
        delivered = gathered
        if gathered is not None and self._pull_requests is not None:
            gathered, missing = await self._pull_requests.read(run, gathered, steps)
        if gathered is not None and delivered is not None and order.trigger is not None:
            gathered = _narrowed(gathered, order.trigger, delivered)
            if gathered is None:
                return Silence(reason=NO_COMMIT)
        hint = "" if missing is None else f"; pull requests are missing: {missing}"
        await self._note(run, JobEventType.GENERATING_CONTENT, f"Writing{hint}")
        if gathered is None:
            return Silence(reason=NOTHING_TO_REPORT)
        brief = await self._of_organization(run, order, gathered.brief)
        gathered = evolve(gathered, brief=brief)
        warnings = [*_cut(brief)]
        writer, name = self._writer, self._writer.name
        if self._fallback is not None and writer.costly and run.attempts > COSTLY_ATTEMPTS:
            writer, name = self._fallback, f"{self._fallback.name}, since {self._writer.name} failed"
            warnings.append(f"{self._writer.name} failed, so rules wrote this post: {run.error or 'no reason kept'}")
        draft = await writer.write(brief, steps)
        if isinstance(draft, Silence):
            return draft
        if not writer.costly:
            warnings += unsupported_settings(order.brand)
        return _WriterResult(draft=draft, writer=name, gathered=gathered, warnings=warnings)

    async def _of_organization(self, run: WorkflowRun, order: _Order, brief: Brief) -> Brief:
        organization = await self._directory.organization_of(run.organization_id)
        if organization is None:
            return evolve(brief, options=options_of(order.house_style))
        window = brief.window and brief.window.local_in(organization.time_zone)
        return evolve(
            brief, options=options_of(merged_styles(organization.house_style, order.house_style)), window=window
        )

    async def _complete(self, run: WorkflowRun, order: _Order, written: _WriterResult) -> None:
        now = self._clock.now()
        draft, releases = written.draft, written.gathered.brief.announced
        markdown, content = await self._rendered(draft.markdown)
        post = Post(
            id=self._ids.new_id("post_"),
            organization_id=run.organization_id,
            title=draft.title,
            content=content,
            markdown=markdown,
            content_type=order.content_type,
            source_metadata=_metadata(run, order, written),
            status=order.status,
            created_at=now,
            updated_at=now,
            release_tag=_tag(releases[0]) if releases else None,
            occurred_at=order.occurred_at,
        )
        also = {each.key for each in order.companions} - {order.once}
        match await self._ledger.complete(
            run, post, once=order.once, also=sorted(also), pushes=written.gathered.pushes
        ):
            case Completion.COMPLETED:
                self._ended(RunStatus.COMPLETED)
                with suppress(ContentServiceError):
                    # The run has ended, and its row shows that as well.
                    metadata = {"postId": post.id}
                    await self._note(run, JobEventType.POST_CREATED, f"The post '{post.title}' was created", metadata)
                    await self._note(run, JobEventType.COMPLETED, "Done", metadata)
            case Completion.ALREADY_REPORTED:
                self._ended(RunStatus.SKIPPED)
            case Completion.GONE:
                pass
            case Completion.OVERTAKEN:
                message = "another run has meanwhile reported one of these releases"
                raise RuntimeError(message)

    async def _rendered(self, markdown: str) -> tuple[str, str]:
        # An edit would be refused. A run ends with a post, so its text is cut.
        while (content := await self._renderer.render(markdown)) is None:
            markdown = halved(markdown)
        return markdown, content

    async def _note(
        self, run: WorkflowRun, kind: JobEventType, message: str, metadata: dict[str, Any] | None = None
    ) -> None:
        await note_event(self._jobs, self._clock, run, kind, message, metadata)

    async def _end(self, run: WorkflowRun, status: RunStatus, reason: str) -> None:
        if not await self._ledger.end(run, status, reason):
            return
        self._ended(status)
        with suppress(ContentServiceError):
            await self._note(run, JobEventType(status.value), reason)


def _narrowed(gathered: BriefSources, trigger: Trigger, delivered: BriefSources) -> BriefSources | None:
    chosen = trigger.filter
    if chosen is None or not chosen.chooses_commits:
        return gathered
    listed = {commit.id for event in delivered.brief.events if isinstance(event, Push) for commit in event.commits}
    chapters: list[Chapter] = []
    sources: list[Source] = []
    for chapter, source in zip(gathered.brief.chapters, gathered.sources, strict=True):
        narrowed = (chosen.narrowed(event, listed) if isinstance(event, Push) else event for event in chapter.events)
        events = [event for event in narrowed if event is not None]
        if events or gathered.brief.announced:
            chapters.append(evolve(chapter, events=events))
            sources.append(source)
    if not chapters:
        return None
    # Another trigger may report the other commits of these pushes, so that they are not contained as a whole.
    return evolve(gathered, brief=evolve(gathered.brief, chapters=chapters), sources=sources, pushes=())


def _cut(brief: Brief) -> Iterator[str]:
    count = sum(isinstance(event, Push) and event.is_cut for event in brief.events)
    if count:
        pushes = "1 push" if count == 1 else f"{count} pushes"
        yield (
            f"the code host listed only the newest commits of {pushes}; "
            "with a token for the repository, the others are read"
        )


def _tag(release: Release) -> str:
    tag = release.tag_name
    if len(tag) > _TAG_LENGTH:
        kept = _TAG_LENGTH // 2
        tag = f"{tag[:kept]}…{tag[-kept:]}"
    return one_line(tag, _TAG_LENGTH)


def _metadata(run: WorkflowRun, order: _Order, written: _WriterResult) -> dict[str, Any]:
    cause = run.cause
    brief = written.gathered.brief
    events = (*brief.events, *brief.announced)
    started = {
        "triggerId": cause.trigger_id if isinstance(cause, Delivered | Generation) else None,
        "jobId": cause.job_id if isinstance(cause, Generation) else None,
        "scheduleId": cause.schedule_id if isinstance(cause, Generation) else None,
    }
    usage = written.draft.usage
    tags = [_tag(release) for release in brief.announced]
    kinds = [cause.event.type] if isinstance(cause, Delivered) else sorted({event.type for event in events})
    return {
        **{name: value for name, value in started.items() if value is not None},
        "runId": run.id,
        "repositories": [chapter.repository for chapter in brief.chapters],
        "deliveryIds": list(written.gathered.delivery_ids),
        "eventTypes": kinds,
        **({"releaseTags": tags} if len(tags) > 1 else {}),
        "occurredAt": iso_ms(order.occurred_at),
        "writer": written.writer,
        **({} if usage is None else {"usage": {"promptTokens": usage[0], "completionTokens": usage[1]}}),
        **({"warnings": list(written.warnings)} if written.warnings else {}),
        **({} if order.brand is None else {"brandIdentityId": order.brand.id}),
    }
