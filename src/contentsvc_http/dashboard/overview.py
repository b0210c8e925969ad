"""The overview page: deliveries, their outcomes, and the newest posts."""

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

from litestar import Request, Response, get
from litestar.handlers import HTTPRouteHandler

from contentsvc_core.content.queries import PostQuery
from contentsvc_core.insights import LogCount, LogSearch, stretch_at
from contentsvc_core.journal import Direction, LogStatus
from contentsvc_core.lists.pagination import PageRequest
from contentsvc_core.organizations import Organization
from contentsvc_core.outgoing.endpoints import ENDPOINT_PREFIX
from contentsvc_core.refusals import Refusal
from contentsvc_core.workflows.runs import RunStatus
from contentsvc_http.dashboard.charts import columns, milliseconds, quantile, share
from contentsvc_http.dashboard.checklist import checklist
from contentsvc_http.dashboard.context import Dashboard
from contentsvc_http.dashboard.pages import Pages
from contentsvc_http.dashboard.visits import ROOT, visit

_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)
_HOURS: Final = 24
_DAYS: Final = 14
_NEWEST: Final = 6
#: The number of newest entries that the checklist reads: a code host's delivery is newer than those of `init`.
_RECENT: Final = 20
#: Recordings have delivery ids derived from the change: UUIDs of version 5. Code hosts use random UUIDs.
_RECORDED: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-")
_POSTS: Final = PageRequest(limit=5)


def overview_routes(dashboard: Dashboard, pages: Pages) -> list[HTTPRouteHandler]:
    @get(ROOT, name="dashboard_overview")
    async def overview(request: Request[Any, Any, Any]) -> Response[Any]:
        found = await visit(dashboard, request)
        mine = found.organization_id
        context = await dashboard.app.shares.lists(mine, lambda: _shown(dashboard, found.organization))
        if found.is_partial:
            return pages.part(found, "overview_now.html", context)
        return pages.page(found, "overview.html", context, title="Overview", section="overview")

    return [overview]


async def _shown(dashboard: Dashboard, organization: Organization) -> dict[str, Any]:
    mine = organization.id
    now = dashboard.app.clock.now()
    hours_since = stretch_at(now, _HOUR) - (_HOURS - 1) * _HOUR
    days_since = stretch_at(now, _DAY) - (_DAYS - 1) * _DAY
    insights = dashboard.app.stores.insights
    hourly = columns(
        _arrived(await insights.log_counts(mine, since=hours_since, span=_HOUR)),
        since=hours_since,
        span=_HOUR,
        number=_HOURS,
        label="%H:%M",
    )
    daily = columns(
        _arrived(await insights.log_counts(mine, since=days_since, span=_DAY)),
        since=days_since,
        span=_DAY,
        number=_DAYS,
        label="%d %b",
    )
    runs = await insights.run_counts(mine, since=days_since)
    page = await dashboard.app.stores.posts.page(mine, PostQuery(), _POSTS)
    posts = ((), None) if isinstance(page, Refusal) else page
    buckets = dashboard.settled() if dashboard.settled is not None else ()
    received = sum(daily.totals.values())
    posts_total = posts[1].total_items if posts[1] is not None else 0
    integrations = await dashboard.app.stores.directory.integrations(mine)
    arrived = await _has_delivered(dashboard, mine, else_=posts_total > 0)
    steps = checklist(
        integrations=integrations,
        arrived=arrived,
        refused=daily.totals["failed"] > 0 and not arrived,
        has_trigger=await _has_trigger(dashboard, mine),
        has_post=posts_total > 0,
        is_public=any(each.is_public for each in await dashboard.app.changelog_editor.all_of(organization)),
    )
    return {
        "steps": steps,
        "steps_done": sum(step.is_done for step in steps),
        "is_new": not (received or posts_total or runs),
        "hourly": hourly,
        "daily": daily,
        "received": received,
        "succeeded": share(daily.totals["success"], received),
        "failed": daily.totals["failed"],
        "runs": [(status.value, runs.get(status, 0)) for status in RunStatus],
        "runs_total": sum(runs.values()),
        "posts": posts[0],
        "posts_total": posts_total,
        "is_measured": quantile(buckets, 0.5) is not None,
        "settle_p50": milliseconds(quantile(buckets, 0.5)),
        "settle_p99": milliseconds(quantile(buckets, 0.99)),
        "entries": await insights.log(mine, LogSearch(), limit=_NEWEST),
    }


async def _has_delivered(dashboard: Dashboard, mine: str, *, else_: bool) -> bool:
    """Return whether a code host has delivered; recorded deliveries do not count.

    Without any entry, ``else_`` is returned: the entries may have been swept.
    """
    search = LogSearch(statuses=(LogStatus.SUCCESS,))
    entries = await dashboard.app.stores.insights.log(mine, search, limit=_RECENT)
    came = [entry.reference_id or "" for entry in entries if entry.direction is Direction.INCOMING]
    return not all(map(_RECORDED.match, came)) if came else else_


async def _has_trigger(dashboard: Dashboard, mine: str) -> bool:
    if any(trigger.enabled for trigger in await dashboard.app.stores.directory.triggers(mine)):
        return True
    return any(schedule.enabled for schedule in await dashboard.app.stores.schedules.schedules(mine))


def _arrived(counts: Sequence[LogCount]) -> list[LogCount]:
    """Return the counts without messages to endpoints, which have their own page."""
    return [count for count in counts if not count.integration_id.startswith(ENDPOINT_PREFIX)]
