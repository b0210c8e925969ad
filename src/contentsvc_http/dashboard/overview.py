import re
from collections.abc import Sequence
from typing import Any, Final, assert_never, final

from attrs import frozen
from litestar import Response, get

from contentsvc_core.content.queries import PostQuery
from contentsvc_core.events.normalized import Push
from contentsvc_core.events.summaries import EventSummary
from contentsvc_core.journal import Direction, LogStatus
from contentsvc_core.lists.pagination import PageRequest
from contentsvc_core.organizations import Integration
from contentsvc_core.outgoing.endpoints import ENDPOINT_PREFIX
from contentsvc_core.read_model import LogCount, LogSearch
from contentsvc_core.refusals import Refusal
from contentsvc_core.workflows.causes import Generation, ListedCause, ListedDelivery, SiteReading
from contentsvc_core.workflows.runs import ListedRun
from contentsvc_http.dashboard import pages
from contentsvc_http.dashboard.attention import attention_of
from contentsvc_http.dashboard.charts import HOUR, columns, last_days, last_hours, share, span_of
from contentsvc_http.dashboard.run_words import Starters, output_of, starters_of, title_of
from contentsvc_http.dashboard.session import ROOT, DashboardSession, Visitor

_HOURS: Final = 24
_DAYS: Final = 14
_NEWEST: Final = 8
#: The number of newest entries that the checklist reads: a code host's delivery is newer than those of `init`.
_RECENT: Final = 20
#: Recordings have delivery ids derived from the change: UUIDs of version 5. Code hosts use random UUIDs.
_RECORDED: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-")
_ONE: Final = PageRequest(limit=1)


@get(ROOT)
async def overview(session: Visitor) -> Response[Any]:
    context = await session.lists(lambda: _shown(session))
    if session.is_partial:
        return pages.part(session, "overview_now.html", context)
    return pages.page(session, "overview.html", context, title="Overview", section="overview")


async def _shown(session: DashboardSession) -> dict[str, Any]:
    organization_id = session.organization_id
    now = session.app.clock.now()
    zone, read_model = session.organization.time_zone, session.app.stores.read_model
    hours, days = last_hours(now, _HOURS), last_days(now, _DAYS, zone)
    by_hour = await read_model.log_counts(organization_id, since=hours[0], span=HOUR)
    hourly = columns(_arrived(by_hour), hours, zone, label="%H:%M")
    by_day = await read_model.log_counts(organization_id, since=days[0], span=span_of(zone))
    daily = columns(_arrived(by_day), days, zone, label="%d %b")
    page = await session.app.stores.posts.page(organization_id, PostQuery(), _ONE)
    posts_total = 0 if isinstance(page, Refusal) else page[1].total_items
    received = sum(daily.totals.values())
    integrations = await session.app.stores.directory.integrations(organization_id)
    arrived = await _has_delivered(session, else_=posts_total > 0)
    changelogs = await session.app.changelog_editor.all_of(session.organization)
    steps = checklist(
        integrations=integrations,
        arrived=arrived,
        refused=daily.totals["failed"] > 0 and not arrived,
        has_trigger=await _has_trigger(session),
        has_post=posts_total > 0,
        is_public=any(changelog.is_public for changelog in changelogs),
    )
    runs = await session.app.stores.run_lists.runs(organization_id, limit=_NEWEST)
    activity = await activity_of(session, runs)
    return {
        "steps": steps,
        "steps_done": sum(step.is_done for step in steps),
        "is_new": not (received or posts_total or activity),
        "attention": await attention_of(session, integrations),
        "activity": activity,
        "hourly": hourly,
        "daily": daily,
        "received": received,
        "succeeded": share(daily.totals["success"], received),
        "failed": daily.totals["failed"],
        "posts_total": posts_total,
        "zone": zone.key,
    }


async def _has_delivered(session: DashboardSession, *, else_: bool) -> bool:
    search = LogSearch(statuses=(LogStatus.SUCCESS,))
    entries = await session.app.stores.read_model.log(session.organization_id, search, limit=_RECENT)
    references = [entry.reference_id or "" for entry in entries if entry.direction is Direction.INCOMING]
    return not all(map(_RECORDED.match, references)) if references else else_


