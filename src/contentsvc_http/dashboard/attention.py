from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, final

from attrs import frozen

from contentsvc_core.content.posts import PostStatus
from contentsvc_core.content.queries import PostQuery
from contentsvc_core.journal import Direction, ListedEntry, LogStatus
from contentsvc_core.lists.pagination import PageRequest
from contentsvc_core.organizations import Integration
from contentsvc_core.read_model import LogSearch
from contentsvc_core.refusals import Refusal
from contentsvc_core.webhooks.diagnosis import CONSIDERED, Health, IntegrationFacts, health_of
from contentsvc_core.workflows.runs import RunStatus
from contentsvc_http.dashboard.integration_names import endpoint_name, name_of
from contentsvc_http.dashboard.session import DashboardSession

#: The age up to which failed runs are counted: a retry of an older one would report old news.
_RUN_AGE: Final = timedelta(days=7)
#: From this time without a delivery on, an integration is silent. Quiet repositories have a push in two weeks.
_SILENCE: Final = timedelta(days=14)
#: The most integrations whose newest entries are read: each is a query.
_JUDGED: Final = 5
#: The least number of failed attempts in a row that the page shows: a short outage of the host causes fewer.
_FAILURES: Final = 5


@final
@frozen(kw_only=True)
class Attention:
    id: str
    is_fault: bool
    sentence: str
    detail: str = ""
    since: datetime | None = None
    action: str
    path: str


async def attention_of(session: DashboardSession, integrations: Sequence[Integration]) -> list[Attention]:
    newest = await session.app.stores.read_model.newest_entries(session.organization_id)
    refused = [integration for integration in integrations if _is_refused(newest.get(integration.id))]
    return [
        *[
            attention
            for integration in refused[:_JUDGED]
            if (attention := await _failing(session, integration)) is not None
        ],
        *await _endpoints(session),
        *await _runs(session),
        *await _drafts(session),
        *_silent(integrations, newest, session.app.clock.now() - _SILENCE),
    ]


async def _failing(session: DashboardSession, integration: Integration) -> Attention | None:
    search = LogSearch(integration_ids=(integration.id,))
    entries = await session.app.stores.read_model.log(integration.organization_id, search, limit=CONSIDERED)
    health = health_of(entries, IntegrationFacts(is_enabled=integration.enabled))
    return _failure(name_of(integration), health) if health.is_failing else None


def _is_refused(entry: ListedEntry | None) -> bool:
    return entry is not None and entry.direction is Direction.INCOMING and entry.status is LogStatus.FAILED


def _failure(name: str, health: Health) -> Attention:
    assert health.last is not None  # a failing integration has a refused delivery
    return Attention(
        id=f"failing-{health.last.integration_id}",
        is_fault=True,
        sentence=f"{name}: {health.summary}.",
        detail="" if health.diagnosis is None else health.diagnosis.advice,
        since=health.last.created_at,
        action="See the cause",
        path=f"/integrations/logs/{health.last.id}",
    )


async def _endpoints(session: DashboardSession) -> list[Attention]:
    endpoints = await session.app.stores.endpoints.endpoints(session.organization_id)
    return [
        Attention(
            id=f"endpoint-{endpoint.id}",
            is_fault=True,
            sentence=f"The webhook endpoint {endpoint_name(endpoint)} "
            f"{'gets no messages' if endpoint.enabled else 'was disabled'}.",
            detail=endpoint.disabled_reason or f"The last {endpoint.failures:,} attempts failed.",
            action="Open the endpoint",
            path=f"/endpoints/{endpoint.id}",
        )
        for endpoint in endpoints
        if (endpoint.failures >= _FAILURES if endpoint.enabled else endpoint.disabled_reason)
    ]


async def _runs(session: DashboardSession) -> list[Attention]:
    since = session.app.clock.now() - _RUN_AGE
    counts = await session.app.stores.run_lists.run_counts(session.organization_id, since=since)
    number = counts.get(RunStatus.FAILED, 0)
    if not number:
        return []
    runs = "1 run has failed" if number == 1 else f"{number:,} runs have failed"
    return [
        Attention(
            id="failed-runs",
            is_fault=True,
            sentence=f"{runs} in the last 7 days.",
            detail="Read why, mend the cause, and retry.",
            action="See the failed runs",
            path="/runs?status=failed",
        )
    ]


async def _drafts(session: DashboardSession) -> list[Attention]:
    query = PostQuery(statuses=(PostStatus.DRAFT,))
    page = await session.app.stores.posts.page(session.organization_id, query, PageRequest(limit=1))
    # Scheduled drafts need no editor.
    number = await session.app.stores.posts.waiting(session.organization_id)
    if isinstance(page, Refusal) or not page[0] or not number:
        return []
    newest, is_only = page[0][0], page[1].total_items == 1
    return [
        Attention(
            id="drafts",
            is_fault=False,
            sentence="1 draft waits for you." if number == 1 else f"{number:,} drafts wait for you.",
            detail=newest.title if is_only else f"The newest: {newest.title}",
            action="Read the draft" if is_only else "Read the drafts",
            path=f"/posts/{newest.id}" if is_only else "/posts?status=draft",
        )
    ]


def _silent(integrations: Sequence[Integration], newest: Mapping[str, ListedEntry], limit: datetime) -> list[Attention]:
    return [
        Attention(
            id=f"silent-{integration.id}",
            is_fault=False,
            sentence=f"{name_of(integration)}: nothing received lately.",
            detail="Send a ping from the webhook's settings at the code host, to see that deliveries arrive.",
            since=entry.created_at,
            action="Check the webhook",
            path=f"/integrations/{integration.id}",
        )
        for integration in integrations
        if integration.enabled and (entry := newest.get(integration.id)) is not None and entry.created_at < limit
    ]
