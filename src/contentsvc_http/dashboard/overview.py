import re
from collections.abc import Sequence
from typing import Any, Final

from litestar import Request, Response, get
from litestar.handlers import HTTPRouteHandler

from contentsvc_core.content.queries import PostQuery
from contentsvc_core.journal import Direction, LogStatus
from contentsvc_core.lists.pagination import PageRequest
from contentsvc_core.organizations import Organization
from contentsvc_core.outgoing.endpoints import ENDPOINT_PREFIX
from contentsvc_core.read_model import LogCount, LogSearch
from contentsvc_core.refusals import Refusal
from contentsvc_http.dashboard.activity import activity_of
from contentsvc_http.dashboard.attention import attention_of
from contentsvc_http.dashboard.charts import HOUR, columns, last_days, last_hours, share, span_of
from contentsvc_http.dashboard.checklist import checklist
from contentsvc_http.dashboard.context import Dashboard
from contentsvc_http.dashboard.pages import Pages
from contentsvc_http.dashboard.session import ROOT, visit

_HOURS: Final = 24
_DAYS: Final = 14
_NEWEST: Final = 8
#: The number of newest entries that the checklist reads: a code host's delivery is newer than those of `init`.
_RECENT: Final = 20
#: Recordings have delivery ids derived from the change: UUIDs of version 5. Code hosts use random UUIDs.
_RECORDED: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-")
_ONE: Final = PageRequest(limit=1)


def overview_routes(dashboard: Dashboard, pages: Pages) -> list[HTTPRouteHandler]:
    @get(ROOT)
    async def overview(request: Request[Any, Any, Any]) -> Response[Any]:
        session = await visit(dashboard, request)
        organization_id = session.organization_id
        context = await dashboard.app.shares.lists(organization_id, lambda: _shown(dashboard, session.organization))
        if session.is_partial:
            return pages.part(session, "overview_now.html", context)
        return pages.page(session, "overview.html", context, title="Overview", section="overview")

    return [overview]


async def _shown(dashboard: Dashboard, organization: Organization) -> dict[str, Any]:
    organization_id = organization.id
    now = dashboard.app.clock.now()
    zone, read_model = organization.time_zone, dashboard.app.stores.read_model
    hours, days = last_hours(now, _HOURS), last_days(now, _DAYS, zone)
    by_hour = await read_model.log_counts(organization_id, since=hours[0], span=HOUR)
    hourly = columns(_arrived(by_hour), hours, zone, label="%H:%M")
    by_day = await read_model.log_counts(organization_id, since=days[0], span=span_of(zone))
    daily = columns(_arrived(by_day), days, zone, label="%d %b")
    page = await dashboard.app.stores.posts.page(organization_id, PostQuery(), _ONE)
    posts_total = 0 if isinstance(page, Refusal) else page[1].total_items
    received = sum(daily.totals.values())
    integrations = await dashboard.app.stores.directory.integrations(organization_id)
    arrived = await _has_delivered(dashboard, organization_id, else_=posts_total > 0)
    steps = checklist(
        integrations=integrations,
        arrived=arrived,
        refused=daily.totals["failed"] > 0 and not arrived,
        has_trigger=await _has_trigger(dashboard, organization_id),
        has_post=posts_total > 0,
        is_public=any(changelog.is_public for changelog in await dashboard.app.changelog_editor.all_of(organization)),
    )
    runs = await dashboard.app.stores.run_lists.runs(organization_id, limit=_NEWEST)
    activity = await activity_of(dashboard, organization_id, runs)
    return {
        "steps": steps,
        "steps_done": sum(step.is_done for step in steps),
        "is_new": not (received or posts_total or activity),
        "attention": await attention_of(dashboard, organization_id, integrations),
        "activity": activity,
        "hourly": hourly,
        "daily": daily,
        "received": received,
        "succeeded": share(daily.totals["success"], received),
        "failed": daily.totals["failed"],
        "posts_total": posts_total,
        "zone": zone.key,
    }


async def _has_delivered(dashboard: Dashboard, organization_id: str, *, else_: bool) -> bool:
    search = LogSearch(statuses=(LogStatus.SUCCESS,))
    entries = await dashboard.app.stores.read_model.log(organization_id, search, limit=_RECENT)
    references = [entry.reference_id or "" for entry in entries if entry.direction is Direction.INCOMING]
    return not all(map(_RECORDED.match, references)) if references else else_


async def _has_trigger(dashboard: Dashboard, organization_id: str) -> bool:
    if any(trigger.enabled for trigger in await dashboard.app.stores.directory.triggers(organization_id)):
        return True
    return any(schedule.enabled for schedule in await dashboard.app.stores.schedules.schedules(organization_id))


def _arrived(counts: Sequence[LogCount]) -> list[LogCount]:
    return [count for count in counts if not count.integration_id.startswith(ENDPOINT_PREFIX)]
