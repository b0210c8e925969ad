"""Performing a workflow run: from the event that started it to its post."""

from collections.abc import Callable, Sequence
from typing import Any, Final, final

from contentsvc_core.content.posts import Post, PostStatus
from contentsvc_core.content.writing import Brief, Draft
from contentsvc_core.ports import (
    Clock,
    ContentWriter,
    ContextLibrary,
    Directory,
    IdSource,
    MarkupRenderer,
    RunLedger,
    RunMemory,
    Steps,
)
from contentsvc_core.text import one_line
from contentsvc_core.webhooks.events import Push, Release
from contentsvc_core.workflows.context import ContextRecord, custom_id
from contentsvc_core.workflows.runs import (
    NOTHING_TO_REPORT,
    TRIGGER_DISABLED,
    Completion,
    RunGone,
    RunStatus,
    WorkflowRun,
    retry_delay,
)
from contentsvc_core.workflows.triggers import Trigger

#: How far a release looks back for pushes, in context records; read in steps.
_LOOK_BACK: Final = 2000
_STEP: Final = 100
_ERROR_LENGTH: Final = 500
#: What the step "write" gives: the draft itself stays in the stores.
_WRITTEN: Final = "written"
_NOTHING: Final = "nothing"


def _nobody_told(_status: RunStatus) -> None:
    pass


@final
class Performer:
    """Performs runs that were taken: each ends, or says why not."""

    def __init__(  # noqa: PLR0913  # its ports, and who is told
        self,
        *,
        ledger: RunLedger,
        memory: RunMemory,
        library: ContextLibrary,
        directory: Directory,
        writer: ContentWriter,
        renderer: MarkupRenderer,
        clock: Clock,
        ids: IdSource,
        ended: Callable[[RunStatus], None] = _nobody_told,
    ) -> None:
        """Take the ports; ``ended`` is told how each run ends."""
        self._ledger = ledger
        self._memory = memory
        self._library = library
        self._directory = directory
        self._writer = writer
        self._renderer = renderer
        self._clock = clock
        self._ids = ids
        self._ended = ended

    async def perform(self, run: WorkflowRun, steps: Steps) -> None:
        """Perform one run: write its post, or skip it (port :class:`~contentsvc_core.ports.Workflow`).

        Its end is no step: the ledger itself keeps that, and keeps it once.

        Raises:
            Exception: Whatever the writer or a store says; the run is running still, and is to be tried again.
        """
        trigger = await self._directory.trigger(run.organization_id, run.trigger_id)
        if trigger is None or not trigger.enabled:
            # It was switched off between match and run: what its owner wants now counts.
            await self._end(run, RunStatus.SKIPPED, TRIGGER_DISABLED)
            return
        draft = await self._draft(run, steps)
        if draft is None:
            await self._end(run, RunStatus.SKIPPED, NOTHING_TO_REPORT)
            return
        now = self._clock.now()
        post = Post(
            id=self._ids.mint("post_"),
            organization_id=run.organization_id,
            title=draft.title,
            content=await self._renderer.render(draft.markdown),
            markdown=draft.markdown,
            content_type=trigger.output_type,
            source_metadata=self._metadata(run),
            status=_status(trigger),
            created_at=now,
            updated_at=now,
        )
        match await self._ledger.complete(run, post, once=once_key(run)):
            case Completion.COMPLETED:
                self._ended(RunStatus.COMPLETED)
            case Completion.ALREADY_REPORTED:
                self._ended(RunStatus.SKIPPED)
            case Completion.GONE:
                pass

    async def _end(self, run: WorkflowRun, status: RunStatus, reason: str) -> None:
        await self._ledger.end(run, status, reason)
        self._ended(status)

    async def _draft(self, run: WorkflowRun, steps: Steps) -> Draft | None:
        if not self._writer.costly:
            # Writing it again is cheaper than keeping it, and gives the same.
            return await self._writer.write(await self._brief(run))

        async def write() -> str:
            # A kill may have come between keeping the draft and the end of the step: nobody pays for it twice.
            if await self._memory.draft(run) is None:
                draft = await self._writer.write(await self._brief(run))
                if draft is None:
                    return _NOTHING
                await self._memory.keep_draft(run, draft)
            return _WRITTEN

        if await steps.run("write", write) == _NOTHING:
            return None
        draft = await self._memory.draft(run)
        if draft is None:
            # Its taker has changed since: what the step gives is kept for nobody else.
            raise RunGone
        return draft

    async def failed(self, run: WorkflowRun, exc: Exception) -> None:
        """Have a run tried again after ``exc``, or end it when it was tried often enough."""
        error = one_line(f"{type(exc).__name__}: {exc}" if str(exc) else type(exc).__name__, _ERROR_LENGTH)
        delay = retry_delay(run.attempts)
        if delay is None:
            await self._end(run, RunStatus.FAILED, error)
        else:
            await self._ledger.retry(run, due_at=self._clock.now() + delay, error=error)

    async def _brief(self, run: WorkflowRun) -> Brief:
        match run.event:
            case Push():
                return Brief(repository=run.repository, events=(run.event,))
            case Release():
                return await self._release_brief(run, run.event)

    async def _release_brief(self, run: WorkflowRun, release: Release) -> Brief:
        """Gather the pushes that were stored since the release before this one."""
        key = custom_id(run.provider, run.repository_id, run.delivery_id)
        record = await self._library.record(run.organization_id, key)
        pushes: list[Push] = []
        previous: str | None = None
        oldest = record
        seen = 0
        while oldest is not None and previous is None and seen < _LOOK_BACK:
            step = await self._library.before(oldest, limit=_STEP)
            previous = _gather(step, release, pushes)
            seen += len(step)
            oldest = step[-1] if len(step) == _STEP else None
        return Brief(repository=run.repository, events=tuple(reversed(pushes)), release=release, previous_tag=previous)

    def _metadata(self, run: WorkflowRun) -> dict[str, Any]:
        return {
            "triggerId": run.trigger_id,
            "runId": run.id,
            "repositories": [run.repository],
            "deliveryIds": [run.delivery_id],
            "eventTypes": [run.event.type],
            "writer": self._writer.name,
        }


def _gather(records: Sequence[ContextRecord], release: Release, pushes: list[Push]) -> str | None:
    """Add the pushes of ``records``, newest first, until the previous release; give its tag when it is among them."""
    for record in records:
        event = record.event
        if isinstance(event, Push):
            pushes.append(event)
        elif event.tag_name != release.tag_name and (release.prerelease or not event.prerelease):
            # A final release reports what its own pre-releases did: their readers are not the same.
            return event.tag_name
    return None


def once_key(run: WorkflowRun) -> str | None:
    """Give the key that one release's post carries: the code host announces some releases twice (decisions)."""
    event = run.event
    if not isinstance(event, Release) or event.published_at is None:
        return None
    # The free text last and the rest without slashes: no two keys share a spelling.
    return f"{run.trigger_id}/{run.repository_id}/{event.published_at.replace('/', '%2F')}/{event.tag_name}"


def _status(trigger: Trigger) -> PostStatus:
    return PostStatus.PUBLISHED if trigger.auto_publish else PostStatus.DRAFT
