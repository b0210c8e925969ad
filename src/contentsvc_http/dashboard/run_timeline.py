from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final, assert_never, final
from zoneinfo import ZoneInfo

from attrs import frozen

from contentsvc_core.content.posts import Post
from contentsvc_core.workflows.causes import Generation, ListedDelivery, SiteReading
from contentsvc_core.workflows.jobs import Job, JobEventType
from contentsvc_core.workflows.runs import MAX_ATTEMPTS, MAX_KILLS, SUSPECT_KILLS, UNENDED, ListedRun, RunStatus
from contentsvc_http.dashboard.run_words import PageLink, Starters
from contentsvc_http.words import sentence

#: Events that the run's status and its post show already.
_ENDS: Final = frozenset({JobEventType.COMPLETED, JobEventType.FAILED, JobEventType.SKIPPED, JobEventType.POST_CREATED})


@final
@frozen(kw_only=True)
class TimelineStep:
    kind: str = ""
    title: str
    text: str = ""
    #: ``None``: the time was not stored.
    at: datetime | None = None
    link: PageLink | None = None


@final
@frozen(kw_only=True)
class RunDetails:
    run: ListedRun
    starters: Starters
    zone: ZoneInfo
    #: The log entry of the delivery that started the run; ``None``: another starter, or the entry was swept.
    log_id: str | None = None
    job: Job | None = None
    #: The names of the steps whose results are kept until the run ends.
    finished_steps: Collection[str] = ()
    #: The run's post; ``None``: there is no post, or it was deleted.
    post: Post | None = None
    brand: PageLink | None = None


def timeline(details: RunDetails) -> list[TimelineStep]:
    run = details.run
    return [
        *_beginning(details),
        *_noted(details.job),
        *_finished_steps(details),
        *_kills(run),
        *_attempts(run),
        *_end(details),
    ]


def _beginning(details: RunDetails) -> Sequence[TimelineStep]:
    run, cause, starter = details.run, details.run.cause, details.starters.of(details.run.cause)
    created = TimelineStep(kind="good", title="Run created", text=f"Started by {starter.text}.", at=run.created_at)
    link: PageLink | None = None
    match cause:
        case ListedDelivery():
            title = "Delivery replayed" if cause.replayed else "Delivery arrived"
            text = cause.event.type.capitalize()
            if details.log_id is None:
                text += "; its log entry is not kept any more"
            else:
                link = PageLink(text="log entry", path=f"/integrations/logs/{details.log_id}")
        case Generation():
            title = "Content was requested" if cause.schedule_id is None else "The schedule was due"
            text = _window(cause, details.zone)
        case SiteReading():
            title, text = "A brand identity was requested", cause.website_url
        case _:
            assert_never(cause)
    return [TimelineStep(kind="good", title=title, text=text, at=run.created_at, link=link), created]


def _window(cause: Generation, zone: ZoneInfo) -> str:
    since, until = (bound.astimezone(zone) for bound in (cause.window.since, cause.window.until))
    return f"About {since:%-d %b %Y, %H:%M} to {until:%-d %b %Y, %H:%M} {zone.key}."


def _noted(job: Job | None) -> Sequence[TimelineStep]:
    if job is None:
        return []
    excluded = _ENDS | {JobEventType.QUEUED, JobEventType.WORKFLOW_TRIGGERED}
    return [
        TimelineStep(kind="good", title=sentence(event.message).removesuffix("."), at=event.created_at)
        for event in job.events
        if event.type not in excluded
    ]


def _finished_steps(details: RunDetails) -> Sequence[TimelineStep]:
    return [
        TimelineStep(kind="good", title=f"Step “{name}” finished", text="It is not done again.")
        for name in details.finished_steps
    ]


def _attempts(run: ListedRun) -> Sequence[TimelineStep]:
    tried = _counted(run.attempts, "attempt")
    match run.status:
        case RunStatus.PENDING if run.attempts:
            return [
                TimelineStep(kind="bad", title=f"{tried} of {MAX_ATTEMPTS} failed", text=run.error or ""),
                TimelineStep(kind="wait", title="Next attempt due", at=run.due_at),
            ]
        case RunStatus.PENDING:
            return [TimelineStep(kind="wait", title="Waits for a worker")]
        case RunStatus.RUNNING:
            text = f"The one before failed: {run.error}" if run.error and run.attempts > 1 else ""
            return [
                TimelineStep(kind="wait", title=f"Attempt {run.attempts} of {MAX_ATTEMPTS} is under way", text=text)
            ]
        case RunStatus.COMPLETED | RunStatus.SKIPPED | RunStatus.CANCELLED:
            return [TimelineStep(title=f"{tried} of {MAX_ATTEMPTS}")] if run.attempts > 1 else []
        case RunStatus.FAILED:
            return [TimelineStep(kind="bad", title=f"{tried} of {MAX_ATTEMPTS} failed")] if run.attempts else []
        case _:
            assert_never(run.status)


def _kills(run: ListedRun) -> Sequence[TimelineStep]:
    if not run.kills:
        return []
    text = ""
    if run.status in UNENDED:
        alone = "It runs alone in its process now. " if run.kills >= SUSPECT_KILLS else ""
        text = f"{alone}After {MAX_KILLS} of them it fails."
    times = "once" if run.kills == 1 else f"{run.kills} times"
    return [TimelineStep(kind="bad", title=f"Its process was killed {times}", text=text)]


def _end(details: RunDetails) -> Sequence[TimelineStep]:
    run, post = details.run, details.post
    reason, at = run.error or "", _ended_at(details)
    match run.status:
        case RunStatus.PENDING | RunStatus.RUNNING:
            return []
        case RunStatus.COMPLETED:
            done = TimelineStep(kind="good", title="Completed", at=at)
            if isinstance(run.cause, SiteReading):
                made = "The brand identity was deleted since" if details.brand is None else "Brand identity made"
                return [done, TimelineStep(kind="good", title=made, link=details.brand, at=at)]
            if run.post_id is None:
                return [done]
            if post is None:
                return [done, TimelineStep(title="Its post was deleted since")]
            link = PageLink(text=post.title, path=f"/posts/{post.id}")
            return [TimelineStep(kind="good", title="Post written", at=post.created_at, link=link), done]
        case RunStatus.SKIPPED:
            return [TimelineStep(title="Skipped", text=reason, at=at)]
        case RunStatus.FAILED:
            return [TimelineStep(kind="bad", title="Failed", text=reason, at=at)]
        case RunStatus.CANCELLED:
            return [TimelineStep(title="Cancelled", text=reason, at=at)]
        case _:
            assert_never(run.status)


def _ended_at(details: RunDetails) -> datetime | None:
    events = () if details.job is None else details.job.events
    ends = [event.created_at for event in events if event.type in _ENDS]
    if ends and details.run.status is not RunStatus.CANCELLED:
        return ends[-1]
    return None if details.post is None else details.post.created_at


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