async def _has_trigger(session: DashboardSession) -> bool:
    if any(trigger.enabled for trigger in await session.app.stores.triggers.all_of(session.organization_id)):
        return True
    return any(schedule.enabled for schedule in await session.app.stores.schedules.all_of(session.organization_id))


def _arrived(counts: Sequence[LogCount]) -> list[LogCount]:
    return [count for count in counts if not count.integration_id.startswith(ENDPOINT_PREFIX)]


@final
@frozen(kw_only=True)
class Activity:
    run: ListedRun
    #: What caused the run, such as "acme/lamp released v2.0.0".
    sentence: str
    subject: str
    output: str
    #: The title of the run's post; ``None``: the run has no post, or the post was deleted.
    post: str | None


async def activity_of(session: DashboardSession, runs: Sequence[ListedRun]) -> list[Activity]:
    ids = {run.post_id for run in runs if run.post_id}
    titles = await session.app.stores.run_lists.post_titles(session.organization_id, ids)
    starters = await starters_of(session)
    return [_activity(run, titles.get(run.post_id or ""), starters) for run in runs]


def _activity(run: ListedRun, post: str | None, starters: Starters) -> Activity:
    sentence, subject = _words_of(run.cause)
    output = output_of(run.cause, starters)
    return Activity(run=run, sentence=sentence, subject=subject, output=output, post=post)


def _words_of(cause: ListedCause) -> tuple[str, str]:
    match cause:
        case ListedDelivery():
            # Most releases are named after their tag.
            subject = "" if cause.event.title == cause.event.ref else cause.event.title
            return f"{cause.repository} {_happened(cause.event)}", subject
        case Generation() | SiteReading():
            return title_of(cause), ""
        case _:
            assert_never(cause)


def _happened(event: EventSummary) -> str:
    if event.type != Push.type:
        return f"released {event.ref}" if event.ref else "published a release"
    commits = "1 commit" if event.commits == 1 else f"{event.commits:,} commits"
    return f"received {commits} on {event.ref}" if event.ref else "received a push"


@final
@frozen(kw_only=True)
class ChecklistStep:
    id: str
    title: str
    is_done: bool
    hint: str
    action: str
    path: str


def checklist(
    *,
    integrations: Sequence[Integration],
    arrived: bool,
    refused: bool,
    has_trigger: bool,
    has_post: bool,
    is_public: bool,
) -> Sequence[ChecklistStep]:
    connect = "/integrations#connect"
    steps = (
        ChecklistStep(
            id="connect",
            title="Connect a repository",
            is_done=bool(integrations),
            hint="Its pushes and releases arrive here and become posts.",
            action="Connect a repository",
            path=connect,
        ),
        _ping(integrations, arrived=arrived, refused=refused),
        ChecklistStep(
            id="trigger",
            title="Create a trigger",
            is_done=has_trigger,
            hint="A trigger decides which events become posts: releases are a good start.",
            action="Create a trigger",
            path="/triggers",
        ),
        ChecklistStep(
            id="post",
            title="Get the first post",
            is_done=has_post,
            hint="The next release starts one. You can also ask for a post about recent changes now.",
            action="Write from commits",
            path="/posts/write",
        ),
        ChecklistStep(
            id="public",
            title="Open the public changelog",
            is_done=is_public,
            hint="Your readers find published posts there, and a feed. You see first what becomes public.",
            action="Set up the changelog",
            path="/changelog",
        ),
    )
    return () if all(step.is_done for step in steps) else steps


def _ping(integrations: Sequence[Integration], *, arrived: bool, refused: bool) -> ChecklistStep:
    if refused:
        hint, action = "A delivery arrived and was refused. Its log entry says why.", "See why"
        path = "/integrations/logs?status=failed"
    elif integrations:
        hint = "Waiting for the code host. Its ping arrives seconds after you add the webhook there."
        action, path = "Show the webhook", f"/integrations/{integrations[0].id}"
    else:
        hint, action = "The code host sends a ping as soon as the repository is connected.", "Connect first"
        path = "/integrations#connect"
    return ChecklistStep(
        id="ping", title="Receive the first ping", is_done=arrived, hint=hint, action=action, path=path
    )
