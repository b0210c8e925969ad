import re
from collections.abc import Sequence
from typing import Any, Final, assert_never

from litestar import Response, get

from contentsvc_core.content.queries import PostQuery
from contentsvc_core.events.normalized import Push
from contentsvc_core.events.summaries import EventSummary
from contentsvc_core.journal import Direction, LogStatus
from contentsvc_core.lists.pagination import PageRequest
from contentsvc_core.outgoing.endpoints import ENDPOINT_PREFIX
from contentsvc_core.read_model import LogCount, LogSearch
from contentsvc_core.refusals import Refusal
from contentsvc_core.workflows.causes import Generation, ListedCause, ListedDelivery, SiteReading
from contentsvc_core.workflows.runs import ListedRun
from contentsvc_http.dashboard import pages
from contentsvc_http.dashboard.attention import attention_of
from contentsvc_http.dashboard.charts import HOUR, columns, last_days, last_hours, share, span_of
from contentsvc_http.dashboard.run_words import output_of, starters_of, title_of
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
    received = sum(daily["totals"].values())
    integrations = await session.app.stores.directory.integrations(organization_id)
    arrived = await _has_delivered(session, else_=posts_total > 0)
    changelogs = await session.app.changelog_editor.all_of(session.organization)
    # The steps from here to a public page; the texts of each are in the template.
    done = {
        "connect": bool(integrations),
        "ping": arrived,
        "trigger": await _has_trigger(session),
        "post": posts_total > 0,
        "public": any(changelog.is_public for changelog in changelogs),
    }
    runs = await session.app.stores.run_lists.runs(organization_id, limit=_NEWEST)
    activity = await activity_of(session, runs)
    return {
        "done": done,
        "connected": integrations[0].id if integrations else None,
        "is_refused": daily["totals"]["failed"] > 0 and not arrived,
        "is_new": not (received or posts_total or activity),
        "attention": await attention_of(session, integrations),
        "activity": activity,
        "hourly": hourly,
        "daily": daily,
        "received": received,
        "succeeded": share(daily["totals"]["success"], received),
        "failed": daily["totals"]["failed"],
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


async def activity_of(session: DashboardSession, runs: Sequence[ListedRun]) -> list[dict[str, Any]]:
    """Return runs in words: of each, the cause, the kind of its output, and the title of its post if it exists."""
    ids = {run.post_id for run in runs if run.post_id}
    titles = await session.app.stores.run_lists.post_titles(session.organization_id, ids)
    starters = await starters_of(session)
    return [
        {
            "run": run,
            **dict(zip(("sentence", "subject"), _words_of(run.cause), strict=True)),
            "output": output_of(run.cause, starters),
            "post": titles.get(run.post_id or ""),
        }
        for run in runs
    ]


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
